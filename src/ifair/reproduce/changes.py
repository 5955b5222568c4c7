"""What another kind of fit changes on test, at the same settings and on the same splits."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypedDict

from ifair.evaluate.splits import Split
from ifair.evaluate.statistics import Spread, spread
from ifair.evaluate.training import Trained
from ifair.report.blocks import Line, add_sign
from ifair.reproduce import labels
from ifair.reproduce.case import measure_fit

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


Fits = tuple[Split, Sequence[tuple[Mapping[str, Any], Trained]]]
"""Settings with what was trained at them, and the parts that they were trained and are measured on."""


def measure_kinds(fits: Mapping[str, Fits]) -> dict[str, Any]:
    """The ``records`` learned from, and ``rows``: every ``setting`` with its measures on ``test`` by kind of fit."""
    parts, found = next(iter(fits.values()))
    settings = [setting for setting, _ in found]
    tests = {
        kind: [measure_fit(trained, parts)["test"] for _, trained in found] for kind, (parts, found) in fits.items()
    }
    rows = [
        {"setting": one, "test": {kind: found[i] for kind, found in tests.items()}} for i, one in enumerate(settings)
    ]
    return {"records": len(parts.train), "rows": rows}


def summarise_kinds(results: Sequence[Mapping[str, Any]]) -> Changes:
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


def describe_larger(dataset: str, one: Changes, name_kind: Callable[[str], str]) -> Line:
    """Which kinds of fit change which measures more than another start does."""
    start, said = one["kinds"][ANOTHER_START], []
    for kind, by in one["kinds"].items():
        larger = [labels.measure(name) for name in by if by[name]["size"]["mean"] > start[name]["size"]["mean"]]
        if larger:
            said.append(f"{name_kind(kind)} ({', '.join(larger)})")
    return labels.line(dataset, f": what changes more than another start does: {'; '.join(said) or 'nothing'}.")
