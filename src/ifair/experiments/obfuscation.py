"""Experiment 5: can an adversary tell the protected group from a representation?"""

from typing import Any

import numpy as np

from ifair.experiments.plan import Earlier, Records, chosen_units, grouped
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import learn_again, prepared
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread, spreads
from ifair.metrics import accuracy, auc
from ifair.metrics.adversary import make_attacker

NEEDS = ("classification", "ranking")
METHODS = ("masked", "lfr", "ifair-b", "ifair-frozen")
ADVERSARIES = ("logistic", "boosting")
"""The paper's adversary, and a stronger one that also finds what is not linear."""


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset, split and method; LFR needs a label of two classes and is left out of rankings."""
    unlabelled = [method for method in METHODS if method != "lfr"]
    return [
        *chosen_units(attack, profile, profile.classification, METHODS, earlier),
        *chosen_units(attack, profile, profile.ranking, unlabelled, earlier),
    ]


def summarise(records: Records) -> dict[str, Any]:
    """By dataset and method: the majority's share, and what each adversary reached."""
    return {
        dataset: {
            method: {
                "majority": spread([result["majority"] for result in results]),
                **{
                    adversary: spreads([result["adversaries"][adversary] for result in results])
                    for adversary in results[0]["adversaries"]
                },
            }
            for method, results in by_method.items()
        }
        for dataset, by_method in grouped(records, "dataset", "method").items()
    }


def attack(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    method: str,
    setting: dict[str, Any],
    grid: dict[str, Any],
    search: dict[str, Any],
    adversaries: list[str] | None = None,
) -> dict[str, Any]:
    """Train adversaries on the training third, as one method represents it, and try them on the test third.

    Parameters
    ----------
    dataset, options, most, most_training, seed, method, grid, search
        As in :func:`ifair.experiments.classification.evaluate`, or for a dataset with queries as in
        :func:`ifair.experiments.ranking.evaluate`.
    setting : dict
        Of the method: the one that the paper calls optimal, chosen on validation.
    adversaries : list of str, optional
        Some of ``ADVERSARIES``; default all.

    Returns
    -------
    dict
        ``setting``; ``majority``, the share of the larger group on test, which an accuracy is to be compared with;
        ``adversaries``, by name the ``accuracy`` and the ``AUC`` (1/2: nothing is given away) on test.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    steps = learn_again(method, setting, parts.train, parts.protected, grid, search, seed)
    seen, unseen = (np.asarray(steps.transform(part.X)) for part in (parts.train, parts.test))
    share = float(parts.test.group.mean())
    found = {}
    for name in adversaries or ADVERSARIES:
        model = make_attacker(name, seed).fit(seen, parts.train.group)
        found[name] = {
            "accuracy": accuracy(parts.test.group, model.predict(unseen)),
            "AUC": auc(parts.test.group, model.predict_proba(unseen)[:, 1]),
        }
    return {"setting": setting, "majority": max(share, 1.0 - share), "adversaries": found}
