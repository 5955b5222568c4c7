"""Experiment 1: the synthetic study, nine panels.

The paper measures on the points that it learns from, a hundred of them, and so do we. Its panels show X1 and X2, and
its classifier draws one line through each: the classifier is therefore trained on these two columns of the
representation, which has learned from all three.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from ifair.datasets.catalogue.synthetic_people import VARIANTS, make_synthetic
from ifair.encode import Encoder
from ifair.experiments.plan import Earlier, Records, grouped, unit
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import Part, classification_measures, encoded, learn, settings_of
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spreads
from ifair.tune import choose

METHODS = {"original": "full", "ifair": "ifair-b", "lfr": "lfr"}
"""Columns of the figure, and the representations that they show."""

PLANE = ["X1", "X2"]


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every panel of the figure, for several draws of points."""
    return [
        unit(
            f"{variant}, {method}, draw {seed + 1}",
            panel,
            variant=variant,
            method=method,
            seed=seed,
            grid=profile.grid,
            search=profile.search,
        )
        for variant in VARIANTS
        for method in METHODS
        for seed in range(profile.n_splits)
    ]


def summarise(records: Records) -> dict[str, Any]:
    """By variant and method: measures under both rules, and the panel of the first draw of points."""
    return {
        variant: {
            method: {
                "measures": {
                    rule: spreads([result["chosen"][rule]["measures"] for result in results])
                    for rule in results[0]["chosen"]
                },
                "panel": {key: results[0][key] for key in ("labels", "groups", "chosen")},
            }
            for method, results in by_method.items()
        }
        for variant, by_method in grouped(records, "variant", "method").items()
    }


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
    part, encoder = points(variant, seed, n_records)
    tried = []
    for setting in settings_of(METHODS[method], grid):
        Z = plane(learn(METHODS[method], setting, part, ["A"], search, seed), part.X)
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


def points(variant: str, seed: int, n_records: int) -> tuple[Part, Encoder]:
    """All records as one part: X1, X2 and A, each of unit variance."""
    dataset = make_synthetic(variant, n_records, random_state=seed)
    encoder = Encoder().fit(dataset.frame)
    return encoded(dataset, np.arange(n_records), encoder), encoder


def plane(steps: Pipeline, X: Any) -> NDArray[np.float64]:
    """Where a representation puts the records in the plane of X1 and X2."""
    return np.asarray(steps.transform(X), dtype=np.float64)[:, : len(PLANE)]
