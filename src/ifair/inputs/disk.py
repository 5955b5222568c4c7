"""Tables on disk: memory maps, and files of arrays or of Parquet, read chunk by chunk and not kept."""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.core.arrays import limit_products
from ifair.engines.engine import Engine, blocks
from ifair.engines.streamed import ChunkReader, StreamedEngine, chunk_rows, prefetch
from ifair.errors import IfairError
from ifair.inputs.parquet import ParquetRecords
from ifair.inputs.table import MAPPED_ROWS, ColumnStatistics, Floats, RowMap, Table, Validate, find_names, map_array

ALL_PAIRS_UP_TO = 50_000
"""Records of which all pairs are compared; more than this neither time nor memory would allow."""

TAKEN_AT_ONCE = 1024
"""Scattered records read between two releases of a map: each may bring its neighbourhood into memory."""


class DiskTable(Table):
    """Records that are read anew whenever they are needed."""

    all_pairs_up_to = ALL_PAIRS_UP_TO

    def __init__(self, records: ChunkReader, validate: Validate, **options: Any) -> None:
        super().__init__(**options)
        self.records = records
        self.n_features, self.dtype = records.shape[1], records.dtype
        blank: Any = np.zeros((min(len(records), 2), self.n_features), dtype=self.dtype)
        validate(blank if records.columns is None else pd.DataFrame(blank, columns=records.columns))

    @property
    def n_records(self) -> int:
        return len(self.records)

    @cached_property
    def _record_reader(self) -> ChunkReader:
        """The records for a fit, which reads them over and over: what must be decoded is decoded once, if it may be."""
        records = self.records
        if not isinstance(records, ParquetRecords) or records.spool is False:
            return records
        from ifair.inputs.temporary_copy import TemporaryCopy

        folder = None if records.spool is True else records.spool
        return self._resources.enter_context(TemporaryCopy(records, folder))

    def _read_chunks(self, reader: ChunkReader, rows: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """All records, so many at a time, and their positions; refuses what is missing or infinite."""
        start = 0
        for chunk in prefetch(reader.chunks(rows)):
            check_finite(chunk, start, self.records.columns)
            yield slice(start, start + len(chunk)), chunk
            start += len(chunk)

    @cached_property
    def statistics(self) -> ColumnStatistics:
        total, largest = np.zeros(self.n_features), np.zeros(self.n_features)
        for _, chunk in self._read_chunks(self._record_reader, chunk_rows(self.n_features)):
            np.maximum(largest, np.abs(chunk).max(axis=0), out=largest)
            # Row after row on top of the sum so far: the rounding is that of a sum over the whole table.
            chunk[0] += total
            total = chunk.sum(axis=0)
        return ColumnStatistics(total / self.n_records, largest)

    @contextmanager
    def open_engine(self) -> Iterator[Engine]:
        with (
            limit_products(),
            StreamedEngine(self._record_reader, self.statistics.mean, threads=self._threads) as engine,
        ):
            yield engine

    def load_records(self) -> Floats:
        return self._record_reader.take(np.arange(self.n_records))

    def load_columns(self, mask: NDArray[np.bool_]) -> Floats:
        loaded = np.empty((self.n_records, int(mask.sum())), dtype=self.dtype)
        for rows, chunk in self._read_chunks(self._record_reader, chunk_rows(self.n_features)):
            loaded[rows] = chunk[:, mask]
        return loaded

    def labels(self, name: str) -> Any:
        """Values, or columns of Parquet files by their names."""
        names = _column_names(self.records, self.beside[name])
        if not names:
            return super().labels(name)
        assert isinstance(self.records, ParquetRecords)
        columns = {name: self.records.column(name) for name in names}
        return columns[names[0]] if len(names) == 1 else pd.DataFrame(columns)

    def map(self, function: RowMap) -> Floats:
        result, start = np.empty((self.n_records, function.n_outputs), dtype=self.dtype), 0
        for mapped in self.map_blocks(function, chunk_rows(self.n_features, MAPPED_ROWS)):
            result[start : start + len(mapped)] = mapped
            start += len(mapped)
        return result

    def map_blocks(self, function: RowMap, rows: int) -> Iterator[Floats]:
        for _, chunk in self._read_chunks(self.records, rows):
            yield map_array(chunk.astype(self.dtype, copy=False), function, self._threads)


class MappedRecords:
    """Rows of a memory-mapped array.

    Pages of a map count as memory of the process from the first look at them. They are given back after every chunk,
    unless that could lose something: a map opened to be changed in memory only (mode "c") keeps them.
    """

    columns: list[str] | None = None

    def __init__(self, X: NDArray[Any]) -> None:
        self.X: NDArray[Any] = np.asarray(X)
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        backing, mode = _find_map(X)
        self._map = backing if mode in ("r", "r+", "w+") and hasattr(mmap, "MADV_DONTNEED") else None

    def __len__(self) -> int:
        return self.shape[0]

    def chunks(self, rows: int) -> Iterator[NDArray[np.float64]]:
        for part in blocks(len(self), rows):
            yield self._read(part)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        parts = [self._read(indices[part]) for part in blocks(len(indices), TAKEN_AT_ONCE)]
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]))

    def _read(self, rows: Any) -> NDArray[np.float64]:
        read = np.array(self.X[rows], dtype=np.float64, order="C")
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)
        return read


