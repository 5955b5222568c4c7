"""What is said about columns that hardly describe people, by their roles; what no encoder could read."""

from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_float_dtype, is_numeric_dtype, is_object_dtype

from ifair.errors import IfairError, name_setting
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
