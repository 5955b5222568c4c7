"""What engines on clusters have in common: records in shards elsewhere, messages go there, and sums come back."""

import io
import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ifair.engines.engine import Engine, add_in_order, blocks
from ifair.errors import IfairError

Result = TypeVar("Result")
Pieces = Iterable[NDArray[Any]]
"""A shard: its records in order, in one array or in several."""

SHARDS = 32
"""Parts that an array is cut into. Never the number of workers: the order of summation must not depend on it."""

SHARD_ROWS = 4096
"""Records that are worth a part of their own: below, a task takes longer to hand out than to do."""

KEPT_BYTES = 4096
"""Arrays from this size on go to a worker once, not with every message."""

ALL_PAIRS_UP_TO = 20_000
"""Records of which all pairs are compared: that takes something of every record on every worker, every time."""


class Sizes(NamedTuple):
    """What a function may ask of the engine where there is none."""

    n_records: int
    block_rows: int
    tile_rows: int
    stripes: int


class ShardedEngine(Engine):
    """Evaluates functions of blocks of records in the processes that hold them.

    A shard's blocks are summed by one task, in their order, and sums of shards are added in theirs: results are the
    same to the last bit whatever the number of workers, and whichever of them die on the way.

    Parameters
    ----------
    rows : sequence of int
        Records in every shard, in the order of the shards; none is empty.
    centre : ndarray of shape (N,), optional
        Subtracted from every record, block by block.
    block_rows, tile_rows : int
        As in :class:`ifair.engines.engine.LocalEngine`.
    resources : ExitStack, optional
        What to close at the end, such as a cluster made for this engine.

    Notes
    -----
    Use as a context manager, so that nothing is left on the workers.
    """

    family = ""
    """What `engine` calls it, for errors."""

    def __init__(
        self,
        rows: Sequence[int],
        *,
        centre: NDArray[np.float64] | None = None,
        block_rows: int = 1024,
        tile_rows: int = 256,
        resources: ExitStack | None = None,
    ) -> None:
        self.rows, self.n_records, self.centre = tuple(rows), sum(rows), centre
        # A block never reaches over the end of a shard.
        self.block_rows, self.tile_rows = min(block_rows, max(rows)), tile_rows
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        self._sent = SentArrays()
        self._resources = resources or ExitStack()
        self._name = f"ifair-{uuid4().hex}"

    def __reduce__(self) -> tuple[Any, ...]:
        """On a worker, functions that mention the engine see its sizes only."""
        return Sizes, (self.n_records, self.block_rows, self.tile_rows, self.stripes)

    def map(self, function: Callable[[Any, slice], Result]) -> Iterator[Result]:
        if self.n_records > ALL_PAIRS_UP_TO:
            raise IfairError(
                f"engine={self.family!r} compares all pairs of at most {ALL_PAIRS_UP_TO:,} records, the table has "
                f"{self.n_records:,}: use landmarks, such as pairs=1000, or pairs='moments', whose cost grows with the "
                "number of records and not with its square"
            )
        return (result for part in self._on_shards(map_shard, function) for result in part)

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        return add_in_order(self._on_shards(sum_shard, function))

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions, here; functions that need them find them on the workers."""
        indices = np.asarray(indices)
        shard = np.searchsorted(self._starts, indices, side="right") - 1
        wanted = [int(s) for s in np.unique(shard)]
        found = self._take_rows(wanted, [indices[shard == s] - self._starts[s] for s in wanted])
        taken = np.empty((len(indices), found[0].shape[1]))
        for s, rows in zip(wanted, found, strict=True):
            taken[shard == s] = rows
        if self.centre is not None:
            taken -= self.centre
        return self._send_once(taken)

    def send(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays themselves; large ones go to a worker with the first function that needs them, and stay."""
        return tuple(self._send_once(array) for array in arrays)

    @abstractmethod
    def _on_shards(self, task: Callable[..., Result], function: Callable[..., Any]) -> list[Result]:
        """What a task, :func:`sum_shard` or :func:`map_shard`, makes of the function for every shard."""

    @abstractmethod
    def _take_rows(self, shards: list[int], positions: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
        """The records at these positions of these shards."""

    def _send_once(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.nbytes >= KEPT_BYTES:
            self._sent.add(array)
        return array

    def _dump(self, function: Callable[..., Any]) -> tuple[bytes, set[int]]:
        """What tells tasks of a function, and the numbers of the kept arrays that it needs."""
        return dump_message((function, self.centre), self._sent)


def cut_shards(n_records: int, shard_rows: int | None = None) -> list[slice]:
    """The shards of an array of this process."""
    return blocks(n_records, max(SHARD_ROWS, -(-n_records // SHARDS)) if shard_rows is None else shard_rows)


def call_function(i: int, message: bytes, kept: Mapping[int, Any]) -> Any:
    """On a worker: the function at a number."""
    function, _ = load_message(message, kept)
    return function(i)


def sum_shard(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> tuple[Any, ...]:
    """On a worker: the sum of the function over the blocks of a shard, in their order."""
    return add_in_order(_on_blocks(pieces, start, message, kept, block_rows))


def map_shard(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> list[Any]:
    """On a worker: the results of the function for the blocks of a shard, in their order."""
    return list(_on_blocks(pieces, start, message, kept, block_rows))


def _on_blocks(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> Iterator[Any]:
    function, centre = load_message(message, kept)
    for piece in pieces:
        for rows in blocks(len(piece), block_rows):
            block = np.asarray(piece[rows], dtype=np.float64)
            if centre is not None:
                block = block - centre
            yield function(block, slice(start + rows.start, start + rows.stop))
        start += len(piece)


def take_rows(pieces: Pieces, positions: NDArray[np.intp]) -> NDArray[np.float64]:
    """On a worker: the records of a shard at these positions, in the order of the positions."""
    start, taken = 0, None
    for piece in pieces:
        if taken is None:
            taken = np.empty((len(positions), piece.shape[1]))
        here = (positions >= start) & (positions < start + len(piece))
        taken[here] = piece[positions[here] - start]
        start += len(piece)
    assert taken is not None
    return taken


class SentArrays:
    """Arrays that go to other processes once, known by their identity here and by a number there.

    Numbers are never used twice, and an array is held as long as its number, so that identities stay unique.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._numbers: dict[int, int] = {}

    def add(self, array: NDArray[Any]) -> None:
        """Number an array that has no number yet."""
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)

    def number(self, thing: Any) -> int | None:
        return self._numbers.get(id(thing)) if isinstance(thing, np.ndarray) else None


def dump_message(thing: Any, sent: SentArrays) -> tuple[bytes, set[int]]:
    """A message, with numbers for the arrays that were sent before, and which these are."""
    import cloudpickle

    used: set[int] = set()

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> int | None:
            number = sent.number(obj)
            if number is not None:
                used.add(number)
            return number

    buffer = io.BytesIO()
    Pickler(buffer).dump(thing)
    return buffer.getvalue(), used


def load_message(message: bytes, kept: Mapping[int, Any]) -> Any:
    """What was dumped; ``kept`` holds the arrays by their numbers."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: Any) -> Any:
            return kept[number]

    # The message comes from the process that runs the fit, by the same way as every task of the cluster.
    return Unpickler(io.BytesIO(message)).load()
