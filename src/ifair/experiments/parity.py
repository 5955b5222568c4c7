"""Experiment 6: FA*IR on top of iFair, to enforce parity: utility, protected candidates and yNN over p."""

from typing import Any

from ifair.experiments.protocol import best, load_subset, split
from ifair.experiments.ranking import evaluate, fair_measures, ranking_measures, score

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Values of FA*IR's p."""


def enforce(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    grid: dict[str, Any],
    search: dict[str, Any],
    setting: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A curve of the figure on one split: FA*IR on the scores of a representation, for every p.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, search
        As in :func:`ifair.experiments.ranking.evaluate`.
    grid : dict
        ``p``, and what the method needs to choose a setting.
    setting : dict, optional
        A setting already chosen; without it the one with the best harmonic mean of MAP and yNN on validation.

    Returns
    -------
    dict
        ``setting``; ``without`` FA*IR the measures on test; ``rows``, for every ``p`` the measures on ``test``.
    """
    if setting is None:
        rows = evaluate(dataset, options, most, most_training, seed, method, grid, search)
        setting = best(rows, "optimal", utility="MAP")["setting"]
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)
    (_, scores), _ = score(parts, method, setting, search, seed)
    return {
        "setting": setting,
        "without": ranking_measures(parts.test, scores),
        "rows": [{"p": p, "test": fair_measures(parts.test, scores, p)} for p in grid["p"]],
    }
