"""Who is meant: conditions on columns, and values as people write them."""

import re
import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.data.errors import DataError, unknown

_CONDITION = re.compile(r"(?P<column>.+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.+)")


def group_of(frame: pd.DataFrame, conditions: Iterable[str]) -> NDArray[np.bool_]:
    """Who meets all of the conditions, such as ``sex=Female`` or ``age<=35``; shape (n_records,)."""
    mask = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        found = _CONDITION.fullmatch(condition.strip())
        if found is None:
            raise DataError(f"group condition {condition!r} is not of the form COLUMN=VALUE or COLUMN<=NUMBER")
        column, sign, text = found["column"], found["sign"], found["value"]
        if column not in frame.columns:
            raise unknown("group column", column, frame.columns)
        values = frame[column]
        if sign in ("=", "!="):
            same = (values == matching(text, values)).to_numpy(dtype=bool, na_value=False)
            mask &= same if sign == "=" else ~same
            continue
        try:
            limit = float(text)
        except ValueError:
            raise DataError(f"group condition {condition!r} compares with {text!r}, which is no number") from None
        if not is_numeric_dtype(values) or is_bool_dtype(values):
            raise DataError(f"group condition {condition!r} needs a column of numbers")
        compare = {"<=": values.le, ">=": values.ge, "<": values.lt, ">": values.gt}[sign]
        mask &= compare(limit).to_numpy(dtype=bool, na_value=False)
    return mask


def matching(value: Any, column: pd.Series) -> Any:
    """The value of a column that is meant: itself, or the one that is written like it (``"1"`` for 1)."""
    if value is None:
        return None
    found = column.dropna().unique().tolist()
    if value in found and not isinstance(value, bool):
        return value
    alike = [known for known in found if _written(known) == _written(value)]
    if not alike:
        raise unknown(f"value of column {column.name!r}", value, sorted(found, key=str))
    return alike[0]


def is_measure(values: pd.Series) -> bool:
    """Whether a column holds numbers that measure something, so that no value of it names a group."""
    return is_numeric_dtype(values) and not is_bool_dtype(values) and values.nunique() > 2


def refuse_measures(frame: pd.DataFrame, protected: Iterable[str]) -> None:
    """Refuse protected columns of numbers where nothing else says who is protected."""
    for column in protected:
        if is_measure(frame[column]):
            raise DataError(
                f"protected column {column!r} holds numbers: say who is protected, "
                f"such as --group {shlex.quote(f'{column}<{frame[column].median():g}')}"
            )


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    return text.lower() if text.lower() in ("true", "false") else text
