"""From the rows of units to what is printed: choices by the paper's rules, means, spreads, comparisons."""

from collections.abc import Mapping, Sequence
from typing import Any

from ifair.experiments.fronts import hypervolumes
from ifair.experiments.statistics import compare, spread
from ifair.tune import RULES, choose

Rows = Sequence[Mapping[str, Any]]


def summarise(
    by_split: Mapping[str, Sequence[Rows]], *, utility: str, fairness: str, ours: str = "ifair-b"
) -> dict[str, Any]:
    """Choose a setting on the validation part of every split, and report what it reached on the test part.

    Parameters
    ----------
    by_split : mapping from methods to sequences of rows
        For every method and split the rows of all settings, each with ``setting``, ``validation`` and ``test``.
    utility, fairness : str
        The measures that the rules weigh.
    ours : str
        The method that is compared with all others.

    Returns
    -------
    dict
        ``rules``: for every rule and method the mean and spread of each test measure and the settings chosen;
        ``comparisons``: for every rule and every test measure of ours, ours against every rival;
        ``points``: for every method the test means of all settings, for the plot of utility against fairness;
        ``hypervolume``: of every method's front, see :func:`ifair.experiments.fronts.hypervolumes`.
    """
    rules, comparisons = {}, {}
    for rule in RULES:
        chosen = {
            method: [rows[_best(rows, rule, utility, fairness)] for rows in splits]
            for method, splits in by_split.items()
        }
        rules[rule] = {
            method: {
                "settings": [row["setting"] for row in rows],
                "test": {name: spread([row["test"][name] for row in rows]) for name in rows[0]["test"]},
            }
            for method, rows in chosen.items()
        }
        comparisons[rule] = {
            measure: compare(
                [row["test"][measure] for row in chosen[ours]],
                {m: [row["test"][measure] for row in rows] for m, rows in chosen.items() if m != ours},
            )
            for measure in chosen[ours][0]["test"]
        }
    return {
        "rules": rules,
        "comparisons": comparisons,
        "points": _points(by_split),
        "hypervolume": hypervolumes(by_split, utility=utility, fairness=fairness, ours=ours),
    }


def _best(rows: Rows, rule: str, utility: str, fairness: str) -> int:
    return choose([row["validation"] for row in rows], rule, utility=utility, fairness=fairness)


def _points(by_split: Mapping[str, Sequence[Rows]]) -> dict[str, list[dict[str, Any]]]:
    return {
        method: [
            {
                "setting": rows[0]["setting"],
                "test": {name: spread([row["test"][name] for row in rows])["mean"] for name in rows[0]["test"]},
            }
            for rows in zip(*splits)
        ]
        for method, splits in by_split.items()
    }
