"""Which columns are protected: names, indices, a mask or a function, made into one boolean mask."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.encode import columns_of
from ifair.errors import nearest_name


def protected_columns(estimator: Any, table: Any) -> NDArray[np.bool_]:
    """What an estimator's parameter `protected` means for the table whose columns it has just validated."""
    names = getattr(estimator, "feature_names_in_", None)
    return protected_mask(estimator.protected, table, estimator.n_features_in_, None if names is None else list(names))


def protected_mask(protected: Any, X: Any, n_features: int, names: Sequence[str] | None) -> NDArray[np.bool_]:
    """A boolean mask over the columns of ``X``.

    Parameters
    ----------
    protected : None, str, int, sequence of str, sequence of int, boolean mask, or callable
        Names also match the columns that :class:`ifair.Encoder` made of an attribute: ``"race"`` means every
        ``race=...``. A callable gets ``X`` as the user passed it and returns any of the other forms.
    X : frame or array
        Only handed to a callable.
    n_features : int
    names : sequence of str, or None where the table has none
    """
    if callable(protected):
        protected = protected(X)
        if callable(protected):
            raise TypeError("protected: the callable returned another callable; return names, indices or a mask")
    if protected is None:
        return np.zeros(n_features, dtype=bool)
    if isinstance(protected, str | int | np.integer) and not isinstance(protected, bool):
        protected = [protected]
    items = np.asarray(protected) if not isinstance(protected, np.ndarray) else protected
    if items.ndim != 1:
        raise ValueError(f"protected must be one-dimensional, got an array of shape {items.shape}")
    if len(items) == 0:
        return np.zeros(n_features, dtype=bool)
    if items.dtype.kind == "b":
        if len(items) != n_features:
            raise ValueError(f"protected is a mask of length {len(items)}, but the table has {n_features} columns")
        return items.astype(bool)
    as_list = list(protected)
    if all(isinstance(item, str) for item in as_list):
        columns = _columns_of_names(as_list, names)
    elif items.dtype.kind in "iu":
        columns = _columns_of_indices(as_list, n_features)
    else:
        raise TypeError(f"protected must hold column names, column indices or a boolean mask, got {protected!r}")
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = True
    return mask


def _columns_of_names(wanted: list[str], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise ValueError(
            f"protected={wanted!r} names columns, but the table has no column names; "
            "pass a DataFrame, or name the columns by index or by a boolean mask"
        )
    _refuse_duplicates(wanted)
    columns: list[int] = []
    for name in wanted:
        found = columns_of(name, names)
        if not found:
            attributes = list(dict.fromkeys([*names, *(n.partition("=")[0] for n in names)]))
            close = nearest_name(name, attributes, cutoff=0.5)
            hint = f"; did you mean {close!r}?" if close else f"; the columns are {_shortened(names)}"
            raise ValueError(f"protected column {name!r} is not in the table{hint}")
        columns += found
    return columns


def _columns_of_indices(wanted: list[Any], n_features: int) -> list[int]:
    for index in wanted:
        if not -n_features <= index < n_features:
            raise ValueError(f"protected column index {index} is out of range: the table has {n_features} columns")
    columns = [int(index) % n_features for index in wanted]
    _refuse_duplicates(columns)
    return columns


def _refuse_duplicates(wanted: Sequence[Any]) -> None:
    repeated = sorted({item for item in wanted if wanted.count(item) > 1})
    if repeated:
        raise ValueError(f"protected names {repeated} more than once; list every column once")


def _shortened(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
