"""How long the units of the full profile take without a GPU: what ``ifair reproduce --dry-run`` estimates from there.

    ifair reproduce --profile full --splits 1 --output FOLDER
    IFAIR_DATA=folder python benchmarks/unit_seconds.py FOLDER [--share 8] [--jobs 2] [--only NAME ...] [--write]

Of the first split of every dataset. Units that the run has finished are taken from its folder; it would take hours, and
may be stopped at any time. Of the others the processor seconds are measured here, of a grid by every --share-th of its
settings. --only keeps to some experiments. --write puts the means into the table of the package.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

from joblib import Parallel, delayed

import ifair.reproduce.case as case
from ifair import __version__, reproduce
from ifair.evaluate.candidates import list_settings
from ifair.reproduce.expected_time import known_times
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.runner import Unit, describe_environment, read_record, write_json
from ifair.results import REPRODUCTION, read_results

COMMITTED = Path(__file__).parents[1] / "docs" / "results" / "reproduce.json"


def list_units(names: Collection[str]) -> Iterator[tuple[str, Unit]]:
    """The units of the first split, by experiment; settings that an earlier experiment chose are the committed ones."""
    experiments: Any = read_results(COMMITTED, REPRODUCTION)["experiments"]
    for name in names:
        experiment = find_experiments()[name]
        if missing := experiment.left_out():
            raise SystemExit(f"{name} cannot be measured whole: {'; '.join(missing.values())}")
        for unit in experiment.plan(PROFILES["full"].limit_splits(1), {}):
            if experiment.needs:
                summary = experiments["classification"].get(unit.case.dataset)
                summary = summary or experiments["ranking"][unit.case.dataset]
                setting = summary["rules"]["balanced"][unit.case.method]["settings"][0]
                unit = replace(unit, case=replace(unit.case, setting=setting))
            yield name, unit


def measure(unit: Unit, share: int) -> float:
    """Processor seconds of a unit, those from where it begins to try settings in proportion to how many it tries."""
    began, tried = process_time(), list[tuple[float, float]]()

    def cut(*about: Any) -> list[dict[str, Any]]:
        settings = list(list_settings(*about))
        some = settings[::share] if len(settings) > share else settings
        tried.append((process_time(), len(settings) / len(some)))
        return some

    case.list_settings = cut  # type: ignore[assignment]
    try:
        unit.run()
    finally:
        case.list_settings = list_settings
    ended = process_time()
    start, factor = tried[0] if tried else (ended, 1.0)
    return start - began + factor * (ended - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(find_experiments()), choices=find_experiments())
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    units = list(list_units(wanted.only))
    records = [read_record(wanted.folder / "units", unit) for _, unit in units]
    missing = [unit for (_, unit), record in zip(units, records) if record is None]
    measured = Parallel(n_jobs=wanted.jobs, return_as="generator")(
        delayed(measure)(unit, wanted.share) for unit in missing
    )
    found: dict[str, dict[str, list[float]]] = {}
    for (name, unit), record in zip(units, records):
        seconds = next(measured) if record is None else record.seconds
        print(f"{name:14} {unit.label:70} {seconds:8.1f} {'by shares' if record is None else 'in the run'}", flush=True)
        part = unit.case.dataset if find_experiments()[name].tells_datasets_apart else "all"
        found.setdefault(name, defaultdict(list))[part].append(seconds)
    means = {name: {part: round(fmean(each), 2) for part, each in parts.items()} for name, parts in found.items()}
    if wanted.write:
        known = known_times()
        means = {**known["without_gpu"]["seconds"], **means}
        told = {"machine": describe_environment()["machine"], "version": __version__, "seconds": means}
        write_json(Path(reproduce.__file__).parent / "unit_seconds.json", {**known, "without_gpu": told})


if __name__ == "__main__":
    main()
