"""What engines on clusters have in common: records in shards elsewhere, messages go there, and sums come back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.engines.messages import Kept, dumps, loads
from ifair.engines.protocol import add_in_order, blocks

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


class ShardedEngine(ABC):
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
        As in :class:`ifair.engines.local.LocalEngine`.

    Notes
    -----
    Use as a context manager, so that nothing is left on the workers.
    """

    family = ""
    """What `engine` calls it, for errors."""

    stripes = 8
    """As in the local engine."""

    def __init__(
        self,
        rows: Sequence[int],
        *,
        centre: NDArray[np.float64] | None = None,
        block_rows: int = 1024,
        tile_rows: int = 256,
    ) -> None:
        self.rows, self.n_records, self.centre = tuple(rows), sum(rows), centre
        # A block never reaches over the end of a shard.
        self.block_rows, self.tile_rows = min(block_rows, max(rows)), tile_rows
        self._starts = np.concatenate([[0], np.cumsum(rows)])
        self._kept = Kept()

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *exception: object) -> None: ...

    def __reduce__(self) -> tuple[Any, ...]:
        """On a worker, functions that mention the engine see its sizes only."""
        return Sizes, (self.n_records, self.block_rows, self.tile_rows, self.stripes)

    def map(self, function: Callable[[Any, slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""
        if self.n_records > ALL_PAIRS_UP_TO:
            raise ValueError(
                f"engine={self.family!r} compares all pairs of at most {ALL_PAIRS_UP_TO:,} records, the table has "
                f"{self.n_records:,}: use landmarks, such as pairs=1000, or pairs='moments', whose cost grows with the "
                "number of records and not with its square"
            )
        return (result for part in self._mapped(function) for result in part)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions, here; functions that need them find them on the workers."""
        indices = np.asarray(indices)
        shard = np.searchsorted(self._starts, indices, side="right") - 1
        wanted = [int(s) for s in np.unique(shard)]
        found = self._rows_of(wanted, [indices[shard == s] - self._starts[s] for s in wanted])
        taken = np.empty((len(indices), found[0].shape[1]))
        for s, rows in zip(wanted, found, strict=True):
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

    @abstractmethod
    def _mapped(self, function: Callable[[Any, slice], Result]) -> Iterable[list[Result]]:
        """For every shard the results of its blocks."""

    @abstractmethod
    def _rows_of(self, shards: list[int], positions: list[NDArray[np.intp]]) -> list[NDArray[np.float64]]:
        """The records at these positions of these shards."""

    def _keep(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.nbytes >= KEPT_BYTES:
            self._kept.add(array)
        return array

    def _dumped(self, function: Callable[..., Any]) -> tuple[bytes, set[int]]:
        """What tells tasks of a function, and the numbers of the kept arrays that it needs."""
        return dumps((function, self.centre), self._kept)


def cut(n_records: int, shard_rows: int | None = None) -> list[slice]:
    """The shards of an array of this process."""
    return blocks(n_records, max(SHARD_ROWS, -(-n_records // SHARDS)) if shard_rows is None else shard_rows)


def call(i: int, message: bytes, kept: Mapping[int, Any]) -> Any:
    """On a worker: the function at a number."""
    function, _ = loads(message, kept)
    return function(i)


def sum_shard(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> tuple[Any, ...]:
    """On a worker: the sum of the function over the blocks of a shard, in their order."""
    return add_in_order(_on_blocks(pieces, start, message, kept, block_rows))


def map_shard(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> list[Any]:
    """On a worker: the results of the function for the blocks of a shard, in their order."""
    return list(_on_blocks(pieces, start, message, kept, block_rows))


def _on_blocks(pieces: Pieces, start: int, message: bytes, kept: Mapping[int, Any], block_rows: int) -> Iterator[Any]:
    function, centre = loads(message, kept)
    for piece in pieces:
        for rows in blocks(len(piece), block_rows):
            block = np.asarray(piece[rows], dtype=np.float64)
            if centre is not None:
                block = block - centre
            yield function(block, slice(start + rows.start, start + rows.stop))
        start += len(piece)


def rows_of(pieces: Pieces, positions: NDArray[np.intp]) -> NDArray[np.float64]:
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
