"""Beyond the paper: is a representation good for more than the model that it was tuned with?

The paper calls its representation application-agnostic. Here every representation is tuned once, with the paper's model
(logistic or linear regression, best harmonic mean on validation), and then handed to models that had no say in it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from ifair.experiments import classification, ranking
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import best, classification_measures, learn, load_subset, settings_of, split
from ifair.experiments.ranking import ranking_measures
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread
from ifair.ranking import PairwiseRanker

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

Records = Sequence[Mapping[str, Any]]
Measures = dict[str, dict[str, float]]


def classify(
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
    """Every classifier on one representation of one split, measured on test.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.classification.evaluate`.
    setting : dict, optional
        A setting already chosen; without it the one with the best harmonic mean of AUC and yNN on validation.

    Returns
    -------
    dict
        ``setting``, and ``models``: by name the measures on test.
    """
    chosen = _chosen(
        classification.evaluate, "AUC", setting, dataset, options, most, most_training, seed, method, grid, search
    )
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)
    steps = learn(method, chosen, parts.train, parts.protected, search, seed)
    seen, unseen = (np.asarray(steps.transform(part.X)) for part in (parts.train, parts.test))
    models: Measures = {}
    for name, make in CLASSIFIERS.items():
        model = make(seed).fit(seen, parts.train.y)
        models[name] = classification_measures(parts.test, model.predict(unseen), model.predict_proba(unseen)[:, 1])
    return {"setting": chosen, "models": models}


def rank(
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
    """Every ranking model on one representation of one split; as :func:`classify`, with MAP in place of AUC."""
    chosen = _chosen(
        ranking.evaluate, "MAP", setting, dataset, options, most, most_training, seed, method, grid, search
    )
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)
    steps = learn(method, chosen, parts.train, parts.protected, search, seed)
    seen, unseen = (np.asarray(steps.transform(part.X)) for part in (parts.train, parts.test))
    models: Measures = {}
    for name, make in RANKERS.items():
        more: dict[str, NDArray[Any] | None] = {"query": parts.train.query} if name == "pairwise ranking" else {}
        model = make(seed).fit(seen, parts.train.y, **more)
        models[name] = ranking_measures(parts.test, model.predict(unseen))
    return {"setting": chosen, "models": models}


def units(profile: Profile, earlier: Mapping[str, Records]) -> list[Unit]:
    """Every dataset, split and representation; settings come from ``classification`` and ``ranking`` run earlier.

    Where those were not run, a unit looks for its setting itself, among the profile's.
    """
    known = {
        **_settings(earlier.get("classification", []), "AUC"),
        **_settings(earlier.get("ranking", []), "MAP"),
    }
    found = []
    for function, sources in (("classify", profile.classification), ("rank", profile.ranking)):
        for source in sources:
            about = {name: value for name, value in asdict(source).items() if name != "name"}
            for seed in range(profile.n_splits):
                for method in METHODS:
                    setting = known.get((source.name, seed, method))
                    arguments = {
                        **about,
                        "dataset": source.name,
                        "seed": seed,
                        "method": method,
                        # With a setting at hand the grid plays no part, and must not make another unit of this one.
                        "grid": profile.grid if setting is None else {},
                        "search": profile.search,
                        "setting": setting,
                    }
                    label = f"{source.name}, {method}, split {seed + 1}"
                    found.append(Unit(label, f"ifair.experiments.downstream:{function}", arguments))
    return found


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
        by_model[method] = {name: spread([measures[name] for measures in measured]) for name in measured[0]}
    return found


def _settings(records: Records, utility: str) -> dict[tuple[str, int, str], dict[str, Any]]:
    """What the paper's rule chose, by dataset, seed and method."""
    found = {}
    for record in records:
        arguments = record["arguments"]
        if arguments["method"] in METHODS:
            row = best(record["result"], "optimal", utility=utility)
            found[arguments["dataset"], arguments["seed"], arguments["method"]] = dict(row["setting"])
    return found


def _chosen(
    evaluate: Callable[..., list[dict[str, Any]]], utility: str, setting: dict[str, Any] | None, *arguments: Any
) -> dict[str, Any]:
    """The setting given, the only one there is, or the one that the paper's model does best with on validation."""
    if setting is not None:
        return setting
    method, grid = arguments[5:7]
    candidates = list(settings_of(method, grid))
    if len(candidates) == 1:
        return candidates[0]
    return dict(best(evaluate(*arguments), "optimal", utility=utility)["setting"])
