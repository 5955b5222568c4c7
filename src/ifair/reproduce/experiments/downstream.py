"""Beyond the paper: is a representation good for more than the model that it was tuned with?

The paper calls its representation application-agnostic. Here every representation is tuned once, with the paper's model
(logistic or linear regression, best harmonic mean on validation), and then handed to models that had no say in it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from ifair.experiments.plan import Earlier, Records, chosen_units
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import Split, classification_measures, learn_again, prepared
from ifair.experiments.ranking import ranking_measures
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spreads
from ifair.ranking import PairwiseRanker

NEEDS = ("classification", "ranking")
METHODS = ("full", "masked", "svd-masked", "ifair-b", "ifair-frozen")

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda _: LogisticRegression(max_iter=2000),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(early_stopping=False, random_state=seed),
    # Odd, so that no vote is tied.
    "nearest neighbours": lambda _: KNeighborsClassifier(11),
}
RANKERS: dict[str, Callable[[int], Any]] = {
    "linear regression": lambda _: LinearRegression(),
    "gradient boosting": lambda seed: HistGradientBoostingRegressor(early_stopping=False, random_state=seed),
    "pairwise ranking": lambda seed: PairwiseRanker(random_state=seed),
}
"""The first is the paper's model; makers of unfitted ones take a seed."""

Measures = dict[str, dict[str, float]]


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset, split and representation, at the settings chosen earlier."""
    return [
        *chosen_units(classify, profile, profile.classification, METHODS, earlier),
        *chosen_units(rank, profile, profile.ranking, METHODS, earlier),
    ]


def classify(
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
    """Every classifier on one representation of one split, measured on test.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.classification.evaluate`.
    setting : dict
        Of the representation: the best harmonic mean of AUC and yNN on validation.

    Returns
    -------
    dict
        ``setting``, and ``models``: by name the measures on test.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    seen, unseen = _mapped(parts, method, setting, grid, search, seed)
    models: Measures = {}
    for name, make in CLASSIFIERS.items():
        model = make(seed).fit(seen, parts.train.y)
        models[name] = classification_measures(parts.test, model.predict(unseen), model.predict_proba(unseen)[:, 1])
    return {"setting": setting, "models": models}


def rank(
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
    """Every ranking model on one representation of one split; as :func:`classify`, with MAP in place of AUC."""
    parts = prepared(dataset, options, most, most_training, seed)
    seen, unseen = _mapped(parts, method, setting, grid, search, seed)
    models: Measures = {}
    for name, make in RANKERS.items():
        more: dict[str, NDArray[Any] | None] = {"query": parts.train.query} if name == "pairwise ranking" else {}
        model = make(seed).fit(seen, parts.train.y, **more)
        models[name] = ranking_measures(parts.test, model.predict(unseen))
    return {"setting": setting, "models": models}


def _mapped(parts: Split, method: str, *arguments: Any) -> list[NDArray[np.float64]]:
    """The training and the test records in a representation."""
    setting, grid, search, seed = arguments
    steps = learn_again(method, setting, parts.train, parts.protected, grid, search, seed)
    return [np.asarray(steps.transform(part.X)) for part in (parts.train, parts.test)]


def summarise(records: Records) -> dict[str, Any]:
    """By task (``classification``, ``ranking``), dataset, model and representation: mean and spread on test."""
    rows: dict[tuple[str, str, str, str], list[Mapping[str, float]]] = defaultdict(list)
    for record in records:
        arguments = record["arguments"]
        for model, measures in record["result"]["models"].items():
            # Only rankings have a MAP.
            task = "ranking" if "MAP" in measures else "classification"
            rows[task, arguments["dataset"], model, arguments["method"]].append(measures)
    found: dict[str, Any] = {}
    for (task, dataset, model, method), measured in rows.items():
        by_model = found.setdefault(task, {}).setdefault(dataset, {}).setdefault(model, {})
        by_model[method] = spreads(measured)
    return found
