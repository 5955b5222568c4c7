"""The main job on the embedded data: German Credit with all attributes, without age, and as iFair represents it."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from joblib import Parallel, delayed

from ifair.datasets.catalogue.credit import load_credit
from ifair.datasets.dataset import Dataset
from ifair.encode import Encoder
from ifair.evaluate.candidates import Candidate
from ifair.evaluate.measures import flip_scores, paper_measures
from ifair.evaluate.splits import split_dataset
from ifair.evaluate.training import train
from ifair.results import ComparedMethod, Demonstration, list_versions

Step = Callable[[str, int, int], None]
"""Told what was done last, how many units are done and how many there are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the demo compares: so many random splits into thirds, and representations of so many prototypes."""

    n_splits: int = 5
    n_prototypes: tuple[int, ...] = (5, 10, 20, 30)
    highlighted: int = 10
    n_jobs: int = -1


def list_methods(settings: Settings) -> dict[str, Candidate]:
    """What is compared, by name."""
    k = settings.highlighted
    return {
        "full data": Candidate("full"),
        "masked data": Candidate("masked"),
        **{
            f"iFair, K = {n}": Candidate("ifair", {"variant": "paper", "K": n, "share": 0.5})
            for n in settings.n_prototypes
        },
        f"iFair frozen, K = {k}": Candidate("ifair-frozen", {"K": k}),
    }


def demonstrate(settings: Settings | None = None, step: Step | None = None) -> Demonstration:
    """Run the demo.

    Parameters
    ----------
    step : callable, optional
        Called as ``step(what, done, total)`` when a part is finished.
    """
    settings = settings or Settings()
    began = time.perf_counter()
    credit = load_credit()
    units = [
        (name, candidate, seed)
        for seed in range(settings.n_splits)
        for name, candidate in list_methods(settings).items()
    ]
    methods: dict[str, ComparedMethod] = {name: {"name": name, "measures": {}} for name, _, _ in units}
    jobs = Parallel(n_jobs=settings.n_jobs, return_as="generator")(
        delayed(_measure)(credit, candidate, seed) for _, candidate, seed in units
    )
    for done, ((name, _, seed), reached) in enumerate(zip(units, jobs), start=1):
        for measure, value in reached.items():
            methods[name]["measures"].setdefault(measure, []).append(value)
        if step is not None:
            step(f"{name}, split {seed + 1}", done, len(units))
    return {
        "format": "ifair-demo",
        "version": 2,
        "data": {
            "name": credit.name,
            "records": len(credit),
            "attributes": credit.frame.shape[1],
            "protected": list(credit.protected),
            "outcome": str(credit.target.name),
            "source": credit.source,
            "licence": credit.licence,
        },
        "settings": {**asdict(settings), "n_prototypes": list(settings.n_prototypes)},
        "methods": list(methods.values()),
        "environment": {"seconds": round(time.perf_counter() - began, 1), **list_versions()},
    }


def _measure(credit: Dataset, candidate: Candidate, seed: int) -> dict[str, float]:
    """Learn on one third, measure on another; every method sees the same thirds."""
    parts = split_dataset(credit, seed, encoder=Encoder(), similarity="attributes")
    trained = train(candidate, parts, seed, {})
    outcome = trained.outcome(parts.test)
    _, changed = flip_scores(parts.test.records, trained)
    flips = ~np.isnan(changed) & (trained.decisions(changed) != outcome.decisions)
    return {**paper_measures(parts.test, outcome), "flipped": float(flips.any(axis=0).mean())}
