"""Columns that hardly describe people (identifiers, constants, free text, disguised numbers), and warnings of them."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import (
    infer_dtype,
    is_bool_dtype,
    is_float_dtype,
    is_integer_dtype,
    is_numeric_dtype,
    is_object_dtype,
)

from ifair.errors import IfairError, name_setting

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

_TIMES = {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}
_CALLED_AN_ID = re.compile(r"(^|[^a-z])(id|ids|uuid|guid|key|nr|no|number|index|row)([^a-z]|$)|[a-z]I[dD]$")
_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
_CURRENCY = r"([€$£¥]|EUR|USD|GBP|CHF)"
_SIGNED_NUMBER = rf"{_CURRENCY}?\s*[-+]?\s*{_CURRENCY}?\s*\d[\d.,'’\s]*\s*({_CURRENCY}|%)?"
_PLAIN_NUMBER = r"-?\d+(\.\d+)?"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a column is hardly an attribute.

    Attributes
    ----------
    reason : str
        A half-sentence with the column as its subject.
    leave_out : bool
        Whether it is left out for it.
    advice : str
        What to do instead, where there is something.
    names_people : bool
        Whether it is text that names people rather than says something about them: no two share it, or hardly.
    """

    reason: str
    leave_out: bool = True
    advice: str = ""
    names_people: bool = False


def find_doubt(column: pd.Series) -> Doubt | None:
    """Say why a column hardly describes people, or None if it may.

    Identifiers, constants, empty columns and free text are to be left out. Whole numbers that are different in every
    record, but neither count up nor are called an id, may as well be incomes: they stay.
    """
    present = column.dropna()
    different = present.nunique()
    if different == 0:
        return Doubt("holds no value")
    if different == 1 and len(present) == len(column):
        return Doubt(f"has one value, {as_plain(present.iloc[0])!r}, for everybody")
    unique = different == len(column)
    if is_float_dtype(column) and unique and len(present) >= FEWEST_RECORDS and (present.abs() >= EXACT).all():
        return Doubt("holds whole numbers of many digits, different in every row, like an identifier")
    if is_float_dtype(column) or is_bool_dtype(column) or len(present) < FEWEST_RECORDS:
        return None
    if is_integer_dtype(column):
        if not unique:
            return None
        if _counts_records(column) or _CALLED_AN_ID.search(str(column.name)):
            return Doubt("is different in every row, like an identifier")
        return Doubt("is a whole number and different in every row, which may be an identifier", leave_out=False)
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


def count_many_categories(column: pd.Series) -> int | None:
    """How many categories a column has, if they are very many: more than 100, or than a quarter of the records."""
    different = int(column.nunique())
    is_many = different > MANY_CATEGORIES or (different > MANY_FOR_FEW and different > len(column) / 4)
    return different if is_many else None


def as_plain(value: Any) -> Any:
    """A cell as Python's own number or text: 3, not np.int64(3)."""
    return value.item() if isinstance(value, np.generic) else value


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


def explain_unusable(column: pd.Series) -> str | None:
    """What a column holds that no encoder could turn into numbers without guessing, in words, or None.

    Rows are counted from 1, by an index that counts them from 0.
    """
    present = column.dropna()
    if infer_dtype(present) in _TIMES:
        return "dates or times, which have no natural scale: turn it into a number or text"
    if is_float_dtype(present) and (infinite := np.isinf(present.to_numpy(dtype=np.float64))).any():
        row = int(present.index[infinite.argmax()]) + 1
        return f"a number in row {row} that is infinite or too large: mend it"
    if is_object_dtype(present) and present.map(lambda c: isinstance(c, list | dict | set | np.ndarray)).any():
        return "lists or records instead of single values: spread it over several columns"
    return None


def _counts_records(column: pd.Series) -> bool:
    """Whether whole numbers count the records: in order, or with hardly a gap."""
    in_order = column.is_monotonic_increasing or column.is_monotonic_decreasing
    return bool(in_order or int(column.max()) - int(column.min()) < 2 * len(column))


def warn_of_attribute(column: str, doubt: Doubt) -> str:
    """What was done about a doubtful column without a role."""
    instead = f"{doubt.advice}; " if doubt.advice else ""
    keep, ignore = name_setting("keep", [column]), name_setting("ignore", [column])
    if doubt.leave_out:
        return f"column {column!r} {doubt.reason}: left out of the attributes; {instead}{keep} keeps it"
    return f"column {column!r} {doubt.reason}: kept as an attribute; {instead}{ignore} leaves it out"


def warn_of_protected(frame: pd.DataFrame, protected: Iterable[str], keep: Collection[str]) -> list[str]:
    """Doubts about protected columns; one that names people, and so no group, is refused unless it is to be kept."""
    lines = []
    for column in protected:
        if frame[column].nunique() < 2:
            lines.append(f"protected column {column!r} has one value: there is nothing to protect in it")
            continue
        doubt = find_doubt(frame[column])
        if doubt is None or column in keep:
            continue
        if doubt.names_people:
            raise IfairError(
                f"protected column {column!r} {doubt.reason}: it names people, not groups of them; "
                f"{doubt.advice or 'protect another column'}, or protect it all the same with "
                f"{name_setting('keep', [column])}"
            )
        instead = f"; {doubt.advice}" if doubt.advice else "; is it the right column?"
        lines.append(f"protected column {column!r} {doubt.reason}: protected all the same{instead}")
    return lines


def warn_of_target(name: str, doubt: Doubt | None, *, is_class: bool) -> list[str]:
    """Doubts about an outcome of several values; one that nothing could be learned about is refused."""
    if doubt is None:
        return []
    if doubt.advice and not is_class:
        raise IfairError(f"target {name!r} {doubt.reason}: {doubt.advice}")
    if doubt.names_people:
        raise IfairError(
            f"target {name!r} {doubt.reason}: nothing can be learned about an outcome that no two people share; "
            "name another column"
        )
    done = "the value named as positive against all others" if is_class else "it is predicted as a number"
    return [f"target {name!r} {doubt.reason}: {done}, all the same; is it the outcome?"]


def warn_of_width(
    frame: pd.DataFrame, attributes: Iterable[str], *, categorical: Collection[str], protected: Collection[str]
) -> list[str]:
    """A sentence for every attribute of very many categories, with the number of columns that they make."""
    lines = []
    for column in attributes:
        is_text = not is_numeric_dtype(frame[column])
        if (is_text or column in categorical) and (many := count_many_categories(frame[column])):
            out = "" if column in protected else f", or leave it out with {name_setting('ignore', [column])}"
            lines.append(
                f"column {column!r} has {many} categories, which make {many} columns: kept; lump rare ones first{out}"
            )
    return lines
