"""The fairness loss of squared Euclidean distances over ALL pairs, exactly, from moments: linear in M.

With squared distances on both sides the sum over pairs has a closed form. Write q_i = |x~_i|^2 - |x*_i|^2 and
s_ij = x~_i.x~_j - x*_i.x*_j (norms and products weighted). Then

    sum_ij (q_i + q_j - 2 s_ij)^2 = 2M sum q^2 + 2 (sum q)^2 - 8 sum_ij q_i s_ij + 4 sum_ij s_ij^2,

and every sum on the right is a product of first and second moments. Because x~ = u V, those of the representations
live in K dimensions. The differences lose digits when the data lie far from the origin: centre them first.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ifair.core.arrays import Array, Indices, at_least, column_sums, namespace, row_sums, zeros
from ifair.core.mapping import Mapping
from ifair.core.parameters import Parameters
from ifair.core.schedules import BlockPart
from ifair.engines.protocol import Engine


class KnownMoments(NamedTuple):
    """Sums over all records, and the values that the gradient of a record needs."""

    loss: Array
    gram: Array
    """Q = V diag(w) V', shape (K, K)."""
    weights: Array
    """Weights of the unprotected attributes, shape (N',)."""
    sum_q: Array
    sum_u: Array
    sum_x: Array
    sum_qu: Array
    sum_qx: Array
    UU: Array
    UX: Array


@dataclass(frozen=True, slots=True)
class Moments:
    """All pairs of squared distances in two passes over the records.

    Parameters
    ----------
    unprotected : ndarray of int
        Columns of the attributes that may count.
    input_products : ndarray of shape (N', N')
        ``sum_i x*_i x*_i'``, from :func:`input_products`.
    weighted : bool
        Weight attributes by alpha (the paper) or not at all (the authors' code).
    """

    unprotected: Indices
    input_products: Array
    weighted: bool = True

    def _weights(self, parameters: Parameters) -> tuple[Array, Array]:
        V, alpha = parameters.prototypes, parameters.alpha
        w = alpha if self.weighted else namespace(alpha).ones_like(alpha)
        return (V * w) @ V.T, w[self.unprotected]

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters) -> KnownMoments:
        xp = namespace(parameters.alpha)
        Q, w = self._weights(parameters)

        def moments(X: Array, _: slice) -> tuple[Any, ...]:
            U = mapping.memberships(X, parameters)
            inputs = X[:, self.unprotected]
            q = row_sums(U @ Q, U) - (inputs * inputs) @ w
            return (
                q @ q,
                xp.sum(q),
                xp.sum(U, axis=0),
                xp.sum(inputs, axis=0),
                q @ U,
                q @ inputs,
                U.T @ U,
                U.T @ inputs,
            )

        sum_qq, sum_q, sum_u, sum_x, sum_qu, sum_qx, UU, UX = engine.sum(moments)
        cross = sum_qu @ Q @ sum_u - (sum_qx * w) @ sum_x
        products = xp.sum((UU @ Q) * (Q @ UU)) - 2.0 * xp.sum((Q @ UX) * (UX * w)) + w @ (self.input_products**2) @ w
        loss = 2.0 * engine.n_records * sum_qq + 2.0 * sum_q**2 - 8.0 * cross + 4.0 * products
        # Rounding may leave a sum of squares a hair below zero.
        return KnownMoments(at_least(loss, 0.0), Q, w, sum_q, sum_u, sum_x, sum_qu, sum_qx, UU, UX)

    def block(self, known: KnownMoments, X: Array, U: Array, rows: slice, parameters: Parameters) -> BlockPart:
        Q, w = known.gram, known.weights
        n_records = namespace(U).sum(known.sum_u)  # memberships of a record sum to 1
        inputs = X[:, self.unprotected]
        UQ = U @ Q
        q = row_sums(UQ, U) - (inputs * inputs) @ w
        dq = 4.0 * n_records * q + 4.0 * known.sum_q - 8.0 * (UQ @ known.sum_u - inputs @ (w * known.sum_x))
        dU = (
            2.0 * dq[:, None] * UQ
            - 8.0 * (q[:, None] * (Q @ known.sum_u) + Q @ known.sum_qu)
            + 16.0 * (UQ @ known.UU @ Q - inputs @ ((w * known.UX).T @ Q))
        )
        return BlockPart(zeros((), U), dU, (U.T @ (dq[:, None] * U), dq @ (inputs * inputs)))

    def finish(self, known: KnownMoments, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        dQ, squares = sums
        Q, w, V = known.gram, known.weights, parameters.prototypes
        dQ = dQ - 8.0 * known.sum_qu[:, None] * known.sum_u[None, :]
        dQ = dQ + 8.0 * (known.UU @ Q @ known.UU - known.UX @ (w * known.UX).T)
        both = (dQ + dQ.T) @ V
        if not self.weighted:
            return known.loss, Parameters(both, namespace(V).zeros_like(parameters.alpha))
        d_alpha = 0.5 * column_sums(V, both)
        d_alpha[self.unprotected] += (
            -squares
            + 8.0 * known.sum_qx * known.sum_x
            + 8.0 * (self.input_products**2 @ w - column_sums(known.UX, Q @ known.UX))
        )
        return known.loss, Parameters(both * parameters.alpha, d_alpha)


def input_products(engine: Engine, unprotected: Indices) -> Array:
    """``sum_i x*_i x*_i'`` over all records, shape (N', N'); it does not change during a fit."""
    (total,) = engine.sum(lambda X, _: (X[:, unprotected].T @ X[:, unprotected],))
    products: Array = total
    return products
