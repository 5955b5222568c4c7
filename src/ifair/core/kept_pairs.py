"""The fairness loss (Def. 5) of a table that takes little memory: what it needs of the inputs is found once and kept.

The sums are those of :class:`ifair.core.pairs.AllPairs` and :class:`ifair.core.pairs.Landmarks`. Inputs never change,
which saves three things: they are laid out for tiles once; records are in an order in which those of a tile share
their rare categories, so that two tiles have few columns in common; and plain distances, which no weight changes, are
kept themselves.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ifair.core.arrays import Array, Indices, find_origin, row_sums, spread_rows
from ifair.core.mapping import Parameters
from ifair.core.objective import Part, Term
from ifair.core.pairs import EuclideanPairs, compare_distances, tiles
from ifair.engines.engine import Engine, LocalEngine, add_in_order

COPIES = 8
"""Of memberships, distances to prototypes and sums, that are alive at the same time."""

FEW_COLUMNS = 0.6
"""Share of the columns that two tiles have in common, on average, up to which picking them saves time."""


class PairOfTiles(NamedTuple):
    """Two tiles, by number; how often they count; the columns that they have in common; plain distances, squared."""

    a: int
    b: int
    times: float
    columns: Any
    squared: Array | None


class KnownPairs(NamedTuple):
    """The loss, and its gradient on all memberships and directly on the parameters."""

    loss: Array
    d_memberships: Array
    direct: Parameters


class _Side(NamedTuple):
    """A tile at given parameters.

    As in :class:`ifair.core.pairs.EuclideanSide` products give squared distances, those of ``scaled`` and ``inputs``
    with ``ends``, norms and ones, below them. ``counted`` are memberships and one, times the weight of the record.
    """

    at: slice
    left: Array
    right: Array
    counted: Array
    floor: Array
    input_floor: Array
    inputs: Array
    scaled: Array
    ends: Array
    weights: Array | None


@dataclass(frozen=True, slots=True)
class KeptPairs(Term):
    """Every pair of records, or every record paired with landmarks; :func:`keep_pairs` makes it.

    Parameters
    ----------
    kernel : EuclideanPairs
    rows : int array of shape (M + L,)
        The records in the order of their tiles, then the landmarks in that of theirs.
    cut : list of slice
        The tiles.
    inputs : list of array of shape (N', R)
        The inputs of every tile, by column.
    squares : array of shape (M + L, N'), may be sparse
        All inputs, squared.
    pairs : list of list of PairOfTiles
        By the first of both.
    n_landmarks : int
        L; 0 where all pairs count.
    scale : float
        What a pair counts.
    weights : array of shape (M + L,), optional
        How much records and landmarks count; a pair counts the product of its two.
    """

    order: ClassVar[int] = 2
    needs_all: ClassVar[bool] = True

    kernel: EuclideanPairs
    rows: Indices
    cut: list[slice]
    inputs: list[Array]
    squares: Any
    pairs: list[list[PairOfTiles]]
    n_landmarks: int
    scale: float
    weights: Array | None = None

    def prepare_all(self, engine: Engine, U: Array, parameters: Parameters) -> KnownPairs:
        kernel, n_records = self.kernel, len(U)
        U = U[self.rows]
        sides = self._sides(U, parameters)
        first_b = n_records if self.n_landmarks else 0
        sums = np.zeros((len(U), kernel.width))
        n_stripes = min(engine.stripes, len(self.pairs))

        def stripe(first: int) -> tuple[Array, Array, Array]:
            loss, shared = np.zeros(()), np.zeros(kernel.n_shared)
            sums_b = np.zeros((len(U) - first_b, kernel.width))
            for pair in (pair for pairs in self.pairs[first::n_stripes] for pair in pairs):
                a, b = sides[pair.a], sides[pair.b]
                value, rows_a, rows_b, cross = self._compare(pair, a, b)
                loss = loss + pair.times * value
                sums[a.at] += pair.times * rows_a  # of no other stripe
                sums_b[b.at.start - first_b : b.at.stop - first_b] += pair.times * rows_b
                if kernel.weighted:
                    shared[pair.columns] += pair.times * cross
            return loss, sums_b, shared

        loss, sums_b, shared = add_in_order(engine.run(stripe, n_stripes))
        sums[first_b:] += sums_b
        if self.weights is not None:
            sums *= self.weights[:, None]
        by_row, direct = kernel.pull_rows(U, sums, self.squares, parameters)
        direct = direct + kernel.pull_shared(shared, parameters)
        d_memberships = np.empty((n_records, U.shape[1]))
        d_memberships[self.rows[:n_records]] = by_row[:n_records]
        d_memberships[self.rows[n_records:]] += by_row[n_records:]
        return KnownPairs(self.scale * loss, self.scale * d_memberships, self.scale * direct)

    def _sides(self, U: Array, parameters: Parameters) -> list[_Side]:
        kernel = self.kernel
        dtype: Any = kernel.dtype
        n_inputs = self.squares.shape[1]
        alpha = parameters.alpha[kernel.unprotected] if kernel.weighted else np.ones(n_inputs)
        left, right, norms = kernel.factor_memberships(U, parameters)
        input_norms = self.squares @ alpha
        floor, input_floor = kernel.find_floor(norms, input_norms), kernel.find_floor(input_norms, norms)
        weights = None if self.weights is None else self.weights.astype(dtype)
        counted = right[:, :-1] if weights is None else right[:, :-1] * weights[:, None]
        ends = np.stack([input_norms.astype(dtype), np.ones(len(U), dtype)])
        scale = (-2.0 * alpha[:, None]).astype(dtype)
        return [
            _Side(
                at,
                left[at],
                right[at],
                counted[at],
                floor[at],
                input_floor[at],
                inputs,
                inputs * scale if kernel.weighted else inputs,
                ends[:, at],
                None if weights is None else weights[at],
            )
            for at, inputs in zip(self.cut, self.inputs)
        ]

    def _compare(self, pair: PairOfTiles, a: _Side, b: _Side) -> tuple[Array, Array, Array, Any]:
        """The loss of two tiles, and sums as of ``EuclideanPairs.tile``, but for the weight of the record itself."""
        squared = a.left @ b.right.T
        np.maximum(squared, b.floor, out=squared)
        columns = pair.columns
        if pair.squared is None:
            b_inputs = np.concatenate([b.inputs[columns], b.ends[::-1]])
            ratio = np.concatenate([a.scaled[columns], a.ends]).T @ b_inputs
            np.maximum(ratio, b.input_floor, out=ratio)
        else:
            ratio = np.maximum(pair.squared, b.input_floor)
        ratio, W = compare_distances(squared, ratio, same=pair.a == pair.b)
        if a.weights is None or b.weights is None:
            loss = np.dot(squared.ravel(), W.ravel())
        else:
            squared *= W
            loss = a.weights @ (squared @ b.weights)
        del squared
        rows_a, rows_b = W @ b.counted, W.T @ a.counted
        if not self.kernel.weighted:
            return loss, rows_a, rows_b, None
        W /= ratio  # e / d*
        features, one = b_inputs[:-1], a.counted[:, -1]
        product = (features if b.weights is None else features * b.weights) @ W.T
        a_inputs = a.inputs[columns]
        cross = row_sums(a_inputs if a.weights is None else a_inputs * a.weights, product[:-1])
        return loss, np.column_stack([rows_a, product[-1]]), np.column_stack([rows_b, one @ W]), cross

    def block(self, known: KnownPairs, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        return known.d_memberships[rows], ()

    def finish(self, known: KnownPairs, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        return known.loss, known.direct


def keep_pairs(
    engine: Engine,
    kernel: Any,
    landmarks: Indices | None = None,
    weights: Array | None = None,
    landmark_weights: Array | None = None,
) -> KeptPairs | None:
    """The pairs of an engine's records, or those with landmarks; None where they are elsewhere or take too much.

    Parameters
    ----------
    engine : Engine
    kernel : PairKernel
    landmarks : int array of shape (L,), optional
        Positions of different records.
    weights, landmark_weights : arrays of shape (M,) and (L,), optional
        How much every record and every landmark counts; the latter 1 on average.
    """
    if not isinstance(engine, LocalEngine) or engine.batch_bytes or type(kernel) is not EuclideanPairs:
        return None
    M, L, dtype = engine.n_records, 0 if landmarks is None else len(landmarks), np.dtype(kernel.dtype)
    n_distances = 0 if kernel.weighted else M * L or M * M
    bytes_each = 8 * (2 * len(kernel.unprotected) + COPIES * kernel.width)
    n_bytes = (M + L) * bytes_each + n_distances * dtype.itemsize
    if n_bytes > engine.room:
        return None
    engine.room -= n_bytes
    X = engine.take(np.arange(M))[:, kernel.unprotected]
    X = X - find_origin(X[spread_rows(M)])
    rows, tile_rows = sort_alike(X), kernel.tile_rows or engine.tile_rows
    cut = tiles(M, tile_rows)
    counted = None if weights is None else weights[rows]
    if landmarks is not None:
        order = sort_alike(X[landmarks])
        rows = np.concatenate([rows, landmarks[order]])
        cut += [slice(M + at.start, M + at.stop) for at in tiles(L, tile_rows)]
        counted = None if landmark_weights is None else np.concatenate([counted, landmark_weights[order]])
    X = X[rows]
    departs = np.array([np.any(X[at] != 0.0, axis=0) for at in cut])
    squares = X * X
    n_a = sum(at.start < M for at in cut)
    numbers = [[(a, b) for b in (range(n_a, len(cut)) if L else range(a, n_a))] for a in range(n_a)]
    n_common = [np.count_nonzero(departs[a] & departs[b]) for some in numbers for a, b in some]
    few = np.mean(n_common) <= FEW_COLUMNS * X.shape[1]

    def pair(a: int, b: int) -> PairOfTiles:
        squared = None
        if not kernel.weighted:
            norms = squares[cut[a]].sum(axis=1)[:, None] + squares[cut[b]].sum(axis=1)
            squared = (norms - 2.0 * (X[cut[a]] @ X[cut[b]].T)).astype(dtype)
        columns = np.flatnonzero(departs[a] & departs[b]) if few else slice(None)
        # Tile (a, b) stands for (b, a) too; a tile on the diagonal holds both orders already.
        return PairOfTiles(a, b, 1.0 if L or a == b else 2.0, columns, squared)

    return KeptPairs(
        kernel,
        rows,
        cut,
        [np.ascontiguousarray(X[at].T, dtype=dtype) for at in cut],
        csr_array(squares) if few else squares,
        [[pair(a, b) for a, b in some] for some in numbers],
        L,
        (M if weights is None else float(weights.sum())) / L if L else 1.0,
        counted,
    )


def sort_alike(X: Array) -> Indices:
    """An order of records, shape (M,), in which those with the same rare columns that are not 0 are neighbours."""
    departs = X != 0.0
    rarest_first = np.argsort(departs.sum(axis=0), kind="stable")
    bits = np.packbits(departs[:, rarest_first], axis=1)
    return np.lexsort((np.arange(len(X)), *bits.T[::-1]))
