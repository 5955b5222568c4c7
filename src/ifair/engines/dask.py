"""Records on the workers of a Dask cluster: they stay there, parameters go and sums come back."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ifair.engines.cluster import cancel, results_of
from ifair.engines.messages import Kept, dumps, loads
from ifair.engines.protocol import add_in_order, blocks

Result = TypeVar("Result")

SHARDS = 32
"""Parts that an array is cut into. Never the number of workers: the order of summation must not depend on it."""

SHARD_ROWS = 4096
"""Records that are worth a part of their own: below, a task takes longer to hand out than to do."""

FAN_IN = 32
"""Sums of so many shards are added up on a worker before they travel on."""

KEPT_BYTES = 4096
"""Arrays from this size on go to a worker once, not with every message."""

MESSAGE_BYTES = 2**20
"""What the same message to all tasks may take in all; beyond, it travels once, and from worker to worker."""

ALL_PAIRS_UP_TO = 20_000
"""Records of which all pairs are compared: that takes something of every record on every worker, every time."""


class Shards(NamedTuple):
    """Parts of a table on the workers, in the order of the records, none of them empty."""

    futures: Sequence[Any]
    """Of arrays of shape (rows, N)."""
    rows: Sequence[int]


class DaskEngine:
    """Evaluates functions of blocks of records on the workers that hold them.

    A shard's blocks are summed by one task, in their order, and sums of shards are added in theirs: results are the
    same to the last bit whatever the number of workers, and whichever of them die on the way. What a dead worker held
    is made anew from where it came.

    Parameters
    ----------
    shards : Shards
    client : distributed.Client
    centre : ndarray of shape (N,), optional
        Subtracted from every record, block by block.
    block_rows, tile_rows : int
        As in :class:`ifair.engines.local.LocalEngine`.
    resources : ExitStack, optional
        What to close at the end, such as a cluster made for this engine.

    Notes
    -----
    Use as a context manager, so that nothing is left on the workers.
    """

    stripes = 8
    """As in the local engine."""

    def __init__(
        self,
        shards: Shards,
        client: Any,
        *,
        centre: NDArray[np.float64] | None = None,
        block_rows: int = 1024,
        tile_rows: int = 256,
        resources: ExitStack | None = None,
    ) -> None:
        self.shards, self.client, self.centre = shards, client, centre
        self.n_records = sum(shards.rows)
        # A block never reaches over the end of a shard.
        self.block_rows, self.tile_rows = min(block_rows, max(shards.rows)), tile_rows
        self._starts = np.concatenate([[0], np.cumsum(shards.rows)])
        self._kept, self._kept_futures = Kept(), dict[int, Any]()
        self._resources = resources or ExitStack()
        self._name = f"ifair-{uuid4().hex}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        # The cluster forgets what nobody holds, but an interrupt may have left somebody holding a part of its traces.
        with self._resources:
            cancel(self.client, [*self.shards.futures, *self._kept_futures.values()], self._name)
            self.shards = Shards([], self.shards.rows)
            self._kept_futures.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        """On a worker, functions that mention the engine see its sizes only."""
        return Sizes, (self.n_records, self.block_rows, self.tile_rows, self.stripes)

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order, computed on any workers."""
        message, kept = self._message(function, n_tasks)
        futures = self.client.map(_call, range(n_tasks), message=message, kept=kept, pure=False, key=self._name)
        return iter(self._results(futures))

    def map(self, function: Callable[[Any, slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""
        if self.n_records > ALL_PAIRS_UP_TO:
            raise ValueError(
                f"engine='dask' compares all pairs of at most {ALL_PAIRS_UP_TO:,} records, the table has "
                f"{self.n_records:,}: use landmarks, such as pairs=1000, or pairs='moments', whose cost grows with the "
                "number of records and not with its square"
            )
        parts = self._results(self._on_shards(_map_shard, function))
        return (result for part in parts for result in part)

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        futures = self._on_shards(_sum_shard, function)
        while len(futures) > FAN_IN:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = self.client.map(add_in_order, groups, pure=False, key=self._name)
        return add_in_order(self._results(futures))

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions, here; functions that need them find them on the workers."""
        indices = np.asarray(indices)
        shard = np.searchsorted(self._starts, indices, side="right") - 1
        wanted = np.unique(shard)
        futures = [
            self.client.submit(
                _rows, self.shards.futures[s], indices[shard == s] - self._starts[s], key=f"{self._name}-{uuid4()}"
            )
            for s in wanted
        ]
        first = self._results(futures)
        taken = np.empty((len(indices), first[0].shape[1]))
        for s, rows in zip(wanted, first):
            taken[shard == s] = rows
        if self.centre is not None:
            taken -= self.centre
        return self._keep(taken)

    def send(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays themselves; large ones go to a worker with the first function that needs them, and stay."""
        return tuple(self._keep(array) for array in arrays)

    def fetch(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays themselves: sums come back as they are made."""
        return arrays

    def evaluate(self, function: Callable[..., tuple[Any, ...]], *arrays: Any) -> tuple[Any, ...]:
        """Call the function here, with arrays that change from call to call and are not kept on the workers."""
        return function(*arrays)

    def _keep(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.nbytes >= KEPT_BYTES:
            self._kept.add(array)
        return array

    def _message(self, function: Callable[..., Any], n_tasks: int) -> tuple[Any, dict[int, Any]]:
        """What tells tasks of a function, and the arrays on the workers that it needs."""
        message, used = dumps((function, self.centre), self._kept)
        for number in used - self._kept_futures.keys():
            # A task, not scattered data: it can be done again when the only worker that held the result has died.
            self._kept_futures[number] = _sent(self.client, self._kept.arrays[number], self._name)
        kept = {number: self._kept_futures[number] for number in sorted(used)}
        return message if n_tasks * len(message) < MESSAGE_BYTES else _sent(self.client, message, self._name), kept

    def _on_shards(self, task: Callable[..., Any], function: Callable[..., Any]) -> list[Any]:
        message, kept = self._message(function, len(self.shards.rows))
        starts = [int(start) for start in self._starts[:-1]]
        futures: list[Any] = self.client.map(
            task,
            self.shards.futures,
            starts,
            message=message,
            kept=kept,
            block_rows=self.block_rows,
            pure=False,
            key=self._name,
        )
        return futures

    def _results(self, futures: list[Any]) -> list[Any]:
        return results_of(self.client, futures)


class Sizes(NamedTuple):
    """What a function may ask of the engine where there is none."""

    n_records: int
    block_rows: int
    tile_rows: int
    stripes: int


def from_array(X: NDArray[Any], client: Any, shard_rows: int | None = None) -> Shards:
    """Shards of an array of this process. The scheduler keeps a copy, to replace what a dead worker held."""
    if shard_rows is None:
        shard_rows = max(SHARD_ROWS, -(-len(X) // SHARDS))
    parts = blocks(len(X), shard_rows)
    return Shards([_sent(client, np.ascontiguousarray(X[rows])) for rows in parts], [p.stop - p.start for p in parts])


def _sent(client: Any, thing: Any, name: str = "ifair") -> Any:
    """A future of a thing of this process, by way of a task, which can be repeated."""
    import dask

    # The warning advises to leave the data in files: so does the documentation.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_itself, thing, key=f"{name}-{uuid4()}")


def _itself(thing: Any) -> Any:
    return thing


def _call(i: int, message: bytes, kept: Mapping[int, Any]) -> Any:
    function, _ = loads(message, kept)
    return function(i)


def _sum_shard(
    shard: NDArray[Any], start: int, message: bytes, kept: Mapping[int, Any], block_rows: int
) -> tuple[Any, ...]:
    return add_in_order(_on_blocks(shard, start, message, kept, block_rows))


def _map_shard(shard: NDArray[Any], start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> list[Any]:
    return list(_on_blocks(shard, start, message, kept, block_rows))


def _on_blocks(
    shard: NDArray[Any], start: int, message: bytes, kept: Mapping[int, Any], block_rows: int
) -> Iterable[Any]:
    function, centre = loads(message, kept)
    for rows in blocks(len(shard), block_rows):
        block = np.asarray(shard[rows], dtype=np.float64)
        if centre is not None:
            block = block - centre
        yield function(block, slice(start + rows.start, start + rows.stop))


def _rows(shard: NDArray[Any], indices: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(shard[indices], dtype=np.float64)
