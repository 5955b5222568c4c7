"""Labels and protected groups of records, as numbers; also where they are columns of a table on disk."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ifair.engines.choose import on_disk
from ifair.engines.parquet import ParquetRecords
from ifair.engines.records import Records, chunk_rows
from ifair.engines.streamed import prefetched
from ifair.models.beside import column_names


def labelled(X: Any, y: Any, sensitive_features: Any, engine: str) -> tuple[Records | None, Any, Any]:
    """Records on disk, None where they are not, with labels and groups, which may be names of columns in Parquet files.

    The columns named are no part of the records.
    """
    labels = [y] if isinstance(y, str) else []

    def others(names: list[str]) -> list[str]:
        return [name for name in names if name not in labels + _names(sensitive_features, names)]

    records = on_disk(X, engine, others)
    if isinstance(records, ParquetRecords):
        groups = _names(sensitive_features, records.all_columns)
        if labels:
            y = records.column(labels[0])
        if groups:
            columns = [records.column(name) for name in groups]
            sensitive_features = columns[0] if len(columns) == 1 else pd.DataFrame(dict(zip(groups, columns)))
        return records.without(labels + groups), y, sensitive_features
    for given in (y, sensitive_features):
        if isinstance(given, str):
            raise ValueError(f"{given!r} names a column, which is read from Parquet files only: pass its values")
    return records, y, sensitive_features


def _names(sensitive_features: Any, columns: list[str]) -> list[str]:
    """The columns that are meant: one name, or several of which the table has all; else these are values."""
    # A single name is meant as one also where the table lacks it, which is then told.
    return [sensitive_features] if isinstance(sensitive_features, str) else column_names(columns, sensitive_features)


def check_labels(y: Any, n_records: int) -> Any:
    """Labels of records on disk, checked as scikit-learn checks those of records in memory."""
    y = column_or_1d(y, warn=True)
    check_consistent_length(y, np.empty(n_records))
    missing = np.flatnonzero(pd.isna(y))
    if len(missing):
        raise ValueError(f"Input y contains NaN: record {missing[0]} has no label; drop it")
    return y


def two_classes(y: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The two classes, and labels as 0.0 and 1.0."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(classes) < 2:
        raise ValueError(f"LFR needs records of two classes, but y holds only one class: {classes[0]!r}")
    return classes, numbers.astype(np.float64)


def group_numbers(sensitive_features: ArrayLike, n_records: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Name the groups, and number every record's."""
    columns = np.asarray(sensitive_features)
    columns = columns.reshape(len(columns), -1).T if columns.ndim > 1 else columns[None, :]
    check_consistent_length(columns[0], np.empty(n_records))
    combined = np.zeros(n_records, dtype=np.intp)
    for column in columns:
        missing = np.flatnonzero(pd.isna(column))
        if len(missing):
            raise ValueError(f"sensitive_features has no value for record {missing[0]}; drop it or name a group for it")
        numbers, values = pd.factorize(column, sort=True)
        if len(columns) == 1:
            return list(values), numbers
        combined = combined * len(values) + numbers
    _, first, groups = np.unique(combined, return_index=True, return_inverse=True)
    return [tuple(columns[:, i]) for i in first], groups


def groups_by_columns(
    X: NDArray[np.floating[Any]] | Records, columns: NDArray[np.bool_]
) -> tuple[list[Any], NDArray[np.intp]]:
    """The same, where some of the records' own columns tell the groups apart."""
    if isinstance(X, np.ndarray):
        return group_numbers(X[:, columns], len(X))
    known: dict[Any, int] = {}
    parts = []
    for chunk in prefetched(X.chunks(chunk_rows(X.shape[1]))):
        labels, numbers = group_numbers(chunk[:, columns].astype(X.dtype, copy=False), len(chunk))
        parts.append(np.array([known.setdefault(label, len(known)) for label in labels])[numbers])
    # So far groups are numbered as they were met; the order of a table in memory is that of their labels.
    labels = sorted(known)
    rank = np.empty(len(labels), dtype=np.intp)
    rank[[known[label] for label in labels]] = np.arange(len(labels))
    return labels, rank[np.concatenate(parts)]
