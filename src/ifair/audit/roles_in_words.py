"""The roles of a table's columns in the words of whoever wrote the table."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.datasets.dataset import Dataset
from ifair.evaluate.splits import value_text

NAMED_VALUES = 6
"""Values of an attribute that are named; of more, only their number is told."""


def describe_group(dataset: Dataset) -> str:
    """Who is in the protected group, such as ``sex is female``, or ``age is at most 25``.

    Found in the records themselves: an attribute that tells the group from the others names it; otherwise several
    together do, each with the values that only members have.
    """
    inside = dataset.group
    parts = []
    for name in dataset.protected:
        said = _describe_attribute(name, dataset.frame[name], inside)
        if said is None:
            continue
        words, is_whole = said
        if is_whole:
            return words
        parts.append(words)
    return " or ".join(parts) or f"{int(inside.sum()):,} people who were named one by one"


def _describe_attribute(name: str, column: pd.Series, inside: NDArray[np.bool_]) -> tuple[str, bool] | None:
    """What only members have of an attribute, and whether all members have it; None where there is nothing."""
    members, others = column[inside], column[~inside]
    if is_numeric_dtype(column) and not is_bool_dtype(column) and column.nunique() > 2:
        if not len(members) or not len(others):
            return None
        if members.max() < others.min():
            return f"{name} is at most {value_text(members.max())}", True
        if members.min() > others.max():
            return f"{name} is at least {value_text(members.min())}", True
        return None
    only = [value for value in members.dropna().unique() if not (others == value).any()]
    if not only:
        return None
    whole = bool(members.isin(only).all())
    texts = sorted(value_text(value) for value in only)
    listed = " or ".join(texts) if len(texts) <= NAMED_VALUES else f"one of {len(texts)} values"
    return f"{name} is {listed}", whole
