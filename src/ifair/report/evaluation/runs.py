"""Where every number comes from: profile, splits, time, machine and versions of every experiment."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import Block, Heading, Table, Text
from ifair.report.evaluation import names

VERSIONS = ("ifair", "python", "numpy", "scipy", "scikit-learn")


def section(results: Mapping[str, Any]) -> list[Block]:
    """One row for every experiment and dataset."""
    if not results.get("runs"):
        return []
    rows = [["experiment", "data", "profile", "splits", "units", "processor minutes", "machine"]]
    versions = set()
    for experiment, parts in results["runs"].items():
        for part, run in parts.items():
            minutes, counts = f"{run['seconds'] / 60:.1f}", [str(len(run["seeds"])), str(run["units"])]
            machine = run["environment"]["machine"]
            rows.append([experiment, _data(part, run["sources"]), run["profile"], *counts, minutes, machine])
            versions.add(", ".join(f"{name} {run['environment'][name]}" for name in VERSIONS))
    return [
        Heading("Profiles, time and machines"),
        Table(rows),
        Text(f"Versions: {'; '.join(sorted(versions))}."),
    ]


def left_out(results: Mapping[str, Any]) -> list[str]:
    """Datasets that could not be read, and why."""
    return sorted(
        {line for parts in results.get("runs", {}).values() for run in parts.values() for line in run["left out"]}
    )


def _data(part: str, sources: list[dict[str, Any]]) -> str:
    """A dataset, and how far it was cut down."""
    cut = next((source for source in sources if source["name"] == part and source["most"]), None)
    if cut is None:
        return names.dataset(part)
    learned = f", {cut['most_training']:,} to learn from" if cut["most_training"] else ""
    return f"{names.dataset(part)} (at most {cut['most']:,} records{learned}, drawn at random)"
