"""Looking for iFair's settings on a table of one's own: a front, and three choices with names."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ifair.audit.candidates import VARIANTS, fair
from ifair.audit.decisions import learn, score_range
from ifair.audit.measures import UTILITY, Scored
from ifair.audit.parts import split
from ifair.data import Dataset
from ifair.tune import Integer, Progress, Share, Space, choose, front_of, search

FORMAT = "ifair-tuning"
MEASURES = ("utility", "yNN")
SOLVER = {"n_restarts": 1, "max_iter": 300}
SPACE: Space = {"K": Integer(3, 40), "share": Share(0.01, 0.99)}
START: tuple[dict[str, Any], ...] = ({"K": 20, "share": 0.1}, {"K": 10, "share": 0.9})

CHOICES = {"most useful": "max utility", "fairest": "max fairness", "balanced": "optimal"}
"""What the paper's three rules are called here."""


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
    observer: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
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
    observer : callable, optional
        Told of every trial; see :func:`ifair.tune.search`.

    Returns
    -------
    dict
        ``front`` and ``trials`` (settings with their measures on validation data), and ``choices``: for each name the
        setting. Plain data; :func:`ifair.audit.evidence` takes it.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")
    options = dict(solver or SOLVER)
    parts = split(dataset, seed, most_people=most_people, categorical=categorical)
    scale = score_range(parts.train, parts.task)

    def objective(setting: dict[str, Any]) -> dict[str, Any]:
        decider = learn(fair({**setting, "variant": variant}), parts, seed, options)
        scores = decider.scores(parts.validation.X)
        scored = Scored(parts.validation, parts.task, scores, decider.decisions(scores), scale)
        reached = scored.brief()
        return {"validation": {**reached, **{n: _number(reached[n]) for n in MEASURES}}}

    trials = search(
        objective,
        SPACE,
        measures=MEASURES,
        n_trials=n_trials,
        start=START[:n_trials],
        journal=journal,
        about={
            "data": fingerprint(dataset),
            "categorical": list(categorical),
            "variant": variant,
            "solver": options,
            "most": most_people,
        },
        seed=seed,
        observer=observer,
    )

    def plain(found: Sequence[Any]) -> list[dict[str, Any]]:
        rows = [(fair({**t.setting, "variant": variant}), t.result["validation"]) for t in found]
        return [{"id": c.id, "name": c.name, "setting": c.setting, "validation": v} for c, v in rows]

    front = plain(front_of(trials, MEASURES))
    return {
        "format": FORMAT,
        "version": 1,
        "data": {"name": dataset.name, "records": len(dataset), "fingerprint": fingerprint(dataset)},
        "task": parts.task,
        "utility": UTILITY[parts.task][0],
        "seed": seed,
        "solver": options,
        "trials": plain(trials),
        "front": front,
        "choices": named_choices(front),
    }


def named_choices(points: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The id of the point that each rule would choose by its measures on validation data."""
    known = [p for p in points if all(p["validation"][name] is not None for name in MEASURES)]
    if not known:
        return {}
    rows = [point["validation"] for point in known]
    return {name: known[choose(rows, rule, utility="utility", fairness="yNN")]["id"] for name, rule in CHOICES.items()}


def fingerprint(dataset: Dataset) -> str:
    """A short name for these very records and their roles."""
    state = hashlib.sha256(repr((list(dataset.frame.columns), dataset.protected)).encode())
    for column in [*(dataset.frame[name] for name in dataset.frame.columns), dataset.target, dataset.query]:
        if column is not None:
            state.update(pd.util.hash_pandas_object(pd.Series(column).astype(str), index=False).to_numpy().tobytes())
    state.update(dataset.group.tobytes())
    return state.hexdigest()[:16]


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
