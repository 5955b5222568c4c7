"""Tables that are not in this process: arrays and data frames of Dask, and Parquet files, as shards on workers."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.choose import is_collection
from ifair.engines.cluster import results_of
from ifair.engines.dask import Shards


class Totals(NamedTuple):
    """What must be known of a table before a fit, in one pass over it."""

    sums: NDArray[np.float64]
    """Of every column, shape (N,)."""
    largest: NDArray[np.float64]
    """Largest absolute value of every column, shape (N,)."""
    dtype: np.dtype[Any]


def as_collection(table: Any) -> Any:
    """A two-dimensional collection of numbers; a path becomes a data frame of the Parquet file or folder there."""
    if not is_collection(table):
        from dask import dataframe

        table = dataframe.read_parquet(table)
    if getattr(table, "ndim", 0) != 2:
        raise ValueError(f"X must be a two-dimensional array or a data frame of Dask, got {type(table).__name__}")
    if is_frame(table):
        for name, dtype in table.dtypes.items():
            if not (pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)):
                raise ValueError(
                    f"column {name!r} holds {dtype}, not numbers: encode it first (ifair.Encoder, fitted on a sample, "
                    "does so partition by partition), or leave it out"
                )
        return table
    return table.rechunk({1: -1})


def is_frame(table: Any) -> bool:
    return hasattr(table, "columns")


def blank(table: Any, rows: int = 2) -> Any:
    """A table in this process with the columns and types of a collection, and zeros in it."""
    if not is_frame(table):
        return np.zeros((rows, table.shape[1]), dtype=table.dtype)
    columns = [pd.Series(np.zeros(rows), dtype="float64").astype(dtype) for dtype in table.dtypes]
    return pd.concat(columns, axis=1).set_axis(list(table.columns), axis=1)


def load(client: Any, table: Any) -> tuple[Shards, Totals]:
    """Have the workers load every partition, and look at it once.

    Partitions are kept in the precision that they have; those without records are left out.
    """
    from dask import delayed

    parts = np.ravel(table.to_delayed())
    as_block = delayed(_block, pure=False)
    futures = client.compute([as_block(part) for part in parts])
    looks = results_of(client, client.map(_look, futures, pure=False))
    filled = [i for i, look in enumerate(looks) if look is not None]
    if not filled:
        raise ValueError("X has no records: all its partitions are empty")
    rows, sums, largest, finite, dtypes = zip(*(looks[i] for i in filled))
    if not all(finite):
        raise ValueError("Input X contains NaN or infinity: fill or drop what is missing first (ifair.Encoder does)")
    totals = Totals(np.sum(sums, axis=0), np.max(largest, axis=0), np.result_type(*dtypes))
    return Shards([futures[i] for i in filled], rows), totals


def _block(part: Any) -> NDArray[np.floating[Any]]:
    """A partition as an array of floats of its own precision."""
    if not hasattr(part, "to_numpy"):
        return np.ascontiguousarray(part, dtype=np.float32 if part.dtype == np.float32 else np.float64)
    dtype = np.float32 if all(kind == np.float32 for kind in part.dtypes) else np.float64
    values = part.to_numpy(dtype=dtype, na_value=np.nan)
    return np.ascontiguousarray(values)


def _look(block: NDArray[np.floating[Any]]) -> tuple[Any, ...] | None:
    """Rows, sums, largest absolute values, whether all are finite, and the type; None of an empty partition."""
    if len(block) == 0:
        return None
    largest = np.maximum(block.max(axis=0), -block.min(axis=0)).astype(np.float64)
    finite = bool(np.isfinite(largest).all())
    return len(block), block.sum(axis=0, dtype=np.float64), largest, finite, block.dtype
