"""Experiment 4: how much the weights of Xing's deserved score matter."""

from typing import Any

import numpy as np
import pandas as pd

from ifair.experiments.paper import SENSITIVITY
from ifair.experiments.plan import Earlier, Records, source_arguments, unit
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import best, load_subset, prepared
from ifair.experiments.ranking import TOP, evaluate
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread, spreads
from ifair.metrics import share_at_k

WEIGHTS = [row["weights"] for row in SENSITIVITY]
"""Work, education and views: the rows of the paper's table."""


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every row of the table and split, where Xing is at hand."""
    return [
        unit(
            f"weights {weights}, split {seed + 1}",
            weigh,
            **source_arguments(source),
            weights=weights,
            seed=seed,
            method="ifair-b",
            grid=profile.grid,
            search=profile.search,
        )
        for source in profile.ranking
        if source.name == "xing"
        for weights in WEIGHTS
        for seed in range(profile.n_splits)
    ]


def summarise(records: Records) -> list[dict[str, Any]]:
    """The rows of the table."""
    by_weights: dict[tuple[float, ...], list[Any]] = {}
    for record in records:
        by_weights.setdefault(tuple(record["arguments"]["weights"]), []).append(record["result"])
    return [
        {
            "weights": list(weights),
            "base rate": spread([result["base rate"]["test"] for result in results]),
            "test": spreads([result["test"] for result in results]),
        }
        for weights, results in by_weights.items()
    ]


def weigh(
    dataset: str,
    weights: list[float],
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    grid: dict[str, Any],
    search: dict[str, Any],
) -> dict[str, Any]:
    """One row of the table on one split, at the setting with the best harmonic mean of MAP and yNN on validation.

    Parameters
    ----------
    dataset : str
        ``"xing"``.
    weights : list of 3 floats
        Of work experience, education and profile views.
    options : dict
        Other options of Xing's loader.
    most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.ranking.evaluate`.

    Returns
    -------
    dict
        ``weights``, the chosen ``setting``, its measures on ``validation`` and ``test``, and ``base rate``: % protected
        among the truly ten best of the test queries (``test``) and of all queries (``all``).
    """
    options = {**options, "weights": weights}
    chosen = best(evaluate(dataset, options, most, most_training, seed, method, grid, search), "optimal", utility="MAP")
    test = prepared(dataset, options, most, most_training, seed).test
    everybody = load_subset(dataset, options, None, seed)
    return {
        "weights": weights,
        **chosen,
        "base rate": {
            "test": _protected_at_top(test.y, test.group, test.query),
            "all": _protected_at_top(everybody.target, everybody.group, everybody.query),
        },
    }


def _protected_at_top(scores: Any, group: Any, query: Any) -> float:
    ranked = np.asarray(pd.notna(query))
    return 100.0 * share_at_k(
        None, np.asarray(scores)[ranked], sensitive_features=group[ranked], query=np.asarray(query)[ranked], k=TOP
    )
