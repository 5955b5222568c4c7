"""Records on the executors of a Spark cluster: they stay there, parameters go and sums come back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from ifair.engines.engine import add_in_order
from ifair.engines.sharded import (
    Pieces,
    ShardedEngine,
    ShardOptions,
    call_function,
    cut_shards,
    map_shard,
    sum_shard,
    take_rows,
)
from ifair.engines.spark_session import context_of, results_of

Result = TypeVar("Result")


class Shards(NamedTuple):
    """Parts of a table on the executors, in the order of the records."""

    rdd: Any
    """Of arrays of shape (some, N): in every partition, one after the other, the records of a shard."""
    rows: Sequence[int]
    """Records in every partition, 0 in some."""


class SparkEngine(ShardedEngine):
    """Evaluates functions of blocks of records on the executors that hold them, in one job per sum.

    What a lost executor held is made anew from where it came. The sums of all partitions come here, to be added in the
    order of the partitions: Spark's own reductions add in the order of arrival.

    Parameters
    ----------
    shards : Shards
    session : SparkSession
    **options
        As of :class:`ifair.engines.sharded.ShardedEngine`.
    """

    family = "spark"

    def __init__(self, shards: Shards, session: Any, **options: Unpack[ShardOptions]) -> None:
        self._partitions = [i for i, n in enumerate(shards.rows) if n > 0]
        super().__init__([shards.rows[i] for i in self._partitions], **options)
        self.rdd, self.context = shards.rdd, context_of(session)
        self._broadcasts = dict[int, Any]()

    def __exit__(self, *exception: object) -> None:
        from py4j.protocol import Py4JError

        # A session that was lost has nothing left to tidy up, and its loss has been told.
        with self._resources, suppress(Py4JError, OSError, AttributeError):
            self.rdd.unpersist()
            for broadcast in self._broadcasts.values():
                broadcast.destroy()
            self._broadcasts.clear()

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order, computed on any executors."""
        task = _Call(*self._message(function))
        numbers = self.context.parallelize(range(n_tasks), n_tasks)
        return iter(results_of(self.context, numbers.map(task).collect, self._name))

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        return add_in_order(self._on_shards(sum_shard, function))

    def _map_shards(self, function: Callable[[Any, slice], Result]) -> list[list[Result]]:
        return self._on_shards(map_shard, function)

    def _take_rows(self, shards: list[int], positions: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
        where = {self._partitions[s]: at for s, at in zip(shards, positions, strict=True)}
        return self._in_partitions(_TakeRows(where, self._spans()), list(where))

    def _on_shards(self, task: Callable[..., Any], function: Callable[..., Any]) -> list[Any]:
        message, kept = self._message(function)
        return self._in_partitions(_OnShard(task, self._spans(), message, kept, self.block_rows), self._partitions)

    def _in_partitions(self, task: Callable[..., Any], partitions: list[int]) -> list[Any]:
        """One result per partition, in the order of the partitions."""
        mapped = self.rdd.mapPartitionsWithIndex(task)
        return results_of(self.context, lambda: self.context.runJob(mapped, _return_results, partitions), self._name)

    def _spans(self) -> dict[int, slice]:
        """Where the records of every partition lie among all."""
        starts = map(int, self._starts)
        return {i: slice(start, start + n) for i, start, n in zip(self._partitions, starts, self.rows)}

    def _message(self, function: Callable[..., Any]) -> tuple[bytes, dict[int, Any]]:
        """What tells tasks of a function, and the broadcasts of the arrays that it needs."""
        message, used = self._dump(function)
        for number in used - self._broadcasts.keys():
            self._broadcasts[number] = self.context.broadcast(self._sent.arrays[number])
        return message, {number: self._broadcasts[number] for number in sorted(used)}


def from_array(X: NDArray[Any], session: Any, shard_rows: int | None = None) -> Shards:
    """Shards of an array of this process. Spark keeps a copy here, to replace what a lost executor held."""
    parts = cut_shards(len(X), shard_rows)
    arrays = [np.ascontiguousarray(X[rows]) for rows in parts]
    rdd = context_of(session).parallelize(arrays, len(arrays))
    return Shards(persist(rdd), [len(array) for array in arrays])


def persist(rdd: Any) -> Any:
    """Have the executors keep the records, on their disks what does not fit in memory."""
    from pyspark import StorageLevel

    return rdd.persist(StorageLevel.MEMORY_AND_DISK)


@dataclass(frozen=True)
class _Call:
    """On an executor: the function at a number."""

    message: bytes
    kept: dict[int, Any]

    def __call__(self, i: int) -> Any:
        use_one_thread()
        return call_function(i, self.message, _values(self.kept))


@dataclass(frozen=True)
class _OnShard:
    """On an executor: a task for all records of a partition."""

    task: Callable[..., Any]
    spans: dict[int, slice]
    message: bytes
    kept: dict[int, Any]
    block_rows: int

    def __call__(self, partition: int, pieces: Pieces) -> Iterator[Any]:
        use_one_thread()
        span = self.spans[partition]
        pieces = _check_pieces(pieces, span)
        yield self.task(pieces, span.start, self.message, _values(self.kept), self.block_rows)


@dataclass(frozen=True)
class _TakeRows:
    """On an executor: some records of a partition, by their positions in it."""

    where: dict[int, NDArray[np.intp]]
    spans: dict[int, slice]

    def __call__(self, partition: int, pieces: Pieces) -> Iterator[NDArray[np.float64]]:
        yield take_rows(_check_pieces(pieces, self.spans[partition]), self.where[partition])


def _check_pieces(pieces: Pieces, span: slice) -> Pieces:
    """The records of a partition; an error where they are not as many as they were."""
    found = 0
    for piece in pieces:
        found += len(piece)
        yield piece
    if found != span.stop - span.start:
        raise RuntimeError(
            f"a partition that was read again holds {found} records, not {span.stop - span.start} as before: write the "
            "table to files and read it from there, or checkpoint it, so that it is the same every time"
        )


def _values(broadcasts: dict[int, Any]) -> dict[int, Any]:
    return {number: broadcast.value for number, broadcast in broadcasts.items()}


def _return_results(results: Iterable[Any]) -> Iterable[Any]:
    return results


@cache
def use_one_thread() -> None:
    """Have this process compute with one thread, once and for all: Spark runs one process per core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
