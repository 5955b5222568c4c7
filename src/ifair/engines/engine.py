"""What an engine is: it holds records in blocks and sums functions of them. The plain one, and one by its name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import split_departures
from ifair.errors import IfairError, require_extra

Result = TypeVar("Result")
Kernel = TypeVar("Kernel")


class Engine(ABC):
    """Holds the records, in arrays of its own kind, and evaluates functions of them.

    Functions get blocks of records as double-precision arrays of the engine's kind. What they need to know besides is
    sent to the engine once, and what they sum up is fetched once: in between nothing waits for a device or a network.
    """

    n_records: int
    block_rows: int
    """Most records in a block."""
    tile_rows: int
    """Most records on each side of a tile of pairs."""

    stripes: int = 8
    """Independent shares to divide the tiles of all pairs into, for :meth:`run`. Fixed, so that the order of summation
    never depends on the number of threads or workers."""

    batch_bytes: int = 0
    """What the arrays of many fits, evaluated at once, may take; 0 where that takes as long as one after the other."""

    room: int = 0
    """Bytes that terms of all fits may keep beside the records, from one evaluation to the next."""

    recorded: bool = False
    """Whether :meth:`evaluate` records a function, so that arrays of every new shape cost a recording."""

    @abstractmethod
    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order."""

    @abstractmethod
    def map(self, function: Callable[[Any, slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""

    @abstractmethod
    def take(self, indices: NDArray[np.integer[Any]]) -> Any:
        """The records at these positions, as an array of the engine's kind."""

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        return add_in_order(self.map(function))

    def send(self, *arrays: Any) -> tuple[Any, ...]:
        """NumPy arrays as arrays of the engine's kind."""
        return arrays

    def fetch(self, *arrays: Any) -> tuple[Any, ...]:
        """Arrays of the engine's kind, without dimensions or with, as NumPy arrays of doubles, all in one go."""
        return arrays

    def evaluate(self, function: Callable[..., tuple[Any, ...]], *arrays: Any, once: bool = False) -> tuple[Any, ...]:
        """Send NumPy arrays, call ``function`` with them, and fetch the tuple of arrays that it returns.

        For one function that is called over and over, with arrays of the same shapes. It must not look at their
        values: what it does may be recorded in the first call and repeated in the others; not if it is asked ``once``.
        """
        return function(*arrays)

    def forget(self, function: Callable[..., tuple[Any, ...]]) -> None:
        """Drop what :meth:`evaluate` has recorded of a function, which is called no more."""
        return

    def fastest_kernel(self, kernel: Kernel, n_pairs: int, *, in_one: bool) -> Kernel:
        """A Euclidean pair kernel in the form that compares so many pairs fastest here.

        ``in_one``: whether a kernel in one piece may stand in for it.
        """
        return kernel

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *exception: object) -> None: ...


class LocalEngine(Engine):
    """Records in this machine's memory, evaluated on one or more threads.

    Blocks and the order of summation are always the same. The number of threads therefore changes the time and nothing
    else: results are bit-identical.

    Parameters
    ----------
    X : ndarray of shape (M, N)
        The records; may be a memory map.
    threads : int, default=1
    block_rows : int, default=1024
        Records handed to a function at a time: enough for full matrix products, few enough for the cache.
    tile_rows : int, default=256
        Records on each side of a tile: two tiles of doubles and their operands fit in a core's cache.
    sparse : bool, default=False
        Products with blocks are taken by what departs from most records, where that is little.

    Notes
    -----
    Use as a context manager, so that the threads end with the work.
    """

    room = 256 * 2**20

    def __init__(
        self,
        X: NDArray[np.floating[Any]],
        *,
        threads: int = 1,
        block_rows: int = 1024,
        tile_rows: int = 256,
        sparse: bool = False,
    ) -> None:
        self.X = X
        self.n_records = len(X)
        self.block_rows, self.tile_rows = block_rows, tile_rows
        self._sparse = split_departures(X, blocks(len(X), SPARSE_BLOCK_ROWS)) if sparse else None
        if self._sparse is not None:
            self.block_rows = SPARSE_BLOCK_ROWS
        _keep_freed_memory()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="ifair") if threads > 1 else None

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        if self._pool is None or n_tasks == 1:
            return map(function, range(n_tasks))
        return self._pool.map(function, range(n_tasks))

    def map(self, function: Callable[[NDArray[np.floating[Any]], slice], Result]) -> Iterator[Result]:
        rows = blocks(self.n_records, self.block_rows)

        def on_block(i: int) -> Result:
            block: Any = np.asarray(self.X[rows[i]], dtype=np.float64) if self._sparse is None else self._sparse[i]
            return function(block, rows[i])

        return self.run(on_block, len(rows))

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return np.asarray(self.X[indices], dtype=np.float64)


SPARSE_BLOCK_ROWS = 16_384
"""Sparse records need no cache; losses that ask for all memberships first have them at once if there is one block."""


def _keep_freed_memory() -> None:
    """Have the C library keep the memory of a tile for the next one, instead of asking the system for it anew.

    glibc gives freed memory back above a threshold that rises to the largest array freed so far: one array, never
    written to, is enough. Without it a fifth of an evaluation on 1,000 records goes into page faults.
    """
    np.empty(16 * 2**20, dtype=np.uint8)


def add_in_order(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Element-wise sum of tuples, in the order in which they come."""
    parts = iter(parts)
    total = next(parts)
    for part in parts:
        total = tuple(a + b for a, b in zip(total, part))
    return total


def blocks(n_records: int, block_rows: int) -> list[slice]:
    """Consecutive blocks of ``block_rows`` records; the last one may be smaller."""
    return [slice(start, min(start + block_rows, n_records)) for start in range(0, n_records, block_rows)]


ALIGNED = 8
"""Numbers in a row, and rows in a tile, that libraries for devices want a multiple of."""


def tiles(n_records: int, tile_rows: int) -> list[slice]:
    """Cut records into tiles of equal size, as far as that goes, and of at most ``tile_rows``."""
    size = -(-n_records // -(-n_records // tile_rows))
    aligned = -(-size // ALIGNED) * ALIGNED
    size = aligned if aligned <= tile_rows else size
    return [slice(start, min(start + size, n_records)) for start in range(0, n_records, size)]


NAMES = (
    "'auto', 'local', 'torch' or 'torch:DEVICE' such as 'torch:cuda:0', "
    "'dask' or 'dask:ADDRESS' such as 'dask:tcp://10.0.0.1:8786', "
    "'spark' or 'spark:MASTER' such as 'spark:spark://10.0.0.1:7077'"
)

PACKAGES = {
    "torch": ("torch", "array_api_compat"),
    "dask": ("dask", "distributed"),
    "spark": ("pyspark", "pyarrow", "cloudpickle"),
}
"""What engines need besides; the extra of each has the name of the engine."""


def check_engine(name: Any) -> None:
    """Refuse what is no engine, or needs what is not installed or not there."""
    family, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    if family not in ("auto", "local", *PACKAGES) or (place and family not in PACKAGES) or str(name).endswith(":"):
        raise IfairError(f"engine must be one of {NAMES}, got {name!r}")
    require_packages(name)
    if family == "torch" and place:
        from ifair.engines.torch import check_device

        check_device(place)


def require_packages(name: str) -> None:
    """Refuse an engine whose packages are not installed."""
    family = name.partition(":")[0]
    if family in PACKAGES:
        require_extra(f"engine={name!r}", PACKAGES[family], family)


def open_engine(name: str, X: NDArray[np.floating[Any]], *, threads: int = 1, workers: int | None = None) -> Engine:
    """An engine that holds ``X``.

    Parameters
    ----------
    name : str
        ``"local"`` or ``"auto"``; ``"torch"``: the first CUDA device, else the processor; ``"torch:DEVICE"``;
        ``"dask"``: the current client, else a cluster of processes on this machine; ``"dask:ADDRESS"``; ``"spark"``:
        the session of this process, else one in local mode; ``"spark:MASTER"``.
    X : ndarray of shape (M, N)
    threads : int, default=1
        Of the local engine.
    workers : int, optional
        Processes of a cluster on this machine; by default one per core.
    """
    family, _, place = name.partition(":")
    if family in ("auto", "local"):
        return LocalEngine(X, threads=threads, sparse=True)
    require_packages(name)
    if family == "torch":
        from ifair.engines.torch import TorchEngine

        return TorchEngine(X, device=place or None)
    if family == "dask":
        from ifair.engines import dask
        from ifair.engines.dask_client import open_client

        client, resources = open_client(place, workers)
        with resources:
            return dask.DaskEngine(dask.from_array(X, client), client, resources=resources.pop_all())
    from ifair.engines import spark
    from ifair.engines.spark_session import open_session

    session, resources = open_session(place, workers)
    with resources:
        return spark.SparkEngine(spark.from_array(X, session), session, resources=resources.pop_all())
