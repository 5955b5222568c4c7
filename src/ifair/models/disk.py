"""What is checked of records on disk, in one walk over them."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ifair.engines.records import Records, chunk_rows
from ifair.engines.streamed import prefetched
from ifair.models.checks import check_largest


def check_records(estimator: Any, records: Records) -> NDArray[np.float64]:
    """Check records to fit on as a table in memory would be, and return the mean of every column.

    Sets ``n_features_in_`` and, where the columns have names, ``feature_names_in_``.
    """
    n_records, n_features = records.shape
    check_columns(estimator, records, reset=True)
    total, largest, start = np.zeros(n_features), np.zeros(n_features), 0
    for chunk in prefetched(records.chunks(chunk_rows(n_features))):
        check_finite(chunk, start, records.columns)
        np.maximum(largest, np.abs(chunk).max(axis=0), out=largest)
        start += len(chunk)
        # Row after row on top of the sum so far: the rounding is that of a sum over the whole table.
        chunk[0] += total
        total = chunk.sum(axis=0)
    check_largest(estimator, n_records, largest, records.dtype)
    return total / n_records


def check_columns(estimator: Any, records: Records, *, reset: bool) -> None:
    """Have scikit-learn check the columns of records on disk, their names and their number, by the first two rows."""
    n_first = min(len(records), 2)
    first: Any = np.zeros((n_first, records.shape[1]), dtype=records.dtype)
    if records.columns is not None:
        first = pd.DataFrame(first, columns=records.columns)
    validate_data(estimator, first, reset=reset, ensure_min_samples=2 if reset else 1)


def check_finite(chunk: NDArray[np.floating[Any]], start: int, columns: list[str] | None) -> None:
    """Refuse what is missing or infinite; ``start`` is the position of the first record."""
    # A sum is the quicker look, and is finite unless something is wrong, or large.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(chunk.sum()):
            return
    wrong = np.argwhere(~np.isfinite(chunk))
    if len(wrong):
        row, column = wrong[0]
        name = columns[column] if columns is not None else int(column)
        raise ValueError(
            f"Input X contains NaN or infinity: {chunk[row, column]} in record {start + row}, column {name!r}; "
            "fill or drop what is missing first (ifair.Encoder does)"
        )
