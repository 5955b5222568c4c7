"""The people most like each: their positions and distances, fewer where nobody else is within reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.approximate import nearest_approximately
from ifair.core.arrays import Array, Indices
from ifair.core.nearest import Reference, first_of_each, nearest, to_ten_digits

ROWS = 256
"""People searched for at a time."""

PAIRS = 2048
"""Exact distances at a time: such a block stays in the cache."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The nearest people of each, nearest first; equally distant ones by their position.

    Attributes
    ----------
    indices : int array of shape (n_people, n_neighbors)
        Positions in the reference; -1 where there is nobody else within reach.
    distances : array of shape (n_people, n_neighbors)
        Infinite where there is nobody.
    """

    indices: NDArray[np.intp]
    distances: NDArray[np.float64]

    @property
    def count(self) -> NDArray[np.intp]:
        """How many peers each person has, shape (n_people,)."""
        return (self.indices >= 0).sum(axis=1)

    @property
    def has_peers(self) -> NDArray[np.bool_]:
        """Who has at least one, shape (n_people,)."""
        return np.asarray(self.count > 0)

    def within(self, reach: float | None) -> "Peers":
        """Only those at most so far away."""
        if reach is None:
            return self
        near = self.distances <= reach
        return Peers(np.where(near, self.indices, -1), np.where(near, self.distances, np.inf))

    def first(self, n: int) -> "Peers":
        """Only so many of the nearest."""
        return Peers(self.indices[:, :n], self.distances[:, :n])


@dataclass(frozen=True, slots=True)
class Points:
    """People as coordinates, with gaps.

    The squared distance of two people is the sum of squared differences over the attributes that both have a value for.
    An attribute that is missing of either adds a fixed amount: a gap is neither like nor unlike.

    Attributes
    ----------
    coordinates : ndarray of shape (n_people, n_columns)
        Weighted, zero in the columns of an attribute without a value.
    squares : ndarray of shape (n_people, n_attributes)
        Squared length of every attribute's columns.
    present : ndarray of shape (n_people, n_attributes)
        1.0 where there is a value, else 0.0.
    gaps : ndarray of shape (n_attributes,)
        What a missing value adds.
    columns : int array of shape (n_columns,)
        The attribute of every column.
    """

    coordinates: NDArray[np.float64]
    squares: NDArray[np.float64]
    present: NDArray[np.float64]
    gaps: NDArray[np.float64]
    columns: NDArray[np.intp]
    _search: list[Reference | None] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        coordinates: NDArray[np.float64],
        present: NDArray[np.bool_],
        gaps: NDArray[np.float64],
        columns: NDArray[np.intp],
    ) -> "Points":
        """Points with these coordinates, already weighted."""
        members = np.eye(len(gaps))[columns]
        return cls(coordinates, coordinates**2 @ members, present.astype(np.float64), gaps, columns)

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Points":
        return Points(self.coordinates[rows], self.squares[rows], self.present[rows], self.gaps, self.columns)

    @property
    def complete(self) -> bool:
        """Whether nobody has a gap."""
        return bool(self.present.all())

    def prepare_search(self) -> Reference | None:
        """What a search for the nearest of these needs, made once; None if somebody has a gap."""
        if not self._search:
            self._search.append(Reference.of(self.coordinates) if self.complete else None)
        return self._search[0]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that the points are made of."""
        return {name: getattr(self, name) for name in ("coordinates", "squares", "present", "gaps", "columns")}

    def squared_distances(self, others: "Points") -> NDArray[np.float64]:
        """Of every person here to every one of the others, by matrix products."""
        squared = self.coordinates @ (-2.0 * others.coordinates.T)
        if self.complete and others.complete:
            squared += self.squares.sum(axis=1)[:, None]
            squared += others.squares.sum(axis=1)
        else:
            # |x|^2 + |y|^2 over the attributes that both have, and the gaps of the others.
            here = np.hstack([self.squares - self.gaps * self.present, self.present])
            squared += here @ np.hstack([others.present, others.squares]).T
            squared += self.gaps.sum()
        return np.maximum(squared, 0.0, out=squared)

    @classmethod
    def of_columns(cls, columns: NDArray[np.float64]) -> "Points":
        """Points whose columns are attributes without weights and gaps: Euclidean distances."""
        width = columns.shape[1]
        return cls.of(columns, np.ones(columns.shape, dtype=bool), np.zeros(width), np.arange(width))

    def squared_differences(
        self, others: "Points", row: NDArray[np.intp], other: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Of pairs of a person here and one there, shape (n_pairs,), without the rounding of a product."""
        squared = np.empty(len(row))
        for start in range(0, len(row), PAIRS):
            a, b = self[row[start : start + PAIRS]], others[other[start : start + PAIRS]]
            difference = a.coordinates - b.coordinates
            gaps = np.zeros(len(difference))
            if not (a.complete and b.complete):
                both = a.present * b.present
                difference *= both[:, self.columns]
                gaps = (1.0 - both) @ self.gaps
            squared[start : start + PAIRS] = np.einsum("ij,ij->i", difference, difference) + gaps
        return squared


def find_peers(
    people: Points,
    reference: Points | None,
    n_neighbors: int,
    query: NDArray[np.intp] | None = None,
    *,
    approximate: bool = False,
) -> Peers:
    """The nearest people of each in the reference, exactly unless asked otherwise; memory grows with the people.

    Without a reference: among the people themselves, of whom nobody is their own peer, and of one ``query``.
    """
    known = _KNOWN.get()
    if known is None:
        return _find_peers(people, reference, n_neighbors, query, approximate)
    key = _identify(people, reference, query, approximate)
    if key not in known or known[key].indices.shape[1] < n_neighbors:
        known[key] = _find_peers(people, reference, n_neighbors, query, approximate)
    return known[key].first(n_neighbors)


Searches = dict[bytes, Peers]
"""What was searched for, and what was found."""

_KNOWN: ContextVar[Searches | None] = ContextVar("known searches", default=None)


@contextmanager
def share_searches(known: Searches) -> Iterator[None]:
    """Search once only for the peers of the same people among the same others; ``known`` is added to.

    Models of one table compare the same people, and who is like whom does not depend on the model.
    """
    token = _KNOWN.set(known)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def _identify(people: Points, reference: Points | None, query: NDArray[np.intp] | None, approximate: bool) -> bytes:
    """Different for searches that may end differently."""
    state = blake2b(repr((reference is None, approximate)).encode())
    arrays = [*people.to_arrays().values(), *([] if reference is None else reference.to_arrays().values())]
    for array in [*arrays, *([] if query is None else [query])]:
        state.update(repr((array.shape, array.dtype.str)).encode())
        state.update(array.tobytes())
    return state.digest()


def _find_peers(
    people: Points, reference: Points | None, n_neighbors: int, query: NDArray[np.intp] | None, approximate: bool
) -> Peers:
    others = people if reference is None else reference
    indices = np.full((len(people), n_neighbors), -1, dtype=np.intp)
    distances = np.full((len(people), n_neighbors), np.inf)
    groups = [None] if query is None else [np.flatnonzero(query == q) for q in np.unique(query)]
    for members in groups:
        asked, among = (people, others) if members is None else (people[members], others[members])
        k = min(n_neighbors, len(among) - (reference is None))
        if k < 1 or len(asked) == 0:
            continue
        search = among.prepare_search() if asked.complete and reference is not None else None
        if reference is None and asked.complete:
            search_own = nearest_approximately if approximate else nearest
            found, squared = search_own(asked.coordinates, k)
        elif search is not None:
            found, squared = search.nearest(asked.coordinates, k)
        else:
            starts = range(0, len(asked), ROWS)
            parts = [_nearest(asked[i : i + ROWS], among, k, i if reference is None else None) for i in starts]
            found, squared = (np.concatenate(part) for part in zip(*parts))
        rows = slice(None) if members is None else members
        indices[rows, :k], distances[rows, :k] = found if members is None else members[found], np.sqrt(squared)
    return Peers(indices, distances)


def _nearest(people: Points, others: Points, k: int, first: int | None) -> tuple[Indices, Array]:
    """The k nearest others of a block of people; ``first`` is the position of the block among the others, if it is."""
    squared = people.squared_distances(others)
    if first is not None:
        squared[np.arange(len(people)), first + np.arange(len(people))] = np.inf
    kth = np.partition(squared, k - 1, axis=1)[:, k - 1 : k]
    # Products err by some units in the last place of the squares that they are made of.
    size = people.squares.sum(axis=1)[:, None] + others.squares.sum(axis=1).max(initial=0.0)
    row, other = np.nonzero((squared <= kth + 1e-12 * (1.0 + size)) & np.isfinite(squared))
    exact = to_ten_digits(people.squared_differences(others, row, other))
    return first_of_each(row, other, exact, k)
