"""The paper's whole evaluation: which experiments there are, what they need, and what their results add up to."""

from collections.abc import Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

from ifair.data import DataError, load
from ifair.experiments import (
    classification,
    downstream,
    influence,
    landmarks,
    obfuscation,
    options,
    parity,
    ranking,
    rivals,
    search,
    sensitivity,
    synthetic,
)
from ifair.experiments.environment import joined
from ifair.experiments.paper import CLASSIFICATION, RANKING, SENSITIVITY
from ifair.experiments.plan import Earlier, Records
from ifair.experiments.profiles import Profile
from ifair.experiments.runner import Unit

EXPERIMENTS: dict[str, ModuleType] = {
    "synthetic": synthetic,
    "influence": influence,
    "classification": classification,
    "ranking": ranking,
    "sensitivity": sensitivity,
    "obfuscation": obfuscation,
    "parity": parity,
    "landmarks": landmarks,
    "search": search,
    "rivals": rivals,
    "options": options,
    "downstream": downstream,
}
"""By name, in the order in which they are run. Each has ``units`` (what to run), ``summarise`` (what is kept of it)
and, where it builds on others, ``NEEDS``."""

BY_DATASET = ("classification", "ranking", "obfuscation", "parity", "landmarks", "search", "options")
"""Experiments whose results are kept by dataset, so that one dataset can be run anew without the others."""


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
    return profile.only(set(profile.datasets) - absent), missing


def with_needs(wanted: Collection[str]) -> list[str]:
    """The experiments asked for (all, if none is) and those they build on, in the order in which they are run."""
    names = set(wanted or EXPERIMENTS)
    for name in reversed(EXPERIMENTS):
        if name in names:
            names |= set(getattr(EXPERIMENTS[name], "NEEDS", ()))
    return [name for name in EXPERIMENTS if name in names]


def plan(experiment: str, profile: Profile, earlier: Earlier) -> list[Unit]:
    """The units of an experiment, given the records of those that it needs."""
    units: list[Unit] = EXPERIMENTS[experiment].units(profile, earlier)
    return units


def assemble(
    records: Mapping[str, Records],
    profile: str,
    settings: Profile,
    missing: Sequence[str],
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Results of all experiments as plain data, small enough to keep.

    Parameters
    ----------
    records : mapping from experiments to records of the runner
    profile : str
    settings : Profile
    missing : sequence of str
        Datasets that were left out, and why.
    before : mapping, optional
        Earlier results. Experiments (and datasets of experiments that keep them apart) that were not run now are
        taken from there; ``runs`` tells which profile each comes from.
    """
    results: dict[str, Any] = {**(before or {}), "runs": dict((before or {}).get("runs", {}))}
    for name, found in records.items():
        if not found:
            results.setdefault(name, EXPERIMENTS[name].summarise([]))
            continue
        summary = EXPERIMENTS[name].summarise(found)
        parts = list(summary) if name in BY_DATASET else ["all"]
        results[name] = {**results.get(name, {}), **summary} if name in BY_DATASET else summary
        runs = {part: _run(part, found, profile, settings, missing) for part in parts}
        results["runs"][name] = {**results["runs"].get(name, {}), **runs} if name in BY_DATASET else runs
    # Beside ours, so that a page needs nothing but this file.
    results["paper"] = {"classification": CLASSIFICATION, "ranking": RANKING, "sensitivity": SENSITIVITY}
    rounded: dict[str, Any] = _rounded(results)
    return rounded


def _sources(records: Records) -> list[dict[str, Any]]:
    """The datasets that units read, with the limits that they kept to, which may be tighter than the profile's."""
    found = {
        record["arguments"]["dataset"]: {
            "name": record["arguments"]["dataset"],
            **{name: record["arguments"][name] for name in ("most", "most_training", "options")},
        }
        for record in records
        if "dataset" in record["arguments"]
    }
    return list(found.values())


def _rounded(data: Any) -> Any:
    """Six digits say all that a measure has to say, in a third of the file."""
    if isinstance(data, dict):
        return {key: _rounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_rounded(value) for value in data]
    return float(f"{data:.6g}") if isinstance(data, float) else data


def _run(part: str, records: Records, profile: str, settings: Profile, missing: Sequence[str]) -> dict[str, Any]:
    """What a reader needs to judge a result and to get it again."""
    own = [record for record in records if part in ("all", record["arguments"].get("dataset"))]
    return {
        "profile": profile,
        "seeds": sorted({record["arguments"]["seed"] for record in own}),
        "units": len(own),
        "seconds": round(sum(record["seconds"] for record in own), 1),
        "sources": _sources(own),
        "grid": settings.grid,
        "search": settings.search,
        "left out": list(missing),
        "environment": joined([record["environment"] for record in own]),
    }
