"""Tiles of pairs under a Minkowski distance of another order than p = 2; see :mod:`ifair.core.pairs`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ifair.core.arrays import Array, Indices, namespace, precision
from ifair.core.mapping import Parameters, root
from ifair.core.pairs import PairWeights, TileSums


@dataclass(frozen=True, slots=True)
class MinkowskiSide:
    representation: Array
    inputs: Array
    alpha: Array
    input_alpha: Array

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

    def tile(
        self, a: MinkowskiSide, b: MinkowskiSide, *, same: bool = False, weights: PairWeights | None = None
    ) -> TileSums:
        xp = namespace(a.representation)
        distance, slope = root(self._sum_powers(a.representation, b.representation, a.alpha), self.p, 1.0)
        input_distance, input_slope = root(self._sum_powers(a.inputs, b.inputs, a.input_alpha), self.p, 1.0)
        error = distance - input_distance
        weighed = error if weights is None else error * xp.astype(weights[0][:, None] * weights[1], error.dtype)
        loss = xp.sum(error * weighed)
        error = 2.0 * weighed
        slope = error if slope is None else slope * error
        input_slope = error if input_slope is None else input_slope * error

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

    def _sum_powers(self, a: Array, b: Array, alpha: Array) -> Array:
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
