"""Records that are read chunk by chunk, evaluated block by block while the next ones are being read."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ifair.engines.engine import LocalEngine, blocks

Result = TypeVar("Result")
Item = TypeVar("Item")

CHUNK_BYTES = 8 * 2**20
"""Doubles read at a time: few enough to hold several chunks anywhere, enough for a disk to be asked seldom."""


@runtime_checkable
class ChunkReader(Protocol):
    """A table of numbers that is not in memory.

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


class StreamedEngine(LocalEngine):
    """The local engine for records that are not in memory: same blocks, same sums, bit by bit where it is not sparse.

    A thread reads the next chunk while the blocks of this one are worked on. What is held at any time is three chunks.
    The ``centre``, shape (N,), is subtracted from every record as it is read.
    """

    def __init__(
        self,
        reader: ChunkReader,
        centre: NDArray[np.float64] | None = None,
        *,
        threads: int = 1,
        block_rows: int = 1024,
        tile_rows: int = 256,
    ) -> None:
        super().__init__(np.empty((0, reader.shape[1])), threads=threads, block_rows=block_rows, tile_rows=tile_rows)
        self.reader, self.centre = reader, centre
        self.n_records = len(reader)

    def map(self, function: Callable[[NDArray[np.floating[Any]], slice], Result]) -> Iterator[Result]:
        rows = chunk_rows(self.reader.shape[1], self.block_rows)
        start = 0
        for chunk in prefetch(map(self._subtract_centre, self.reader.chunks(rows))):
            cut = blocks(len(chunk), self.block_rows)

            def on_block(i: int, chunk: Any = chunk, cut: list[slice] = cut, start: int = start) -> Result:
                return function(chunk[cut[i]], slice(start + cut[i].start, start + cut[i].stop))

            yield from self.run(on_block, len(cut))
            start += len(chunk)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return self._subtract_centre(self.reader.take(indices))

    def _subtract_centre(self, chunk: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.centre is not None:
            chunk -= self.centre
        return chunk


def chunk_rows(n_columns: int, block_rows: int = 1024) -> int:
    """Records to read at a time: a whole number of blocks, at least one."""
    return max(1, CHUNK_BYTES // (8 * max(n_columns, 1) * block_rows)) * block_rows


def prefetch(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, of which a thread makes the next one while this one is used."""
    nothing = object()
    with ThreadPoolExecutor(1, thread_name_prefix="ifair-read") as reader:
        coming = reader.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = reader.submit(next, items, nothing)
            yield item  # type: ignore[misc]
