"""The paper's whole evaluation: the plan of its units, and what their results add up to."""

import os
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ifair import __version__
from ifair.data import DataError, load
from ifair.experiments.paper import CLASSIFICATION, RANKING, SENSITIVITY
from ifair.experiments.profiles import Profile, Source
from ifair.experiments.runner import Unit
from ifair.experiments.sensitivity import WEIGHTS
from ifair.experiments.statistics import spread
from ifair.experiments.summary import summarise

CLASSIFIED = ("full", "masked", "svd", "svd-masked", "lfr", "ifair-a", "ifair-b", "ifair-frozen")
RANKED = ("full", "masked", "svd", "svd-masked", "fair", "ifair-b", "ifair-frozen")
VARIANTS = ("random", "x1", "x2")
HERE = "ifair.experiments"

Plan = dict[str, list[Unit]]
Records = Mapping[str, Sequence[Mapping[str, Any]]]


def available(profile: Profile, *, needed: bool) -> tuple[Profile, list[str]]:
    """The profile with those of its datasets that can be read, and what is missing.

    ``needed``: a missing dataset is an error instead.
    """
    missing = []
    for source in {source.name: source for source in (*profile.classification, *profile.ranking)}.values():
        try:
            load(source.name, **source.options)
        except DataError as error:
            if needed:
                raise
            missing.append(f"{source.name}: {str(error).splitlines()[0]}")
    absent = {line.partition(":")[0] for line in missing}
    return profile.without(absent), missing


def plan(profile: Profile) -> Plan:
    """The units of every experiment, by the experiment's name."""
    grid, search = profile.grid, profile.search
    solver = {"grid": grid, "search": search}
    seeds = range(profile.n_splits)

    def units(module: str, function: str, sources: Sequence[Source], methods: Sequence[str]) -> list[Unit]:
        return [
            Unit(
                f"{source.name}, {method}, split {seed + 1}",
                f"{HERE}.{module}:{function}",
                {**asdict_without_name(source), "dataset": source.name, "seed": seed, "method": method, **solver},
            )
            for source in sources
            for seed in seeds
            for method in methods
        ]

    both = (*profile.classification, *profile.ranking)
    obfuscation = [
        unit
        for unit in units("obfuscation", "attack", both, ("masked", "lfr", "ifair-b", "ifair-frozen"))
        # LFR needs a label of two classes.
        if unit.arguments["method"] != "lfr" or unit.arguments["dataset"] in {s.name for s in profile.classification}
    ]
    xing = [source for source in profile.ranking if source.name == "xing"]
    sensitivity = [
        Unit(
            f"weights {weights}, split {seed + 1}",
            f"{HERE}.sensitivity:weigh",
            {**asdict_without_name(source), "weights": weights, "seed": seed, "method": "ifair-b", **solver},
        )
        for source in xing
        for weights in WEIGHTS
        for seed in seeds
    ]
    synthetic = [
        Unit(
            f"{variant}, {method}, draw {seed + 1}",
            f"{HERE}.synthetic:panel",
            {"variant": variant, "method": method, "seed": seed, **solver},
        )
        for variant in VARIANTS
        for method in ("original", "ifair", "lfr")
        for seed in seeds
    ]
    influence = [
        Unit(
            f"{method}, draw {seed + 1}",
            f"{HERE}.synthetic:influence",
            {"method": method, "seed": seed, **solver},
        )
        for method in ("ifair", "lfr")
        for seed in seeds
    ]
    return {
        "synthetic": synthetic,
        "influence": influence,
        "classification": units("classification", "evaluate", profile.classification, CLASSIFIED),
        "ranking": units("ranking", "evaluate", profile.ranking, RANKED),
        "sensitivity": sensitivity,
        "obfuscation": obfuscation,
        "parity": units("parity", "enforce", profile.ranking, ("ifair-b",)),
    }


def asdict_without_name(source: Source) -> dict[str, Any]:
    return {name: value for name, value in asdict(source).items() if name != "name"}


