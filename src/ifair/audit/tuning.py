"""Looking for iFair's settings on a table of one's own: a front, and three choices with names."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ifair.datasets.dataset import Dataset
from ifair.errors import IfairError
from ifair.evaluate.candidates import VARIANTS, Candidate, ifair_candidate
from ifair.evaluate.measures import USEFULNESS, brief_measures, plain_number
from ifair.evaluate.rules import RULES, choose
from ifair.evaluate.search import Progress, Trial, front_of, search
from ifair.evaluate.space import Integer, Share, Space
from ifair.evaluate.splits import split_table
from ifair.evaluate.training import train
from ifair.results import Choices, TunedPoint, Tuning

MEASURES = ("utility", "yNN")
SOLVER = {"n_restarts": 1, "max_iter": 300}
SPACE: Space = {"K": Integer(3, 40), "share": Share(0.01, 0.99)}
START: tuple[dict[str, Any], ...] = ({"K": 20, "share": 0.1}, {"K": 10, "share": 0.9})


def tune(
    dataset: Dataset,
    *,
    n_trials: int = 20,
    variant: str = "frozen",
    seed: int = 0,
    journal: str | Path | None = None,
    most_people: int = 10_000,
    solver: Mapping[str, Any] | None = None,
    categorical: Sequence[str] = (),
    similarity: Any = None,
    observer: Callable[[Progress], None] | None = None,
) -> Tuning:
    """Search settings of iFair that are best in utility and consistency at once.

    Learned on a third of the records and judged on another; the last third is left for the audit.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    n_trials : int
        Settings to try in all, those of the journal included.
    variant : {"frozen", "paper"}
    seed : int
        Of the split, the starts and the search.
    journal : path, optional
        Where trials are kept; the same search goes on from there.
    categorical : sequence of str
        Columns of numbers that are codes of categories.
    similarity : as in :func:`ifair.audit.evidence`
    observer : callable, optional
        Told of every trial; see :func:`ifair.evaluate.search.search`.

    Returns
    -------
    dict
        ``front`` and ``trials`` (settings with their measures on validation data), and ``choices``: for each name the
        setting. Plain data; :func:`ifair.audit.evidence` takes it.
    """
    if variant not in VARIANTS:
        raise IfairError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")
    options = dict(solver or SOLVER)
    parts = split_table(dataset, seed, most_people=most_people, categorical=categorical, similarity=similarity)

    def candidate(setting: Mapping[str, Any]) -> Candidate:
        return ifair_candidate({**setting, "variant": variant})

    def objective(setting: dict[str, Any]) -> dict[str, Any]:
        outcome = train(candidate(setting), parts, seed, options).outcome(parts.validation)
        reached = brief_measures(parts.validation, outcome, parts)
        undefined = {name: float("nan") for name in MEASURES if reached[name] is None}
        return {"validation": {**reached, **undefined}}

    trials = search(
        objective,
        SPACE,
        measures=MEASURES,
        n_trials=n_trials,
        start=START[:n_trials],
        journal=journal,
        about={
            "data": fingerprint_dataset(dataset),
            "categorical": list(categorical),
            "similarity": parts.similarity,
            "variant": variant,
            "solver": options,
            "most": most_people,
        },
        seed=seed,
        observer=observer,
    )

    def describe(trial: Trial) -> TunedPoint:
        one = candidate(trial.setting)
        reached: Any = {name: plain_number(value) for name, value in trial.result["validation"].items()}
        return {"id": one.id, "name": one.name, "setting": dict(one.setting), "validation": reached}

    front = [describe(trial) for trial in front_of(trials, MEASURES)]
    return {
        "format": "ifair-tuning",
        "version": 2,
        "data": {"name": dataset.name, "records": len(dataset), "fingerprint": fingerprint_dataset(dataset)},
        "task": parts.task,
        "utility": USEFULNESS[parts.task][0],
        "seed": seed,
        "solver": options,
        "trials": [describe(trial) for trial in trials],
        "front": front,
        "choices": name_choices(front),
    }


def name_choices(points: Sequence[Mapping[str, Any]]) -> Choices:
    """The id of the point that each rule would choose by its measures on validation data."""
    known = [p for p in points if all(p["validation"][name] is not None for name in MEASURES)]
    if not known:
        return {}
    rows = [point["validation"] for point in known]
    return {rule: known[choose(rows, rule, utility="utility")]["id"] for rule in RULES}  # type: ignore[return-value]


def fingerprint_dataset(dataset: Dataset) -> str:
    """A short name for these very records and their roles."""
    state = hashlib.sha256(repr((list(dataset.frame.columns), dataset.protected)).encode())
    for column in [*(dataset.frame[name] for name in dataset.frame.columns), dataset.target, dataset.query]:
        if column is not None:
            state.update(pd.util.hash_pandas_object(pd.Series(column).astype(str), index=False).to_numpy().tobytes())
    state.update(dataset.group.tobytes())
    return state.hexdigest()[:16]
