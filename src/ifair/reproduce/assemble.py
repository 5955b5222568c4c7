"""From the records of all experiments to the file of results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ifair.data import DataError, load
from ifair.errors import name_setting
from ifair.evaluate.measures import UTILITY
from ifair.plain_data import map_leaves
from ifair.reproduce.experiment import Records, find_experiments
from ifair.reproduce.paper import CLASSIFICATION, RANKING, SENSITIVITY
from ifair.reproduce.profiles import Profile
from ifair.reproduce.runner import RunError
from ifair.results import Printed, Results, Run, Source


def empty_results() -> Results:
    """Results of nothing, with the paper's numbers beside them, so that a page needs nothing but this file."""
    paper: Printed = {"classification": CLASSIFICATION, "ranking": RANKING, "sensitivity": SENSITIVITY}
    return {"format": "ifair-reproduce", "version": 3, "runs": {}, "experiments": {}, "paper": paper}


def drop_missing(profile: Profile, *, needed: bool) -> tuple[Profile, list[str]]:
    """The profile with those of its datasets that can be read, and what is missing.

    ``needed``: a missing dataset is downloaded, and an error where that fails.
    """
    missing = {}
    for source in profile.sources:
        try:
            load(source.name, download_if_missing=needed, **source.options)
        except DataError as error:
            said = str(error).splitlines()[0]
            if needed:
                raise DataError(f"{said} `ifair datasets fetch {source.name}` tells why, and what to do.") from error
            missing[source.name] = f"{source.name}: {said}"
    return profile.only(set(profile.datasets) - set(missing)), list(missing.values())


def check_one_profile(before: Results | None, profile: str, path: Path) -> None:
    """Refuse to put results of another profile on the page of earlier ones."""
    known = {run["profile"] for parts in (before["runs"] if before else {}).values() for run in parts.values()}
    if known - {profile}:
        raise RunError(
            f"{path} holds results of the profile {', '.join(sorted(known - {profile}))}, and a page has one profile: "
            f"choose another folder with {name_setting('output', 'FOLDER')}"
        )


def assemble(
    records: Mapping[str, Records],
    name: str,
    profile: Profile,
    missing: Sequence[str],
    before: Results | None = None,
) -> Results:
    """Results of all experiments as plain data, small enough to keep.

    Experiments (and datasets of experiments that keep them apart) that were not run now are taken from the results
    ``before``; ``runs`` tells which profile each comes from. ``missing``: datasets that were left out, and why.
    """
    summaries, runs = dict(before["experiments"] if before else {}), dict(before["runs"] if before else {})
    for experiment, found in records.items():
        kind = find_experiments()[experiment]
        if not found:
            summaries.setdefault(experiment, kind.summarise([]))
            continue
        beside = [record for name in kind.reads for record in records.get(name, ())]
        summary, known = kind.summarise([*found, *beside]), summaries.get(experiment, {})
        apart = kind.tells_datasets_apart
        parts = dict.fromkeys(record.case.dataset for record in found) if apart else ["all"]
        now = {part: _describe_run(part, found, name, profile, missing) for part in parts}
        earlier: Any = runs.get(experiment, {}) if apart else {}
        if "all" in earlier and {source["name"] for source in earlier["all"]["sources"]} <= set(now):
            earlier = {}  # one run of all datasets, by a release that did not tell them apart
        runs[experiment] = {**earlier, **now}
        if kind.by_task:
            tasks = [task for task in UTILITY if task in known or task in summary]
            summary |= {task: {**known.get(task, {}), **summary.get(task, {})} for task in tasks}
        summaries[experiment] = {**known, **summary} if kind.by_dataset else summary
    # Six digits say all that a measure has to say, in a third of the file.
    return map_leaves(
        lambda leaf: float(f"{leaf:.6g}") if isinstance(leaf, float) else leaf,
        {**empty_results(), "runs": runs, "experiments": summaries},
    )


def _describe_run(part: str, records: Records, name: str, profile: Profile, missing: Sequence[str]) -> Run:
    """What a reader needs to judge a result and to get it again."""
    own = [record for record in records if part in ("all", record.case.dataset)]
    tried = sorted({k for record in own for k in record.case.grid.get("K", ())})
    return {
        "profile": name,
        "seeds": sorted({record.case.seed for record in own}),
        "units": len(own),
        "seconds": round(sum(record.seconds for record in own), 1),
        "sources": _list_sources(own),
        "grid": {**profile.grid, **({"K": tried} if tried else {})},
        "solver": profile.solver,
        "left_out": list(missing),
        "environment": join_environments([record.environment for record in own]),
    }


def _list_sources(records: Records) -> list[Source]:
    """The datasets that units read, with the limits that they kept to, which may be tighter than the profile's."""
    sources: list[Source] = []
    for case in (record.case for record in records):
        limits: Any = {"max_records": case.max_records, "max_training": case.max_training}
        source: Any = {"name": case.dataset, **limits, "options": case.options}
        if source not in sources:
            sources.append(source)
    return sources


def join_environments(environments: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """One environment for units that ran in several: values that differ side by side.

    What another value only adds to is left out: a unit that needs no GPU does not know of the one in its machine.
    """
    joined = {}
    for name in dict.fromkeys(name for one in environments for name in one):
        values = sorted({one[name] for one in environments if name in one})
        fullest = [value for value in values if not any(other.startswith(f"{value}, ") for other in values)]
        joined[name] = " and ".join(fullest)
    return joined
