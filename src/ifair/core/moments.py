"""The fairness loss of squared Euclidean distances over ALL pairs, exactly, from moments: linear in M.

With squared distances on both sides the sum over pairs has a closed form. Write q_i = |x~_i|^2 - |x*_i|^2 and
s_ij = x~_i.x~_j - x*_i.x*_j (norms and products weighted). Then

    sum_ij (q_i + q_j - 2 s_ij)^2 = 2M sum q^2 + 2 (sum q)^2 - 8 sum_ij q_i s_ij + 4 sum_ij s_ij^2,

and every sum on the right is a product of first and second moments. Because x~ = u V, those of the representations
live in K dimensions. The differences lose digits when the data lie far from the origin: centre them first.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ifair.core.arrays import (
    Array,
    Indices,
    at_least,
    column_sums,
    dot,
    namespace,
    row_sums,
    times_vector,
    vector_times,
    weigh,
    weigh_rows,
)
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Part, Term
from ifair.engines.engine import Engine


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
class Moments(Term):
    """All pairs of squared distances in two passes over the records.

    Parameters
    ----------
    unprotected : ndarray of int
        Columns of the attributes that may count.
    input_products : ndarray of shape (N', N')
        ``sum_i x*_i x*_i'``, from :func:`input_products`.
    weighted : bool
        Weight attributes by alpha (the paper) or not at all (the authors' code).
    sample_weight : array of shape (M,), optional
        How much every record counts; a pair counts the product of its two. All sums are then weighted ones.
    """

    order: ClassVar[int] = 2

    unprotected: Indices
    input_products: Array
    weighted: bool = True
    sample_weight: Array | None = None

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> KnownMoments:
        V, alpha = parameters.prototypes, parameters.alpha
        xp = namespace(alpha)
        weights = alpha if self.weighted else xp.ones_like(alpha)
        Q, w = (V * weights[..., None, :]) @ V.mT, weights[..., self.unprotected]

        def moments(X: Array, rows: slice) -> tuple[Any, ...]:
            U = mapping.memberships(X, parameters)
            inputs = X[:, self.unprotected]
            q = row_sums(U @ Q, U) - times_vector(inputs * inputs, w)
            weighed_q, weighed_U = weigh(q, self.sample_weight, rows), weigh_rows(U, self.sample_weight, rows)
            return (
                dot(q, weighed_q),
                xp.sum(weighed_q, axis=-1),
                xp.sum(weighed_U, axis=-2),
                xp.sum(weigh_rows(inputs, self.sample_weight, rows), axis=0),
                vector_times(q, weighed_U),
                weighed_q @ inputs,
                weighed_U.mT @ U,
                weighed_U.mT @ inputs,
            )

        sum_qq, sum_q, sum_u, sum_x, sum_qu, sum_qx, UU, UX = engine.sum(moments)
        cross = dot(vector_times(sum_qu, Q), sum_u) - (sum_qx * w) @ sum_x
        inputs_and_shares = xp.sum((Q @ UX) * (UX * w[..., None, :]), axis=(-2, -1))
        of_inputs = dot(w @ (self.input_products**2), w)
        products = xp.sum((UU @ Q) * (Q @ UU), axis=(-2, -1)) - 2.0 * inputs_and_shares + of_inputs
        n_records = engine.n_records if self.sample_weight is None else xp.sum(sum_u, axis=-1)
        loss = 2.0 * n_records * sum_qq + 2.0 * sum_q**2 - 8.0 * cross + 4.0 * products
        # Rounding may leave a sum of squares a hair below zero.
        return KnownMoments(at_least(loss, 0.0), Q, w, sum_q, sum_u, sum_x, sum_qu, sum_qx, UU, UX)

    def block(self, known: KnownMoments, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        Q, w = known.gram, known.weights
        n_records = namespace(U).sum(known.sum_u, axis=-1)[..., None]  # memberships of a record sum to 1, or its weight
        inputs = X[:, self.unprotected]
        UQ = U @ Q
        q = row_sums(UQ, U) - times_vector(inputs * inputs, w)
        to_mean = times_vector(UQ, known.sum_u) - times_vector(inputs, w * known.sum_x)
        dq = 4.0 * n_records * q + 4.0 * known.sum_q[..., None] - 8.0 * to_mean
        Qu, Qqu = times_vector(Q, known.sum_u)[..., None, :], times_vector(Q, known.sum_qu)[..., None, :]
        dU = (
            2.0 * dq[..., None] * UQ
            - 8.0 * (q[..., None] * Qu + Qqu)
            + 16.0 * (UQ @ known.UU @ Q - inputs @ ((w[..., None, :] * known.UX).mT @ Q))
        )
        dq = weigh(dq, self.sample_weight, rows)
        sums = U.mT @ (dq[..., None] * U), dq @ (inputs * inputs)
        return weigh_rows(dU, self.sample_weight, rows), sums

    def finish(self, known: KnownMoments, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        dQ, squares = sums
        Q, w, V = known.gram, known.weights, parameters.prototypes
        dQ = dQ - 8.0 * known.sum_qu[..., :, None] * known.sum_u[..., None, :]
        dQ = dQ + 8.0 * (known.UU @ Q @ known.UU - known.UX @ (w[..., None, :] * known.UX).mT)
        both = (dQ + dQ.mT) @ V
        if not self.weighted:
            return known.loss, Parameters(both, namespace(V).zeros_like(parameters.alpha))
        d_alpha = 0.5 * column_sums(V, both)
        d_alpha[..., self.unprotected] += (
            -squares
            + 8.0 * known.sum_qx * known.sum_x
            + 8.0 * (times_vector(self.input_products**2, w) - column_sums(known.UX, Q @ known.UX))
        )
        return known.loss, Parameters(both * parameters.alpha[..., None, :], d_alpha)


def input_products(engine: Engine, unprotected: Indices, sample_weight: Array | None = None) -> Array:
    """``sum_i x*_i x*_i'`` over all records, shape (N', N'); it does not change during a fit."""

    def products_of(X: Array, rows: slice) -> tuple[Array]:
        inputs = X[:, unprotected]
        return (inputs.T @ weigh_rows(inputs, sample_weight, rows),)

    return engine.sum(products_of)[0]
