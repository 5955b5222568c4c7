"""Data frames of Spark as shards on executors."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.records import chunk_rows
from ifair.engines.spark import Shards, SparkEngine, kept
from ifair.engines.spark_session import check_master, context_of, quiet, results_of
from ifair.engines.totals import Look, look, together, total


def found(table: Any) -> Any:
    """The table itself."""
    return table


def as_collection(table: Any) -> Any:
    """A data frame of Spark with numbers of one precision in its columns: single if all are, else double."""
    from pyspark.sql import functions
    from pyspark.sql.types import BooleanType, FloatType, NumericType

    for field in table.schema.fields:
        if not isinstance(field.dataType, NumericType | BooleanType):
            raise ValueError(
                f"column {field.name!r} holds {field.dataType.simpleString()}, not numbers: encode it first "
                "(ifair.Encoder, fitted on a sample, does so in mapInPandas), or leave it out"
            )
    names = table.columns
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"X has more than one column of the name {repeated[0]!r}: rename or drop some")
    kind = "float" if all(isinstance(field.dataType, FloatType) for field in table.schema.fields) else "double"
    return table.select(*(functions.col(quoted(name)).cast(kind).alias(name) for name in names))


def quoted(name: str) -> str:
    """A column's name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def numbered(table: Any) -> Any:
    """The table with columns ``c0``, ``c1``, ...: Spark's ways from frames to Python stumble over dots in names."""
    from pyspark.sql import functions

    return table.select(*(functions.col(quoted(name)).alias(f"c{j}") for j, name in enumerate(table.columns)))


def blank(table: Any, rows: int = 2) -> pd.DataFrame:
    """A table in this process with the columns and the precision of a collection, and zeros in it."""
    return pd.DataFrame(np.zeros((rows, len(table.columns)), dtype=dtype_of(table)), columns=list(table.columns))


def dtype_of(table: Any) -> np.dtype[Any]:
    """The precision of a collection."""
    return np.dtype(np.float32 if table.dtypes[0][1] == "float" else np.float64)


@contextmanager
def opened(
    table: Any,
    master: str = "",
    workers: int | None = None,  # noqa: ARG001 (as for Dask)
) -> Iterator[tuple[SparkEngine, Look]]:
    """An engine with the records of a collection less their mean, and a look at them as they are.

    Parameters
    ----------
    table : DataFrame
        Of :func:`as_collection`; its session is used.
    master : str
        Where that session must be; empty for anywhere.
    workers : int, optional
        Not used: the session has what it has.
    """
    session = table.sparkSession
    check_master(session, master)
    with quiet():
        batches = numbered(table).mapInArrow(_Pieces(dtype_of(table), len(table.columns)), "piece binary")
    pieces = kept(batches.rdd.map(_Array(dtype_of(table), len(table.columns))))
    try:
        looks = results_of(context_of(session), pieces.mapPartitions(_look).collect, f"ifair-{uuid4().hex}")
        whole = total(looks, table.columns)
        shards = Shards(pieces, [0 if one is None else one.rows for one in looks])
        with SparkEngine(shards, session, centre=whole.centre) as engine:
            yield engine, whole
    finally:
        pieces.unpersist()


@contextmanager
def unchanging(table: Any) -> Iterator[Any]:
    """The table, the same in every pass over it: kept, because records may change places when they are made anew."""
    if table.is_cached:
        yield table
        return
    table.persist()
    try:
        yield table
    finally:
        table.unpersist()


def without(table: Any, names: list[str]) -> Any:
    """The table less some columns."""
    return table.drop(*names)


def chosen(table: Any, columns: list[int]) -> list[str]:
    """Some columns of the table, by their positions."""
    return [table.columns[j] for j in columns]


def columns_here(engine: SparkEngine, table: Any, what: Any, name: str) -> NDArray[Any]:
    """Columns of the table by their names, in this process.

    Parameters
    ----------
    engine : SparkEngine
        With the records of the table.
    table : DataFrame
    what : str or list of str
    name : str
        What to call it in errors.
    """
    names = [what] if isinstance(what, str) else list(what)
    values = table.select(*map(quoted, names)).rdd.mapPartitions(_columns)
    parts = results_of(engine.context, values.collect, f"ifair-{uuid4().hex}")
    filled = [part for part in parts if part is not None]
    if tuple(len(part[0]) for part in filled) != engine.rows:
        raise ValueError(f"{name} has other records than X: write the table to files and read it from there")
    columns = [np.concatenate([part[j] for part in filled]) for j in range(len(names))]
    return columns[0] if isinstance(what, str) else np.column_stack(columns)


def _columns(rows: Iterable[Any]) -> list[list[NDArray[Any]] | None]:
    """On an executor: the columns of a partition."""
    columns = list(zip(*rows))
    return [[np.asarray(pd.Series(column)) for column in columns] if columns else None]


@dataclass(frozen=True)
class _Pieces:
    """On an executor: batches of Arrow as arrays of so many records, in bytes.

    A partition is held a piece at a time. Pieces are a whole number of blocks, so that blocks do not depend on them.
    """

    dtype: np.dtype[Any]
    n_columns: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for piece in _pieces_of((self._array(batch) for batch in batches), chunk_rows(self.n_columns)):
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([piece.tobytes()], pyarrow.binary())], ["piece"])

    def _array(self, batch: Any) -> NDArray[Any]:
        columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        array: NDArray[Any] = np.stack(columns, axis=1).astype(self.dtype, copy=False)
        return array


def _pieces_of(arrays: Iterable[NDArray[Any]], rows: int) -> Iterator[NDArray[Any]]:
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


@dataclass(frozen=True)
class _Array:
    """On an executor: a piece as an array again."""

    dtype: np.dtype[Any]
    n_columns: int

    def __call__(self, row: Any) -> NDArray[Any]:
        return np.frombuffer(row[0], dtype=self.dtype).reshape(-1, self.n_columns)


def _look(pieces: Iterable[NDArray[Any]]) -> list[Look | None]:
    return [together(map(look, pieces))]
