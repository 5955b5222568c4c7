"""Functions as messages to other processes, without the arrays that these hold already."""

import io
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Kept:
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


def dumps(thing: Any, kept: Kept) -> tuple[bytes, set[int]]:
    """A message, with numbers for the arrays that are kept, and which these are."""
    import cloudpickle

    used: set[int] = set()

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> int | None:
            number = kept.number(obj)
            if number is not None:
                used.add(number)
            return number

    buffer = io.BytesIO()
    Pickler(buffer).dump(thing)
    return buffer.getvalue(), used


def loads(message: bytes, kept: Mapping[int, Any]) -> Any:
    """What was dumped; ``kept`` holds the arrays by their numbers."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: Any) -> Any:
            return kept[number]

    # The message comes from the process that runs the fit, by the same way as every task of the cluster.
    return Unpickler(io.BytesIO(message)).load()
