"""The parameters of a similarity: refused with the nearest column before anything is learned."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ifair.core.arrays import is_number
from ifair.errors import IfairError, check_choice, nearest_name

READINGS = ("attributes", "paper")

EXAMPLES = {
    "weights": "{'age': 2}",
    "units": "{'age': 10}",
    "ordered": "{'education': ['school', 'degree']}",
}
"""Parameters that map columns, and how."""


def check_parameters(similarity: Any, names: Sequence[str]) -> None:
    """Refuse a similarity that does not fit a table with these columns."""
    check_choice("reading", similarity.reading, READINGS)
    given: dict[str, Any] = {name: getattr(similarity, name) or {} for name in EXAMPLES}
    for parameter, value in given.items():
        if not isinstance(value, Mapping):
            raise IfairError(f"{parameter} must map columns, as in {EXAMPLES[parameter]}; got {value!r}")
    if isinstance(similarity.protected, str):
        name = similarity.protected
        raise IfairError(f"protected must be a list of columns, as in [{name!r}]; got {name!r}")
    for parameter, columns in {"protected": similarity.protected, **given}.items():
        for name in columns:
            if name not in names:
                near = nearest_name(name, names)
                hint = f"; did you mean {near!r}?" if near else f"; the columns are {', '.join(names)}"
                raise IfairError(f"{parameter} names {name!r}, which is not a column{hint}")
    for parameter, columns in given.items():
        for name in columns:
            if name in similarity.protected:
                raise IfairError(f"{parameter} names {name!r}, which is protected and never counts: leave it out")
    for name, weight in given["weights"].items():
        if not is_number(weight) or not math.isfinite(weight) or weight < 0:
            raise IfairError(f"weights[{name!r}] must be a finite number of at least 0, got {weight!r}")
    for name, size in given["units"].items():
        if not is_number(size) or not math.isfinite(size) or size <= 0:
            raise IfairError(f"units[{name!r}] must be a finite number above 0, got {size!r}")
    for parameter in ("ordered", "units"):
        if given[parameter] and similarity.reading == "paper":
            raise IfairError(f"reading='paper' measures every encoded column by its variance: leave {parameter} out")
    caliper = similarity.caliper
    if not (caliper is None or caliper == "auto" or (is_number(caliper) and caliper > 0)):
        raise IfairError(f"caliper must be 'auto', None or a number above 0, got {caliper!r}")
    if not isinstance(similarity.n_neighbors, int | np.integer) or similarity.n_neighbors < 1:
        raise IfairError(f"n_neighbors must be a whole number of at least 1, got {similarity.n_neighbors!r}")
