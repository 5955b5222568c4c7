"""Exact nearest neighbours for tables of any size: matrix products find candidates, true distances decide."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.errors import IfairError
from ifair.metrics.arguments import Floats, Ints, check_matrix, run_in_threads, split_by_query

ROWS = 256  # records searched at a time
COLUMNS = 4096  # others they are compared with at a time
SAMPLE = 4096  # others that give the first bound
PAIRS = 32_768  # true distances at a time
MANTISSA = 2.0**36


def nearest_neighbours(X: ArrayLike, k: int = 10, *, query: Any = None, n_jobs: int | None = None) -> Ints:
    """The k nearest other records of every record, in Euclidean distance.

    Parameters
    ----------
    X : array or frame of shape (M, N)
        Scaled, non-protected attributes.
    k : int
        Less than M.
    query : labels of shape (M,), optional
        Search only among the candidates of the same query.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all cores.

    Returns
    -------
    neighbours : int array of shape (M, k)
        The nearest first, equally distant ones by their row number. A record is never its own neighbour,
        though its exact copies are.

    Notes
    -----
    Distances are equal when their squares agree to ten significant digits: distances that are equal in
    exact arithmetic, as between encoded categories, then tie whatever the order of the columns or the
    processor.

    The result is exact, and an M x M array is never made. ``|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`` in single
    precision, lowered by a bound on its rounding error, rules out nearly all pairs; the true distance of
    the others is computed in double precision. Where single precision rules out too little (records close
    together and far from their mean) the block is searched again in double. Copies of a record are
    searched for once. M^2 N / 2 multiplications; memory grows with M.

    Examples
    --------
    >>> from ifair.metrics import nearest_neighbours
    >>> nearest_neighbours([[0.0], [1.0], [3.0], [3.0]], k=2)
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    records = check_matrix(X)
    found = np.empty((len(records), k), dtype=np.intp)
    for _, rows in split_by_query(query, len(records)):
        found[rows] = rows[_search(records[rows], k, n_jobs)]
    return found


def _search(records: Floats, k: int, n_jobs: int | None) -> Ints:
    if not 1 <= k < len(records):
        raise IfairError(f"k must be at least 1 and less than the number of records, {len(records)}; got {k}")
    copies = _Copies.of(records, most=k + 1)
    found = _Search.of(records[copies.firsts], k)
    starts = range(0, len(copies.firsts), ROWS)
    blocks = run_in_threads(lambda start: copies.expand(*found.candidates(start), k + 1), starts, n_jobs)
    return _drop_self(np.concatenate(blocks)[copies.of_record], k)


def _drop_self(nearest: Ints, k: int) -> Ints:
    """Drop each row's own number, or the last entry where it is not among them: (M, k + 1) to (M, k)."""
    own = nearest == np.arange(len(nearest))[:, None]
    position = np.where(own.any(axis=1), own.argmax(axis=1), k)[:, None]
    columns = np.arange(k)[None, :]
    return np.take_along_axis(nearest, columns + (columns >= position), axis=1)


