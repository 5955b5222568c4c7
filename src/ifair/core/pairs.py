"""The fairness loss of pairs of records (Def. 5), evaluated tile by tile.

A *side* holds what a tile needs to know of some records; a *tile* is the loss of every pair between the records of
two sides, with its gradient. Tiles are small enough to stay in cache, and no array of records x records is ever held.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

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
    total_products,
)
from ifair.core.distance import root
from ifair.core.parameters import Parameters
from ifair.engines.engine import Engine


class Side(Protocol):
    """Records as one side of pairs; slicing takes some of the records."""

    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice) -> Self: ...


class TileSums(NamedTuple):
    """Sums over the pairs of a tile.

    ``rows_a`` and ``rows_b`` say how the loss moves with each record of the two sides; ``shared`` (N',) is the part
    that belongs to no record. What they mean is between a kernel's ``tile`` and its ``pull``.
    """

    loss: Array
    rows_a: Array
    rows_b: Array
    shared: Array


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

    def tile(self, a: Any, b: Any, *, same: bool = False) -> TileSums:
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
        U = self._centred(U)
        weighted = U @ self._gram(parameters)
        norms, input_norms = row_sums(weighted, U), row_sums(weighted_inputs, inputs)
        left, right = self._factors(weighted, U, norms)
        input_left, input_right = self._factors(weighted_inputs, inputs, input_norms)
        floor, input_floor = self._floor(norms, input_norms), self._floor(input_norms, norms)
        return EuclideanSide(left, right, input_left, input_right, floor, input_floor)

    def _centred(self, U: Array) -> Array:
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

    def _floor(self, norms: Array, other_norms: Array) -> Array:
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

    def tile(self, a: EuclideanSide, b: EuclideanSide, *, same: bool = False) -> TileSums:
        # Tiles are worked on in place: the processor's cache holds two or three of them, not more.
        xp = namespace(a.left)
        squared = xp.maximum(a.left @ b.right.mT, b.floor[..., None, :])
        ratio = xp.maximum(a.input_left @ b.input_right.mT, b.input_floor[..., None, :])
        ratio /= squared
        ratio **= 0.5
        if same:
            ratio = xp.where(xp.eye(len(a), dtype=xp.bool, device=ratio.device), xp.ones_like(ratio), ratio)
        # With e = d - d*: W = e / d = 1 - d*/d, and e^2 = W d^2 W.
        W = 1.0 - ratio
        squared *= W
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
        # Rows hold W U, the row sums of W = e / d and, where weights count, those of e / d*.
        xp = namespace(U)
        K = self.n_prototypes
        V = parameters.prototypes
        U = self._centred(U)
        laplacian = rows[..., K : K + 1] * U - rows[..., :K]
        dU = 2.0 * laplacian @ self._gram(parameters)
        dQ = U.mT @ laplacian
        both = (dQ + dQ.mT) @ V
        if not self.weighted:
            return dU, Parameters(both, xp.zeros_like(parameters.alpha))
        d_alpha = 0.5 * column_sums(V, both)
        inputs = X[:, self.unprotected]
        d_alpha[..., self.unprotected] -= rows[..., K + 1] @ (inputs * inputs)
        return dU, Parameters(both * parameters.alpha[..., None, :], d_alpha)

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        xp = namespace(parameters.alpha)
        d_alpha = xp.zeros_like(parameters.alpha)
        if self.weighted:
            d_alpha[..., self.unprotected] = 2.0 * shared
        return Parameters(xp.zeros_like(parameters.prototypes), d_alpha)


@dataclass(frozen=True, slots=True)
class MinkowskiSide:
    representation: Array
    inputs: Array
    alpha: Array
    input_alpha: Array

    def __len__(self) -> int:
        return len(self.representation)

    def __getitem__(self, rows: slice) -> "MinkowskiSide":
        return MinkowskiSide(self.representation[rows], self.inputs[rows], self.alpha, self.input_alpha)


@dataclass(frozen=True, slots=True)
class MinkowskiPairs:
    """Pairs under a (weighted) Minkowski distance of any order p >= 1; the parameters are those of EuclideanPairs.

    There is no matrix product to fall back on: a tile costs N passes over its pairs, one per attribute.
    """

    unprotected: Indices
    n_attributes: int
    p: float
    weighted: bool = True
    dtype: Any = np.float64
    tile_rows: int | None = None

    @property
    def width(self) -> int:
        return self.n_attributes

    @property
    def n_shared(self) -> int:
        return self.n_attributes if self.weighted else 0

    def side(self, X: Array, U: Array, parameters: Parameters) -> MinkowskiSide:
        xp = namespace(X)
        dtype = precision(xp, self.dtype)
        alpha = parameters.alpha if self.weighted else xp.ones_like(parameters.alpha)
        return MinkowskiSide(
            xp.astype(U @ parameters.prototypes, dtype),
            xp.astype(X[:, self.unprotected], dtype),
            xp.astype(alpha, dtype),
            xp.astype(alpha[self.unprotected], dtype),
        )

    def tile(self, a: MinkowskiSide, b: MinkowskiSide, *, same: bool = False) -> TileSums:
        xp = namespace(a.representation)
        distance, slope = root(self._powered(a.representation, b.representation, a.alpha), self.p, 1.0)
        input_distance, input_slope = root(self._powered(a.inputs, b.inputs, a.input_alpha), self.p, 1.0)
        error = distance - input_distance
        loss = xp.sum(error * error)
        error *= 2.0
        slope *= error
        input_slope *= error

        rows_a, rows_b, shared = [], [], []
        for n in range(self.n_attributes):
            difference = a.representation[:, n, None] - b.representation[None, :, n]
            magnitude = xp.abs(difference)
            below = slope if self.p == 1.0 else slope * magnitude ** (self.p - 1.0)
            if self.weighted:
                shared.append(xp.sum(below * magnitude))
            signed = (self.p * a.alpha[n]) * below * xp.sign(difference)
            rows_a.append(xp.sum(signed, axis=1))
            rows_b.append(-xp.sum(signed, axis=0))
        d_alpha = xp.stack(shared) if self.weighted else error[0, :0]
        if self.weighted and a.inputs.shape[1] > 0:
            by_input = []
            for m in range(a.inputs.shape[1]):
                magnitude = xp.abs(a.inputs[:, m, None] - b.inputs[None, :, m])
                by_input.append(xp.sum(input_slope * magnitude**self.p))
            d_alpha[self.unprotected] -= xp.stack(by_input)
        return TileSums(loss, xp.stack(rows_a, axis=1), xp.stack(rows_b, axis=1), d_alpha)

    def _powered(self, a: Array, b: Array, alpha: Array) -> Array:
        xp = namespace(a)
        total = xp.zeros((a.shape[0], b.shape[0]), dtype=a.dtype, device=a.device)
        for n in range(a.shape[1]):
            total += alpha[n] * xp.abs(a[:, n, None] - b[None, :, n]) ** self.p
        return total

    def pull(self, X: Array, U: Array, rows: Array, parameters: Parameters) -> tuple[Array, Parameters]:
        xp = namespace(U)
        return rows @ parameters.prototypes.T, Parameters(U.T @ rows, xp.zeros_like(parameters.alpha))

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        xp = namespace(parameters.alpha)
        return Parameters(
            xp.zeros_like(parameters.prototypes),
            shared if self.weighted else xp.zeros_like(parameters.alpha),
        )


def pair_kernel(
    engine: Engine,
    counts: Mask,
    n_prototypes: int,
    p: float = 2.0,
    *,
    weighted: bool,
    single: bool,
    n_landmarks: int | None = None,
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
    """
    (unprotected,) = engine.send(np.flatnonzero(counts))
    dtype = np.float32 if single else np.float64
    if p != 2:
        return MinkowskiPairs(unprotected, len(counts), p, weighted, dtype)
    kernel = EuclideanPairs(unprotected, n_prototypes, weighted, dtype)
    if not single:
        return kernel
    return engine.fastest_kernel(kernel, engine.n_records * (n_landmarks or engine.n_records))
