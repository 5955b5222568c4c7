"""Experiment 6: FA*IR on top of iFair, to enforce parity: utility, protected candidates and yNN over p."""

from typing import Any

from ifair.experiments.plan import Earlier, Records, chosen_units, grouped
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import learn_again, prepared
from ifair.experiments.ranking import fair_measures, ranking_measures, score
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spreads

NEEDS = ("ranking",)


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """A curve for every dataset with queries and split."""
    return chosen_units(enforce, profile, profile.ranking, ("ifair-b",), earlier)


def summarise(records: Records) -> dict[str, Any]:
    """By dataset: measures without FA*IR, and for every p."""
    return {
        dataset: {
            "without": spreads([result["without"] for result in results]),
            "rows": [
                {"p": rows[0]["p"], "test": spreads([row["test"] for row in rows])}
                for rows in zip(*(result["rows"] for result in results))
            ],
        }
        for dataset, results in grouped(records, "dataset").items()
    }


def enforce(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    setting: dict[str, Any],
    grid: dict[str, Any],
    search: dict[str, Any],
) -> dict[str, Any]:
    """A curve of the figure on one split: FA*IR on the scores of a representation, for every p.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.ranking.evaluate`.
    setting : dict
        Of the method, chosen on validation.

    Returns
    -------
    dict
        ``setting``; ``without`` FA*IR the measures on test; ``rows``, for every ``p`` the measures on ``test``.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    _, scores = score(parts, learn_again(method, setting, parts.train, parts.protected, grid, search, seed))
    return {
        "setting": setting,
        "without": ranking_measures(parts.test, scores),
        "rows": [{"p": p, "test": fair_measures(parts.test, scores, p)} for p in grid["p"]],
    }
