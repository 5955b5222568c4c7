"""Records that stay on disk: a memory map, or a Parquet file or folder, read chunk by chunk and not kept."""

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ifair.engines.protocol import blocks

CHUNK_BYTES = 8 * 2**20
"""Doubles read at a time: few enough to hold several chunks anywhere, enough for a disk to be asked seldom."""

TAKEN_AT_ONCE = 1024
"""Scattered records read between two releases of a map: each may bring its neighbourhood into memory."""


class Records(Protocol):
    """A table of numbers on disk.

    ``columns`` are the names of the columns, None where there are none; ``dtype`` is that of the result of `transform`,
    single or double. What is read is always in double precision, and belongs to the caller.
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def columns(self) -> list[str] | None: ...

    def __len__(self) -> int: ...

    def chunks(self, rows: int) -> Iterator[NDArray[np.float64]]:
        """All records in order, so many at a time; the last chunk may be smaller."""

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions."""


class MappedRecords:
    """Rows of a memory-mapped array.

    Pages of a map count as memory of the process from the first look at them. They are given back after every chunk,
    unless that could lose something: a map opened to be changed in memory only (mode "c") keeps them.

    Parameters
    ----------
    X : ndarray of shape (M, N)
        An array whose numbers lie in a memory map, such as ``np.load(path, mmap_mode="r")`` or a part of it.
    """

    columns: list[str] | None = None

    def __init__(self, X: NDArray[Any]) -> None:
        self.X: NDArray[Any] = np.asarray(X)
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self._map = _releasable_map(X)

    def __len__(self) -> int:
        return self.shape[0]

    def chunks(self, rows: int) -> Iterator[NDArray[np.float64]]:
        """All records in order, so many at a time."""
        for part in blocks(len(self), rows):
            yield self._read(part)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions."""
        parts = [self._read(indices[part]) for part in blocks(len(indices), TAKEN_AT_ONCE)]
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]))

    def _read(self, rows: Any) -> NDArray[np.float64]:
        read = np.array(self.X[rows], dtype=np.float64, order="C")
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)
        return read


def is_mapped(X: Any) -> bool:
    """Whether this is a two-dimensional array of numbers that lie in a memory map, not in memory."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub" and _backing(X)[0] is not None


def _backing(X: Any) -> tuple[Any, str]:
    """The map that an array's numbers lie in, or None, and the mode it was opened in, if known."""
    mode, owner = "", X
    while owner is not None and not isinstance(owner, mmap.mmap):
        mode = getattr(owner, "mode", mode) or mode
        owner = getattr(owner, "base", None)
    return owner, mode


def _releasable_map(X: Any) -> Any:
    """The map of an array if its pages can be given back without losing changes, else None."""
    backing, mode = _backing(X)
    return backing if mode in ("r", "r+", "w+") and hasattr(mmap, "MADV_DONTNEED") else None


def records_at(path: str | os.PathLike[str], columns: Callable[[list[str]], Sequence[str]] | None = None) -> Records:
    """The records in a file: a NumPy array (``.npy``), which is mapped, or a Parquet file or folder.

    Parameters
    ----------
    path : str or path-like
    columns : callable, optional
        From the names of all columns to those to read, where there are names.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r} to read records from")
    if path.suffix != ".npy":
        from ifair.engines.parquet import ParquetRecords

        return ParquetRecords(path, columns)
    X = np.load(path, mmap_mode="r")
    if not is_mapped(X):
        raise ValueError(f"{path.name} must hold a table of numbers, got shape {X.shape} of {X.dtype}")
    return MappedRecords(X)


def chunk_rows(n_columns: int, block_rows: int = 1024) -> int:
    """Records to read at a time: a whole number of blocks, at least one."""
    return max(1, CHUNK_BYTES // (8 * max(n_columns, 1) * block_rows)) * block_rows
