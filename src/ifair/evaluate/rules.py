"""The three rules for choosing a setting. Their names are the same in code, files, commands and pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ifair.errors import IfairError


def harmonic_mean(a: float, b: float) -> float:
    """2 a b / (a + b); 0 where either is 0 or less."""
    return 2.0 * a * b / (a + b) if a > 0 and b > 0 else 0.0


RULES: dict[str, Callable[[float, float], float]] = {
    "most_useful": lambda utility, _: utility,
    "fairest": lambda _, fairness: fairness,
    "balanced": harmonic_mean,
}
"""By name how a rule rates a setting by its utility and its individual fairness.

The paper's rules (a), (b) and (c): "Max Utility", "Max Fairness", "Optimal".
"""


def choose(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str, fairness: str = "yNN") -> int:
    """The row that a rule rates best; of equals the first.

    Parameters
    ----------
    rows : sequence of mappings
        What each setting reached, on validation data.
    rule : str
        A key of ``RULES``.
    utility, fairness : str
        Keys of the two measures in a row. A row with a NaN is never chosen unless all have one.

    Examples
    --------
    >>> rows = [{"AUC": 0.8, "yNN": 0.7}, {"AUC": 0.7, "yNN": 0.9}]
    >>> [choose(rows, rule, utility="AUC", fairness="yNN") for rule in RULES]
    [0, 1, 1]
    """
    if not rows:
        raise IfairError("there are no settings to choose from")
    rated = [RULES[rule](float(row[utility]), float(row[fairness])) for row in rows]
    return int(np.argmax(np.nan_to_num(rated, nan=-np.inf)))


def choose_row(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str, fairness: str = "yNN") -> Any:
    """The row that a rule rates best by its measures under ``"validation"``."""
    return rows[choose([row["validation"] for row in rows], rule, utility=utility, fairness=fairness)]
