"""Whether landmarks in place of all pairs change the conclusions."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Strong, Table, Text, signed
from ifair.report.evaluation import names


def section(results: Mapping[str, Any]) -> list[Block]:
    """What changes against all pairs, beside what another start changes."""
    found = results.get("landmarks")
    if not found:
        return []
    return [
        Heading("Landmarks in place of all pairs"),
        Text(
            "The same fits of iFair-b with all pairs of records, with pairs of every record and some landmarks, and "
            "with all pairs from another random start: the change of each measure on test against all pairs, as its "
            "mean, and after the slash the mean of its size. What landmarks change is to be compared with what the "
            "start changes."
        ),
        Table(_rows(found)),
        Bullets([line for dataset, one in found.items() for line in _verdict(dataset, one)]),
    ]


def _rows(found: Mapping[str, Any]) -> list[list[str]]:
    measures = list(next(iter(next(iter(found.values()))["kinds"].values())))
    rows = [["dataset", "records", "fit", *measures]]
    for dataset, one in found.items():
        for kind, by in one["kinds"].items():
            cells = [f"{signed(by[name]['change']['mean'], 3)} / {by[name]['size']['mean']:.3f}" for name in measures]
            rows.append([names.dataset(dataset), f"{one['records']:,}", kind, *cells])
    return rows


def _verdict(dataset: str, one: Mapping[str, Any]) -> list[Line]:
    """Is the change by the most landmarks larger than that by another start?"""
    kinds = dict(one["kinds"])
    start = kinds.pop("another start")
    if not kinds:
        return []
    kind, by = list(kinds.items())[-1]
    larger = [name for name in by if by[name]["size"]["mean"] > start[name]["size"]["mean"]]
    words = (
        f"more than another start does in {', '.join(larger)}" if larger else "no measure more than another start does"
    )
    return [(Strong(names.dataset(dataset)), f": {kind} change {words}.")]
