"""Names of columns: what encoded ones are called, and how to find an attribute by them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ifair.errors import IfairError, check_known

MISSING = "missing"
INFREQUENT = "infrequent"


def columns_of(attribute: str, column_names: Iterable[str]) -> list[int]:
    """Find the encoded columns that came from one attribute.

    Parameters
    ----------
    attribute : str
        Name of an attribute of the table before encoding.
    column_names : iterable of str
        Names of the encoded columns.

    Returns
    -------
    list of int
        Positions of the columns called ``attribute`` or ``attribute=...``; empty if there are none.

    Examples
    --------
    >>> columns_of("race", ["age", "race=Black", "race=White", "racer"])
    [1, 2]
    """
    start = f"{attribute}="
    return [i for i, name in enumerate(column_names) if name == attribute or name.startswith(start)]


def format_suffix(category: Any) -> str:
    """Write what follows the attribute's name; codes stay whole even if missing values made them floats."""
    if isinstance(category, float) and category.is_integer():
        category = int(category)
    return f"={category}"


def check_unambiguous(names: Sequence[str], origin: Sequence[str]) -> None:
    """Make sure that `columns_of` finds exactly the columns that came from an attribute."""
    attributes = set(origin)
    for name, owner in zip(names, origin):
        pieces = name.split("=")
        claimants = {"=".join(pieces[:i]) for i in range(1, len(pieces) + 1)} & attributes - {owner}
        if claimants:
            raise IfairError(
                f"the encoded column {name!r} of attribute {owner!r} could also belong to attribute "
                f"{claimants.pop()!r}: rename one of the two"
            )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise IfairError(f"several encoded columns would be called {repeated[0]!r}: rename the category")


def find_positions(categorical: Any, names: list[str]) -> set[int]:
    """Positions of the columns that the user calls categorical, by name or position; "auto" names none."""
    if isinstance(categorical, str):
        if categorical != "auto":
            raise IfairError(f"categorical must be 'auto' or a list of columns, got {categorical!r}")
        return set()
    positions = set()
    for column in categorical:
        if isinstance(column, str):
            check_known("categorical column", column, names)
            positions.add(names.index(column))
        elif isinstance(column, (int, np.integer)) and not isinstance(column, bool) and column in range(len(names)):
            positions.add(int(column))
        else:
            raise IfairError(f"categorical takes names and positions 0 to {len(names) - 1}, got {column!r}")
    return positions
