"""Records in this machine's memory, evaluated block by block on one or more threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.engines.protocol import add_in_order, blocks

Result = TypeVar("Result")


class LocalEngine:
    """Evaluates functions of blocks of records, always on the same blocks and in the same order of summation.

    The number of threads therefore changes the time and nothing else: results are bit-identical.

    Parameters
    ----------
    X : ndarray of shape (M, N)
        The records; may be a memory map.
    threads : int, default=1
    block_rows : int, default=1024
        Records handed to a function at a time: enough for full matrix products, few enough for the cache.
    tile_rows : int, default=256
        Records on each side of a tile: two tiles of doubles and their operands fit in a core's cache.

    Notes
    -----
    Use as a context manager, so that the threads end with the work.
    """

    stripes = 8
    """Fixed, so that the order of summation never depends on the number of threads."""

    batch_bytes = 0
    """Evaluations of many fits at once take as long as one after the other, or longer: they leave the cache."""

    def __init__(
        self, X: NDArray[np.floating[Any]], *, threads: int = 1, block_rows: int = 1024, tile_rows: int = 256
    ) -> None:
        self.X = X
        self.n_records = len(X)
        self.block_rows, self.tile_rows = block_rows, tile_rows
        _keep_freed_memory()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="ifair") if threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order."""
        if self._pool is None or n_tasks == 1:
            return map(function, range(n_tasks))
        return self._pool.map(function, range(n_tasks))

    def map(self, function: Callable[[NDArray[np.floating[Any]], slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""
        rows = blocks(self.n_records, self.block_rows)

        def on_block(i: int) -> Result:
            return function(np.asarray(self.X[rows[i]], dtype=np.float64), rows[i])

        return self.run(on_block, len(rows))

    def sum(self, function: Callable[[NDArray[np.floating[Any]], slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        return add_in_order(self.map(function))

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions."""
        return np.asarray(self.X[indices], dtype=np.float64)

    def send(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays themselves: they are where they are needed."""
        return arrays

    def fetch(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays themselves."""
        return arrays

    def evaluate(self, function: Callable[..., tuple[Any, ...]], *arrays: Any) -> tuple[Any, ...]:
        """Call the function."""
        return function(*arrays)


def _keep_freed_memory() -> None:
    """Have the C library keep the memory of a tile for the next one, instead of asking the system for it anew.

    glibc gives freed memory back above a threshold that rises to the largest array freed so far: one array, never
    written to, is enough. Without it a fifth of an evaluation on 1,000 records goes into page faults.
    """
    np.empty(16 * 2**20, dtype=np.uint8)
