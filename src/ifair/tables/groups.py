"""Who belongs to the protected group: by conditions on columns, or by default; values as people write them."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.errors import IfairError, check_known, format_given, name_setting, unknown_name

_CONDITION = re.compile(r"(?P<column>.+?)\s*(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.+)")


def match_conditions(frame: pd.DataFrame, conditions: Iterable[str]) -> NDArray[np.bool_]:
    """Who meets all of the conditions, such as ``sex=Female`` or ``age<=35``; shape (n_records,)."""
    mask = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        column, sign, text = split_condition(condition)
        check_known("group column", column, frame.columns)
        values = frame[column]
        if sign in ("=", "!="):
            same = (values == find_value(text, values)).to_numpy(dtype=bool, na_value=False)
            mask &= same if sign == "=" else ~same
            continue
        try:
            limit = float(text)
        except ValueError:
            raise IfairError(f"group condition {condition!r} compares with {text!r}, which is no number") from None
        if not is_numeric_dtype(values) or is_bool_dtype(values):
            raise IfairError(f"group condition {condition!r} needs a column of numbers")
        compare = {"<=": values.le, ">=": values.ge, "<": values.lt, ">": values.gt}[sign]
        mask &= compare(limit).to_numpy(dtype=bool, na_value=False)
    return mask


def split_condition(condition: str) -> tuple[str, str, str]:
    """Column, sign and value of a condition."""
    found = _CONDITION.fullmatch(condition.strip())
    if found is None:
        raise IfairError(f"group condition {condition!r} is not of the form COLUMN=VALUE or COLUMN<=NUMBER")
    return found["column"], found["sign"], found["value"]


def find_value(value: Any, column: pd.Series) -> Any:
    """The value of a column that is meant: itself, or the one that is written like it (``"1"`` for 1)."""
    if value is None:
        return None
    found = column.dropna().unique().tolist()
    if value in found and not isinstance(value, bool):
        return value
    alike = [known for known in found if _spell(known) == _spell(value)]
    if not alike:
        raise unknown_name("value", value, sorted(found, key=str), f" in column {column.name!r}")
    return alike[0]


def is_measure(values: pd.Series) -> bool:
    """Whether a column holds numbers that measure something, so that no value of it names a group."""
    return is_numeric_dtype(values) and not is_bool_dtype(values) and values.nunique() > 2


def default_group(frame: pd.DataFrame, protected: Iterable[str]) -> NDArray[np.bool_]:
    """Who has, in any protected column, true or another value than the most frequent one; shape (n_records,).

    Columns of numbers that measure something are refused: they do not say who is protected.
    """
    mask = np.zeros(len(frame), dtype=bool)
    for column in protected:
        values = frame[column]
        if is_measure(values):
            raise IfairError(
                f"protected column {column!r} holds numbers: say who is protected, "
                f"such as {name_setting('group', [f'{column}<{format_given(values.median())}'])}"
            )
        if values.isna().all():
            raise IfairError(f"protected column {column!r} holds no value")
        if is_bool_dtype(values):
            mask |= values.to_numpy(dtype=bool, na_value=False)
        else:
            mask |= (values.notna() & (values != values.value_counts().idxmax())).to_numpy(dtype=bool)
    return mask


def _spell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    return text.lower() if text.lower() in ("true", "false") else text
