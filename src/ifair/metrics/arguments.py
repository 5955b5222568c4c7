"""What the measures accept: arrays, lists, Series and frames of any library, checked in one place; and give as data."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ifair.core.checked_numbers import check_floats
from ifair.errors import IfairError, warn_user

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
OUTCOME_KINDS = ("auto", "label", "score")


class Result:
    """A dataclass that can be had as plain data."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain data, but for long arrays, which results are not compared by."""
        values: Any = self
        return {field.name: _to_plain(getattr(self, field.name)) for field in fields(values) if field.compare}


def _to_plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, tuple) else copy(value)


def check_vector(values: Any, name: str, length: int | None = None) -> NDArray[Any]:
    """One value per person: a 1-D array of any type, of the length that the others have."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise IfairError(f"{name} must be one-dimensional, got the shape {array.shape}")
    if length is not None and len(array) != length:
        raise IfairError(f"{name} has {len(array)} entries where {length} are expected")
    return array


def check_numbers(values: Any, name: str, length: int | None = None) -> Floats:
    """One finite number per person, shape (M,)."""
    return check_floats(check_vector(values, name, length), name)


def check_weights(sample_weight: Any, length: int) -> Floats | None:
    """How many people each one stands for, shape (M,); None where everybody counts once."""
    if sample_weight is None:
        return None
    weights = check_numbers(sample_weight, "sample_weight", length)
    if (weights < 0).any() or not weights.any():
        raise IfairError("sample_weight must not be negative, nor zero for everybody")
    return weights


def average(values: Floats, weights: Floats | None, chosen: NDArray[np.bool_] | None = None) -> float:
    """The mean of those who are chosen, by their weights; NaN where nobody is, or nobody has any."""
    some = np.ones(len(values), dtype=bool) if chosen is None else chosen
    if weights is None:
        return float(values[some].mean()) if some.any() else float("nan")
    return float(np.average(values[some], weights=weights[some])) if weights[some].any() else float("nan")


@dataclass(frozen=True, slots=True)
class Groups:
    """Who belongs to which group: ``labels[codes[i]]`` is the group of person ``i``.

    A label may have no member (an unused category of a pandas Categorical).
    """

    codes: Ints
    labels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def members(self, code: int) -> NDArray[np.bool_]:
        """The people of one group, shape (M,)."""
        return np.asarray(self.codes == code)

    def take(self, rows: Ints) -> "Groups":
        """The groups of some people; labels stay, also of groups left without members."""
        return Groups(self.codes[rows], self.labels)

    def mask(self, values: Any) -> NDArray[np.bool_]:
        """The people whose label is ``values``, or among them when it is a list, set or tuple of labels."""
        several = isinstance(values, (list, set, frozenset)) or (
            isinstance(values, tuple) and values not in self.labels
        )
        wanted = list(values) if several else [values]
        chosen = [code for code, label in enumerate(self.labels) if label in wanted]
        return np.isin(self.codes, chosen)


def find_groups(sensitive_features: Any, length: int | None = None, name: str = "sensitive_features") -> Groups:
    """Groups from one column of labels, or from all columns of a frame crossed.

    Labels are sorted where they can be compared. The categories of a pandas Categorical are the labels,
    used or not. Missing values are refused: a person without a known group is not a group.
    """
    if isinstance(sensitive_features, Groups):
        if length is not None and len(sensitive_features.codes) != length:
            raise IfairError(f"{len(sensitive_features.codes)} people in groups where {length} are expected")
        return sensitive_features
    columns = _list_columns(sensitive_features, name)
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or (length is not None and lengths != {length}):
        raise IfairError(f"{name} has {sorted(lengths)} entries where {length} are expected")
    missing = np.any([column.isna().to_numpy() for column in columns], axis=0)
    if missing.any():
        raise IfairError(
            f"{name} has no value for the record at index {missing.argmax()}; drop it or name a group for it"
        )
    parts = [_group_column(column) for column in columns]
    if len(parts) == 1:
        return parts[0]
    codes = np.zeros(lengths.pop(), dtype=np.intp)
    for part in parts:
        _, first, codes = np.unique(codes * len(part) + part.codes, return_index=True, return_inverse=True)
    return _sort_labels(codes, [tuple(part.labels[part.codes[row]] for part in parts) for row in first])


def _list_columns(features: Any, name: str) -> list[pd.Series]:
    if hasattr(features, "to_pandas") and not isinstance(features, (pd.Series, pd.DataFrame)):
        # Of polars: its own way to pandas needs pyarrow.
        if hasattr(features, "columns"):
            features = pd.DataFrame({name: features[name].to_list() for name in features.columns})
        else:
            features = pd.Series(features.to_list())
    if isinstance(features, pd.DataFrame):
        return [features[column].reset_index(drop=True) for column in features.columns]
    if isinstance(features, (pd.Series, pd.Categorical, pd.Index)):
        return [pd.Series(features).reset_index(drop=True)]
    array = np.asarray(features)
    if array.ndim == 1:
        return [pd.Series(array)]
    if array.ndim == 2 and array.shape[1] > 0:
        return [pd.Series(array[:, n]) for n in range(array.shape[1])]
    raise IfairError(f"{name} must be a column or columns of labels, got the shape {array.shape}")


def _group_column(column: pd.Series) -> Groups:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Groups(np.asarray(column.cat.codes, dtype=np.intp), tuple(column.cat.categories))
    codes, uniques = pd.factorize(column)
    return _sort_labels(codes, [value.item() if isinstance(value, np.generic) else value for value in uniques])


def _sort_labels(codes: Ints, labels: list[Any]) -> Groups:
    try:
        order = sorted(range(len(labels)), key=lambda c: labels[c])
    except TypeError:
        order = sorted(range(len(labels)), key=lambda c: str(labels[c]))
    position = np.empty(len(labels), dtype=np.intp)
    position[order] = np.arange(len(labels))
    return Groups(position[codes], tuple(labels[c] for c in order))


def warn_undefined(message: str) -> float:
    """NaN, and a warning that says why: a measure without an answer is not zero."""
    warn_user(message, UndefinedMetricWarning)
    return float("nan")


def average_defined(values: Iterable[float]) -> float:
    """The mean of what is not NaN, which people without any neighbour have."""
    kept = [value for value in values if not np.isnan(value)]
    return float(np.mean(kept)) if kept else warn_undefined("nobody has a neighbour within reach")


def split_by_query(query: Any, length: int) -> list[tuple[Any, Ints]]:
    """Name and rows of each query, in the order of appearance; without queries one, named None."""
    if query is None:
        return [(None, np.arange(length))]
    found = find_groups(query, length, "query")
    order = np.argsort(found.codes, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(found.codes, minlength=len(found)))[:-1])
    return sorted(((label, r) for label, r in zip(found.labels, rows) if len(r)), key=lambda item: int(item[1][0]))


def average_queries(values: Floats, *, query: Any, weights: Floats | None = None) -> float:
    """Mean over queries of the mean over their candidates, without NaN; without queries the mean."""
    return average_defined(
        average(values[rows], None if weights is None else weights[rows], ~np.isnan(values[rows]))
        for _, rows in split_by_query(query, len(values))
    )
