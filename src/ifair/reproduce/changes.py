"""What another kind of fit changes on test, at the same settings and on the same splits."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypedDict

from ifair.evaluate.splits import Split
from ifair.evaluate.statistics import Spread, spread
from ifair.evaluate.training import Trained
from ifair.report.blocks import add_sign
from ifair.reproduce import labels
from ifair.reproduce.case import measure_fit
from ifair.reproduce.experiment import for_each_dataset

MEASURES = ("AUC", "AUC_of_scores", "yNN", "Parity")

ANOTHER_START = "another_start"
"""The kind that all others are to be compared with: chance."""


class Change(TypedDict):
    """Of a measure against the base, with its sign and without."""

    change: Spread
    size: Spread


class Changes(TypedDict):
    """The number of records learned from, and by kind of fit and measure the change against the base."""

    records: int
    kinds: dict[str, dict[str, Change]]


def measure_kinds(parts: Split, fits: Mapping[str, Sequence[tuple[Mapping[str, Any], Trained]]]) -> dict[str, Any]:
    """The ``records`` learned from, and ``rows``: every ``setting`` with its measures on ``test`` by kind of fit."""
    tests = {kind: [measure_fit(trained, parts)["test"] for _, trained in found] for kind, found in fits.items()}
    settings = [setting for setting, _ in next(iter(fits.values()))]
    rows = [
        {"setting": one, "test": {kind: found[i] for kind, found in tests.items()}} for i, one in enumerate(settings)
    ]
    return {"records": len(parts.train), "rows": rows}


@for_each_dataset()
def summarise(results: Sequence[Mapping[str, Any]]) -> Changes:
    """What kinds of fit change against the first, over all settings and splits, from :func:`measure_kinds`."""
    tests = [row["test"] for result in results for row in result["rows"]]
    base, *others = tests[0]
    found: dict[str, dict[str, Change]] = {kind: {} for kind in others}
    for kind, name in product(found, MEASURES):
        changes = [test[kind][name] - test[base][name] for test in tests if kind in test]
        found[kind][name] = {"change": spread(changes), "size": spread([abs(change) for change in changes])}
    return {"records": results[0]["records"], "kinds": found}


def tabulate_changes(found: Mapping[str, Changes], name_kind: Callable[[str], str]) -> list[list[str]]:
    """Rows of a table: for every dataset and kind of fit the mean change of each measure, and the mean of its size."""
    measures = list(next(iter(next(iter(found.values()))["kinds"].values())))
    rows = [["dataset", "records", "fit", *map(labels.measure, measures)]]
    for dataset, one in found.items():
        for kind, by in one["kinds"].items():
            cells = [say_change(by[name]) for name in measures]
            rows.append([labels.dataset(dataset), f"{one['records']:,}", name_kind(kind), *cells])
    return rows


def say_change(one: Change) -> str:
    """The mean change, and after the slash the mean of its size."""
    return f"{add_sign(one['change']['mean'], 3)} / {one['size']['mean']:.3f}"


def find_larger(kinds: Mapping[str, Mapping[str, Change]], kind: str) -> list[str]:
    """The measures that a kind of fit changes more than another start does."""
    start = kinds[ANOTHER_START]
    return [
        labels.measure(name) for name, by in kinds[kind].items() if by["size"]["mean"] > start[name]["size"]["mean"]
    ]
