"""Beyond the paper: iFair's settings found by a multi-objective search instead of a grid.

The question is how many fits a front costs. The search tries half as many settings as the grid has, of a space around
the grid; the grid is what classification and ranking have already measured. After every fit stands the hypervolume of
the front so far, for the search, for the grid in its own order, and for the grid in random order, on average: what one
gets by stopping a grid early, and by trying settings of it at random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.experiments import classification, ranking
from ifair.experiments.fronts import COIN, volume_curves
from ifair.experiments.profiles import Profile, Source
from ifair.experiments.protocol import Split, classification_measures, classify, learn, load_subset, split
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread
from ifair.tune import Integer, Share, Space, search

METHOD = "ifair-b"
UTILITY = {"classification": "AUC", "ranking": "MAP"}
FAIRNESS = "yNN"

SPACE: Space = {"K": Integer(5, 40), "share": Share(0.01, 0.99)}
"""Prototypes, and mu / (lambda + mu): a little wider than the paper's grid in K, and with every ratio in between."""

START: tuple[dict[str, Any], ...] = ({"K": 20, "share": 0.0}, {"K": 10, "share": 0.99})
"""Tried first: two settings from the middle of the paper's grid, one for utility and one for fairness."""

ORDERS = 100
"""Random orders of the grid to average over."""

ENOUGH = 0.95
"""The share of the whole grid's hypervolume for which fits are counted."""

Record = Mapping[str, Any]


def units(profile: Profile, earlier: Mapping[str, Sequence[Record]]) -> list[Unit]:
    """One search for every dataset and split; the grid is taken from earlier results where there are any."""
    n_grid = len(profile.grid["K"]) * len(profile.grid["ratios"])
    return [
        Unit(
            f"{source.name}, split {seed + 1}",
            "ifair.experiments.search:explore",
            {
                "task": task,
                "dataset": source.name,
                **{name: value for name, value in asdict(source).items() if name != "name"},
                "seed": seed,
                "n_trials": max(2, ceil(n_grid / 2)),
                "known": _known(earlier.get(task, ()), source, seed, UTILITY[task]),
                "grid": profile.grid,
                "solver": profile.search,
            },
        )
        for task, sources in (("classification", profile.classification), ("ranking", profile.ranking))
        for source in sources
        for seed in range(profile.n_splits)
    ]


def _known(records: Sequence[Record], source: Source, seed: int, utility: str) -> list[dict[str, Any]] | None:
    """The grid's rows of one split, with the two measures that matter here."""
    for record in records:
        arguments = record["arguments"]
        if (arguments["dataset"], arguments["seed"], arguments["method"]) == (source.name, seed, METHOD):
            return [_short(row, utility) for row in record["result"]]
    return None


def _short(row: Mapping[str, Any], utility: str) -> dict[str, Any]:
    parts = {part: {name: row[part][name] for name in (utility, FAIRNESS)} for part in ("validation", "test")}
    return {"setting": row["setting"], **parts}


def explore(
    task: str,
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    n_trials: int,
    known: list[dict[str, Any]] | None,
    grid: dict[str, Any],
    solver: dict[str, Any],
) -> dict[str, Any]:
    """Search the settings of iFair-b on one split.

    Parameters
    ----------
    task : {"classification", "ranking"}
    dataset, options, most, most_training, seed : as in ``classification.evaluate``
    n_trials : int
        Settings to try.
    known : list of dict or None
        Rows of the grid's settings on this split; None to fit them here.
    grid : dict
        ``K`` and ``ratios``.
    solver : dict
        Parameters of the solver: ``n_restarts``, ``max_iter``, ``tol``.

    Returns
    -------
    dict
        ``search`` and ``grid``: rows with ``setting``, and ``validation`` and ``test`` with the two measures, in the
        order in which they were tried.
    """
    utility = UTILITY[task]
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)

    def objective(setting: dict[str, Any]) -> dict[str, Any]:
        letters = {"K": setting["K"], "lambda": 1.0 - setting["share"], "mu": setting["share"]}
        return _short({"setting": letters, **measure(task, parts, letters, solver, seed)}, utility)

    trials = search(objective, SPACE, measures=(utility, FAIRNESS), n_trials=n_trials, start=START, seed=seed)
    if known is None:
        evaluate = {"classification": classification.evaluate, "ranking": ranking.evaluate}[task]
        rows = evaluate(dataset, options, most, most_training, seed, METHOD, grid, solver)
        known = [_short(row, utility) for row in rows]
    return {"search": [trial.result for trial in trials], "grid": known}


