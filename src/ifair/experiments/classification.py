"""Experiment 2: classification on Compas, Census and Credit; utility against individual fairness for all methods."""

import warnings
from collections.abc import Iterator
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ifair.experiments.protocol import classification_measures, classify, load_subset, split
from ifair.models.representations import representation

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


def settings_of(method: str, grid: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every setting of a method: what is reported of it, and the parameters of its last step."""
    if method in ("full", "masked"):
        yield {}, {}
        return
    for k in grid["K"]:
        if method.startswith("svd"):
            yield {"K": k}, {"n_components": k}
        elif method == "lfr":
            for reconstruct in grid["lfr"]:
                for target in grid["lfr"]:
                    for fairness in grid["lfr"]:
                        if target > 0:
                            weights = {"reconstruct_weight": reconstruct, "target_weight": target}
                            yield (
                                {"K": k, "A_x": reconstruct, "A_y": target, "A_z": fairness},
                                {"n_prototypes": k, "fairness_weight": fairness, **weights},
                            )
        else:
            for lam, mu in grid["ratios"]:
                yield (
                    {"K": k, "lambda": lam, "mu": mu},
                    {"n_prototypes": k, "utility_weight": lam, "fairness_weight": mu},
                )


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
    for shown, parameters in settings_of(method, grid):
        steps = clone(representation(method, protected=list(parts.protected), random_state=seed))
        last = steps[-1]
        if parameters:
            solver = search if method.startswith(("ifair", "lfr")) else {}
            last.set_params(**parameters, **solver)
        fit = {f"{steps.steps[-1][0]}__sensitive_features": parts.train.group} if method == "lfr" else {}
        with warnings.catch_warnings():
            # Early stopping is part of the protocol; what was reached is what is measured. The trivial optimum at
            # lambda = 0 is part of the paper's grid.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="utility_weight=0")
            steps.fit(parts.train.X, parts.train.y, **fit)
        mapped = [steps.transform(part.X) for part in (parts.train, parts.validation, parts.test)]
        validation, test = classify(mapped[0], parts.train.y, mapped[1], mapped[2])
        rows.append(
            {
                "setting": shown,
                "converged": bool(getattr(last, "converged_", True)),
                "validation": classification_measures(parts.validation, *validation),
                "test": classification_measures(parts.test, *test),
            }
        )
    return rows
