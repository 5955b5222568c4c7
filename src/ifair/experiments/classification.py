"""Experiment 2: classification on Compas, Census and Credit; utility against individual fairness for all methods."""

from typing import Any

from ifair.experiments.plan import Earlier, Records, grid_units, rows_by_split
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import classification_measures, classify, learn, prepared, settings_of
from ifair.experiments.runner import Unit
from ifair.experiments.summary import summarise as summarise_splits

METHODS = ("full", "masked", "svd", "svd-masked", "lfr", "ifair-a", "ifair-b", "ifair-frozen")


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every method and split of the datasets with a label."""
    return grid_units(evaluate, profile, profile.classification, METHODS)


def summarise(records: Records) -> dict[str, Any]:
    """By dataset: the choices of the three rules, comparisons, and all points of the plot."""
    return {
        dataset: summarise_splits(
            {method: list(by_seed.values()) for method, by_seed in by_method.items()}, utility="AUC", fairness="yNN"
        )
        for dataset, by_method in rows_by_split(records).items()
    }


def evaluate(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    grid: dict[str, Any],
    search: dict[str, Any],
) -> list[dict[str, Any]]:
    """All settings of one method on one split: parameters, measures on validation and on test.

    Parameters
    ----------
    dataset, options : str, dict
        A dataset of the registry and the options of its loader.
    most, most_training : int or None
        Limits on the records of all, and of the training part.
    seed : int
        Of the split, and of the method.
    method : str
        A name of ``ifair.models.representations``.
    grid : dict
        ``K``, ``ratios`` (of iFair) and ``lfr`` (coefficients of LFR).
    search : dict
        Parameters of the solver for methods that have one: ``n_restarts``, ``max_iter``, ``tol``.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    rows, steps = [], None
    for setting in settings_of(method, grid):
        steps = learn(method, setting, parts.train, parts.protected, search, seed, near=steps)
        mapped = [steps.transform(part.X) for part in (parts.train, parts.validation, parts.test)]
        validation, test = classify(mapped[0], parts.train.y, mapped[1], mapped[2])
        rows.append(
            {
                "setting": setting,
                "converged": bool(getattr(steps[-1], "converged_", True)),
                "validation": classification_measures(parts.validation, *validation),
                "test": classification_measures(parts.test, *test),
            }
        )
    return rows
