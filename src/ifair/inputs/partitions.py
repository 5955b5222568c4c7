"""Functions of raw tables, text and gaps included, on collections of Dask and Spark: lazily, partition by partition."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.spark_session import quiet
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


def lazy_on_clusters(describe: Callable[[Any], tuple[str | Sequence[str], Any]]) -> Callable[[Method], Method]:
    """Have a model's method of X also take tables on a cluster, partition by partition: it need not ask where X is.

    ``describe`` goes from the model to names and dtype of what the method returns, as for :func:`map_partitions`.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def anywhere(model: Any, X: Any) -> Any:
            if is_on_cluster(X):
                return map_partitions(X, getattr(model, method.__name__), *describe(model))
            return method(model, X)

        return anywhere

    return decorate


def map_partitions(X: Any, function: Function, names: str | Sequence[str], dtype: Any) -> Any:
    """A function of every partition as one collection; nothing is computed before it is asked for.

    Parameters
    ----------
    X : array or data frame of Dask, or data frame of Spark
    function : callable
        From a part of the table, an array or a frame of pandas, to an array with a row per record. It travels to the
        workers.
    names : str or sequence of str
        Of the columns of what it returns; a name by itself is that of a vector.
    dtype : dtype of what it returns

    Returns
    -------
    data frame of Dask or Spark with these columns, or array of Dask of shape (n, len(names)), of a vector (n,)
    """
    dtype, columns = np.dtype(dtype), [names] if isinstance(names, str) else list(names)
    if is_spark_frame(X):
        kinds = {"f": "float" if dtype.itemsize == 4 else "double", "i": "bigint", "u": "bigint", "b": "boolean"}
        schema = ", ".join(f"{quote_name(name)} {kinds.get(dtype.kind, 'string')} not null" for name in columns)

        def run(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            for part in parts:
                yield _to_frame(part, function, columns, dtype)

        with quiet():
            return X.mapInPandas(run, schema)
    if hasattr(X, "columns"):
        meta = pd.DataFrame(np.empty((0, len(columns)), dtype=dtype), columns=columns, index=X._meta.index)
        return X.map_partitions(_to_frame, function, columns, dtype, meta=meta)
    whole, width = X.rechunk({1: -1}), () if isinstance(names, str) else (len(columns),)
    options: Any = {"chunks": (whole.chunks[0], width)} if width else {"drop_axis": 1}
    return whole.map_blocks(_to_array, function, width, dtype, dtype=dtype, meta=np.empty((0,), dtype), **options)


def quote_name(name: str) -> str:
    """A column's name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def _to_frame(part: pd.DataFrame, function: Function, columns: list[str], dtype: Any) -> pd.DataFrame:
    found = _to_array(part, function, (len(columns),), dtype).reshape(len(part), len(columns))
    return pd.DataFrame(found, columns=columns, index=part.index)


def _to_array(part: Any, function: Function, width: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """The function of a part; models refuse empty tables, and partitions may be empty."""
    if len(part) == 0:
        return np.empty((0, *width), dtype=dtype)
    return np.asarray(function(part)).astype(dtype, copy=False)
