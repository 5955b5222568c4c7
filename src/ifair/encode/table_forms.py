"""The three forms of a table: pandas, polars (recognised, never imported) and plain array."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ifair.errors import IfairError

FEW = 32
"""People at a time whose cells are read one by one: for one person pandas takes longer than to decide."""


def detect_form(X: Any) -> str:
    """Tell "pandas", "polars" and "array" apart."""
    if isinstance(X, pd.DataFrame):
        return "pandas"
    # Whoever holds a polars table has imported polars.
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError("the polars table is lazy: call collect() on it first")
    return "polars" if polars is not None and isinstance(X, polars.DataFrame) else "array"


def to_pandas(estimator: BaseEstimator, X: Any, *, reset: bool) -> pd.DataFrame:
    """Check names and shape the way scikit-learn does, and give any table, its cells as they were, as a pandas one."""
    form = detect_form(X)
    if form == "array" and not reset and _is_known_shape(estimator, X):
        return pd.DataFrame(X)
    if form == "array":
        # A list of lists may mix text and numbers: in one array numpy would turn the numbers into text.
        dtype = None if hasattr(X, "dtype") else object
        return pd.DataFrame(validate_data(estimator, X, dtype=dtype, ensure_all_finite=False, reset=reset))
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    same_names = known is not None and X.shape[0] > 0 and np.array_equal(np.asarray(X.columns, dtype=object), known)
    if not same_names:  # else there is nothing left to check: for one person that would take longer than to decide
        _check_names(estimator, X, reset)
    if form == "pandas":
        return X
    # Column by column, since polars' own conversion needs pyarrow.
    return pd.DataFrame(
        {
            column.name: column.to_numpy() if column.dtype.is_numeric() else pd.Series(column.to_list(), dtype=object)
            for column in X
        }
    )


def _is_known_shape(estimator: BaseEstimator, X: Any) -> bool:
    """Whether scikit-learn would find nothing to say about an array; asking takes longer than to decide about one."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub" and len(X) > 0
    return plain and X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_")


def read_cells(frame: pd.DataFrame, positions: Sequence[int]) -> list[list[Any]]:
    """The cells of some columns, row by row; of one row without a pass over whole columns."""
    if len(frame) != 1:
        return frame.to_numpy(dtype=object)[:, positions].tolist()
    cell = frame.iat
    return [[cell[0, position] for position in positions]]


def _check_names(estimator: BaseEstimator, X: Any, reset: bool) -> None:
    if repeated := [name for name, count in Counter(X.columns).items() if count > 1]:
        raise IfairError(f"column names must be unique, these are repeated: {repeated}")
    if not all(X.shape):
        raise IfairError(f"the table is empty: it has {X.shape[0]} records and {X.shape[1]} columns")
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def shape_matrix(form: str, matrix: NDArray[np.float64], names: list[str], *, index: Any = None) -> Any:
    """Give a matrix of shape (n_samples, n_features_out) the form of a table with named columns."""
    if form == "array":
        return matrix
    if form == "pandas":
        return pd.DataFrame(matrix, columns=names, index=index)
    return sys.modules["polars"].DataFrame(matrix, schema=names, orient="row")


def to_polars(frame: pd.DataFrame) -> Any:
    """Copy a pandas table to a polars one, with null for missing."""
    cells = {name: [None if pd.isna(v) else v for v in column.tolist()] for name, column in frame.items()}
    # Not strict: a code column with an "infrequent" category becomes text.
    return sys.modules["polars"].DataFrame(cells, strict=False)
