"""Columns that hardly describe people: identifiers, constants, free text, numbers and dates in disguise."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

# In fewer records, values are all different by chance.
FEWEST_RECORDS = 10
# Text with more different values than this share of the records makes more columns than it has to tell.
MOST_DIFFERENT = 0.5
LONG_TEXT = 30
# From here on the columns that categories make deserve a word: many at all, or many for so few records.
MANY_CATEGORIES = 100
MANY_FOR_FEW = 20
# Of texts that look like dates or numbers nearly all do.
NEARLY_ALL = 0.9
LOOKED_AT = 1000
# From here on, floats cannot tell whole numbers apart.
EXACT = 2.0**53
# Whole numbers with so many different values for each record are no attribute that two people share.
NEARLY_DIFFERENT = 0.98
# Of columns that are called an id fewer tell.
NEARLY_DIFFERENT_IDS = 0.9

_CALLED_AN_ID = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|nr|no|number|index|row)([^a-z]|$)|[a-z]I[dD]$")
_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
_CURRENCY = r"([€$£¥]|EUR|USD|GBP|CHF)"
_SIGNED_NUMBER = rf"{_CURRENCY}?\s*[-+]?\s*{_CURRENCY}?\s*\d[\d.,'’\s]*\s*({_CURRENCY}|%)?"
_PLAIN_NUMBER = r"-?\d+(\.\d+)?"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a column is hardly an attribute."""

    reason: str  # a half-sentence with the column as its subject
    leave_out: bool = True  # whether it is left out for it
    advice: str = ""  # what to do instead, where there is something
    names_people: bool = False  # whether it is text that names people, not what they are like: hardly any two share it


def find_doubt(column: pd.Series) -> Doubt | None:
    """Say why a column hardly describes people, or None if it may.

    Identifiers, constants, empty columns and free text are to be left out. Whole numbers that are different in (nearly)
    every record, but neither count up nor are called an id, may as well be incomes: they stay.
    """
    present = column.dropna()
    different = present.nunique()
    if different == 0:
        return Doubt("holds no value")
    if different == 1 and len(present) == len(column):
        value = present.iloc[0]
        # 3, not np.int64(3)
        return Doubt(f"has one value, {value.item() if isinstance(value, np.generic) else value!r}, for everybody")
    unique = different == len(column)
    if is_float_dtype(column) and unique and len(present) >= FEWEST_RECORDS and (present.abs() >= EXACT).all():
        return Doubt("holds whole numbers of many digits, different in every row, like an identifier")
    if is_float_dtype(column) and len(present) < len(column) and _are_whole(present):
        column, unique = present.astype(np.int64), different == len(present)  # whole numbers with gaps
    if is_float_dtype(column) or is_bool_dtype(column) or len(present) < FEWEST_RECORDS:
        return None
    if is_integer_dtype(column):
        if different < (NEARLY_DIFFERENT_IDS if is_called_an_id(column.name) else NEARLY_DIFFERENT) * len(column):
            return None
        rows = "every row" if unique else f"nearly every row ({different:,} values in {len(column):,})"
        # In order, or with hardly a gap, they count the records.
        in_order = column.is_monotonic_increasing or column.is_monotonic_decreasing
        counts = in_order or int(column.max()) - int(column.min()) < 2 * len(column)
        if (unique and counts) or is_called_an_id(column.name):
            return Doubt(f"is different in {rows}, like an identifier")
        return Doubt(f"is a whole number and different in {rows}, which may be an identifier", leave_out=False)
    few = different <= MOST_DIFFERENT * len(present)
    texts = present.astype(str)
    if disguise := _find_disguise(texts, leave_out=not few, unique=unique):
        return disguise
    if few:
        return None
    length = float(texts.str.len().mean())
    if length >= LONG_TEXT:
        reason = f"is free text ({different} different texts of {length:.0f} characters on average)"
        return Doubt(reason, names_people=True)
    if unique:
        return Doubt("is different in every row, like an identifier", names_people=True)
    return Doubt(f"has {different} different texts in {len(present)} rows, too many for categories")


def _are_whole(numbers: pd.Series) -> bool:
    return bool(((numbers % 1 == 0) & (numbers.abs() < EXACT)).all())


def count_many_categories(column: pd.Series) -> int | None:
    """How many categories a column has, if they are very many: more than 100, or than a quarter of the records."""
    different = int(column.nunique())
    many = different > MANY_CATEGORIES or (different > MANY_FOR_FEW and different > len(column) / 4)
    return different if many else None


def is_called_an_id(name: object) -> bool:
    """Whether a column's name says that it names records: ``customer_id``, ``rowNr``."""
    return _CALLED_AN_ID.search(str(name)) is not None


def _find_disguise(texts: pd.Series, *, leave_out: bool, unique: bool) -> Doubt | None:
    """The doubt about texts that are dates or numbers in disguise, or None."""
    different = texts.unique()
    shown = pd.Series(different[:LOOKED_AT]).str.strip()
    if shown.str.fullmatch(_DATE).mean() >= NEARLY_ALL:
        if not leave_out and count_many_categories(texts) is None:
            return None  # a few dates, such as those of four quarters, may well be categories
        reason = f"looks like dates, such as {shown.iloc[0]!r} ({len(different)} different ones)"
        return Doubt(reason, leave_out, "give an age or a year, as a number, instead", names_people=unique)
    in_disguise = shown.str.fullmatch(_SIGNED_NUMBER) & ~shown.str.fullmatch(_PLAIN_NUMBER)
    if in_disguise.mean() >= NEARLY_ALL:
        reason = (
            f"looks like numbers with signs or separators, such as {shown.iloc[0]!r} ({len(different)} different texts)"
        )
        return Doubt(reason, leave_out, "write plain numbers, such as 22305 or 0.5, instead", names_people=unique)
    return None
