"""Tables that are not in this process: arrays and data frames of Dask, and Parquet files, as shards on workers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.choose import is_collection
from ifair.engines.cluster import open_client, results_of
from ifair.engines.dask import DaskEngine, Shards
from ifair.engines.totals import Look, look, total


def found(table: Any) -> Any:
    """The table itself; for a path a data frame of the Parquet file or folder there."""
    if is_collection(table):
        return table
    from dask import dataframe

    return dataframe.read_parquet(table)


def as_collection(table: Any) -> Any:
    """A two-dimensional collection of numbers."""
    table = found(table)
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


@contextmanager
def opened(table: Any, address: str = "", workers: int | None = None) -> Iterator[tuple[DaskEngine, Look]]:
    """An engine with the records of a collection less their mean, and a look at them as they are.

    Parameters
    ----------
    table : collection
        Of :func:`as_collection`.
    address, workers
        As in :func:`ifair.engines.cluster.open_client`.
    """
    client, resources = open_client(address, workers)
    with resources:
        shards, whole = load(client, table)
        with DaskEngine(shards, client, centre=whole.centre) as engine:
            del shards  # the engine lets go of them at the end, and so must everybody
            yield engine, whole


@contextmanager
def unchanging(table: Any) -> Iterator[Any]:
    """The table, the same in every pass over it: tasks of Dask do the same every time."""
    yield table


def without(table: Any, names: list[str]) -> Any:
    """The table less some columns."""
    return table.drop(columns=names) if names else table


def chosen(table: Any, columns: list[int]) -> Any:
    """Some columns of the table, by their positions."""
    return table[[table.columns[j] for j in columns]] if is_frame(table) else table[:, columns]


def columns_here(engine: DaskEngine, table: Any, what: Any, name: str) -> NDArray[Any]:
    """A collection beside the table, or columns of the table by their names, in this process.

    Parameters
    ----------
    engine : DaskEngine
        With the records of the table.
    table : collection
    what : collection, str or list of str
    name : str
        What to call it in errors.
    """
    collection = what if is_collection(what) else table[what]
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    futures = engine.client.compute(list(np.ravel(collection.to_delayed())))
    parts = [np.asarray(part) for part in results_of(engine.client, futures)]
    filled = [part for part in parts if len(part)]
    if tuple(map(len, filled)) != engine.rows:
        raise ValueError(
            f"{name} is not cut like X: its partitions hold {_some([*map(len, filled)])} records, those "
            f"of X {_some(engine.rows)}; take both from one collection, or repartition them alike"
        )
    return np.concatenate(filled)


def _some(numbers: Sequence[int], most: int = 5) -> str:
    return ", ".join(map(str, numbers[:most])) + (", ..." if len(numbers) > most else "")


def load(client: Any, table: Any) -> tuple[Shards, Look]:
    """Have the workers load every partition, and look at it once.

    Partitions are kept in the precision that they have; those without records are left out.
    """
    from dask import delayed

    parts = np.ravel(table.to_delayed())
    as_block = delayed(_block, pure=False)
    futures = client.compute([as_block(part) for part in parts])
    looks = results_of(client, client.map(look, futures, pure=False))
    whole = total(looks, list(table.columns) if is_frame(table) else range(table.shape[1]))
    filled = [(future, one.rows) for future, one in zip(futures, looks, strict=True) if one is not None]
    return Shards(*zip(*filled)), whole


def _block(part: Any) -> NDArray[np.floating[Any]]:
    """A partition as an array of floats of its own precision."""
    if not hasattr(part, "to_numpy"):
        return np.ascontiguousarray(part, dtype=np.float32 if part.dtype == np.float32 else np.float64)
    dtype = np.float32 if all(kind == np.float32 for kind in part.dtypes) else np.float64
    values = part.to_numpy(dtype=dtype, na_value=np.nan)
    return np.ascontiguousarray(values)
