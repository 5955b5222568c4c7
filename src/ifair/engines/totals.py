"""What must be known of a table in parts elsewhere before a fit, in one pass over it."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Look(NamedTuple):
    """A look at some records, at least one."""

    rows: int
    sums: NDArray[np.float64]
    """Of every column, shape (N,)."""
    largest: NDArray[np.float64]
    """Largest absolute value of every column, shape (N,); NaN or infinite where there is such a value."""
    dtype: np.dtype[Any]

    @property
    def centre(self) -> NDArray[np.float64]:
        """Mean of every column, shape (N,)."""
        centre: NDArray[np.float64] = self.sums / self.rows
        return centre


def look(block: NDArray[np.floating[Any]]) -> Look | None:
    """One look at a block of records; None where it is empty."""
    if len(block) == 0:
        return None
    largest = np.maximum(block.max(axis=0), -block.min(axis=0)).astype(np.float64)
    return Look(len(block), block.sum(axis=0, dtype=np.float64), largest, block.dtype)


def together(looks: Iterable[Look | None]) -> Look | None:
    """Several looks as one, added in their order; None where there is no record."""
    filled = [one for one in looks if one is not None]
    if not filled:
        return None
    rows, sums, largest, dtypes = zip(*filled)
    return Look(sum(rows), np.sum(sums, axis=0), np.max(largest, axis=0), np.result_type(*dtypes))


def total(looks: Iterable[Look | None], names: Sequence[Any]) -> Look:
    """The look at a whole table, of columns with these names; refuses what cannot be fitted."""
    whole = together(looks)
    if whole is None:
        raise ValueError("X has no records: all its partitions are empty")
    wrong = np.flatnonzero(~np.isfinite(whole.largest))
    if len(wrong):
        raise ValueError(
            f"Input X contains NaN or infinity, in column {names[wrong[0]]!r}"
            + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else "")
            + ": fill or drop what is missing first (ifair.Encoder does)"
        )
    return whole
