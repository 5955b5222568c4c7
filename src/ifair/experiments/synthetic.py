"""Experiment 1: the synthetic study; nine panels, and how far group membership moves a representation.

The paper measures on the points that it learns from, a hundred of them, and so do we. Its panels show X1 and X2, and
its classifier draws one line through each: the classifier is therefore trained on these two columns of the
representation, which has learned from all three.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from ifair.data.synthetic import VARIANTS, make_synthetic
from ifair.encode import Encoder
from ifair.experiments.protocol import Part, classification_measures, encoded, learn, settings_of
from ifair.metrics import flip_test
from ifair.tune import choose

METHODS = {"original": "full", "ifair": "ifair-b", "lfr": "lfr"}
"""Columns of the figure, and the representations that they show."""

PLANE = ["X1", "X2"]
COLLAPSED = 1e-3
"""Below this spread (that of the data is 1.4) all records have become one point, and distances say nothing."""


def panel(
    variant: str, method: str, seed: int, grid: dict[str, Any], search: dict[str, Any], n_records: int = 100
) -> dict[str, Any]:
    """One panel of the figure, at the fairest setting of the grid and at the best compromise.

    Parameters
    ----------
    variant : {"random", "x1", "x2"}
        Who is in the protected group.
    method : {"original", "ifair", "lfr"}
    seed : int
        Of the points, and of the method.
    grid : dict
        ``K``, ``ratios`` (of iFair) and ``lfr`` (coefficients of LFR).
    search : dict
        Parameters of the solver: ``n_restarts``, ``max_iter``, ``tol``.
    n_records : int, default=100

    Returns
    -------
    dict
        ``settings``: every setting with its measures. ``labels`` and ``groups`` of the records. ``chosen``: under
        ``max fairness``, the paper's rule (of settings equally fair the most accurate), and ``optimal``, the best
        harmonic mean of accuracy and yNN, which does not reward one label for everybody: the ``setting``, its
        ``measures`` (Acc, yNN, Parity, EqOpp ...), the ``positions`` of the records (X1, X2, in the units of the
        data), and the ``boundary`` (a, b, c): the line a X1 + b X2 + c = 0, Y = 1 where it is positive.
    """
    part, encoder = _points(variant, seed, n_records)
    tried = []
    for setting in settings_of(METHODS[method], grid):
        Z = _plane(learn(METHODS[method], setting, part, ["A"], search, seed), part.X)
        model = LogisticRegression(max_iter=2000).fit(Z, part.y)
        measures = classification_measures(part, model.predict(Z), model.predict_proba(Z)[:, 1])
        tried.append((setting, measures, Z, model))
    tried.sort(key=lambda one: -one[1]["Acc"])
    chosen = {}
    for rule in ("max fairness", "optimal"):
        setting, measures, Z, model = tried[choose([one[1] for one in tried], rule, utility="Acc", fairness="yNN")]
        slope = model.coef_[0] / encoder.scale_[:2]
        chosen[rule] = {
            "setting": setting,
            "measures": measures,
            "positions": (Z * encoder.scale_[:2] + encoder.mean_[:2]).round(6).tolist(),
            "boundary": [*slope.tolist(), float(model.intercept_[0] - slope @ encoder.mean_[:2])],
        }
    return {
        "settings": [{"setting": setting, "measures": measures} for setting, measures, _, _ in tried],
        "labels": part.y.tolist(),
        "groups": part.group.astype(int).tolist(),
        "chosen": chosen,
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
        As in :func:`panel`.

    Returns
    -------
    list of dict
        For every ``setting``: ``between variants``, the distance between a record's two representations, mean over
        records and pairs of variants; ``between starts``, the same between two random starts on the random variant:
        what would differ anyway; ``flip``, the mean distance that a record moves when only its A is changed and the
        model stays, over all variants; ``worst flip``; ``spread``, in the encoded units of the data. All but the last
        are None where the representation has collapsed to a point.
    """
    parts = {variant: _points(variant, seed, n_records)[0] for variant in VARIANTS}
    name = METHODS[method]
    rows = []
    for setting in settings_of(name, grid):
        models = {variant: learn(name, setting, part, ["A"], search, seed) for variant, part in parts.items()}
        again = learn(name, setting, parts["random"], ["A"], search, seed + 1_000_003)
        planes = {variant: _plane(models[variant], part.X) for variant, part in parts.items()}
        spread = float(np.mean([np.sqrt(np.var(Z, axis=0).sum()) for Z in planes.values()]))
        flips = [_flip(models[variant], part) for variant, part in parts.items()]
        moved = {
            "between variants": float(np.mean([_apart(planes[a], planes[b]) for a, b in combinations(VARIANTS, 2)])),
            "between starts": _apart(planes["random"], _plane(again, parts["random"].X)),
            "flip": float(np.mean([flip.mean for flip in flips])),
            "worst flip": max(flip.worst for flip in flips),
        }
        relative: Mapping[str, float | None] = {
            what: None if spread < COLLAPSED else distance / spread for what, distance in moved.items()
        }
        rows.append({"setting": setting, **relative, "spread": spread})
    return rows


def _points(variant: str, seed: int, n_records: int) -> tuple[Part, Encoder]:
    """All records as one part: X1, X2 and A, each of unit variance."""
    dataset = make_synthetic(variant, n_records, random_state=seed)
    encoder = Encoder().fit(dataset.frame)
    return encoded(dataset, np.arange(n_records), encoder), encoder


def _plane(steps: Pipeline, X: Any) -> NDArray[np.float64]:
    """Where a representation puts the records in the plane of X1 and X2."""
    return np.asarray(steps.transform(X), dtype=np.float64)[:, : len(PLANE)]


def _apart(Z: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(Z - other, axis=1).mean())


def _flip(steps: Pipeline, part: Part) -> Any:
    return flip_test(part.X, protected=["A"], transform=lambda X: _plane(steps, X)).representation
