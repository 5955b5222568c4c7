"""How long a plan will take here, from how long units of the full profile took on a machine like it."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log10
from statistics import fmean
from typing import Any, Literal

from joblib import effective_n_jobs

from ifair.datasets.registry import find_about
from ifair.evaluate.candidates import list_settings
from ifair.evaluate.training import choose_engine
from ifair.report.blocks import align_rows
from ifair.reproduce.case import Case
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.runner import Unit
from ifair.results import Results

Place = Literal["with_gpu", "without_gpu"]

LIGHT = ("full", "masked", "svd", "svd-masked", "fair", "chance", "baselines", "correlation-remover")
"""Methods that search for nothing."""

WITHOUT_GRID = ("obfuscation", "parity", "ablation", "downstream", "lfr", "consistent")
"""Experiments whose units try nothing of a profile's grid, and depend little on its solver."""

TENFOLD = 2.0
"""Times as long a search takes until the loss falls by a tenth as much; roughly, for it depends on the data."""


def average_units(results: Results) -> dict[str, Any]:
    """The times of a run of the full profile, for the table ``unit_seconds.json``.

    By experiment and dataset the mean ``seconds`` of a unit, and the ``machine`` and ``version`` that took them.
    """
    environments = [run["environment"] for parts in results["runs"].values() for run in parts.values()]
    return {
        "machine": max((one["machine"] for one in environments), key=lambda name: ("NVIDIA" in name, -len(name))),
        "version": environments[0]["ifair"],
        "seconds": {
            name: {part: round(run["seconds"] / max(run["units"], 1), 2) for part, run in parts.items()}
            for name, parts in results["runs"].items()
        },
    }


@cache
def known_times() -> dict[Place, Any]:
    """The table: of a run with a GPU by ``docs/results/draw.py``, of one without by ``benchmarks/unit_seconds.py``."""
    return json.loads(files("ifair.reproduce").joinpath("unit_seconds.json").read_text(encoding="utf-8"))


def find_place() -> Place:
    """Whether there is a GPU here."""
    return "with_gpu" if choose_engine(10**9) == "torch" else "without_gpu"


def estimate_seconds(experiment: str, units: Sequence[Unit], n_jobs: int, place: Place | None = None) -> float:
    """Seconds that the units of an experiment will take in so many processes; 0 where nothing is known of it."""
    known = known_times()[place or find_place()]["seconds"].get(experiment)
    if not known or not units:
        return 0.0
    usual, mean = _find_usual_work(experiment), fmean(known.values())
    total = 0.0
    for case in (unit.case for unit in units):
        work = measure_work(experiment, case) / usual[case.dataset]
        total += known.get(case.dataset, known.get("all", mean)) * work
    return total / min(effective_n_jobs(n_jobs), len(units))


@cache
def _find_usual_work(experiment: str) -> dict[str, float]:
    """By dataset the mean work of an experiment's units in the full profile, which the table tells the seconds of."""
    by_dataset = defaultdict(list)
    for unit in find_experiments()[experiment].plan(PROFILES["full"], {}):
        by_dataset[unit.case.dataset].append(measure_work(experiment, unit.case))
    return {dataset: fmean(found) for dataset, found in by_dataset.items()}


def measure_work(experiment: str, case: Case) -> float:
    """About how much work a case is, in single searches of the full profile on a whole dataset."""
    records = find_about(case.dataset).reached.rows if case.dataset != "synthetic" else 0
    share = min((case.max_records or records) / records, 1.0) if records else 1.0
    if experiment in WITHOUT_GRID:
        return share
    if case.method in LIGHT:
        return 0.01 * share
    full = PROFILES["full"].solver
    tol = case.solver.get("tol", full["tol"])
    longer = TENFOLD ** log10(full["tol"] / tol)
    return share * case.solver.get("n_restarts", 1) * longer * _count_settings(case)


def _count_settings(case: Case) -> int:
    """How many settings a case tries, where its grid tells."""
    needed = {"K", "lfr" if case.method == "lfr" else "ratios"}
    if needed <= set(case.grid):
        return sum(1 for _ in list_settings(case.method, case.grid))
    return int(case.grid.get("n_trials", 1))


def describe_plan(plans: Mapping[str, Sequence[Unit]], profile: str, n_jobs: int) -> str:
    """The plan as a table: every experiment with its datasets, splits, units and minutes; and the time in all."""
    place = find_place()
    rows = [["experiment", "splits by dataset", "units", "minutes"]]
    total = 0.0
    for name, units in plans.items():
        seconds = estimate_seconds(name, units, n_jobs, place)
        total += seconds
        by_dataset = Counter(dataset for dataset, _ in dict.fromkeys((u.case.dataset, u.case.seed) for u in units))
        words = ", ".join(f"{dataset} {n}" for dataset, n in by_dataset.items())
        rows.append([name, words, str(len(units)), f"{seconds / 60:.1f}"])
    rows.append(["in all", "", str(sum(map(len, plans.values()))), f"{total / 60:.1f}"])
    size, unit = (1, "seconds") if total < 90 else (60, "minutes") if total < 5400 else (3600, "hours")
    head = (
        f"Profile {profile}, {effective_n_jobs(n_jobs)} processes {place.replace('_', ' a ').replace('gpu', 'GPU')}: "
    )
    head += f"about {total / size:.0f} {unit}. Minutes are those on the clock: all processes work on an experiment "
    head += f"together. The estimate is from what units took on {known_times()[place]['machine']}."
    return f"{align_rows(rows)}\n\n{head}"
