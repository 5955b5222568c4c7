"""Arrays and data frames of Dask, and Parquet files that Dask reads, as shards on workers."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.dask import DaskEngine, Shards
from ifair.engines.dask_client import open_client, results_of
from ifair.engines.engine import require_packages
from ifair.errors import IfairError
from ifair.inputs.cluster_table import ClusterTable, PartStatistics, check_statistics, measure_part
from ifair.inputs.table import Floats, Validate, is_collection


class DaskTable(ClusterTable):
    """A collection of Dask, or the table at a path. Its tasks do the same every time."""

    _engine_and_statistics: tuple[DaskEngine, PartStatistics]

    def __init__(self, X: Any, validate: Validate, *, engine: str, **options: Any) -> None:
        require_packages(engine if engine != "auto" else "dask")
        if isinstance(X, str | os.PathLike):
            from dask import dataframe

            X = dataframe.read_parquet(X)
        super().__init__(X, validate, engine=engine, **options)

    def _as_numbers(self) -> Any:
        table = self.whole.drop(columns=self._named) if self._named else self.whole
        if getattr(table, "ndim", 0) != 2:
            raise IfairError(f"X must be a two-dimensional array or a data frame of Dask, got {type(table).__name__}")
        if not hasattr(table, "columns"):
            return table.rechunk({1: -1})
        for name, dtype in table.dtypes.items():
            if not (pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)):
                raise IfairError(
                    f"column {name!r} holds {dtype}, not numbers: encode it first (ifair.Encoder, fitted on a sample, "
                    "does so partition by partition), or leave it out"
                )
        return table

    @property
    def _to_map(self) -> Any:
        return self.records

    @property
    def _is_frame(self) -> bool:
        return hasattr(self.records, "columns")

    def _blank(self, rows: int) -> Any:
        if not self._is_frame:
            return np.zeros((rows, self.records.shape[1]), dtype=self.records.dtype)
        columns = [pd.Series(np.zeros(rows), dtype="float64").astype(dtype) for dtype in self.records.dtypes]
        return pd.concat(columns, axis=1).set_axis(list(self.records.columns), axis=1)

    def _load_engine(self) -> tuple[DaskEngine, PartStatistics]:
        client, resources = open_client(self.engine.partition(":")[2], self._workers)
        self._resources.enter_context(resources)
        # The engine lets go of the shards at the end, and so must everybody.
        shards, whole = load_shards(client, self.records)
        return self._resources.enter_context(DaskEngine(shards, client, centre=whole.mean)), whole

    def _choose_columns(self, positions: list[int]) -> Any:
        if self._is_frame:
            return self.records[[self.records.columns[j] for j in positions]]
        return self.records[:, positions]

    def _gather_columns(self, what: Any, name: str) -> NDArray[Any]:
        engine = self._engine_and_statistics[0]
        collection = what if is_collection(what) else self.whole[what]
        if hasattr(collection, "rechunk") and collection.ndim == 2:
            collection = collection.rechunk({1: -1})
        futures = engine.client.compute(list(np.ravel(collection.to_delayed())))
        parts = [np.asarray(part) for part in results_of(engine.client, futures)]
        filled = [part for part in parts if len(part)]
        if tuple(map(len, filled)) != engine.rows:
            raise IfairError(
                f"{name} is not cut like X: its partitions hold {_list_some([*map(len, filled)])} records, those "
                f"of X {_list_some(engine.rows)}; take both from one collection, or repartition them alike"
            )
        return np.concatenate(filled)


def load_shards(client: Any, table: Any) -> tuple[Shards, PartStatistics]:
    """Have the workers load every partition of a collection of numbers, and measure it.

    Partitions are kept in the precision that they have; those without records are left out.
    """
    from dask import delayed

    as_block = delayed(_as_block, pure=False)
    futures = client.compute([as_block(part) for part in np.ravel(table.to_delayed())])
    measured = results_of(client, client.map(measure_part, futures, pure=False))
    whole = check_statistics(measured, list(table.columns) if hasattr(table, "columns") else range(table.shape[1]))
    filled = [(future, one.n_records) for future, one in zip(futures, measured, strict=True) if one is not None]
    return Shards(*zip(*filled)), whole


def _list_some(numbers: Sequence[int], most: int = 5) -> str:
    return ", ".join(map(str, numbers[:most])) + (", ..." if len(numbers) > most else "")


def _as_block(part: Any) -> Floats:
    """On a worker: a partition as an array of floats of its own precision."""
    if not hasattr(part, "to_numpy"):
        return np.ascontiguousarray(part, dtype=np.float32 if part.dtype == np.float32 else np.float64)
    dtype = np.float32 if all(kind == np.float32 for kind in part.dtypes) else np.float64
    return np.ascontiguousarray(part.to_numpy(dtype=dtype, na_value=np.nan))