def is_mapped(X: Any) -> bool:
    """Whether this is a two-dimensional array of numbers that lie in a memory map, not in memory."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub" and _find_map(X)[0] is not None


def _find_map(X: Any) -> tuple[Any, str]:
    """The map that an array's numbers lie in, or None, and the mode it was opened in, if known."""
    mode, owner = "", X
    while owner is not None and not isinstance(owner, mmap.mmap):
        mode = getattr(owner, "mode", mode) or mode
        owner = getattr(owner, "base", None)
    return owner, mode


def find_records(
    X: Any, engine: str, beside: Iterable[Any] = (), known_columns: Sequence[str] | None = None
) -> ChunkReader | None:
    """The records, where ``X`` says where on disk they are: a path, a memory map, a reader; else None.

    Not all engines can read as they go. Columns that are named ``beside`` are no part of the records; ``known_columns``
    are those to read at a path that has them all.
    """
    streams = engine in ("auto", "local")
    if is_mapped(X):
        return MappedRecords(X) if streams else None
    beside = list(beside)

    def choose_columns(names: list[str]) -> list[str]:
        if known_columns is not None and set(known_columns) <= set(names):
            return list(known_columns)
        return [name for name in names if not any(name in _names(names, what) for what in beside)]

    if isinstance(X, str | os.PathLike):
        if engine.partition(":")[0] == "spark":
            raise IfairError(f"engine={engine!r} takes data frames of Spark: pass spark.read.parquet(path), not a path")
        X = read_records(X, choose_columns)
    elif not isinstance(X, ChunkReader):
        return None
    if not streams:
        raise IfairError(
            f"engine={engine!r} keeps all records on the device and cannot read them from disk as it goes; "
            "use engine='local', or load the table into memory and pass that"
        )
    if isinstance(X, ParquetRecords):
        X = X.without([name for what in beside for name in _column_names(X, what)])
    return X


def _column_names(records: ChunkReader, what: Any) -> list[str]:
    """The columns of Parquet files that are meant; none where these are values."""
    return _names(records.all_columns, what) if isinstance(records, ParquetRecords) else []


def _names(columns: list[str], what: Any) -> list[str]:
    # A single name is meant as one also where the table lacks it, which is then told.
    return [what] if isinstance(what, str) else find_names(columns, what)


def read_records(
    path: str | os.PathLike[str], columns: Callable[[list[str]], Sequence[str]] | None = None
) -> ChunkReader:
    """The records in a file: a NumPy array (``.npy``), which is mapped, or a Parquet file or folder.

    ``columns`` chooses, from the names of all columns, those to read, where there are names.
    """
    path = Path(path)
    if path.suffix != ".npy":
        return ParquetRecords(path, columns)
    X = np.load(path, mmap_mode="r")
    if not is_mapped(X):
        raise IfairError(f"{path.name} must hold a table of numbers, got shape {X.shape} of {X.dtype}")
    return MappedRecords(X)


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
        raise IfairError(
            f"Input X contains NaN or infinity: {chunk[row, column]} in the record at index {start + row}, "
            f"column {name!r}; fill or drop what is missing first (ifair.Encoder does)"
        )
