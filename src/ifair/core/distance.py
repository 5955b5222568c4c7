"""Weighted Minkowski distances between records and prototypes (Def. 7), with their pullback."""

from collections.abc import Callable

from ifair.core.arrays import Array, namespace, row_sums, times_vector
from ifair.core.parameters import Parameters

Pullback = Callable[[Array], Parameters]


def powered_distances(X: Array, parameters: Parameters, p: float) -> tuple[Array, Pullback]:
    """``D_ik = sum_n alpha_n |x_in - v_kn|^p``, the distance before its root.

    Parameters
    ----------
    X : ndarray of shape (M, N)
    parameters : Parameters
    p : float
        At least 1.

    Returns
    -------
    D : ndarray of shape (M, K)
    pullback : callable
        From the gradient with respect to D, shape (M, K), to the gradient with respect to the parameters.
    """
    if p == 2.0:
        return _squared_euclidean(X, parameters)
    return _minkowski(X, parameters, p)


def _squared_euclidean(X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
    # Expanding the square turns everything into matrix products.
    V, alpha = parameters.prototypes, parameters.alpha
    xp = namespace(X)
    weighted = V * alpha[..., None, :]
    D = X @ weighted.mT
    D *= -2.0
    squares = X * X
    D += times_vector(squares, alpha)[..., :, None]
    D += row_sums(weighted, V)[..., None, :]
    D = xp.maximum(D, xp.zeros_like(D))

    def pullback(C: Array) -> Parameters:
        CX = C.mT @ X
        per_prototype = xp.sum(C, axis=-2)[..., :, None]
        d_prototypes = 2.0 * alpha[..., None, :] * (per_prototype * V - CX)
        d_alpha = xp.sum(C, axis=-1) @ squares + xp.sum((per_prototype * V - 2.0 * CX) * V, axis=-2)
        return Parameters(d_prototypes, d_alpha)

    return D, pullback


def _minkowski(X: Array, parameters: Parameters, p: float) -> tuple[Array, Pullback]:
    V, alpha = parameters.prototypes, parameters.alpha
    xp = namespace(X)
    D = xp.stack([xp.abs(X - v) ** p @ alpha for v in V], axis=1)

    def pullback(C: Array) -> Parameters:
        # One prototype at a time: nothing larger than X itself is held.
        d_prototypes = []
        d_alpha = xp.zeros_like(alpha)
        for v, c in zip(V, C.T):
            difference = X - v
            magnitude = xp.abs(difference)
            d_alpha = d_alpha + c @ magnitude**p
            d_prototypes.append(-p * alpha * (c @ (magnitude ** (p - 1.0) * xp.sign(difference))))
        return Parameters(xp.stack(d_prototypes, axis=0), d_alpha)

    return D, pullback


def root(D: Array, p: float, exponent: float) -> tuple[Array, Array]:
    """``D^(exponent/p)`` and its derivative; the derivative at D = 0 is set to 0 (a subgradient).

    ``exponent`` is 1 for the distance itself and 2 for its square.
    """
    xp = namespace(D)
    power = exponent / p
    if power == 1.0:
        return D, xp.ones_like(D)
    positive = D > 0.0
    safe = xp.where(positive, D, xp.ones_like(D))
    rooted = xp.where(positive, xp.sqrt(safe) if power == 0.5 else safe**power, xp.zeros_like(D))
    return rooted, xp.where(positive, power * rooted / safe, xp.zeros_like(D))