def assemble(records: Records, profile: str, settings: Profile, missing: Sequence[str]) -> dict[str, Any]:
    """Results of all experiments as plain data, small enough to keep.

    Parameters
    ----------
    records : mapping from experiments to records of the runner
    profile : str
    settings : Profile
    missing : sequence of str
        Datasets that were left out, and why.
    """
    return {
        "profile": profile,
        "settings": asdict(settings),
        "left out": list(missing),
        "environment": {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "system": platform.system(),
            "python": platform.python_version(),
            "ifair": __version__,
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "pandas")},
        },
        "seconds": {name: round(sum(record["seconds"] for record in units), 1) for name, units in records.items()},
        "classification": _by_dataset(records["classification"], utility="AUC"),
        "ranking": _by_dataset(records["ranking"], utility="MAP"),
        "sensitivity": _sensitivity(records["sensitivity"]),
        "obfuscation": _obfuscation(records["obfuscation"]),
        "parity": _parity(records["parity"]),
        "synthetic": _synthetic(records["synthetic"]),
        "influence": _influence(records["influence"]),
        # Beside ours, so that a page needs nothing but this file.
        "paper": {"classification": CLASSIFICATION, "ranking": RANKING, "sensitivity": SENSITIVITY},
    }


def _by_dataset(records: Sequence[Mapping[str, Any]], utility: str) -> dict[str, Any]:
    grouped: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        arguments, rows = record["arguments"], record["result"]
        if arguments["method"] == "fair":
            # Every p of FA*IR is a method of its own, as in the paper.
            for row in rows:
                grouped[arguments["dataset"]][f"fair, p = {row['setting']['p']}"].append([row])
        else:
            grouped[arguments["dataset"]][arguments["method"]].append(rows)
    return {dataset: summarise(by_method, utility=utility, fairness="yNN") for dataset, by_method in grouped.items()}


def _sensitivity(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    grouped: dict[tuple[float, ...], list[Any]] = defaultdict(list)
    for record in records:
        grouped[tuple(record["arguments"]["weights"])].append(record["result"])
    return [
        {
            "weights": list(weights),
            "base rate": spread([result["base rate"]["test"] for result in results]),
            "test": _spreads([result["test"] for result in results]),
        }
        for weights, results in grouped.items()
    ]


def _obfuscation(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        found[record["arguments"]["dataset"]][record["arguments"]["method"]].append(record["result"])
    return {
        dataset: {
            method: {
                "majority": spread([result["majority"] for result in results]),
                **{
                    adversary: _spreads([result["adversaries"][adversary] for result in results])
                    for adversary in results[0]["adversaries"]
                },
            }
            for method, results in by_method.items()
        }
        for dataset, by_method in found.items()
    }


def _parity(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        found[record["arguments"]["dataset"]].append(record["result"])
    return {
        dataset: {
            "without": _spreads([result["without"] for result in results]),
            "rows": [
                {"p": rows[0]["p"], "test": _spreads([row["test"] for row in rows])}
                for rows in zip(*(result["rows"] for result in results))
            ],
        }
        for dataset, results in found.items()
    }


def _synthetic(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        found[record["arguments"]["variant"]][record["arguments"]["method"]].append(record["result"])
    return {
        variant: {
            method: {
                "measures": {
                    rule: _spreads([result["chosen"][rule]["measures"] for result in results])
                    for rule in results[0]["chosen"]
                },
                # The panel that is drawn is that of the first draw of points.
                "panel": {key: results[0][key] for key in ("labels", "groups", "chosen")},
            }
            for method, results in by_method.items()
        }
        for variant, by_method in found.items()
    }


def _influence(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        # Settings in which everything has become one point say nothing.
        found[record["arguments"]["method"]] += [row for row in record["result"] if row["flip"] is not None]
    measures = ("between variants", "between starts", "flip", "worst flip")
    return {
        method: _spreads([{name: row[name] for name in measures} for row in rows]) for method, rows in found.items()
    }


def _spreads(rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {name: spread([row[name] for row in rows]) for name in rows[0]} if rows else {}
