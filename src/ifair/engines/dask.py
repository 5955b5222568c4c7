"""Records on the workers of a Dask cluster: they stay there, parameters go and sums come back."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ifair.engines.dask_client import forget, results_of
from ifair.engines.engine import add_in_order
from ifair.engines.sharded import ShardedEngine, call_function, cut_shards, sum_shard, take_rows

Result = TypeVar("Result")

FAN_IN = 32
"""Sums of so many shards are added up on a worker before they travel on."""

MESSAGE_BYTES = 2**20
"""What the same message to all tasks may take in all; beyond, it travels once, and from worker to worker."""


class Shards(NamedTuple):
    """Parts of a table on the workers, in the order of the records, none of them empty."""

    futures: Sequence[Any]
    """Of arrays of shape (rows, N)."""
    rows: Sequence[int]


class DaskEngine(ShardedEngine):
    """Evaluates functions of blocks of records on the workers that hold them.

    What a dead worker held is made anew from where it came.
    """

    family = "dask"

    def __init__(self, shards: Shards, client: Any, **options: Any) -> None:
        super().__init__(shards.rows, **options)
        self.shards, self.client = shards, client
        self._sent_futures = dict[int, Any]()

    def __exit__(self, *exception: object) -> None:
        # The cluster forgets what nobody holds, but an interrupt may have left somebody holding a part of its traces.
        with self._resources:
            forget(self.client, [*self.shards.futures, *self._sent_futures.values()], self._name)
            self.shards = Shards([], self.shards.rows)
            self._sent_futures.clear()

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        message, kept = self._message(function, n_tasks)
        futures = self.client.map(call_function, range(n_tasks), message=message, kept=kept, pure=False, key=self._name)
        return iter(results_of(self.client, futures))

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        futures = self._submit(sum_shard, function)
        while len(futures) > FAN_IN:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = self.client.map(add_in_order, groups, pure=False, key=self._name)
        return add_in_order(results_of(self.client, futures))

    def _on_shards(self, task: Callable[..., Result], function: Callable[..., Any]) -> list[Result]:
        return results_of(self.client, self._submit(task, function))

    def _take_rows(self, shards: list[int], positions: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
        futures = [
            self.client.submit(take_rows, [self.shards.futures[s]], where, key=f"{self._name}-{uuid4()}")
            for s, where in zip(shards, positions, strict=True)
        ]
        return results_of(self.client, futures)

    def _message(self, function: Callable[..., Any], n_tasks: int) -> tuple[Any, dict[int, Any]]:
        """What tells tasks of a function, and the arrays on the workers that it needs."""
        message, used = self._dump(function)
        for number in used - self._sent_futures.keys():
            # A task, not scattered data: it can be done again when the only worker that held the result has died.
            self._sent_futures[number] = _send(self.client, self._sent.arrays[number], self._name)
        kept = {number: self._sent_futures[number] for number in sorted(used)}
        return message if n_tasks * len(message) < MESSAGE_BYTES else _send(self.client, message, self._name), kept

    def _submit(self, task: Callable[..., Any], function: Callable[..., Any]) -> list[Any]:
        message, kept = self._message(function, len(self.shards.rows))
        futures: list[Any] = self.client.map(
            task,
            [[shard] for shard in self.shards.futures],
            self._starts[:-1].tolist(),
            message=message,
            kept=kept,
            block_rows=self.block_rows,
            pure=False,
            key=self._name,
        )
        return futures


def from_array(X: NDArray[Any], client: Any, shard_rows: int | None = None) -> Shards:
    """Shards of an array of this process. The scheduler keeps a copy, to replace what a dead worker held."""
    parts = cut_shards(len(X), shard_rows)
    return Shards([_send(client, np.ascontiguousarray(X[rows])) for rows in parts], [p.stop - p.start for p in parts])


def _send(client: Any, thing: Any, name: str = "ifair") -> Any:
    """A future of a thing of this process, by way of a task, which can be repeated."""
    import dask

    # The warning advises to leave the data in files: so does the documentation.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_return_thing, thing, key=f"{name}-{uuid4()}")


def _return_thing(thing: Any) -> Any:
    return thing
