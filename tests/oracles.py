"""Slow, obvious versions of what the library computes, written in plain loops from the paper's definitions."""

import math
from dataclasses import replace

import numpy as np

from ifair.core.mapping import Packing
from ifair.engines.engine import LocalEngine


def distance(a, b, alpha, p):
    """Definition 7."""
    return sum(w * abs(s - t) ** p for s, t, w in zip(a, b, alpha)) ** (1 / p)


def memberships(X, V, alpha, p=2.0, squared=False):
    """Definition 8."""
    rows = []
    for x in X:
        distances = [distance(x, v, alpha, p) ** (2 if squared else 1) for v in V]
        weights = [math.exp(min(distances) - d) for d in distances]
        rows.append([w / sum(weights) for w in weights])
    return np.array(rows)


def losses(
    X, V, alpha, unprotected, *, p=2.0, squared=False, weighted=True, square_pairs=False, partners=None, columns=None
):
    """The two sums of Definitions 4 and 5; ``partners`` restricts the second record of a pair."""
    U = memberships(X, V, alpha, p, squared)
    Z = U @ V
    columns = range(X.shape[1]) if columns is None else columns
    utility = sum((x[n] - z[n]) ** 2 for x, z in zip(X, Z) for n in columns)
    w = alpha if weighted else np.ones(X.shape[1])
    fairness = 0.0
    for i in range(len(X)):
        for j in range(len(X)) if partners is None else partners:
            between = distance(Z[i], Z[j], w, p)
            wanted = distance(X[i][unprotected], X[j][unprotected], w[unprotected], p)
            fairness += ((between**2 - wanted**2) if square_pairs else (between - wanted)) ** 2
    if partners is not None:
        fairness *= len(X) / len(partners)
    return utility, fairness


def total(utility, fairness, lam, mu, reduction, n_records):
    """Definition 6 under a reduction."""
    if reduction == "mean":
        return lam * utility / n_records + mu * fairness / n_records**2
    if reduction == "norm":
        return lam * math.sqrt(utility) + mu * math.sqrt(fairness)
    return lam * utility + mu * fairness


def central_difference(function, theta, step=1e-6):
    """Gradient of a scalar function by central differences."""
    gradient = np.zeros_like(theta)
    for i in range(len(theta)):
        up, down = theta.copy(), theta.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (function(up) - function(down)) / (2 * step)
    return gradient


def assert_gradient_is_right(objective, parameters, rtol=1e-5, whole=None):
    """Compare the gradient of an objective with central differences, in the flat vector that the solver sees.

    The differences are those of the same loss in one block, which is quicker: ``whole``, where the engine is not local.
    """
    K, N = parameters.prototypes.shape
    lengths = {name: len(array) for name, array in parameters.extra.items()}
    packing = Packing(K, N, np.zeros(N, dtype=bool), lengths)
    theta = packing.pack(parameters)
    whole = whole or replace(objective, engine=LocalEngine(objective.engine.X))

    def loss(t):
        return whole.value_and_grad(packing.unpack(t))[0].total

    expected = central_difference(loss, theta, step=1e-5)
    actual = packing.pack_gradient(objective.value_and_grad(parameters)[1], theta)
    if not np.allclose(actual, expected, rtol=rtol, atol=rtol * np.abs(expected).max()):
        # Of p = 1 a kink may lie within the step; it will not lie within a hundredth of it.
        expected = central_difference(loss, theta, step=1e-7)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def assert_same(actual, expected, tolerance=1e-10):
    """Whether losses and gradients, by parameter or flat, agree; every array relative to its largest number."""
    for a, b in zip(list_numbers(*actual), list_numbers(*expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * np.abs(b).max(initial=0.0))


def list_numbers(losses, gradient):
    """The losses one by one, and the arrays of the gradient: all of them of Python and NumPy, in double precision."""
    by_name = not isinstance(gradient, np.ndarray)
    parts = [gradient.prototypes, gradient.alpha, *gradient.extra.values()] if by_name else [gradient]
    assert all(type(loss) is float for loss in (losses.total, *losses.terms))
    assert all(type(part) is np.ndarray and part.dtype == np.float64 for part in parts)
    return [losses.total, *losses.terms, *parts]
