"""Records in this machine's memory, evaluated block by block on one or more threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

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

    Notes
    -----
    Use as a context manager, so that the threads end with the work.
    """

    def __init__(self, X: NDArray[np.floating[Any]], *, threads: int = 1, block_rows: int = 1024) -> None:
        self.X = X
        self.n_records = len(X)
        self.block_rows = block_rows
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
        starts = range(0, self.n_records, self.block_rows)

        def on_block(i: int) -> Result:
            rows = slice(starts[i], min(starts[i] + self.block_rows, self.n_records))
            return function(np.asarray(self.X[rows], dtype=np.float64), rows)

        return self.run(on_block, len(starts))

    def sum(self, function: Callable[[NDArray[np.floating[Any]], slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        return add_in_order(self.map(function))


def _keep_freed_memory() -> None:
    """Have the C library keep the memory of a tile for the next one, instead of asking the system for it anew.

    glibc gives freed memory back above a threshold that rises to the largest array freed so far: one array, never
    written to, is enough. Without it a fifth of an evaluation on 1,000 records goes into page faults.
    """
    np.empty(16 * 2**20, dtype=np.uint8)


def add_in_order(parts: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Element-wise sum of tuples, in the order in which they come."""
    total = next(parts)
    for part in parts:
        total = tuple(a + b for a, b in zip(total, part))
    return total
