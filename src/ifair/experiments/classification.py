"""Experiment 2: classification on Compas, Census and Credit; utility against individual fairness for all methods."""

from typing import Any

from ifair.experiments.protocol import classification_measures, classify, learn, load_subset, settings_of, split

COEFFICIENTS = (0.0, 0.05, 0.1, 1.0, 10.0, 100.0)
"""The paper's grid of mixture coefficients."""

DIMENSIONS = (10, 20, 30)
"""The paper's grid of K."""


def ratios(coefficients: tuple[float, ...] = COEFFICIENTS) -> list[tuple[float, float]]:
    """The distinct problems among all (lambda, mu) of a grid, as (lambda, mu), fairness weighing ever more.

    Multiplying both weights by one factor changes the loss and not where it is smallest: of the paper's 35 pairs
    (both 0 is none) only 17 differ.
    """
    shares = {round(mu / (lam + mu), 12) for lam in coefficients for mu in coefficients if lam + mu > 0}
    return [(1.0 - share, share) for share in sorted(shares)]


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
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)
    rows = []
    for setting in settings_of(method, grid):
        steps = learn(method, setting, parts.train, parts.protected, search, seed)
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