@dataclass(frozen=True, slots=True)
class _Copies:
    """The different records of a table, and the first few rows where each stands."""

    firsts: Ints  # (U,) a row of each different record
    of_record: Ints  # (M,) the different record that a row holds
    rows: Ints  # the rows of the first different record, of the second, ...
    start: Ints  # (U,) where they start in ``rows``
    size: Ints  # (U,) how many of them there are, at most ``most``

    @classmethod
    def of(cls, records: Floats, most: int) -> "_Copies":
        if records.shape[1] == 0:
            records = np.zeros((len(records), 1))
        packed = np.ascontiguousarray(records + 0.0)  # -0.0 is 0.0
        keys = packed.view(np.dtype((np.void, packed.itemsize * packed.shape[1])))[:, 0]
        _, firsts, of_record, size = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        rows = np.argsort(of_record, kind="stable")
        start = np.concatenate([[0], np.cumsum(size)[:-1]])
        return cls(firsts, of_record, rows, start, np.minimum(size, most))

    def expand(self, row: Ints, other: Ints, key: Floats, n: int) -> Ints:
        """The first ``n`` table rows for each searched record, from its candidates among the different
        records."""
        repeat = self.size[other]
        nth = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        member = self.rows[np.repeat(self.start[other], repeat) + nth]
        row, key = np.repeat(row, repeat), np.repeat(key, repeat)
        order = np.lexsort((member, key, row))
        row, member = row[order], member[order]
        begin = np.searchsorted(row, np.arange(row[-1] + 1))
        return np.asarray(member[begin[:, None] + np.arange(n)], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class _Search:
    """Which records may be among the k + 1 nearest (itself included) of a block of records."""

    records: Floats  # (U, N) times a power of two, which is exact
    centred: Floats  # (U, N) less their mean, at most 1 in absolute value
    single: NDArray[np.float32]  # (U, N) the same in single precision
    squares: Floats  # (U,) squared norms of ``centred``
    k: int

    @classmethod
    def of(cls, records: Floats, k: int) -> "_Search":
        centred = records - records.mean(axis=0)
        largest = float(np.abs(centred).max(initial=0.0))
        scale = 2.0 ** -int(np.frexp(largest)[1])
        centred *= scale
        squares = np.einsum("ij,ij->i", centred, centred)
        return cls(records * scale, centred, centred.astype(np.float32), squares, k)

    def candidates(self, start: int) -> tuple[Ints, Ints, Floats]:
        """Pairs (record of the block, other record) and their squared distances, to ten significant
        digits."""
        block = slice(start, min(start + ROWS, len(self.records)))
        few = 40 * (self.k + 1) * (block.stop - block.start)
        row, other = self._find_possible(self.single, block)
        if len(row) > few:
            row, other = self._find_possible(self.centred, block)
        distance = np.empty(len(row))
        for first in range(0, len(row), PAIRS):
            part = slice(first, first + PAIRS)
            difference = self.records[block][row[part]] - self.records[other[part]]
            distance[part] = np.einsum("ij,ij->i", difference, difference)
        mantissa, exponent = np.frexp(distance)
        return row, other, np.ldexp(np.rint(mantissa * MANTISSA) / MANTISSA, exponent)

    def _find_possible(self, X: NDArray[np.floating], block: slice) -> tuple[Ints, Ints]:
        """Pairs that the rounding of ``X``'s type cannot rule out.

        The computed |x|^2 + |y|^2 - 2 x.y errs by at most ``slack`` (|x|^2 + |y|^2), ``slack`` being a small
        multiple of N times the rounding unit.
        """
        n_records, n_columns = X.shape
        if n_records <= self.k + 1:
            return np.divmod(np.arange((block.stop - block.start) * n_records), n_records)
        info = np.finfo(X.dtype)
        slack = (n_columns + 16) * float(info.eps)
        tiny = (n_columns + 16) * float(info.tiny)
        lower = ((1 - slack) * self.squares - tiny).astype(X.dtype)
        upper = ((1 + slack) * self.squares + tiny).astype(X.dtype)
        twice = -2 * X[block]
        # Bounds of the squared distances, less the record's own part. The (k + 1)-th smallest upper bound
        # among some records is one for the (k + 1)-th smallest distance among all.
        some = slice(None, None, max(1, n_records // max(SAMPLE, self.k + 1)))
        reach = np.partition(twice @ X[some].T + upper[some], self.k, axis=1)[:, self.k]
        reach = (reach + (2 * slack * self.squares[block] + 2 * tiny).astype(X.dtype))[:, None]
        parts = []
        for first in range(0, n_records, COLUMNS):
            bounds = twice @ X[first : first + COLUMNS].T
            bounds += lower[first : first + COLUMNS]
            hits = np.flatnonzero(bounds <= reach)  # ten times faster than a two-dimensional nonzero
            row, other = np.divmod(hits, bounds.shape[1])
            parts.append((row, other + first))
        return np.concatenate([row for row, _ in parts]), np.concatenate([other for _, other in parts])