def measure(
    task: str, parts: Split, setting: Mapping[str, Any], solver: Mapping[str, Any], seed: int
) -> dict[str, dict[str, float]]:
    """Fit on the training part; measures on validation and test, the same as the grid's."""
    if task == "ranking":
        (validation, test), _ = ranking.score(parts, METHOD, setting, solver, seed)
        return {
            "validation": ranking.ranking_measures(parts.validation, validation),
            "test": ranking.ranking_measures(parts.test, test),
        }
    steps = learn(METHOD, setting, parts.train, parts.protected, solver, seed)
    mapped = [steps.transform(part.X) for part in (parts.train, parts.validation, parts.test)]
    decided = classify(mapped[0], parts.train.y, *mapped[1:])
    return {
        "validation": classification_measures(parts.validation, *decided[0]),
        "test": classification_measures(parts.test, *decided[1]),
    }


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """Hypervolumes against the number of fits, over the splits of every dataset.

    Returns
    -------
    dict
        For every dataset: ``utility``, ``reference``, ``fits`` (of the grid, of a tenth of it, of the search), and for
        ``validation`` and ``test`` each: ``curves`` of ``search``, ``grid at random`` and ``grid in order``, a mean and
        spread for every number of fits; ``whole grid``, its hypervolume; ``at a tenth``, for each curve the share of
        that which a tenth of the fits reaches; and ``fits to 95 %`` of it, on average over splits, or None.
    """
    by_dataset: dict[str, list[Record]] = {}
    for record in records:
        by_dataset.setdefault(record["arguments"]["dataset"], []).append(record)
    return {dataset: _dataset(found) for dataset, found in by_dataset.items()}


def _dataset(records: Sequence[Record]) -> dict[str, Any]:
    utility = UTILITY[records[0]["arguments"]["task"]]
    reference = {utility: COIN[utility], FAIRNESS: COIN[FAIRNESS]}
    found = [_curves(record["result"], reference) for record in records]
    n_grid = len(records[0]["result"]["grid"])
    tenth = ceil(n_grid / 10)
    return {
        "utility": utility,
        "reference": reference,
        "fits": {"grid": n_grid, "tenth": tenth, "search": len(records[0]["result"]["search"])},
        **{part: _part([curves[part] for curves in found], tenth) for part in ("validation", "test")},
    }


def _curves(result: Mapping[str, Any], reference: Mapping[str, float]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Of one split, for validation and test, the three curves."""
    measures, corner, rows = list(reference), list(reference.values()), result["grid"]
    rng = np.random.default_rng(20190408)
    orders = [volume_curves([rows[i] for i in rng.permutation(len(rows))], measures, corner) for _ in range(ORDERS)]
    by_name = {
        "search": volume_curves(result["search"], measures, corner),
        "grid at random": np.mean(orders, axis=0),
        "grid in order": volume_curves(rows, measures, corner),
    }
    return {part: {name: pair[i] for name, pair in by_name.items()} for i, part in enumerate(("validation", "test"))}


def _part(splits: Sequence[Mapping[str, NDArray[np.float64]]], tenth: int) -> dict[str, Any]:
    whole = np.array([curves["grid in order"][-1] for curves in splits])
    # A grid that beats the reference point nowhere has nothing to take a share of.
    counted = whole > 0
    curves = {name: np.array([found[name] for found in splits]) for name in splits[0]}
    return {
        "curves": {name: [spread(column) for column in found.T] for name, found in curves.items()},
        "whole grid": spread(whole.tolist()),
        "at a tenth": {
            name: spread(found[counted, tenth - 1] / whole[counted]) if counted.any() else None
            for name, found in curves.items()
        },
        "fits to 95 %": {
            name: next((n for n, mean in enumerate(found.mean(axis=0), start=1) if mean >= ENOUGH * whole.mean()), None)
            for name, found in curves.items()
        },
    }
