"""Experiment 1, its claim: group membership hardly moves the iFair representation of the synthetic points."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ifair.datasets.catalogue.synthetic_people import VARIANTS
from ifair.experiments.plan import Earlier, Records, grouped, unit
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import Part, learn, settings_of
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spreads
from ifair.experiments.synthetic import METHODS, plane, points
from ifair.metrics import flip_test

COLLAPSED = 1e-3
"""Below this spread (that of the data is 1.4) all records have become one point, and distances say nothing."""

MEASURES = ("between variants", "between starts", "flip", "worst flip")


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Both methods, for several draws of points."""
    return [
        unit(
            f"{method}, draw {seed + 1}", influence, method=method, seed=seed, grid=profile.grid, search=profile.search
        )
        for method in METHODS
        if method != "original"
        for seed in range(profile.n_splits)
    ]


def summarise(records: Records) -> dict[str, Any]:
    """By method: means and spreads over settings and draws, without settings in which all has become one point."""
    return {
        method: spreads(
            [{name: row[name] for name in MEASURES} for rows in results for row in rows if row["flip"] is not None]
        )
        for method, results in grouped(records, "method").items()
    }


def influence(
    method: str, seed: int, grid: dict[str, Any], search: dict[str, Any], n_records: int = 100
) -> list[dict[str, Any]]:
    """How far group membership moves the representation of a record, in X1 and X2, for every setting.

    The same setting, points and starts on each of the three variants, so that nothing but the group differs; nothing is
    aligned, for all representations live in the plane of the data. Distances are in units of the representation's own
    spread (root mean squared distance from its centre, mean of the variants).

    Parameters
    ----------
    method : {"ifair", "lfr"}
    seed, grid, search, n_records
        As in :func:`ifair.experiments.synthetic.panel`.

    Returns
    -------
    list of dict
        For every ``setting``: ``between variants``, the distance between a record's two representations, mean over
        records and pairs of variants; ``between starts``, the same between two random starts on the random variant:
        what would differ anyway; ``flip``, the mean distance that a record moves when only its A is changed and the
        model stays, over all variants; ``worst flip``; ``spread``, in the encoded units of the data. All but the last
        are None where the representation has collapsed to a point.
    """
    parts = {variant: points(variant, seed, n_records)[0] for variant in VARIANTS}
    name = METHODS[method]
    rows = []
    for setting in settings_of(name, grid):
        models = {variant: learn(name, setting, part, ["A"], search, seed) for variant, part in parts.items()}
        again = learn(name, setting, parts["random"], ["A"], search, seed + 1_000_003)
        planes = {variant: plane(models[variant], part.X) for variant, part in parts.items()}
        spread = float(np.mean([np.sqrt(np.var(Z, axis=0).sum()) for Z in planes.values()]))
        flips = [_flip(models[variant], part) for variant, part in parts.items()]
        moved = {
            "between variants": float(np.mean([_apart(planes[a], planes[b]) for a, b in combinations(VARIANTS, 2)])),
            "between starts": _apart(planes["random"], plane(again, parts["random"].X)),
            "flip": float(np.mean([flip.mean for flip in flips])),
            "worst flip": max(flip.worst for flip in flips),
        }
        relative: Mapping[str, float | None] = {
            what: None if spread < COLLAPSED else distance / spread for what, distance in moved.items()
        }
        rows.append({"setting": setting, **relative, "spread": spread})
    return rows


def _apart(Z: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(Z - other, axis=1).mean())


def _flip(steps: Pipeline, part: Part) -> Any:
    return flip_test(part.X, protected=["A"], transform=lambda X: plane(steps, X)).representation
