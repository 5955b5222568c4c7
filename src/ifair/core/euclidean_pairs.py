"""The fairness loss (Def. 5) under the Euclidean distance, p = 2: what a tile of pairs is, and pairs that are kept.

:class:`EuclideanPairs` evaluates the tiles of :mod:`ifair.core.pairs` on any engine. :class:`KeptPairs` has the same
sums for a table that takes little memory: what it needs of the inputs is found once and kept. Inputs never change,
which saves three things: they are laid out for tiles once; records are in an order in which those of a tile share
their rare categories, so that two tiles have few columns in common; and plain distances, which no weight changes, are
kept themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ifair.core.arrays import (
    Array,
    Indices,
    Mask,
    at_least,
    column_sums,
    find_origin,
    namespace,
    precision,
    row_sums,
    spread_rows,
    square,
    total_products,
)
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Part, Term
from ifair.core.pairs import PairKernel, PairWeights, TileSums
from ifair.engines.engine import ALIGNED, Engine, add_in_order, tiles


def compare_distances(squared: Array, input_squared: Array, *, same: bool) -> tuple[Array, Array]:
    """From squared distances d^2 and d*^2, of representations and of inputs, d* / d and e / d, where e = d - d*.

    In place: d* / d in the place of d*^2, and e d in that of d^2, so that e^2 is its product with e / d. ``same``: on
    the diagonal records are compared with themselves.
    """
    xp, ratio = namespace(squared), input_squared
    ratio /= squared
    ratio **= 0.5
    if same:
        ratio = xp.where(xp.eye(ratio.shape[-1], dtype=xp.bool, device=ratio.device), xp.ones_like(ratio), ratio)
    relative = 1.0 - ratio
    squared *= relative
    return ratio, relative


def compare_tile(
    squared: Array,
    input_squared: Array,
    floor: Array,
    input_floor: Array,
    *,
    weighted: bool,
    same: bool,
    weights: PairWeights | None,
) -> tuple[Array, Array, Any]:
    """The loss of a tile, e / d and, where attributes are ``weighted``, e / d*, from squared distances as multiplied.

    Floors hold for columns. In place, for the processor's cache holds two or three tiles, not more.
    """
    xp = namespace(squared)
    squared = xp.maximum(squared, floor[..., None, :])
    ratio, W = compare_distances(squared, xp.maximum(input_squared, input_floor[..., None, :]), same=same)
    if weights is not None:
        W *= weights[0][:, None]
        W *= weights[1]
    return total_products(squared, W), W, xp.divide(W, ratio, out=ratio) if weighted else None


Comparison = Callable[..., tuple[Array, Array, Any]]


@dataclass(frozen=True, slots=True)
class EuclideanSide:
    # Products of these give squared distances: left_i . right_j = |i|^2 + |j|^2 - 2 i.j in one matrix product.
    left: Array
    right: Array
    input_left: Array
    input_right: Array
    floor: Array
    input_floor: Array

    def __getitem__(self, rows: slice) -> "EuclideanSide":
        return EuclideanSide(
            self.left[..., rows, :],
            self.right[..., rows, :],
            self.input_left[..., rows, :],
            self.input_right[..., rows, :],
            self.floor[..., rows],
            self.input_floor[..., rows],
        )


@dataclass(frozen=True, slots=True)
class EuclideanPairs:
    """Pairs under the (weighted) Euclidean distance, p = 2.

    Because x~ = u V, distances of representations need only the K x K matrix V diag(w) V': pairs cost M^2 K, and
    only the input side costs M^2 N.

    Parameters
    ----------
    unprotected : ndarray of int
        Columns of the attributes that may count.
    n_prototypes : int
    weighted : bool
        Weight attributes by alpha (the paper) or not at all (the authors' code).
    dtype : numpy dtype
        Precision inside a tile; sums over tiles are kept in double precision.
    tile_rows : int, optional
        Most records on each side of a tile, if not what suits the engine.
    even : array of shape (B, 1, K), optional
        Of many fits at once, some of which have fewer prototypes, memberships that are even among those that are there.
    compare : callable
        Stands in for :func:`compare_tile`, where an engine has something faster.
    """

    unprotected: Indices
    n_prototypes: int
    weighted: bool = True
    dtype: Any = np.float64
    tile_rows: int | None = None
    even: Any = None
    compare: Comparison = compare_tile

    @property
    def width(self) -> int:
        return self.n_prototypes + (2 if self.weighted else 1)

    @property
    def n_shared(self) -> int:
        return len(self.unprotected) if self.weighted else 0

    def side(self, X: Array, U: Array, parameters: Parameters) -> EuclideanSide:
        inputs = X[:, self.unprotected]
        weighted_inputs = inputs * parameters.alpha[..., None, self.unprotected] if self.weighted else inputs
        left, right, norms = self.factor_memberships(U, parameters)
        input_norms = row_sums(weighted_inputs, inputs)
        input_left, input_right = self._factors(weighted_inputs, inputs, input_norms)
        floor, input_floor = self.find_floor(norms, input_norms), self.find_floor(input_norms, norms)
        return EuclideanSide(left, right, input_left, input_right, floor, input_floor)

    def factor_memberships(self, U: Array, parameters: Parameters) -> tuple[Array, Array, Array]:
        """What gives squared distances of representations as a product, left and right, and their squared norms."""
        U = self._centre_rows(U)
        weighted = U @ self._gram(parameters)
        norms = row_sums(weighted, U)
        return *self._factors(weighted, U, norms), norms

    def _centre_rows(self, U: Array) -> Array:
        # Only differences of memberships count. They are small where memberships are nearly even: keep their digits.
        return U - (1.0 / self.n_prototypes if self.even is None else self.even)

    def _gram(self, parameters: Parameters) -> Array:
        V = parameters.prototypes
        return (V * parameters.alpha[..., None, :] if self.weighted else V) @ V.mT

    def _factors(self, weighted: Array, features: Array, norms: Array) -> tuple[Array, Array]:
        xp = namespace(features)
        dtype = precision(xp, self.dtype)
        norms = norms[..., None]
        one = xp.ones_like(norms)
        if features.ndim < norms.ndim:
            features = xp.broadcast_to(features, (*norms.shape[:-1], features.shape[-1]))
        left = xp.astype(xp.concat([-2.0 * weighted, norms, one], axis=-1), dtype)
        right = xp.astype(xp.concat([features, one, norms], axis=-1), dtype)
        return left, right

    def find_floor(self, norms: Array, other_norms: Array) -> Array:
        # Below this a squared distance is rounding noise. It also keeps 1/d finite where records coincide: there the
        # gradient multiplies it by a difference of zero. And it keeps d*/d within the range of single precision.
        xp = namespace(norms)
        dtype = precision(xp, self.dtype)
        limits = xp.finfo(dtype)
        mean, other_mean = (xp.mean(of, axis=-1, keepdims=True) for of in (norms, other_norms))
        least = xp.maximum(1e-4 * mean, 1e-10 * other_mean)
        least = xp.where(least > 0.0, least, xp.full_like(least, 1e-4))
        floor = at_least(float(limits.eps) * xp.maximum(norms, least), float(limits.smallest_normal))
        return xp.astype(floor, dtype)

    def tile(
        self, a: EuclideanSide, b: EuclideanSide, *, same: bool = False, weights: PairWeights | None = None
    ) -> TileSums:
        xp = namespace(a.left)
        loss, W, slopes = self.compare(
            a.left @ b.right.mT,
            a.input_left @ b.input_right.mT,
            b.floor,
            b.input_floor,
            weighted=self.weighted,
            same=same,
            weights=weights,
        )
        features_and_one = slice(0, self.n_prototypes + 1)
        rows_a = W @ b.right[..., features_and_one]
        rows_b = W.mT @ a.right[..., features_and_one]
        if not self.weighted:
            return TileSums(loss, rows_a, rows_b, W[..., 0, :0])
        product = slopes @ b.input_right[..., :-1]
        cross = column_sums(a.input_right[..., :-2], product[..., :-1])
        rows_a = xp.concat([rows_a, product[..., -1:]], axis=-1)
        rows_b = xp.concat([rows_b, xp.sum(slopes, axis=-2)[..., None]], axis=-1)
        return TileSums(loss, rows_a, rows_b, cross)

    def pull(self, X: Array, U: Array, rows: Array, parameters: Parameters) -> tuple[Array, Parameters]:
        squares = square(X[:, self.unprotected]) if self.weighted else None
        return self.pull_rows(U, rows, squares, parameters)

    def pull_rows(self, U: Array, rows: Array, squares: Any, parameters: Parameters) -> tuple[Array, Parameters]:
        """The same from the squared inputs, which are needed where weights count."""
        # Rows hold W U, the row sums of W = e / d and, where weights count, those of e / d*.
        xp = namespace(U)
        K = self.n_prototypes
        V = parameters.prototypes
        U = self._centre_rows(U)
        laplacian = rows[..., K : K + 1] * U - rows[..., :K]
        dU = 2.0 * laplacian @ self._gram(parameters)
        dQ = U.mT @ laplacian
        both = (dQ + dQ.mT) @ V
        if not self.weighted:
            return dU, Parameters(both, xp.zeros_like(parameters.alpha))
        d_alpha = 0.5 * column_sums(V, both)
        d_alpha[..., self.unprotected] -= rows[..., K + 1] @ squares
        return dU, Parameters(both * parameters.alpha[..., None, :], d_alpha)

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        xp = namespace(parameters.alpha)
        d_alpha = xp.zeros_like(parameters.alpha)
        if self.weighted:
            d_alpha[..., self.unprotected] = 2.0 * shared
        return Parameters(xp.zeros_like(parameters.prototypes), d_alpha)


def pair_kernel(
    engine: Engine,
    counts: Mask,
    n_prototypes: int,
    p: float = 2.0,
    *,
    weighted: bool,
    single: bool,
    n_landmarks: int | None = None,
    counted: bool = False,
) -> PairKernel:
    """The fastest kernel for the pairs of an engine's records, or those with so many landmarks.

    ``counts``, shape (N,), are the attributes that may count; ``weighted`` distances have weights of attributes,
    ``counted`` records weights of their own, which a kernel in one piece takes none of; ``single`` is the precision in
    a tile.
    """
    dtype = np.float32 if single else np.float64
    if p != 2:
        from ifair.core.minkowski_pairs import MinkowskiPairs

        (unprotected,) = engine.send(np.flatnonzero(counts))
        return MinkowskiPairs(unprotected, len(counts), p, weighted, dtype)
    if engine.recorded or engine.batch_bytes:
        # Where every record has the mean there is no distance.
        (squares,) = engine.fetch(*engine.sum(lambda X, _: (column_sums(X, X),)))
        counts = _leave_out(counts, counts & (squares == 0.0))
    (unprotected,) = engine.send(np.flatnonzero(counts))
    kernel = EuclideanPairs(unprotected, n_prototypes, weighted, dtype)
    n_pairs = engine.n_records * (n_landmarks or engine.n_records)
    return engine.fastest_kernel(kernel, n_pairs, in_one=single and not counted)


def _leave_out(counts: Mask, constant: Mask) -> Mask:
    """The attributes that may count, without constant ones but for a few: products of aligned rows are faster."""
    left = counts & ~constant
    n_more = -(int(left.sum()) + NORMS) % ALIGNED
    left[np.flatnonzero(constant)[:n_more]] = True
    return left


NORMS = 2
"""Columns besides the inputs in the factors of their squared distances."""

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

    As in :class:`EuclideanSide` products give squared distances, those of ``scaled`` and ``inputs``
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

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> KnownPairs:
        assert U is not None
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

    Landmarks are given by their positions, shape (L,). Weights, shapes (M,) and (L,), say how much every record and
    every landmark counts, landmarks 1 on average.
    """
    if engine.batch_bytes or type(kernel) is not EuclideanPairs:
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
