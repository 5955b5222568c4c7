"""The objective as one would first write it: whole records x records arrays. What ours is compared with.

Both versions follow the paper's formulas (p = 2, rooted distances, weighted by alpha, means for sums) with their
analytic gradients, and share everything but the way distances and the products of their gradient are computed.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

Distances = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def plain_distances(A: np.ndarray, B: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The definition, pair by pair, in SciPy's compiled loop."""
    return cdist(A, B, "euclidean", w=weights)


def gram_distances(A: np.ndarray, B: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The square expanded, so that a matrix product does the work, on all of BLAS's threads."""
    weighted = A * weights
    squared = -2.0 * weighted @ B.T
    squared += np.einsum("in,in->i", weighted, A)[:, None]
    squared += np.einsum("in,in->i", B * weights, B)[None, :]
    np.maximum(squared, 0.0, out=squared)
    return np.sqrt(squared, out=squared)


def value_and_grad(
    X: np.ndarray, unprotected: np.ndarray, V: np.ndarray, alpha: np.ndarray, distances: Distances
) -> tuple[float, np.ndarray, np.ndarray]:
    """``L_util / M + L_fair / M^2`` and its gradients with respect to V and alpha."""
    M = len(X)
    d = distances(X, V, alpha)
    U = np.exp(d.min(axis=1, keepdims=True) - d)
    U /= U.sum(axis=1, keepdims=True)
    Z = U @ V
    inputs = X[:, unprotected]
    d_z = distances(Z, Z, alpha)
    d_x = distances(inputs, inputs, alpha[unprotected])
    e = d_z - d_x
    np.fill_diagonal(e, 0.0)
    loss = ((Z - X) ** 2).sum() / M + (e**2).sum() / M**2

    W = np.divide(e, d_z, out=np.zeros_like(e), where=d_z > 0)
    W_x = np.divide(e, d_x, out=np.zeros_like(e), where=d_x > 0)
    LZ = W.sum(axis=1)[:, None] * Z - W @ Z
    LX = W_x.sum(axis=1)[:, None] * inputs - W_x @ inputs
    G = 2.0 / M * (Z - X) + 4.0 / M**2 * alpha * LZ
    d_alpha = 2.0 / M**2 * (Z * LZ).sum(axis=0)
    d_alpha[unprotected] -= 2.0 / M**2 * (inputs * LX).sum(axis=0)
    H = G @ V.T
    T = U * (H - (U * H).sum(axis=1, keepdims=True))
    C = np.divide(-T, 2.0 * d, out=np.zeros_like(T), where=d > 0)
    CX = C.T @ X
    per_prototype = C.sum(axis=0)[:, None]
    d_V = U.T @ G + 2.0 * alpha * (per_prototype * V - CX)
    d_alpha += C.sum(axis=1) @ X**2 + ((per_prototype * V - 2.0 * CX) * V).sum(axis=0)
    return float(loss), d_V, d_alpha


def value(
    X: np.ndarray, unprotected: np.ndarray, V: np.ndarray, alpha: np.ndarray, distances: Distances, authors: bool
) -> float:
    """The loss alone: the paper's, or as the authors' code has it (squared softmax, no weights in pairs, norms)."""
    M = len(X)
    d = distances(X, V, alpha)
    if authors:
        d = d**2
    U = np.exp(d.min(axis=1, keepdims=True) - d)
    U /= U.sum(axis=1, keepdims=True)
    Z = U @ V
    w = np.ones_like(alpha) if authors else alpha
    inputs = X[:, unprotected]
    utility = ((Z - X) ** 2).sum()
    fairness = ((distances(Z, Z, w) - distances(inputs, inputs, w[unprotected])) ** 2).sum()
    return float(np.sqrt(utility) + np.sqrt(fairness) if authors else utility / M + fairness / M**2)
