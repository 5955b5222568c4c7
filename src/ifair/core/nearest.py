"""Exact nearest neighbours: products in single precision find candidates, true distances in double decide.

The same search for devices of PyTorch is in :mod:`ifair.core.nearest_torch`.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import Array, Indices, limit_products, namespace
from ifair.core.copies import Copies, first_of_each
from ifair.core.scan import FAR, Scan

ROWS = 256  # people searched for at a time
COLUMNS = 2048  # others they are compared with at a time: such a tile stays in the cache
GROUP = 32  # others of which only the nearest counts when the first bound is drawn
SAMPLE_SHARE = 16  # one in so many of the others gives that bound
SAMPLE = 4096  # but at least so many
PAIRS = 32_768  # true distances at a time
SPARE_BITS = 17  # of a mantissa of 52: distances are compared to ten significant digits
FEW = 8  # queries that are searched for one by one
MANY = 40  # so many candidates per neighbour are too many: single precision tells too few people apart
EVEN = (1 << (SPARE_BITS - 1)) - 1


def nearest(reference: Array, k: int, queries: Array | None = None, n_jobs: int | None = None) -> tuple[Indices, Array]:
    """The ``k`` nearest records of a reference, in Euclidean distance.

    Parameters
    ----------
    reference : float64 array of shape (M, N)
    k : int
        At most M, or at most M - 1 without ``queries``.
    queries : float64 array of shape (Q, N), optional
        The people searched for. By default those of the reference, where nobody is their own neighbour.
    n_jobs : int or None
        Threads, as in scikit-learn.

    Returns
    -------
    index : int array of shape (Q, k)
        The nearest first; equally distant ones by their row in the reference.
    squared : float64 array of shape (Q, k)
        Their squared distances to ten significant digits, so that distances that are equal in exact arithmetic tie
        whatever the order of the columns.

    Notes
    -----
    ``|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`` in single precision with a bound on its rounding error rules out nearly all
    pairs; what is left is computed in double precision from differences. Where single precision rules out too little
    (people close together and far from the mean) a block is searched again in double. Copies of a person are searched
    for once. Memory grows with M.
    """
    prepared = Reference.from_records(reference)
    return prepared.nearest_others(k, n_jobs) if queries is None else prepared.nearest(queries, k, n_jobs)


def run_in_threads(work: Callable[[Any], Any], items: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """``[work(item) for item in items]``, in threads; BLAS keeps to one thread in each."""
    threads, items = 1, list(items)
    if len(items) == 1:
        return [work(items[0])]  # setting limits takes longer than to search for one person
    if n_jobs is not None:
        from joblib import effective_n_jobs

        threads = effective_n_jobs(n_jobs)
    with limit_products():
        if threads == 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, items))


def without_self(index: Indices, squared: Array, k: int) -> tuple[Indices, Array]:
    """Drop each row's own number, or the last entry where it is not among them: (M, k + 1) to (M, k)."""
    xp = namespace(squared)
    others = index != xp.arange(len(index), device=index.device)[:, None]
    others[:, k] &= ~xp.all(others, axis=1)
    return index[others].reshape(-1, k), squared[others].reshape(-1, k)


def to_ten_digits(squared: Array) -> Array:
    """Nonnegative doubles with the last bits of the mantissa rounded away, half to even."""
    xp = namespace(squared)
    bits = squared.view(xp.int64)
    rounded = (bits + (EVEN + ((bits >> SPARE_BITS) & 1))) >> SPARE_BITS << SPARE_BITS
    return rounded.view(xp.float64)


@dataclass(frozen=True, slots=True)
class _Side:
    """Records as products need them: one product with (-2 x, 1) gives a bound of |y|^2 - 2 x.y."""

    lower: Array  # (U, N + 1): y, and |y|^2 less its share of the rounding error
    sample: Array  # (S, N + 1): the same of some records, with the error added
    slack: float
    tiny: float


