"""The people most like each: their positions and distances, fewer where nobody else is within reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.approximate import nearest_approximately
from ifair.core.arrays import Array, Indices
from ifair.core.copies import Copies, first_of_each
from ifair.core.nearest import FEW, MANY, Reference, nearest, to_ten_digits
from ifair.core.neighbour_graph import squared_reach
from ifair.core.scan import Scan

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

    def within(self, reach: float) -> "Peers":
        """Only those at most so far away."""
        near = is_within(self.distances, reach)
        return Peers(np.where(near, self.indices, -1), np.where(near, self.distances, np.inf))

    def first(self, n: int) -> "Peers":
        """Only so many of the nearest."""
        return Peers(self.indices[:, :n], self.distances[:, :n])


def is_within(distances: NDArray[np.float64], reach: float) -> NDArray[np.bool_]:
    """Which distances are at most a reach, to ten digits, as distances are compared with each other.

    A reach that was learned is often the distance of many pairs, and rounding must not say which of them it includes.
    """
    return np.asarray(to_ten_digits(np.square(distances, dtype=np.float64)) <= squared_reach(reach))


@dataclass(frozen=True)
class Points:
    """People as coordinates, with gaps.

    The squared distance of two people is the sum of squared differences over the attributes that both have a value for.
    An attribute that is missing of either adds a fixed amount: a gap is neither like nor unlike.
    """

    coordinates: NDArray[np.float64]  # (n_people, n_columns): weighted, zero where an attribute has no value
    squares: NDArray[np.float64]  # (n_people, n_attributes): squared length of every attribute's columns
    present: NDArray[np.float64]  # (n_people, n_attributes): 1.0 where there is a value, else 0.0
    gaps: NDArray[np.float64]  # (n_attributes,): what a missing value adds
    columns: NDArray[np.intp]  # (n_columns,): the attribute of every column

    @classmethod
    def from_coordinates(
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

    @cached_property
    def complete(self) -> bool:
        """Whether nobody has a gap."""
        return bool(self.present.all())

    @cached_property
    def search(self) -> Reference:
        """What a search of people without gaps among these, without gaps, needs."""
        return Reference.from_records(self.coordinates, self.columns)

    @cached_property
    def search_with_gaps(self) -> "SearchWithGaps":
        """What a search of anybody among these needs."""
        copies = Copies.from_records(np.hstack([self.coordinates, self.present]))
        return SearchWithGaps(copies, self[copies.firsts])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that the points are made of."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def squared_distances(self, others: "Points") -> NDArray[np.float64]:
        """Of every person here to every one of the others, by matrix products."""
        squared = self.coordinates @ (-2.0 * others.coordinates.T)
        if self.complete and others.complete:
            squared += self.squares.sum(axis=1)[:, None]
            squared += others.squares.sum(axis=1)
        else:
            # |x|^2 + |y|^2 over the attributes that both have, and the gaps of the others: all that one lacks, and
            # of what one has that which the other lacks. Nothing is subtracted, however large a gap.
            there = np.hstack([others.present, others.squares + self.gaps * (1.0 - others.present)])
            squared += np.hstack([self.squares, self.present]) @ there.T
            squared += ((1.0 - self.present) @ self.gaps)[:, None]
        return np.maximum(squared, 0.0, out=squared)

    @classmethod
    def from_columns(cls, columns: NDArray[np.float64]) -> "Points":
        """Points whose columns are attributes without weights and gaps: Euclidean distances."""
        width = columns.shape[1]
        return cls.from_coordinates(columns, np.ones(columns.shape, dtype=bool), np.zeros(width), np.arange(width))

    def squared_differences(
        self, others: "Points", row: NDArray[np.intp], other: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Of pairs of a person here and one there, shape (n_pairs,), without the rounding of a product."""
        squared = np.empty(len(row))
        for start in range(0, len(row), PAIRS):
            here, there = row[start : start + PAIRS], other[start : start + PAIRS]
            difference = self.coordinates[here] - others.coordinates[there]
            both = self.present[here] * others.present[there]
            known = bool(both.all())
            if not known:
                difference *= both[:, self.columns]
            found = np.einsum("ij,ij->i", difference, difference)
            squared[start : start + PAIRS] = found if known else found + (1.0 - both) @ self.gaps
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
        complete = asked.complete and among.complete
        if reference is None and complete:
            search_own = nearest_approximately if approximate else nearest
            found, squared = search_own(asked.coordinates, k)
        elif reference is None:
            found, squared = _nearest_of_all(asked, among, k, among_themselves=True)
        elif complete:
            found, squared = among.search.nearest(asked.coordinates, k)
        else:
            found, squared = among.search_with_gaps.nearest(asked, k)
        rows = slice(None) if members is None else members
        indices[rows, :k], distances[rows, :k] = found if members is None else members[found], np.sqrt(squared)
    return Peers(indices, distances)


@dataclass(frozen=True)
class SearchWithGaps:
    """People among whom the nearest are searched where somebody has a gap, prepared for many searches."""

    copies: Copies
    distinct: Points

    @cached_property
    def scan(self) -> Scan:
        """For searches for few."""
        there = self.distinct
        return Scan.from_records(there.coordinates, there.columns, there.present, there.gaps)

    def nearest(self, people: Points, k: int) -> tuple[Indices, Array]:
        """The k nearest of each, and their squared distances."""
        n = min(k, len(self.distinct))
        if len(people) <= FEW and n < len(self.distinct):
            # Whom single precision cannot rule out; too many, or nobody, where it is not enough.
            found = [self.scan.candidates(x, n, has > 0) for x, has in zip(people.coordinates, people.present)]
            if all(0 < len(others) <= MANY * n for others in found):
                row, other = np.repeat(np.arange(len(found)), [len(others) for others in found]), np.concatenate(found)
                squared = people.squared_differences(self.distinct, row, other)
                return self.copies.expand_pairs(row, other, to_ten_digits(squared), k)
        return self.copies.expand(*_nearest_of_all(people, self.distinct, n), k)


def _nearest_of_all(people: Points, others: Points, k: int, *, among_themselves: bool = False) -> tuple[Indices, Array]:
    """The k nearest others of each, from all distances; people ``among_themselves`` are not their own neighbours."""
    largest = others.squares.sum(axis=1).max(initial=0.0)
    parts = []
    for start in range(0, len(people), ROWS):
        some = people[start : start + ROWS]
        squared = some.squared_distances(others)
        if among_themselves:
            squared[np.arange(len(some)), start + np.arange(len(some))] = np.inf
        kth = np.partition(squared, k - 1, axis=1)[:, k - 1 : k]
        # Products err by some units in the last place of the squares they are made of, and ten digits are compared.
        size = some.squares.sum(axis=1)[:, None] + largest
        row, other = np.nonzero((squared <= kth + 1e-10 * kth + 1e-12 * (1.0 + size)) & np.isfinite(squared))
        parts.append(first_of_each(row, other, to_ten_digits(some.squared_differences(others, row, other)), k))
    index, squared = (np.concatenate(part) for part in zip(*parts))
    return index, squared
