"""How much of the plane of utility and fairness a method covers: the hypervolume of its front, above two references.

The reference point is the worst that is worth anything, and the choice of it decides how much fairness weighs:

- ``coin``: what tossing a coin for everybody reaches, AUC 0.5 and yNN 0.5 (MAP 0 for a ranking). Nothing is assumed,
  but half of all consistency is free, so that utility weighs most.
- ``full data``: the same utility, and the yNN of the unchanged data on validation parts. Only what is fairer than
  doing nothing counts, and doing nothing counts as nothing.

A method that is ahead above both is ahead. Settings are chosen on validation data, all that are on the front there,
and measured on test data, the same references for all methods and splits of a dataset. A method with more settings
has more chances to be lucky: what it reaches with as many as ours, drawn at random, is reported beside it.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.experiments.statistics import compare, spread
from ifair.tune import hypervolume, pareto_front

COIN = {"AUC": 0.5, "MAP": 0.0, "yNN": 0.5}
"""What tossing a coin for everybody reaches, or in a ranking with long queries comes close to."""

CHOICES = 100
"""Random choices of settings to average over."""

Rows = Sequence[Mapping[str, Any]]


def points(rows: Rows, part: str, measures: Sequence[str]) -> NDArray[np.float64]:
    """Two measures of every setting on one part, of shape (n_rows, 2)."""
    return np.array([[row[part][name] for name in measures] for row in rows], dtype=np.float64).reshape(-1, 2)


def front_volume(rows: Rows, measures: Sequence[str], reference: Sequence[float]) -> float:
    """Hypervolume on test data of the settings that are on the front on validation data."""
    kept = pareto_front(points(rows, "validation", measures))
    return hypervolume(points(rows, "test", measures)[kept], reference)


def volume_curves(
    rows: Rows, measures: Sequence[str], reference: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hypervolumes after the first 1, 2, ... settings: of their front on validation data, and of that front on test.

    Returns
    -------
    validation, test : ndarray of shape (n_rows,)
    """
    validation, test = points(rows, "validation", measures), points(rows, "test", measures)
    volumes = np.zeros((2, len(rows)))
    front: list[int] = []
    # Plain numbers: this runs for many orders of few settings, where arrays cost more than they save.
    plain = [(utility, fairness) for utility, fairness in validation.tolist()]
    for number, (utility, fairness) in enumerate(plain):
        beaten = isnan(utility) or isnan(fairness) or any(_beats(plain[i], plain[number]) for i in front)
        if not beaten:
            front = [i for i in front if not _beats(plain[number], plain[i])] + [number]
            volumes[:, number] = hypervolume(validation[front], reference), hypervolume(test[front], reference)
        elif number:
            volumes[:, number] = volumes[:, number - 1]
    return volumes[0], volumes[1]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] >= other[0] and one[1] >= other[1]


def hypervolumes(
    by_split: Mapping[str, Sequence[Rows]], *, utility: str, fairness: str, ours: str = "ifair-b"
) -> dict[str, Any]:
    """The hypervolume of every method's front, and ours compared with each of the others.

    Parameters
    ----------
    by_split : mapping from methods to sequences of rows
        For every method and split the rows of all settings, each with ``setting``, ``validation`` and ``test``.
        Methods that differ after a comma only (``"fair, p = 0.5"``) are one method with several settings.
    utility, fairness : str
        The measures that span the plane.
    ours : str
        The method that is compared with all others.

    Returns
    -------
    dict
        For each reference: ``reference`` (its point), ``methods`` (mean and spread over splits), ``settings`` (their
        number), ``as few settings`` (methods with more settings than ours: the mean over random choices of as many),
        ``comparisons`` (ours against each of the others) and ``best rival``, the best that is no iFair.
    """
    methods = _pooled(by_split)
    references = {"coin": {utility: COIN[utility], fairness: COIN[fairness]}}
    if "full" in methods:
        reached = [row["validation"][fairness] for rows in methods["full"] for row in rows]
        references["full data"] = {utility: COIN[utility], fairness: float(np.mean(reached))}
    return {name: _above(methods, point, ours) for name, point in references.items()}


def _above(methods: Mapping[str, Sequence[Rows]], reference: Mapping[str, float], ours: str) -> dict[str, Any]:
    measures, corner = list(reference), list(reference.values())
    volumes = {m: [front_volume(rows, measures, corner) for rows in splits] for m, splits in methods.items()}
    n_ours = len(methods[ours][0])
    rivals = {method: float(np.mean(found)) for method, found in volumes.items() if not method.startswith("ifair")}
    return {
        "reference": dict(reference),
        "methods": {method: spread(found) for method, found in volumes.items()},
        "settings": {method: len(splits[0]) for method, splits in methods.items()},
        "as few settings": {
            method: spread([_volume_of_few(rows, n_ours, measures, corner) for rows in splits])
            for method, splits in methods.items()
            if len(splits[0]) > n_ours
        },
        "comparisons": compare(volumes[ours], {m: found for m, found in volumes.items() if m != ours}),
        "best rival": max(rivals, key=lambda method: rivals[method]) if rivals else None,
    }


def _volume_of_few(rows: Rows, n: int, measures: Sequence[str], reference: Sequence[float]) -> float:
    """The mean over random choices of so many settings."""
    rng = np.random.default_rng(20190408)
    chosen = ([rows[i] for i in rng.choice(len(rows), n, replace=False)] for _ in range(CHOICES))
    return float(np.mean([front_volume(few, measures, reference) for few in chosen]))


def _pooled(by_split: Mapping[str, Sequence[Rows]]) -> dict[str, list[list[Mapping[str, Any]]]]:
    pooled: dict[str, list[list[Mapping[str, Any]]]] = {}
    for name, splits in by_split.items():
        together = pooled.setdefault(name.partition(",")[0], [[] for _ in splits])
        for rows, more in zip(together, splits):
            rows.extend(more)
    return pooled