@dataclass(frozen=True, slots=True)
class Reference:
    """People among whom the nearest are searched, prepared for many searches."""

    copies: Copies
    records: Array  # (U, N) the different ones times a power of two, which is exact
    mean: Array  # (N,) of these
    scale: float
    squares: Array  # (U,) their squared distances from the mean, whose columns differ by at most one from it
    sides: dict[Any, _Side] = field(default_factory=dict)  # by precision
    columns: Indices | None = None  # (N,) the attribute of a column; by default one for each
    scans: list[Scan] = field(default_factory=list)  # none before the first search for few

    @classmethod
    def from_records(cls, reference: Array, columns: Indices | None = None) -> "Reference":
        copies = Copies.from_records(reference)
        distinct = reference[copies.firsts]
        mean = distinct.mean(axis=0)
        centred = distinct - mean
        largest = float(np.abs(centred).max(initial=0.0))
        scale = 2.0 ** -int(np.frexp(largest)[1]) if largest > 0 else 1.0
        centred *= scale
        squares = np.einsum("ij,ij->i", centred, centred)
        return cls(copies, distinct * scale, mean * scale, scale, squares, columns=columns)

    def nearest(self, queries: Array, k: int, n_jobs: int | None = None) -> tuple[Indices, Array]:
        """The ``k`` nearest rows of the reference for each query, and their squared distances."""
        index, squared = self._search(queries * self.scale, k, n_jobs)
        return index, self._unscale(squared)

    def nearest_others(self, k: int, n_jobs: int | None = None) -> tuple[Indices, Array]:
        """The ``k`` nearest other rows for each row of the reference itself."""
        index, squared = self._search(self.records, k + 1, n_jobs)
        rows = self.copies.of_record
        index, squared = without_self(index[rows], squared[rows], k)
        return index, self._unscale(squared)

    def _unscale(self, squared: Array) -> Array:
        with np.errstate(over="ignore", under="ignore"):  # squares may leave the range that distances stay in
            return squared / self.scale / self.scale

    def _search(self, queries: Array, n: int, n_jobs: int | None) -> tuple[Indices, Array]:
        few = min(n, len(self.records))
        starts = range(0, len(queries), ROWS)
        blocks = run_in_threads(lambda i: self._block(queries[i : i + ROWS], few), starts, n_jobs)
        index, squared = (np.concatenate(parts) for parts in zip(*blocks))
        return self.copies.expand(index, squared, n)

    def _side(self, dtype: Any) -> _Side:
        if dtype not in self.sides:
            n_columns, info = len(self.mean), np.finfo(dtype)
            slack = (n_columns + 16) * float(info.eps)
            # The second term is what subtracting the mean can err by.
            tiny = (n_columns + 16) * float(info.tiny)
            tiny += 8 * n_columns * float(np.abs(self.mean).max(initial=0.0) * np.finfo(np.float64).eps)
            lower = np.empty((len(self.records), n_columns + 1), dtype=dtype)
            np.subtract(self.records, self.mean, out=lower[:, :-1], casting="same_kind")
            lower[:, -1] = (1 - slack) * self.squares - tiny
            step = max(1, min(SAMPLE_SHARE, len(lower) // SAMPLE))
            sample = lower[::step].copy()
            sample[:, -1] = (1 + slack) * self.squares[::step] + tiny
            self.sides[dtype] = _Side(lower, sample, slack, tiny)
        return self.sides[dtype]

    def _block(self, queries: Array, n: int) -> tuple[Indices, Array]:
        """The n nearest of some queries among the different records, and their squared distances."""
        n_queries, n_records = len(queries), len(self.records)
        if n_records <= n:
            row, other = np.divmod(np.arange(n_queries * n_records), n_records)
        else:
            enough = MANY * n * n_queries
            row = other = np.empty(0, dtype=np.intp)
            if n_queries <= FEW:
                row, other = self._candidates_one_by_one(queries, n)
            centred = None if 0 < len(row) <= enough else queries - self.mean
            if centred is not None and np.abs(centred).max(initial=0.0) < FAR:
                row, other = self._candidates(centred, n, self._side(np.float32))
            if centred is not None and not 0 < len(row) <= enough:
                row, other = self._candidates(centred, n, self._side(np.float64))
        squared = np.empty(len(row))
        for first in range(0, len(row), PAIRS):
            part = slice(first, first + PAIRS)
            difference = queries[row[part]] - self.records[other[part]]
            squared[part] = np.einsum("ij,ij->i", difference, difference)
        return first_of_each(row, other, to_ten_digits(squared), n)

    def _candidates_one_by_one(self, queries: Array, n: int) -> tuple[Indices, Indices]:
        if not self.scans:
            columns = np.arange(queries.shape[1]) if self.columns is None else self.columns
            self.scans.append(Scan.from_records(self.records, columns))
        found = [self.scans[0].candidates(query, n) for query in queries]
        if not all(map(len, found)):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        row = np.repeat(np.arange(len(found)), [len(others) for others in found])
        return row, np.concatenate(found)

    def _candidates(self, queries: Array, n: int, side: _Side) -> tuple[Indices, Indices]:
        """Pairs (query, record) that the rounding of the products cannot rule out."""
        dtype, (n_queries, n_columns) = side.lower.dtype, queries.shape
        Q = np.ones((n_queries, n_columns + 1), dtype=dtype)
        np.multiply(queries, -2, out=Q[:, :-1], casting="same_kind")
        squares = np.einsum("ij,ij->i", queries, queries)
        own = (2 * (side.slack * squares + side.tiny * (1 + np.sqrt(squares)))).astype(dtype)
        reach = (_first_bound(side.sample, Q, n) + own)[:, None]
        rows, others, values = [], [], []
        # Of few queries a tile may be as wide as it is high of many.
        width = max(COLUMNS, min(ROWS * COLUMNS // (8 * n_queries), len(side.lower)))
        tile = np.empty((n_queries, width), dtype=dtype)
        for first in range(0, len(side.lower), width):
            part = side.lower[first : first + width]
            bounds = tile if len(part) == width else np.empty((n_queries, len(part)), dtype=dtype)
            np.matmul(Q, part.T, out=bounds)
            hits = np.flatnonzero(bounds <= reach)  # ten times faster than a two-dimensional nonzero
            row = hits // len(part)
            rows.append(row)
            others.append(hits - row * len(part) + first)
            values.append(bounds.ravel()[hits])
        row, other, value = np.concatenate(rows), np.concatenate(others), np.concatenate(values)
        # The n-th smallest upper bound of a row is a closer bound for its n-th smallest distance.
        upper = (value + (2 * side.slack * self.squares[other] + 2 * side.tiny)).astype(np.float32)
        upper = np.nextafter(upper, np.float32(np.inf))
        count = np.bincount(row, minlength=n_queries)
        nth = np.sort(row << 32 | _in_order(upper))[np.cumsum(count) - count + n - 1] & 0xFFFFFFFF
        kept = value <= _out_of_order(nth).astype(dtype)[row] + own[row]
        return row[kept], other[kept]


def _first_bound(sample: Array, Q: Array, n: int) -> Array:
    """An upper bound for the n-th smallest distance of every query, from some of the records.

    n groups of records have a nearest one within the n-th smallest of the groups' smallest values: so many records are
    within it.
    """
    groups = max(2 * n, len(sample) // GROUP)
    if groups >= len(sample):
        return np.partition(Q @ sample.T, n - 1, axis=1)[:, n - 1]
    smallest = np.full((len(Q), groups), np.inf, dtype=Q.dtype)
    for first in range(0, len(sample), groups):
        part = sample[first : first + groups]
        np.minimum(smallest[:, : len(part)], Q @ part.T, out=smallest[:, : len(part)])
    return np.partition(smallest, n - 1, axis=1)[:, n - 1]


def _in_order(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Whole numbers from 0 to 2^32 - 1 in the order of the values."""
    bits = values.view(np.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64) + 2**31


def _out_of_order(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    bits = (numbers - 2**31).astype(np.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).view(np.float32)
