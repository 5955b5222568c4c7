"""Records on the executors of a Spark cluster: they stay there, parameters go and sums come back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.engines.sharded import Pieces, ShardedEngine, call_function, cut_shards, take_rows
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
    """

    family = "spark"

    def __init__(self, shards: Shards, session: Any, **options: Any) -> None:
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
        message, kept = self._message(function)
        called = self.context.parallelize(range(n_tasks), n_tasks).map(partial(_call, message=message, kept=kept))
        return iter(results_of(self.context, called.collect, self._name))

    def _take_rows(self, shards: list[int], positions: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
        where = {self._partitions[s]: at for s, at in zip(shards, positions, strict=True)}
        return self._in_partitions(partial(_take_rows, spans=self._spans(), where=where), list(where))

    def _on_shards(self, task: Callable[..., Result], function: Callable[..., Any]) -> list[Result]:
        message, kept = self._message(function)
        how: dict[str, Any] = {"message": message, "kept": kept, "block_rows": self.block_rows}
        return self._in_partitions(partial(_on_shard, task=task, spans=self._spans(), **how), self._partitions)

    def _in_partitions(self, task: Callable[..., Any], partitions: list[int]) -> list[Any]:
        """One result per partition, in the order of the partitions."""
        mapped = self.rdd.mapPartitionsWithIndex(task)
        return results_of(self.context, lambda: self.context.runJob(mapped, list, partitions), self._name)

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


def _call(i: int, message: bytes, kept: dict[int, Any]) -> Any:
    """On an executor: the function at a number."""
    use_one_thread()
    return call_function(i, message, _values(kept))


def _on_shard(
    partition: int, pieces: Pieces, task: Any, spans: dict[int, slice], message: bytes, kept: Any, block_rows: int
) -> Iterator[Any]:
    """On an executor: a task for all records of a partition."""
    use_one_thread()
    span = spans[partition]
    yield task(_check_pieces(pieces, span), span.start, message, _values(kept), block_rows)


def _take_rows(
    partition: int, pieces: Pieces, spans: dict[int, slice], where: dict[int, NDArray[np.intp]]
) -> Iterator[NDArray[np.float64]]:
    """On an executor: some records of a partition, by their positions in it."""
    yield take_rows(_check_pieces(pieces, spans[partition]), where[partition])


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


@cache
def use_one_thread() -> None:
    """Have this process compute with one thread, once and for all: Spark runs one process per core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
