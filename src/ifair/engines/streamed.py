"""Records on disk, evaluated block by block while the next ones are being read."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.engines.local import LocalEngine
from ifair.engines.protocol import blocks
from ifair.engines.records import Records, chunk_rows

Result = TypeVar("Result")
Item = TypeVar("Item")


class StreamedEngine(LocalEngine):
    """The local engine for records that are not in memory: same blocks, same sums, bit by bit.

    A thread reads the next chunk while the blocks of this one are worked on. What is held at any time is three chunks.

    Parameters
    ----------
    records : Records
    centre : ndarray of shape (N,), optional
        Subtracted from every record as it is read.
    threads, block_rows, tile_rows : int
        As of :class:`ifair.engines.local.LocalEngine`.
    """

    def __init__(
        self,
        records: Records,
        centre: NDArray[np.float64] | None = None,
        *,
        threads: int = 1,
        block_rows: int = 1024,
        tile_rows: int = 256,
    ) -> None:
        super().__init__(np.empty((0, records.shape[1])), threads=threads, block_rows=block_rows, tile_rows=tile_rows)
        self.records, self.centre = records, centre
        self.n_records = len(records)

    def map(self, function: Callable[[NDArray[np.floating[Any]], slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""
        rows = chunk_rows(self.records.shape[1], self.block_rows)
        start = 0
        for chunk in prefetched(map(self._centred, self.records.chunks(rows))):
            cut = blocks(len(chunk), self.block_rows)

            def on_block(
                i: int, chunk: NDArray[np.float64] = chunk, cut: list[slice] = cut, start: int = start
            ) -> Result:
                return function(chunk[cut[i]], slice(start + cut[i].start, start + cut[i].stop))

            yield from self.run(on_block, len(cut))
            start += len(chunk)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions."""
        return self._centred(self.records.take(indices))

    def _centred(self, chunk: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.centre is not None:
            chunk -= self.centre
        return chunk


def prefetched(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, of which a thread makes the next one while this one is used."""
    nothing = object()
    with ThreadPoolExecutor(1, thread_name_prefix="ifair-read") as reader:
        coming = reader.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = reader.submit(next, items, nothing)
            yield item  # type: ignore[misc]
