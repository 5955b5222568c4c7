"""Functions of raw tables, text and gaps included, on collections of Dask and Spark: lazily, partition by partition."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.inputs.table import is_collection, is_spark_frame

Function = Callable[[Any], NDArray[Any]]
Method = Callable[[Any, Any], Any]


def is_on_cluster(X: Any) -> bool:
    """Whether this is a collection of Dask or a data frame of Spark; imports neither."""
    return is_collection(X) or is_spark_frame(X)


def refuse_cluster(X: Any, what: str) -> None:
    """Refuse a table on a cluster, where ``what`` compares everybody with everybody."""
    if is_on_cluster(X):
        raise TypeError(
            f"{what} needs everybody in one place, got {type(X).__name__}: the exact "
            "graph compares each with all the others, across partitions too. Use a sample of the collection (Dask: "
            "X.sample(frac=0.01).compute(), Spark: X.sample(0.01).toPandas()); predict, predict_proba and "
            "decision_function of the fitted model then run on the whole collection, lazily"
        )


def lazy_on_clusters(describe: Callable[[Any], tuple[Sequence[str], Any]]) -> Callable[[Method], Method]:
    """Have a model's method of X also take tables on a cluster, partition by partition: it need not ask where X is.

    Parameters
    ----------
    describe : callable
        From the model to names and dtype of what the method returns, as for :func:`map_partitions`.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def anywhere(model: Any, X: Any) -> Any:
            if is_on_cluster(X):
                return map_partitions(X, getattr(model, method.__name__), *describe(model))
            return method(model, X)

        return anywhere

    return decorate


def map_partitions(X: Any, function: Function, names: Sequence[str], dtype: Any) -> Any:
    """A function of every partition as one collection; nothing is computed before it is asked for.

    Parameters
    ----------
    X : array or data frame of Dask, or data frame of Spark
    function : callable
        From a part of the table, an array or a frame of pandas, to an array with a row per record. It travels to the
        workers.
    names : sequence of str
        Of what it returns, a column each; one name: of a vector.
    dtype : dtype of what it returns

    Returns
    -------
    data frame of Dask or Spark with these columns, or array of Dask of shape (n, len(names)), of one name (n,)
    """
    dtype = np.dtype(dtype)
    if is_spark_frame(X):
        kinds = {"f": "double", "i": "bigint", "u": "bigint", "b": "boolean"}
        schema = ", ".join(f"`{name}` {kinds.get(dtype.kind, 'string')}" for name in names)

        def run(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            for part in parts:
                yield _to_frame(part, function, names, dtype)

        return X.mapInPandas(run, schema)
    if hasattr(X, "columns"):
        meta = pd.DataFrame({name: np.empty(0, dtype=dtype) for name in names}, index=X._meta.index)
        return X.map_partitions(_to_frame, function, names, dtype, meta=meta)
    whole = X.rechunk({1: -1})
    options: Any = {"drop_axis": 1} if len(names) == 1 else {"chunks": (whole.chunks[0], (len(names),))}
    return whole.map_blocks(_to_array, function, len(names), dtype, dtype=dtype, meta=np.empty((0,), dtype), **options)


def _to_frame(part: pd.DataFrame, function: Function, names: Sequence[str], dtype: Any) -> pd.DataFrame:
    found = _to_array(part, function, len(names), dtype).reshape(len(part), len(names))
    return pd.DataFrame(found, columns=list(names), index=part.index)


def _to_array(part: Any, function: Function, n_columns: int, dtype: Any) -> NDArray[Any]:
    """The function of a part; models refuse empty tables, and partitions may be empty."""
    if len(part) == 0:
        return np.empty((0,) if n_columns == 1 else (0, n_columns), dtype=dtype)
    return np.asarray(function(part)).astype(dtype, copy=False)
