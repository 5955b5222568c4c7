"""Columns that hardly describe people: identifiers, constants, free text."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_float_dtype, is_integer_dtype, is_object_dtype

# In fewer records, values are all different by chance.
FEWEST_RECORDS = 10
# Text with more different values than this share of the records makes more columns than it has to tell.
MOST_DIFFERENT = 0.5
LONG_TEXT = 30

_TIMES = {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}
_CALLED_AN_ID = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|nr|no|number|index|row)([^a-z]|$)|[a-z]I[dD]$")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a column is hardly an attribute, and whether it is left out for it."""

    reason: str
    leave_out: bool = True


def suspicion(column: pd.Series) -> Doubt | None:
    """Say why a column hardly describes people, or None if it may.

    Parameters
    ----------
    column : Series of shape (n_records,)

    Returns
    -------
    Doubt or None
        Identifiers, constants, empty columns and free text are to be left out. Whole numbers that are different in
        every record, but neither count up nor are called an id, may as well be incomes: they stay.
    """
    present = column.dropna()
    different = present.nunique()
    if different == 0:
        return Doubt("holds no value")
    if different == 1 and len(present) == len(column):
        return Doubt(f"has one value, {present.iloc[0]!r}, for everybody")
    if is_float_dtype(column) or is_bool_dtype(column) or len(present) < FEWEST_RECORDS:
        return None
    unique = different == len(column)
    if is_integer_dtype(column):
        if not unique:
            return None
        if _counts(column) or _CALLED_AN_ID.search(str(column.name)):
            return Doubt("is different in every row, like an identifier")
        return Doubt("is a whole number and different in every row, which may be an identifier", leave_out=False)
    if different <= MOST_DIFFERENT * len(present):
        return None
    length = float(present.astype(str).str.len().mean())
    if length >= LONG_TEXT:
        return Doubt(f"is free text ({different} different texts of {length:.0f} characters on average)")
    if unique:
        return Doubt("is different in every row, like an identifier")
    return Doubt(f"has {different} different texts in {len(present)} rows, too many for categories")


def cannot_count(column: pd.Series) -> str | None:
    """What a column holds that no encoder could turn into numbers without guessing, in words, or None.

    Rows are counted from 1, by an index that counts them from 0.
    """
    present = column.dropna()
    if infer_dtype(present) in _TIMES:
        return "dates or times, which have no natural scale: turn it into a number or text"
    if is_float_dtype(present) and (infinite := np.isinf(present.to_numpy(dtype=np.float64))).any():
        return f"an infinite number in row {int(present.index[infinite.argmax()]) + 1}: mend it"
    if is_object_dtype(present) and present.map(lambda c: isinstance(c, list | dict | set | np.ndarray)).any():
        return "lists or records instead of single values: spread it over several columns"
    return None


def _counts(column: pd.Series) -> bool:
    """Whether whole numbers count the records: in order, or with hardly a gap."""
    in_order = column.is_monotonic_increasing or column.is_monotonic_decreasing
    return bool(in_order or int(column.max()) - int(column.min()) < 2 * len(column))
