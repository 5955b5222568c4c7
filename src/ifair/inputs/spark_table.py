"""Data frames of Spark as shards on executors."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.engine import require_packages
from ifair.engines.spark import Shards, SparkEngine, persist
from ifair.engines.spark_session import check_master, context_of, quiet, results_of
from ifair.engines.streamed import chunk_rows
from ifair.errors import IfairError
from ifair.inputs.cluster_table import ClusterTable, PartStatistics, check_statistics, join_statistics, measure_part
from ifair.inputs.partitions import quote_name
from ifair.inputs.table import Validate


class SparkTable(ClusterTable):
    """A data frame of Spark, with numbers of one precision in its columns: single if all are, else double."""

    _engine_and_statistics: tuple[SparkEngine, PartStatistics]

    def __init__(self, X: Any, validate: Validate, *, engine: str, **options: Any) -> None:
        if engine.partition(":")[0] not in ("auto", "spark"):
            raise IfairError(
                f"engine={engine!r} cannot read a data frame of Spark: use engine='spark', or pass its toPandas()"
            )
        require_packages("spark")
        super().__init__(X, validate, engine=engine, **options)

    def _as_numbers(self) -> Any:
        from pyspark.sql import functions
        from pyspark.sql.types import BooleanType, FloatType, NumericType

        table = self.whole.drop(*self._named)
        for field in table.schema.fields:
            if not isinstance(field.dataType, NumericType | BooleanType):
                raise IfairError(
                    f"column {field.name!r} holds {field.dataType.simpleString()}, not numbers: encode it first "
                    "(ifair.Encoder, fitted on a sample, does so in mapInPandas), or leave it out"
                )
        names = table.columns
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise IfairError(f"X has more than one column of the name {repeated[0]!r}: rename or drop some")
        kind = "float" if all(isinstance(field.dataType, FloatType) for field in table.schema.fields) else "double"
        return table.select(*(functions.col(quote_name(name)).cast(kind).alias(name) for name in names))

    @property
    def _to_map(self) -> Any:
        """The records with columns ``c0``, ``c1``, ...: Spark's ways from frames to Python stumble over dots."""
        from pyspark.sql import functions

        names = enumerate(self.records.columns)
        return self.records.select(*(functions.col(quote_name(name)).alias(f"c{j}") for j, name in names))

    def _blank(self, rows: int) -> pd.DataFrame:
        dtype = np.float32 if self.records.dtypes[0][1] == "float" else np.float64
        columns = list(self.records.columns)
        return pd.DataFrame(np.zeros((rows, len(columns)), dtype=dtype), columns=columns)

    def _load_engine(self) -> tuple[SparkEngine, PartStatistics]:
        session = self.records.sparkSession
        check_master(session, self.engine.partition(":")[2])
        self._keep_unchanged()
        with quiet():
            batches = self._to_map.mapInArrow(partial(_cut_batches, self.dtype, self.n_features), "piece binary")
        pieces = persist(batches.rdd.map(partial(_read_piece, self.dtype, self.n_features)))
        self._resources.callback(pieces.unpersist)
        measured = results_of(context_of(session), pieces.mapPartitions(_measure).collect, f"ifair-{uuid4().hex}")
        whole = check_statistics(measured, self.records.columns)
        shards = Shards(pieces, [0 if one is None else one.n_records for one in measured])
        return self._resources.enter_context(SparkEngine(shards, session, centre=whole.mean)), whole

    def _keep_unchanged(self) -> None:
        """Have every pass over the table see the same: records may change places when they are made anew."""
        if self.beside and not self.whole.is_cached:
            self.whole.persist()
            self._unchanged.callback(self.whole.unpersist)

    def _choose_columns(self, positions: list[int]) -> list[str]:
        return [self.records.columns[j] for j in positions]

    def _gather_columns(self, what: Any, name: str) -> NDArray[Any]:
        engine = self._engine_and_statistics[0]
        names = [what] if isinstance(what, str) else list(what)
        values = self.whole.select(*map(quote_name, names)).rdd.mapPartitions(_columns)
        parts = results_of(engine.context, values.collect, f"ifair-{uuid4().hex}")
        filled = [part for part in parts if part is not None]
        if tuple(len(part[0]) for part in filled) != engine.rows:
            raise IfairError(f"{name} has other records than X: write the table to files and read it from there")
        columns = [np.concatenate([part[j] for part in filled]) for j in range(len(names))]
        return columns[0] if isinstance(what, str) else np.column_stack(columns)


def _columns(rows: Iterable[Any]) -> list[list[NDArray[Any]] | None]:
    """On an executor: the columns of a partition."""
    columns = list(zip(*rows))
    return [[np.asarray(pd.Series(column)) for column in columns] if columns else None]


def _cut_batches(dtype: np.dtype[Any], n_columns: int, batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: batches of Arrow as arrays of so many records, in bytes.

    A partition is held a piece at a time. Pieces are a whole number of blocks, so that blocks do not depend on them.
    """
    import pyarrow

    columns = ([column.to_numpy(zero_copy_only=False) for column in batch.columns] for batch in batches)
    arrays = (np.stack(of_batch, axis=1).astype(dtype, copy=False) for of_batch in columns)
    for piece in cut_pieces(arrays, chunk_rows(n_columns)):
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([piece.tobytes()], pyarrow.binary())], ["piece"])


def cut_pieces(arrays: Iterable[NDArray[Any]], rows: int) -> Iterator[NDArray[Any]]:
    """Arrays of ``rows`` records each, the last one of the rest."""
    waiting: list[NDArray[Any]] = []
    for array in arrays:
        waiting.append(array)
        if sum(map(len, waiting)) >= rows:
            joined = np.concatenate(waiting)
            full = len(joined) // rows * rows
            for start in range(0, full, rows):
                yield joined[start : start + rows]
            waiting = [joined[full:]]
    rest = np.concatenate(waiting) if waiting else ()
    if len(rest):
        yield np.asarray(rest)


def _read_piece(dtype: np.dtype[Any], n_columns: int, row: Any) -> NDArray[Any]:
    """On an executor: a piece as an array again."""
    return np.frombuffer(row[0], dtype=dtype).reshape(-1, n_columns)


def _measure(pieces: Iterable[NDArray[Any]]) -> list[PartStatistics | None]:
    """On an executor: the statistics of a partition."""
    return [join_statistics(map(measure_part, pieces))]
