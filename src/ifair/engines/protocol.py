"""What every engine answers: one question, "sum this function over all records", and where the numbers live."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, Self, TypeVar

Result = TypeVar("Result")


class Engine(Protocol):
    """Holds the records, in arrays of its own kind, and evaluates functions of them.

    Functions get blocks of records as double-precision arrays of the engine's kind. What they need to know besides is
    sent to the engine once, and what they sum up is fetched once: in between nothing waits for a device or a network.
    """

    @property
    def n_records(self) -> int: ...

    @property
    def block_rows(self) -> int:
        """Most records in a block."""

    @property
    def tile_rows(self) -> int:
        """Most records on each side of a tile of pairs."""

    @property
    def stripes(self) -> int:
        """Independent shares to divide the tiles of all pairs into, for :meth:`run`."""

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order."""

    def map(self, function: Callable[[Any, slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""

    def sum(self, function: Callable[[Any, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""

    def take(self, indices: Any) -> Any:
        """Some records, by a NumPy array of their positions, as an array of the engine's kind."""

    def send(self, *arrays: Any) -> tuple[Any, ...]:
        """NumPy arrays as arrays of the engine's kind."""

    def fetch(self, *arrays: Any) -> tuple[Any, ...]:
        """Arrays of the engine's kind, without dimensions or with, as NumPy arrays of doubles, all in one go."""

    def evaluate(self, function: Callable[..., tuple[Any, ...]], *arrays: Any) -> tuple[Any, ...]:
        """Send NumPy arrays, call ``function`` with them, and fetch the tuple of arrays that it returns.

        For one function that is called over and over, with arrays of the same shapes. It must not look at their
        values: what it does may be recorded in the first call and repeated in the others.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


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
