"""What is said about columns that hardly describe people, by their roles; what no encoder could read."""

from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_float_dtype, is_numeric_dtype, is_object_dtype

from ifair.errors import IfairError, count_words, name_setting
from ifair.tables.groups import split_condition
from ifair.unsuitable_columns import Doubt, count_many_categories, find_doubt

_TIMES = {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}


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


def warn_of_attribute(column: str, doubt: Doubt) -> str:
    """What was done about a doubtful column without a role."""
    instead = f"{doubt.advice}; " if doubt.advice else ""
    keep, ignore = name_setting("keep", [column]), name_setting("ignore", [column])
    if doubt.leave_out:
        return f"column {column!r} {doubt.reason}: left out of the attributes; {instead}{keep} keeps it"
    return f"column {column!r} {doubt.reason}: kept as an attribute; {instead}{ignore} leaves it out"


def warn_of_protected(
    frame: pd.DataFrame, protected: Iterable[str], keep: Collection[str], conditions: Collection[str] = ()
) -> list[str]:
    """Doubts about protected columns; one that names people, and so no group, is refused unless it is to be kept.

    The conditions say who is in the protected group; without any, values in all protected columns do.
    """
    lines = []
    decisive = {split_condition(condition)[0] for condition in conditions}
    for column in protected:
        if frame[column].nunique() < 2:
            lines.append(f"protected column {column!r} has one value: there is nothing to protect in it")
            continue
        lines += _warn_of_spellings(frame[column])
        lines += _warn_of_missing(frame[column], decides=not decisive or column in decisive)
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


SHOWN_TWICE = 5


def _warn_of_spellings(column: pd.Series) -> list[str]:
    """Protected values that are one but for case and spaces."""
    lines = []
    values = [value for value in column.dropna().unique() if isinstance(value, str)]
    spelled: dict[str, list[str]] = {}
    for value in values:
        spelled.setdefault(" ".join(value.casefold().split()), []).append(value)
    twice = [" and ".join(map(repr, variants)) for variants in spelled.values() if len(variants) > 1]
    if twice:
        more = f"; and {len(twice) - SHOWN_TWICE} more" if len(twice) > SHOWN_TWICE else ""
        lines.append(
            f"protected column {column.name!r} holds values that differ in case or spaces alone, "
            f"{'; '.join(twice[:SHOWN_TWICE])}{more}: "
            "they count as different groups; write them alike"
        )
    return lines


def _warn_of_missing(column: pd.Series, *, decides: bool) -> list[str]:
    """People without a protected value, and what they count as, where it ``decides`` who is in the protected group."""
    missing = int(column.isna().sum())
    if not missing:
        return []
    who = count_words(missing, "person has", "people have")
    counted = "and, unless a condition says otherwise, count as not in the protected group"
    if not decides:
        counted = "and are a group of their own where groups by it are compared"
    return [f"protected column {column.name!r}: {who} no value in it {counted}"]


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


MANY_COPIES = 0.01
"""Share of rows that are copies from which they deserve a word."""
FEWEST_COPIED = 10
NEARLY_ALL_DIFFER = 0.9
"""Where rows that are copied differ so much in some column, people are not alike in everything by chance."""
LARGE_ID = 0.05
"""Share of the rows from which a single id hardly names one person."""


def warn_of_repeats(frame: pd.DataFrame, id_column: str | None, query: str | None = None) -> list[str]:
    """Sentences about people who may be in several rows: by their id or, without one, by rows that are copies."""
    if id_column is not None:
        return _warn_of_repeated_ids(frame[id_column].dropna(), by_query=query is not None)
    copies = frame[frame.duplicated()]
    if len(copies) < MANY_COPIES * len(frame):
        return []
    copied = copies.drop_duplicates()
    if len(copied) < FEWEST_COPIED or max(copied.nunique()) < NEARLY_ALL_DIFFER * len(copied):
        return []
    named = name_setting("id", "COLUMN")
    return [
        f"{len(copies):,} rows are copies of others in every column: if they are the same people, models are judged on "
        f"people whom they have seen, and look better than they are; drop them, or name people by {named}"
    ]


def _warn_of_repeated_ids(ids: pd.Series, *, by_query: bool) -> list[str]:
    repeated = ids[ids.duplicated(keep=False)]
    if repeated.empty:
        return []
    what = "all rows of an id are kept in one; nothing else makes one person of them"
    if by_query:
        what = "whole queries are, and people in several queries may be learned from and judged"
    lines = [
        f"id column {ids.name!r} names {len(repeated):,} rows with {count_words(repeated.nunique(), 'id', 'ids')}: "
        f"where people are split into parts, {what}"
    ]
    counts = ids.value_counts()
    if counts.iloc[0] > max(LARGE_ID * len(ids), FEWEST_COPIED):
        value = counts.index[0]
        lines.append(
            f"id column {ids.name!r} holds {value!s:.40} in {counts.iloc[0]:,} rows, which count as one person: if it "
            f"names nobody, say so with {name_setting('missing', [str(value)])}; if it names a group, it is no id"
        )
    return lines


FEWEST_NUMBERS = 20
FAR_OUT = 10.0
"""Spreads, from the 1st to the 99th percentile, that a value is beyond these and is hardly true."""
LONELY = 10.0
"""And so many times as far out as all others: long tails have no such gap."""
SHOWN_FAR = 3


def warn_of_far_values(frame: pd.DataFrame, columns: Iterable[str], *, categorical: Collection[str]) -> list[str]:
    """A sentence for every column of numbers with a few values absurdly far from all others."""
    lines = []
    for column in columns:
        values = frame[column]
        if column in categorical or not is_numeric_dtype(values) or is_bool_dtype(values):
            continue
        present = values.dropna().astype(np.float64)
        if len(present) < FEWEST_NUMBERS:
            continue
        ordered, few = np.sort(present.to_numpy()), -(-len(present) // 100)
        low, high = float(ordered[few]), float(ordered[-1 - few])
        ends = np.r_[ordered[:few], ordered[-few:]]
        with np.errstate(over="ignore"):  # numbers too large to encode are refused in words later
            steps = np.sort(np.maximum(0.0, np.r_[0.0, np.maximum(low - ends, ends - high)]))
            lonely = (steps[1:] > FAR_OUT * (high - low)) & (steps[1:] >= LONELY * steps[:-1])
            if high <= low or not lonely.any():
                continue
            odd = present[np.maximum(low - present, present - high) >= steps[1:][lonely][0]]
        shown = " and ".join(f"{value:.10g} in row {int(row) + 1}" for row, value in odd.head(SHOWN_FAR).items())
        more = f" and {len(odd) - SHOWN_FAR} more" if len(odd) > SHOWN_FAR else ""
        lines.append(
            f"column {column!r} holds {shown}{more}, far from all others (98 % are from {low:.6g} to {high:.6g}): one "
            "such value can spoil a model; if it is a slip, or stands for a missing value, mend or empty the cell"
        )
    return lines
