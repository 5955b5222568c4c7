"""Points that no other point beats, and how much they cover: for tuning, and for the pages that show it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pareto_front(points: ArrayLike) -> NDArray[np.bool_]:
    """Which points no other point beats: at least as good everywhere and better somewhere. Larger is better.

    Parameters
    ----------
    points : array-like of shape (n_points, n_objectives)
        Points with a NaN are never on the front.

    Returns
    -------
    ndarray of bool, shape (n_points,)
        Of equal points all or none are on the front.

    Examples
    --------
    >>> pareto_front([[0.7, 0.9], [0.8, 0.8], [0.6, 0.8]]).tolist()
    [True, True, False]
    """
    values = np.asarray(points, dtype=np.float64)
    at_least = (values[None, :, :] >= values[:, None, :]).all(axis=2)
    better = (values[None, :, :] > values[:, None, :]).any(axis=2)
    beaten = np.any(at_least & better, axis=1) | np.any(np.isnan(values), axis=1)
    return np.asarray(~beaten)


def hypervolume(points: ArrayLike, reference: ArrayLike) -> float:
    """Area of all that some point beats, above a reference point, for two objectives. Larger is better.

    Parameters
    ----------
    points : array-like of shape (n_points, 2)
    reference : array-like of shape (2,)
        The worst values worth anything; points that do not beat it count for nothing.

    Examples
    --------
    >>> hypervolume([[0.7, 0.9], [0.8, 0.8]], [0.5, 0.7])
    0.05
    """
    values = np.asarray(points, dtype=np.float64).reshape(-1, 2) - np.asarray(reference, dtype=np.float64)
    values = values[(values > 0).all(axis=1)]
    front = values[pareto_front(values)] if len(values) else values
    # From the most useful to the fairest point: each adds a slab above the one before.
    front = front[np.argsort(-front[:, 0], kind="stable")]
    heights = np.diff(front[:, 1], prepend=0.0)
    return float(np.round(np.sum(front[:, 0] * np.maximum(heights, 0.0)), 12))
