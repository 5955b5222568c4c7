"""The main job on the embedded data: German Credit with all attributes, without age, and as iFair represents it."""

import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from ifair import __version__
from ifair.data import Dataset, load_credit, thirds
from ifair.encode import Encoder, columns_of
from ifair.metrics import accuracy, auc, consistency, flip_test, hard_auc, nearest_neighbours
from ifair.models.ifair import IFair
from ifair.models.representations import representation

Step = Callable[[str, int, int], None]
"""Told what was done last, how many units are done and how many there are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the demo compares: so many random splits into thirds, and representations of so many prototypes."""

    n_splits: int = 5
    n_prototypes: tuple[int, ...] = (5, 10, 20, 30)
    highlighted: int = 10
    n_jobs: int = -1


def methods(settings: Settings, protected: list[str]) -> dict[str, Pipeline]:
    """What stands between the encoded records and the classifier, by name."""
    k = settings.highlighted
    return {
        "full data": representation("full"),
        "masked data": representation("masked", protected=protected),
        **{f"iFair, K = {n}": representation("ifair-b", protected=protected, k=n) for n in settings.n_prototypes},
        f"iFair frozen, K = {k}": representation("ifair-frozen", protected=protected, k=k),
    }


def run(settings: Settings | None = None, step: Step | None = None) -> dict[str, Any]:
    """Run the demo.

    Parameters
    ----------
    settings : Settings, optional
    step : callable, optional
        Called as ``step(what, done, total)`` when a part is finished.

    Returns
    -------
    dict
        ``data``, ``settings``, ``measures`` (a list of values, one a split, for every method and measure),
        ``environment``; nothing in it but numbers, strings, lists and dicts.
    """
    settings = settings or Settings()
    began = time.perf_counter()
    credit = load_credit()
    units = [
        (name, pipeline, seed)
        for seed in range(settings.n_splits)
        for name, pipeline in methods(settings, list(credit.protected)).items()
    ]
    measures: dict[str, dict[str, list[float]]] = {name: {} for name, _, _ in units}
    jobs = Parallel(n_jobs=settings.n_jobs, return_as="generator")(
        delayed(_evaluate)(credit, *unit[1:]) for unit in units
    )
    for done, ((name, _, seed), values) in enumerate(zip(units, jobs), start=1):
        for measure, value in values.items():
            measures[name].setdefault(measure, []).append(value)
        if step is not None:
            step(f"{name}, split {seed + 1}", done, len(units))
    return {
        "data": {
            "name": credit.name,
            "records": len(credit),
            "attributes": credit.frame.shape[1],
            "protected": list(credit.protected),
            "outcome": str(credit.target.name),
            "source": credit.source,
            "licence": credit.licence,
        },
        "settings": asdict(settings),
        "measures": measures,
        "environment": {
            "seconds": round(time.perf_counter() - began, 1),
            "python": platform.python_version(),
            "ifair": __version__,
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "pandas")},
        },
    }


def _evaluate(credit: Dataset, representation: Pipeline, seed: int) -> dict[str, float]:
    """Learn on one third, measure on another; every method sees the same thirds."""
    split = thirds(credit, seed)
    train, test = credit.take(split.train), credit.take(split.test)
    pipeline = make_pipeline(Encoder(), *_steps(representation, seed), LogisticRegression(max_iter=2000))
    pipeline.fit(train.frame, train.target)
    chances = pipeline.predict_proba(test.frame)[:, 1]
    decisions = pipeline.predict(test.frame)
    encoded = pipeline[0].transform(test.frame)
    hidden = [i for attribute in credit.protected for i in columns_of(attribute, encoded.columns)]
    may_count = np.delete(encoded.to_numpy(), hidden, axis=1)
    flips = flip_test(test.frame, protected=credit.protected, decision=pipeline.predict)
    return {
        "accuracy": accuracy(test.target, decisions),
        "AUC": auc(test.target, chances),
        "AUC of labels": hard_auc(test.target, decisions),
        "yNN": consistency(decisions, neighbours=nearest_neighbours(may_count, 10), kind="label"),
        "flipped": float(flips.share_flipped or 0.0),
    }


def _steps(representation: Pipeline, seed: int) -> Iterable[Any]:
    for _, step in clone(representation).steps:
        if isinstance(step, IFair):
            step.set_params(random_state=seed)
        yield step
