"""Beyond the paper: outside rivals, measured like everything else.

SenSeI decides about records itself; the CorrelationRemover is a representation, on which a logistic regression (for
rankings a linear regression) is trained. Splits, encoding, measures and rules of choice are those of the paper's
methods. A rival whose package is not installed is left out, and the summary says so.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

from ifair.encode import columns_of
from ifair.experiments import outside, summary
from ifair.experiments.outcomes import group_told
from ifair.experiments.outside import HINT, PACKAGES, installed
from ifair.experiments.plan import Earlier, Records, source_arguments, unit
from ifair.experiments.profiles import Profile, Source
from ifair.experiments.protocol import Split, best, classification_measures, classify, prepared
from ifair.experiments.ranking import ranking_measures
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread
from ifair.tune import RULES

RHO = (5.0, 20.0, 1.0, 50.0, 0.0, 100.0)
"""SenSeI's weights of fairness; a profile with few settings takes the first."""

HIDDEN = (0, 100)
"""Units of its hidden layer: none, as the others' logistic regression, or as many as its authors have."""

ALPHA = (0.5, 1.0)
"""How much of the correlation is removed."""

SENSEI = {"batch": 100, "lr": 0.005, "steps": 20, "step": 0.05}
ADVERSARIES = ("logistic", "boosting")


def evaluate(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    rival: str,
    grid: dict[str, list[Any]],
    search: dict[str, Any],
) -> list[dict[str, Any]]:
    """All settings of one rival on one split: parameters, measures on validation and on test.

    Parameters
    ----------
    dataset, options, most, most_training, seed
        As in :func:`ifair.experiments.classification.evaluate`.
    rival : {"sensei", "correlation-remover"}
    grid : dict from parameters to lists of values
        ``rho``, ``eps`` and ``hidden`` of SenSeI, ``alpha`` of the CorrelationRemover; every combination is tried.
    search : dict
        The last argument of :func:`ifair.experiments.outside.sensei`; the CorrelationRemover needs none.

    Returns
    -------
    list of dict
        Rows as of the other methods; those of the CorrelationRemover have ``adversaries`` too, by name the AUC on test
        with which the group is told from its output.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    rows = []
    for setting in _combinations(grid):
        if rival == "sensei":
            X, *others = (part.X.to_numpy() for part in (parts.train, parts.validation, parts.test))
            model = outside.sensei(X, parts.train.y, _protected(parts), setting, search, seed)
            found = [((scores > 0.5).astype(parts.train.y.dtype), scores) for scores in map(model, others)]
            more = {}
        else:
            Z = _removed(parts, setting["alpha"])
            found = classify(Z[0], parts.train.y, Z[1], Z[2])
            more = {"adversaries": _attack(parts, Z[0], Z[2], seed)}
        rows.append(
            {
                "setting": setting,
                "validation": classification_measures(parts.validation, *found[0]),
                "test": classification_measures(parts.test, *found[1]),
                **more,
            }
        )
    return rows


def rank(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    rival: str,
    grid: dict[str, list[Any]],
) -> list[dict[str, Any]]:
    """The same for a dataset with queries, by a linear regression on the CorrelationRemover's output."""
    if rival != "correlation-remover":
        raise ValueError(f"only the correlation-remover ranks, not {rival!r}")
    parts = prepared(dataset, options, most, most_training, seed)
    rows = []
    for setting in _combinations(grid):
        train, validation, test = _removed(parts, setting["alpha"])
        model = LinearRegression().fit(train, parts.train.y)
        rows.append(
            {
                "setting": setting,
                "validation": ranking_measures(parts.validation, model.predict(validation)),
                "test": ranking_measures(parts.test, model.predict(test)),
                "adversaries": _attack(parts, train, test, seed),
            }
        )
    return rows


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every classification dataset, split and rival, and every ranking with the CorrelationRemover.

    SenSeI gets no more settings than iFair has in the profile; without its package there is no unit for a rival.
    """
    sensei: dict[str, Any] = {
        "rival": "sensei",
        "grid": {
            "rho": sorted(RHO[: len(profile.grid["ratios"])]),
            "eps": [0.1],
            "hidden": list(HIDDEN[: len(profile.grid["K"])]),
        },
        # Enough on 300 records; on all of them it may learn as much longer as iFair may.
        "search": {**SENSEI, "updates": max(100, profile.search["max_iter"] // 3)},
    }
    remover: dict[str, Any] = {"rival": "correlation-remover", "grid": {"alpha": list(ALPHA)}}
    planned: list[tuple[Callable[..., Any], Source, dict[str, Any]]] = [
        *((evaluate, source, sensei) for source in profile.classification),
        *((evaluate, source, {**remover, "search": {}}) for source in profile.classification),
        *((rank, source, remover) for source in profile.ranking),
    ]
    return [
        unit(
            f"{source.name}, {arguments['rival']}, split {seed + 1}",
            function,
            **source_arguments(source),
            seed=seed,
            **arguments,
        )
        for function, source, arguments in planned
        if installed(arguments["rival"])
        for seed in range(profile.n_splits)
    ]


def summarise(records: Records) -> dict[str, Any]:
    """What the paper's three rules choose of every rival, on test, and how well the group is told.

    Returns
    -------
    dict
        ``classification`` and ``ranking``: by dataset ``rules`` and ``points`` as in
        :func:`ifair.experiments.summary.summarise`; a rival with adversaries has under each rule their AUC, too.
        ``left out``: by rival what to do to have it.
    """
    found: dict[str, Any] = {"classification": {}, "ranking": {}}
    by_dataset: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        arguments = record["arguments"]
        # Only rankings have a MAP.
        task = "ranking" if "MAP" in record["result"][0]["test"] else "classification"
        by_dataset[task, arguments["dataset"]][arguments["rival"]].append(record["result"])
    for (task, dataset), by_rival in by_dataset.items():
        utility = "MAP" if task == "ranking" else "AUC"
        whole = summary.summarise(by_rival, utility=utility, fairness="yNN", ours=next(iter(by_rival)))
        for rule in RULES:
            for rival, splits in by_rival.items():
                chosen = [best(rows, rule, utility=utility) for rows in splits]
                if "adversaries" in chosen[0]:
                    whole["rules"][rule][rival]["adversaries"] = {
                        name: spread([row["adversaries"][name] for row in chosen]) for name in chosen[0]["adversaries"]
                    }
        found[task][dataset] = {"rules": whole["rules"], "points": whole["points"]}
    ran = {record["arguments"]["rival"] for record in records}
    found["left out"] = {rival: HINT for rival in PACKAGES if rival not in ran and not installed(rival)}
    return found


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values)) for values in product(*grid.values())]


def _protected(parts: Split) -> list[int]:
    return [i for attribute in parts.protected for i in columns_of(attribute, parts.train.X.columns)]


def _removed(parts: Split, alpha: float) -> list[Any]:
    """The three parts as the CorrelationRemover, which has seen the first, gives them."""
    matrices = [part.X.to_numpy() for part in (parts.train, parts.validation, parts.test)]
    remover = outside.correlation_remover(alpha, _protected(parts)).fit(matrices[0])
    return [np.asarray(remover.transform(matrix)) for matrix in matrices]


def _attack(parts: Split, seen: Any, unseen: Any, seed: int) -> dict[str, float]:
    """The AUC with which each adversary tells the group."""
    return {name: group_told(parts, seen, unseen, name, seed) for name in ADVERSARIES}
