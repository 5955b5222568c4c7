"""One door for tables: what models ask of X, wherever it lives. Here the door itself, and tables in memory."""

import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ifair.core.arrays import is_tensor, limit_products, to_host
from ifair.engines.engine import Engine, LocalEngine, blocks, open_engine
from ifair.engines.streamed import ChunkReader
from ifair.errors import IfairError

Found = TypeVar("Found")
Floats = NDArray[np.floating[Any]]
Validate = Callable[[Any], Floats]
"""Checks names and number of columns, and what is in them, as scikit-learn does; gives an array of floats."""

MAPPED_ROWS = 1024
"""Records that are mapped at a time: they stay in a core's cache."""


class ColumnStatistics(NamedTuple):
    """What must be known of every column before a fit, both of shape (N,)."""

    mean: NDArray[np.float64]
    largest: Floats
    """Largest absolute value."""


class RowMap(Protocol):
    """A function of records that can be computed wherever they are; it can be pickled."""

    @property
    def n_outputs(self) -> int: ...

    def output_names(self, columns: Sequence[str]) -> list[str]:
        """Names of the results, from those of a table's columns."""

    def prepare(self, engine: Engine) -> Callable[[Any], Any]:
        """The function itself, from a block of the engine's records to rows of results."""


class Table(ABC):
    """Records to fit or to map. Use as a context manager, so that nothing is left behind.

    Parameters
    ----------
    engine : str
        The name of the engine to fit with.
    n_jobs : int or None
        Threads of this process, or workers of a cluster on this machine.
    beside : mapping from str to array-like, collection or names of columns
        What belongs to the records and is none of their attributes: labels, groups, weights.
    """

    all_pairs_up_to: float = math.inf
    """Records of which all pairs may be compared: that takes something of every record in memory."""

    n_features: int
    dtype: np.dtype[Any]
    """Precision of what records are mapped to, single or double."""

    def __init__(self, *, engine: str, n_jobs: int | None, beside: Mapping[str, Any]) -> None:
        self.engine, self.n_jobs, self.beside = engine, n_jobs, beside
        self._resources, self._known = ExitStack(), dict[str, Any]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._resources.close()

    @property
    @abstractmethod
    def n_records(self) -> int: ...

    @property
    @abstractmethod
    def statistics(self) -> ColumnStatistics: ...

    @abstractmethod
    def open_engine(self) -> Any:
        """A context manager of the engine, which holds the records less their mean.

        Distances do not change when everything moves, but rounding errors do.
        """

    @abstractmethod
    def load_records(self) -> Floats:
        """All records, in this process."""

    @abstractmethod
    def load_columns(self, mask: NDArray[np.bool_]) -> Floats:
        """Some columns of all records, in this process."""

    @abstractmethod
    def map(self, function: RowMap) -> Any:
        """The function of all records, as the kind of table that this is."""

    @abstractmethod
    def map_blocks(self, function: RowMap, rows: int) -> Iterator[Any]:
        """The function of so many records at a time."""

    def labels(self, name: str) -> Any:
        """What stands beside the records under this name, in this process."""
        given = to_host(self.beside[name])
        if isinstance(given, str):
            raise IfairError(f"{given!r} names a column, which is read from Parquet files only: pass its values")
        return given

    @cached_property
    def sample_weight(self) -> Any:
        """The weights of the records, as they were given, in this process; None where there are none."""
        return None if self.beside.get("sample_weight") is None else self.labels("sample_weight")

    def find_once(self, name: str, find: Callable[[], Found]) -> Found:
        """What can be found out of the table under this name, found once for all fits of it."""
        if name not in self._known:
            self._known[name] = find()
        return self._known[name]

    def shrink_labels(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Whole numbers, one per record, in as few bytes as they take where they have to travel."""
        return numbers

    @property
    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    @property
    def _workers(self) -> int | None:
        """Processes of a cluster on this machine: unlike threads, one per core unless asked otherwise."""
        return None if self.n_jobs is None else int(effective_n_jobs(self.n_jobs))


class MemoryTable(Table):
    """Records in memory."""

    def __init__(self, X: Any, validate: Validate, **options: Any) -> None:
        super().__init__(**options)
        self.X = validate(X)
        self.n_features, self.dtype = self.X.shape[1], self.X.dtype

    @property
    def n_records(self) -> int:
        return len(self.X)

    @cached_property
    def statistics(self) -> ColumnStatistics:
        largest = np.maximum(self.X.max(axis=0), -self.X.min(axis=0))
        return ColumnStatistics(self.X.mean(axis=0, dtype=np.float64), largest)

    @contextmanager
    def open_engine(self) -> Iterator[Engine]:
        centred = self.X - self.statistics.mean
        with (
            limit_products(),
            open_engine(self.engine, centred, threads=self._threads, workers=self._workers) as engine,
        ):
            yield engine

    def load_records(self) -> Floats:
        return self.X

    def load_columns(self, mask: NDArray[np.bool_]) -> Floats:
        return self.X[:, mask]

    def map(self, function: RowMap) -> Floats:
        return map_array(self.X, function, self._threads)

    def map_blocks(self, function: RowMap, rows: int) -> Iterator[Floats]:
        return (map_array(self.X[part], function, self._threads) for part in blocks(self.n_records, rows))


def map_array(X: Floats, function: RowMap, threads: int = 1) -> Floats:
    """A function of the records of an array, in the array's precision."""
    result = np.empty((len(X), function.n_outputs), dtype=X.dtype)
    fill_result(LocalEngine(X, threads=threads, block_rows=MAPPED_ROWS), function, result)
    return result


def fill_result(engine: Engine, function: RowMap, result: Any) -> None:
    """Write the function of an engine's records into an array of the engine's kind; close the engine."""
    # Products of a block are too small to share among threads: whole blocks are shared instead, if they are several.
    several = engine.n_records > MAPPED_ROWS
    with limit_products() if several else nullcontext(), engine:
        map_rows = function.prepare(engine)

        def fill(block: Any, rows: slice) -> None:
            result[rows] = map_rows(block)

        for _ in engine.map(fill):
            pass


def open_table(
    X: Any,
    engine: str,
    validate: Validate,
    *,
    n_jobs: int | None = None,
    beside: Mapping[str, Any] | None = None,
    to_map: bool = False,
    known_columns: Sequence[str] | None = None,
    here: str | None = None,
) -> Table:
    """A table, wherever it is: an array or frame, a tensor, a collection of Dask or Spark, a memory map, a path.

    Parameters
    ----------
    validate
        Gets the table if it is in memory, else a blank one of few records with its columns and types.
    beside
        What belongs to the records and is none of their attributes: values, or names of columns, which are then no
        part of the table.
    to_map
        Records to represent by a fitted model. They are mapped where they are, whatever the engine: that is less work
        than moving them.
    known_columns
        The columns to read of files that have them all.
    here
        The method that needs the records in this process, or read by it: tensors are brought here, and tables on a
        cluster are refused.
    """
    options: dict[str, Any] = {"engine": engine, "n_jobs": n_jobs, "beside": beside or {}}
    X = X if here is None else to_host(X)
    is_path, with_dask = isinstance(X, str | os.PathLike), engine.partition(":")[0] == "dask"
    if is_spark_frame(X):
        from ifair.inputs.spark_table import SparkTable

        return SparkTable(X, validate, here=here, **options)
    if (is_collection(X) and (with_dask or engine == "auto")) or (is_path and with_dask):
        from ifair.inputs.dask_table import DaskTable

        return DaskTable(X, validate, here=here, **options)
    if is_tensor(X):
        from ifair.inputs.tensor import MappedTensor, TensorTable

        return (MappedTensor if to_map else TensorTable)(X, validate, **options)
    # Arrays that are no part of another are in memory.
    if is_path or (X.base is not None if isinstance(X, np.ndarray) else isinstance(X, ChunkReader)):
        from ifair.inputs.disk import DiskTable, find_records

        records = find_records(X, "local" if to_map else engine, options["beside"].values(), known_columns)
        if records is not None:
            return DiskTable(records, validate, **options)
    return MemoryTable(X, validate, **options)


def is_collection(x: Any) -> bool:
    """Whether this is an array or a data frame of Dask; does not import it."""
    return "dask" in sys.modules and bool(sys.modules["dask"].is_dask_collection(x))


def is_spark_frame(x: Any) -> bool:
    """Whether this is a data frame of Spark; does not import it."""
    return "pyspark" in sys.modules and type(x).__module__.startswith("pyspark.sql.") and hasattr(x, "mapInPandas")


def find_names(columns: Sequence[Any], what: Any) -> list[str]:
    """The names among those of columns that are meant by ``what``; none where it is something else."""
    names = [what] if isinstance(what, str) else what
    if isinstance(names, list | tuple) and names and all(isinstance(n, str) and n in columns for n in names):
        return list(names)
    return []
