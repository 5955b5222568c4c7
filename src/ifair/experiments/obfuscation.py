"""Experiment 5: can an adversary tell the protected group from a representation?"""

from typing import Any

import numpy as np

from ifair.data.registry import entry
from ifair.experiments import classification, ranking
from ifair.experiments.protocol import best, learn, load_subset, settings_of, split
from ifair.metrics import accuracy, auc
from ifair.metrics.adversary import attacker

ADVERSARIES = ("logistic", "boosting")
"""The paper's adversary, and a stronger one that also finds what is not linear."""


def attack(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    grid: dict[str, Any],
    search: dict[str, Any],
    setting: dict[str, Any] | None = None,
    adversaries: list[str] | None = None,
) -> dict[str, Any]:
    """Train adversaries on the training third, as one method represents it, and try them on the test third.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.classification.evaluate`, or for a dataset with queries as in
        :func:`ifair.experiments.ranking.evaluate`. LFR needs a label, so that it is for the former only.
    setting : dict, optional
        A setting already chosen; without it the one with the best harmonic mean of utility (AUC, MAP) and yNN on
        validation.
    adversaries : list of str, optional
        Some of ``ADVERSARIES``; default all.

    Returns
    -------
    dict
        ``setting``; ``majority``, the share of the larger group on test, which an accuracy is to be compared with;
        ``adversaries``, by name the ``accuracy`` and the ``AUC`` (1/2: nothing is given away) on test.
    """
    if setting is None:
        setting = _chosen(dataset, options, most, most_training, seed, method, grid, search)
    parts = split(load_subset(dataset, options, most, seed), seed, most_training=most_training)
    steps = learn(method, setting, parts.train, parts.protected, search, seed)
    seen, unseen = (np.asarray(steps.transform(part.X)) for part in (parts.train, parts.test))
    share = float(parts.test.group.mean())
    found = {}
    for name in adversaries or ADVERSARIES:
        model = attacker(name, seed).fit(seen, parts.train.group)
        found[name] = {
            "accuracy": accuracy(parts.test.group, model.predict(unseen)),
            "AUC": auc(parts.test.group, model.predict_proba(unseen)[:, 1]),
        }
    return {"setting": setting, "majority": max(share, 1.0 - share), "adversaries": found}


def _chosen(dataset: str, *arguments: Any) -> dict[str, Any]:
    """The setting that the paper calls optimal; nothing is tried where there is only one."""
    method, grid = arguments[4:6]
    candidates = list(settings_of(method, grid))
    if len(candidates) == 1:
        return candidates[0]
    ranked = entry(dataset).task == "ranking"
    evaluate = ranking.evaluate if ranked else classification.evaluate
    rows = evaluate(dataset, *arguments)
    return dict(best(rows, "optimal", utility="MAP" if ranked else "AUC")["setting"])
