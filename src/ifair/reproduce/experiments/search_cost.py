"""Beyond the paper: iFair's settings found by a multi-objective search instead of a grid.

The question is how many fits a front costs. The search tries a quarter as many settings as the grid has (at least
eight), of a space around the grid; the grid is what classification and ranking have already measured. After every fit
stands the hypervolume of the front so far, for the search, for the grid in its own order, and for the grid in random
order, on average: what one gets by stopping a grid early, and by trying settings of it at random.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.experiments.fronts import COIN, volume_curves
from ifair.experiments.outcomes import measured
from ifair.experiments.plan import UTILITY, Earlier, Records, rows_by_split, source_arguments, unit
from ifair.experiments.profiles import Profile, Source
from ifair.experiments.protocol import Split, learn, prepared
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread
from ifair.tune import Integer, Share, Space, search

NEEDS = ("classification", "ranking")
METHOD = "ifair-b"
FAIRNESS = "yNN"

SPACE: Space = {"K": Integer(5, 40), "share": Share(0.01, 0.99)}
"""Prototypes, and mu / (lambda + mu): a little wider than the paper's grid in K, and with every ratio in between."""

START: tuple[dict[str, Any], ...] = ({"K": 30, "share": 0.01}, {"K": 10, "share": 0.1}, {"K": 20, "share": 0.99})
"""Tried first, all from the paper's grid: for utility many prototypes, few to even out, and nothing but fairness."""

ORDERS = 100
"""Random orders of the grid to average over."""

ENOUGH = 0.95
"""The share of the whole grid's hypervolume for which fits are counted."""


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """One search for every dataset and split, beside what the grid has found there."""
    n_grid = len(profile.grid["K"]) * len(profile.grid["ratios"])
    return [
        unit(
            f"{source.name}, split {seed + 1}",
            explore,
            task=task,
            **source_arguments(source),
            seed=seed,
            n_trials=max(min(8, n_grid), ceil(n_grid / 4)),
            known=_known(earlier.get(task, ()), source, seed, UTILITY[task]),
            solver=profile.search,
        )
        for task, sources in (("classification", profile.classification), ("ranking", profile.ranking))
        for source in sources
        for seed in range(profile.n_splits)
    ]


def _known(records: Records, source: Source, seed: int, utility: str) -> list[dict[str, Any]]:
    """The grid's rows of one split, with the two measures that matter here; none before the grid was run."""
    found = rows_by_split(records).get(source.name, {}).get(METHOD, {}).get(seed, [])
    return [_short(row, utility) for row in found]


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
    known: list[dict[str, Any]],
    solver: dict[str, Any],
) -> dict[str, Any]:
    """Search the settings of iFair-b on one split.

    Parameters
    ----------
    task : {"classification", "ranking"}
    dataset, options, most, most_training, seed : as in ``classification.evaluate``
    n_trials : int
        Settings to try.
    known : list of dict
        Rows of the grid's settings on this split.
    solver : dict
        Parameters of the solver: ``n_restarts``, ``max_iter``, ``tol``.

    Returns
    -------
    dict
        ``search`` and ``grid``: rows with ``setting``, and ``validation`` and ``test`` with the two measures, in the
        order in which they were tried.
    """
    utility = UTILITY[task]
    parts = prepared(dataset, options, most, most_training, seed)

    def objective(setting: dict[str, Any]) -> dict[str, Any]:
        letters = {"K": setting["K"], "lambda": 1.0 - setting["share"], "mu": setting["share"]}
        return _short({"setting": letters, **measure(parts, letters, solver, seed)}, utility)

    trials = search(objective, SPACE, measures=(utility, FAIRNESS), n_trials=n_trials, start=START, seed=seed)
    return {"search": [trial.result for trial in trials], "grid": known}


def measure(
    parts: Split, setting: Mapping[str, Any], solver: Mapping[str, Any], seed: int
) -> dict[str, dict[str, float]]:
    """Fit on the training part; measures on validation and test, the same as the grid's."""
    steps = learn(METHOD, setting, parts.train, parts.protected, solver, seed)
    mapped = [np.asarray(steps.transform(part.X)) for part in (parts.train, parts.validation, parts.test)]
    return dict(zip(("validation", "test"), measured(parts, mapped)))


def summarise(records: Records) -> dict[str, Any]:
    """Hypervolumes against the number of fits, over the splits of every dataset.

    Returns
    -------
    dict
        For every dataset: ``utility``, ``reference``, ``fits`` (of the grid, of a tenth of it, of the search), and for
        ``validation`` and ``test`` each: ``curves`` of ``search``, ``grid at random`` and ``grid in order``, a mean and
        spread for every number of fits; ``whole grid``, its hypervolume; ``at a tenth``, for each curve the share of
        that which a tenth of the fits reaches; and ``fits to 95 %`` of it, on average over splits, or None.
    """
    by_dataset: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_dataset.setdefault(record["arguments"]["dataset"], []).append(record)
    return {dataset: _dataset(found) for dataset, found in by_dataset.items()}


def _dataset(records: Records) -> dict[str, Any]:
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
