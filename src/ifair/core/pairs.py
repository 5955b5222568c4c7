"""The fairness loss (Def. 5) of all pairs of records, or of pairs with landmarks, evaluated tile by tile.

Both sum over ordered pairs. A *side* holds what a tile needs to know of some records; a *tile* is the loss of every
pair between the records of two sides, with its gradient. Tiles are small enough to stay in cache, and no array of
records x records is ever held. All pairs of squared distances have a closed form, in :mod:`ifair.core.moments`.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ifair.core.arrays import (
    Array,
    Indices,
    Mask,
    at_least,
    column_sums,
    namespace,
    precision,
    row_sums,
    square,
    total_products,
    zeros,
)
from ifair.core.mapping import Mapping, Parameters, Pullback
from ifair.core.objective import Part, Term
from ifair.engines.engine import Engine, add_in_order


class TileSums(NamedTuple):
    """Sums over the pairs of a tile.

    ``rows_a`` and ``rows_b`` say how the loss moves with each record of the two sides; ``shared`` (N',) is the part
    that belongs to no record. What they mean is between a kernel's ``tile`` and its ``pull``.
    """

    loss: Array
    rows_a: Array
    rows_b: Array
    shared: Array


PairWeights = tuple[Array, Array]
"""The weights of the records of a tile's two sides; a pair counts their product."""


class PairKernel(Protocol):
    """How a tile of pairs is evaluated."""

    @property
    def tile_rows(self) -> int | None:
        """Most records on each side of a tile; None for what suits the engine."""

    @property
    def width(self) -> int:
        """Columns of ``rows_a`` and ``rows_b``."""

    @property
    def n_shared(self) -> int:
        """Length of ``shared``."""

    def side(self, X: Array, U: Array, parameters: Parameters) -> Any:
        """Prepare records ``X`` with memberships ``U`` as a side."""

    def tile(self, a: Any, b: Any, *, same: bool = False, weights: PairWeights | None = None) -> TileSums:
        """Sum ``(d(x~_i, x~_j) - d(x*_i, x*_j))^2`` over i in ``a`` and j in ``b``; ``same``: a and b are one."""

    def pull(self, X: Array, U: Array, rows: Array, parameters: Parameters) -> tuple[Array, Parameters]:
        """From the ``rows`` of records to gradients on their memberships and directly on the parameters."""

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        """From the ``shared`` sums to a gradient on the parameters."""


@dataclass(frozen=True, slots=True)
class EuclideanSide:
    # Products of these give squared distances: left_i . right_j = |i|^2 + |j|^2 - 2 i.j in one matrix product.
    left: Array
    right: Array
    input_left: Array
    input_right: Array
    floor: Array
    input_floor: Array

    def __len__(self) -> int:
        return self.left.shape[-2]

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
    """

    unprotected: Indices
    n_prototypes: int
    weighted: bool = True
    dtype: Any = np.float64
    tile_rows: int | None = None

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
        return U - 1.0 / self.n_prototypes

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
        # Tiles are worked on in place: the processor's cache holds two or three of them, not more.
        xp = namespace(a.left)
        squared = xp.maximum(a.left @ b.right.mT, b.floor[..., None, :])
        ratio = xp.maximum(a.input_left @ b.input_right.mT, b.input_floor[..., None, :])
        ratio, W = compare_distances(squared, ratio, same=same)
        if weights is not None:
            W *= weights[0][:, None]
            W *= weights[1]
        loss = total_products(squared, W)
        del squared

        features_and_one = slice(0, self.n_prototypes + 1)
        rows_a = W @ b.right[..., features_and_one]
        rows_b = W.mT @ a.right[..., features_and_one]
        if not self.weighted:
            return TileSums(loss, rows_a, rows_b, W[..., 0, :0])
        W /= ratio  # e / d*
        product = W @ b.input_right[..., :-1]
        cross = column_sums(a.input_right[..., :-2], product[..., :-1])
        rows_a = xp.concat([rows_a, product[..., -1:]], axis=-1)
        rows_b = xp.concat([rows_b, xp.sum(W, axis=-2)[..., None]], axis=-1)
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
    """The fastest kernel for the pairs of an engine's records.

    Parameters
    ----------
    engine : Engine
    counts : ndarray of bool, shape (N,)
        The attributes that may count.
    n_prototypes : int
    p : float, default=2.0
    weighted, single : bool
        Distances with weights; single precision inside a tile.
    n_landmarks : int, optional
        Records that each one is compared with; by default all.
    counted : bool, default=False
        Whether records have weights; a fused kernel takes none.
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
    if not single or counted:
        return kernel
    return engine.fastest_kernel(kernel, engine.n_records * (n_landmarks or engine.n_records))


def _leave_out(counts: Mask, constant: Mask) -> Mask:
    """The attributes that may count, without constant ones but for a few: products of aligned rows are faster."""
    left = counts & ~constant
    n_more = -(int(left.sum()) + NORMS) % ALIGNED
    left[np.flatnonzero(constant)[:n_more]] = True
    return left


NORMS = 2
"""Columns besides the inputs in the factors of their squared distances."""

ALIGNED = 8
"""Numbers in a row, and rows in a tile, that libraries for devices want a multiple of."""


STRIPE_BYTES = 128 * 2**20
"""What the stripes' own sums may take together."""

LEAST_TILE_ROWS = 64
"""Products of smaller tiles are not worth asking for."""


def tiles(n_records: int, tile_rows: int) -> list[slice]:
    """Cut records into tiles of equal size, as far as that goes, and of at most ``tile_rows``."""
    size = -(-n_records // -(-n_records // tile_rows))
    aligned = -(-size // ALIGNED) * ALIGNED
    size = aligned if aligned <= tile_rows else size
    return [slice(start, min(start + size, n_records)) for start in range(0, n_records, size)]


def tile_rows_of(engine_rows: int, batch: tuple[int, ...]) -> int:
    """Of many fits at once, a tile holds as many pairs as of one: what fills a cache or a device is the same."""
    return max(min(LEAST_TILE_ROWS, engine_rows), int(engine_rows / prod(batch) ** 0.5)) if batch else engine_rows


class PairSums(NamedTuple):
    """Sums over all pairs: the loss, how it moves with each record, and the part that belongs to no record."""

    loss: Array
    rows: Array
    shared: Array


@dataclass(frozen=True, slots=True)
class AllPairs(Term):
    """Every pair, exactly; each unordered pair is visited once.

    Costs M^2/2 pairs; holds O(M (N + K)) numbers.

    Parameters
    ----------
    kernel : PairKernel
    sample_weight : array of shape (M,), optional
        How much every record counts; a pair counts the product of its two.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel
    sample_weight: Array | None = None

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters) -> PairSums:
        kernel = self.kernel

        def sides(X: Array, rows: slice) -> list[tuple[slice, Any]]:
            side = kernel.side(X, mapping.memberships(X, parameters), parameters)
            cut = tiles(X.shape[0], tile_rows_of(kernel.tile_rows or engine.tile_rows, parameters.batch))
            return [(slice(rows.start + t.start, rows.start + t.stop), side[t]) for t in cut]

        parts = [tile for block in engine.map(sides) for tile in block]
        batch = parameters.batch
        bytes_each = 8 * engine.n_records * kernel.width * prod(batch)
        n_stripes = max(1, min(engine.stripes, len(parts), STRIPE_BYTES // bytes_each))

        def stripe(first: int) -> tuple[Array, Array, Array]:
            alpha = parameters.alpha
            loss, rows = zeros(batch, alpha), zeros((*batch, engine.n_records, kernel.width), alpha)
            shared = zeros((*batch, kernel.n_shared), alpha)
            for i in range(first, len(parts), n_stripes):
                at_i, a = parts[i]
                for at_j, b in parts[i:]:
                    weights = None
                    if self.sample_weight is not None:
                        weights = self.sample_weight[at_i], self.sample_weight[at_j]
                    part = kernel.tile(a, b, same=a is b, weights=weights)
                    # Tile (i, j) stands for (j, i) too; a tile on the diagonal holds both orders already.
                    times = 1.0 if a is b else 2.0
                    loss = loss + times * part.loss
                    rows[..., at_i, :] += times * part.rows_a
                    rows[..., at_j, :] += times * part.rows_b
                    shared += times * part.shared
            return loss, rows, shared

        return PairSums(*add_in_order(engine.run(stripe, n_stripes)))

    def block(self, known: PairSums, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        d_memberships, direct = self.kernel.pull(X, U, known.rows[..., rows, :], parameters)
        return d_memberships, (direct,)

    def finish(self, known: PairSums, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        (direct,) = sums
        return known.loss, direct + self.kernel.pull_shared(known.shared, parameters)


@dataclass(frozen=True, slots=True)
class LandmarkSide:
    """What is known of the landmarks at given parameters.

    Another process makes it anew, instead of being sent arrays that are larger than what they are made of.
    """

    term: "Landmarks"
    mapping: Mapping
    parameters: Parameters
    tile_rows: int
    U: Array
    pullback: Pullback
    tiles: list[tuple[slice, Any]]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.term.describe, (self.mapping, self.parameters, self.tile_rows)


@dataclass(frozen=True, slots=True)
class Landmarks(Term):
    """Every record paired with some records drawn once, scaled to stand for the sum over all pairs.

    Without weights its expectation is that sum.

    Given the landmarks the sum is separable over records: one pass, any split into blocks or shards.

    Parameters
    ----------
    kernel : PairKernel
    X : ndarray of shape (L, N)
        The landmarks.
    n_records : int or float
        M, the number of records they were drawn from, or the sum of their weights.
    sample_weight : array of shape (M,), optional
        How much every record counts; a pair counts the product of its two.
    landmark_weight : array of shape (L,), optional
        How much every landmark counts among the landmarks, 1 on average.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel
    X: Array
    n_records: float
    sample_weight: Array | None = None
    landmark_weight: Array | None = None

    @property
    def scale(self) -> float:
        return self.n_records / self.X.shape[0]

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters) -> LandmarkSide:
        rows = self.kernel.tile_rows or engine.tile_rows
        return self.describe(mapping, parameters, tile_rows_of(rows, parameters.batch))

    def describe(self, mapping: Mapping, parameters: Parameters, tile_rows: int) -> LandmarkSide:
        """What is known of the landmarks at ``parameters``."""
        U, pullback = mapping.with_pullback(self.X, parameters)
        side = self.kernel.side(self.X, U, parameters)
        cut = [(at, side[at]) for at in tiles(self.X.shape[0], tile_rows)]
        return LandmarkSide(self, mapping, parameters, tile_rows, U, pullback, cut)

    def block(self, known: LandmarkSide, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        kernel = self.kernel
        records = kernel.side(X, U, parameters)
        batch = parameters.batch
        loss, by_record = zeros(batch, U), zeros((*batch, X.shape[0], kernel.width), U)
        by_landmark = zeros((*batch, self.X.shape[0], kernel.width), U)
        shared = zeros((*batch, kernel.n_shared), U)
        for at_i in tiles(X.shape[0], known.tile_rows):
            a = records[at_i]
            for at_j, b in known.tiles:
                weights = None
                if self.sample_weight is not None and self.landmark_weight is not None:
                    weights = self.sample_weight[rows][at_i], self.landmark_weight[at_j]
                part = kernel.tile(a, b, weights=weights)
                loss = loss + part.loss
                by_record[..., at_i, :] += part.rows_a
                by_landmark[..., at_j, :] += part.rows_b
                shared += part.shared
        d_memberships, direct = kernel.pull(X, U, by_record, parameters)
        direct = direct + kernel.pull_shared(shared, parameters)
        return self.scale * d_memberships, (self.scale * loss, by_landmark, direct)

    def finish(self, known: LandmarkSide, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        loss, by_landmark, direct = sums
        d_memberships, more = self.kernel.pull(self.X, known.U, by_landmark, parameters)
        return loss, self.scale * (direct + more + known.pullback(d_memberships))
