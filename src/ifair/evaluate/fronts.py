"""Pareto fronts: points that no other point beats, and how much of the plane of utility and fairness they cover.

A method is compared by the hypervolume of its front, above two references.

The reference point is the worst that is worth anything, and the choice of it decides how much fairness weighs:

- ``coin``: what tossing a coin for everybody reaches, AUC 0.5 and yNN 0.5 (MAP 0 for a ranking). Nothing is assumed,
  but half of all consistency is free, so that utility weighs most.
- ``full_data``: the same utility, and the yNN of the unchanged data on validation parts. Only what is fairer than
  doing nothing counts, and doing nothing counts as nothing.

A method that is ahead above both is ahead. Settings are chosen on validation data, all that are on the front there,
and measured on test data, the same references for all methods and splits of a dataset. A method with more settings
has more chances: volumes are reported for 1, 3, 10, ... settings drawn at random, and two methods are compared at the
number that both have.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.evaluate.statistics import Comparison, Spreads, compare, spread

__all__ = ["hypervolume", "pareto_front"]

COIN = {"AUC": 0.5, "MAP": 0.0, "yNN": 0.5}
"""What tossing a coin for everybody reaches, or in a ranking with long queries comes close to."""

OURS = "ifair-b"
"""The method that all others are compared with."""

ORDERS = 30
"""Random orders of the settings to average over."""

SIZES = (1, 3, 10, 30, 100, 300)
"""Numbers of settings that volumes are reported for, beside all."""

Rows = Sequence[Mapping[str, Any]]


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
    return np.asarray(_beaten_at(values) == len(values))


def _beaten_at(values: NDArray[np.float64]) -> NDArray[np.int_]:
    """Number of the first point that beats each, or of points where none does; 0 for a point with a NaN."""
    at_least = (values[None, :, :] >= values[:, None, :]).all(axis=2)
    better = (values[None, :, :] > values[:, None, :]).any(axis=2)
    first = np.where(at_least & better, np.arange(len(values)), len(values)).min(axis=1, initial=len(values))
    return np.where(np.isnan(values).any(axis=1), 0, first)


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
    values = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    return float(_measure_area(values, reference, np.ones(len(values), dtype=bool)))


def _measure_area(points: NDArray[np.float64], reference: ArrayLike, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Hypervolume of every choice of points, of shape (..., n_points)."""
    above = points - np.asarray(reference, dtype=np.float64)
    order = np.argsort(-points[:, 0], kind="stable")
    utility, fairness = np.where((above > 0).all(axis=1, keepdims=True), above, 0.0)[order].T
    # From the most useful to the fairest point: each adds a slab above the highest before it.
    tops = np.maximum.accumulate(np.where(chosen[..., order], fairness, 0.0), axis=-1)
    return np.round(np.diff(tops, prepend=0.0, axis=-1) @ utility, 12)


def collect_points(rows: Rows, part: str, measures: Sequence[str]) -> NDArray[np.float64]:
    """Two measures of every setting on one part, of shape (n_rows, 2)."""
    return np.array([[row[part][name] for name in measures] for row in rows], dtype=np.float64).reshape(-1, 2)


def front_volume(rows: Rows, measures: Sequence[str], reference: Sequence[float]) -> float:
    """Hypervolume on test data of the settings that are on the front on validation data."""
    kept = pareto_front(collect_points(rows, "validation", measures))
    return hypervolume(collect_points(rows, "test", measures)[kept], reference)


def volume_curves(
    rows: Rows, measures: Sequence[str], reference: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hypervolumes after the first 1, 2, ... settings: of their front on validation data, and of that front on test."""
    validation, test = collect_points(rows, "validation", measures), collect_points(rows, "test", measures)
    numbers = np.arange(len(rows))
    # A setting is on the front from its own turn until that of a better one.
    on_front = (numbers <= numbers[:, None]) & (numbers[:, None] < _beaten_at(validation))
    return _measure_area(validation, reference, on_front), _measure_area(test, reference, on_front)


class Volumes(TypedDict):
    """Hypervolumes above a point, the ``reference``, of the fronts of methods over splits, with all ``settings``.

    ``by_settings`` has them by method and number of settings, drawn at random. ``comparisons`` are of ours against each
    of the others at the number of settings that both have, which is ``compared_at``; ``best_rival`` is the one that is
    no iFair and does best against ours in these.
    """

    reference: dict[str, float]
    methods: Spreads
    settings: dict[str, int]
    by_settings: dict[str, Spreads]
    comparisons: dict[str, Comparison]
    compared_at: dict[str, int]
    best_rival: str | None


def hypervolumes(methods: Mapping[str, Sequence[Rows]], *, utility: str, fairness: str) -> dict[str, Volumes]:
    """By name of the reference the hypervolume of every method's front, and ours compared with each of the others.

    Of every method and split there are the rows of all settings, each with ``setting``, ``validation`` and ``test``.
    """
    references = {"coin": {utility: COIN[utility], fairness: COIN[fairness]}}
    if "full" in methods:
        reached = [row["validation"][fairness] for rows in methods["full"] for row in rows]
        references["full_data"] = {utility: COIN[utility], fairness: float(np.mean(reached))}
    return {name: _measure_volumes(methods, point) for name, point in references.items()}


def _measure_volumes(methods: Mapping[str, Sequence[Rows]], reference: Mapping[str, float]) -> Volumes:
    measures, corner = list(reference), list(reference.values())
    curves = {m: np.array([_average_curve(rows, measures, corner) for rows in splits]) for m, splits in methods.items()}
    ours = curves[OURS]
    common = {method: min(ours.shape[1], curve.shape[1]) for method, curve in curves.items() if method != OURS}
    # Holm's adjustment is for all rivals together, whatever the number of settings: differences against zero.
    gaps = {method: ours[:, n - 1] - curves[method][:, n - 1] for method, n in common.items()}
    compared = compare([0.0] * len(ours), {method: (-gap).tolist() for method, gap in gaps.items()})
    rivals = [method for method in gaps if not method.startswith("ifair")]
    return {
        "reference": dict(reference),
        "methods": {method: spread(curve[:, -1].tolist()) for method, curve in curves.items()},
        "settings": {method: curve.shape[1] for method, curve in curves.items()},
        "by_settings": {
            method: {str(n): spread(curve[:, n - 1].tolist()) for n in (*SIZES, curve.shape[1]) if n <= curve.shape[1]}
            for method, curve in curves.items()
        },
        "comparisons": compared,
        "compared_at": common,
        "best_rival": min(rivals, key=lambda method: compared[method]["difference"]) if rivals else None,
    }


def _average_curve(rows: Rows, measures: Sequence[str], reference: Sequence[float]) -> NDArray[np.float64]:
    """Hypervolume on test of 1, 2, ... settings in random order, averaged over orders, shape (n_rows,)."""
    rng = np.random.default_rng(20190408)
    orders = [rng.permutation(len(rows)) for _ in range(ORDERS if len(rows) > 1 else 1)]
    curves = [volume_curves([rows[i] for i in order], measures, reference)[1] for order in orders]
    return np.asarray(np.mean(curves, axis=0))
