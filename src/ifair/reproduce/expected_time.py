"""How long a plan will take here, from how long units of the full profile took on a machine with a GPU."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import log10
from typing import Any

from joblib import effective_n_jobs

from ifair.evaluate.training import choose_engine
from ifair.report.blocks import align_rows
from ifair.reproduce.profiles import COEFFICIENTS, PROFILES, ratios
from ifair.reproduce.runner import Unit
from ifair.results import Results

WITHOUT_GPU = {"compas": 8.1, "census": 16.6, "credit": 8.6, "airbnb": 11.2}
"""How many times as long a unit with iFair or LFR takes on a core of two as the mean unit with a share of a GPU."""

SMALL_WITHOUT_GPU = 6.6

READINGS_WITHOUT_GPU = {"compas": 4.3, "census": 66.0, "credit": 14.0}
"""The same of the readings of iFair, which compare all pairs of up to 3,000 records in longer searches."""

OTHERS_WITHOUT_GPU = 3.5
"""The same of experiments that also do what needs no GPU."""

NEVER_ON_GPU = {"sensei": 2.6, "correlation-remover": 0.03}
"""Rivals, which take as long without, and how many times as long as their mean unit each."""

GRIDS = ("classification", "ranking", "readings", "sensitivity")
"""Experiments whose units fit a profile's whole grid."""


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
def known_times() -> dict[str, Any]:
    """The table: written by ``docs/results/draw.py --times`` from a run of a few splits by the code as it is."""
    return json.loads(files("ifair.reproduce").joinpath("unit_seconds.json").read_text(encoding="utf-8"))


def estimate_seconds(experiment: str, units: Sequence[Unit], n_jobs: int, *, has_gpu: bool | None = None) -> float:
    """Seconds that the units of an experiment will take in so many processes; 0 where nothing is known of it."""
    if not units:
        return 0.0
    known = known_times()["seconds"].get(experiment, {})
    mean = sum(known.values()) / len(known) if known else 0.0
    if has_gpu is None:
        has_gpu = choose_engine(10**9) == "torch"
    total, readings = 0.0, READINGS_WITHOUT_GPU if experiment == "ifair" else {}
    for unit in units:
        slower = readings.get(unit.case.dataset, OTHERS_WITHOUT_GPU)
        others = NEVER_ON_GPU.get(unit.case.method, 1.0 if has_gpu else slower)
        work = _compare_work(unit, has_gpu) if experiment in GRIDS else others
        total += work * _compare_solver(unit) * known.get(unit.case.dataset, known.get("all", mean))
    return total / min(effective_n_jobs(n_jobs), len(units))


def _compare_work(unit: Unit, has_gpu: bool) -> float:
    """How many times the work of such a unit of the full profile on a GPU this is."""
    case = unit.case
    if not case.method.startswith(("ifair", "lfr")):
        return 1.0
    work = 1.0 if has_gpu else WITHOUT_GPU.get(case.dataset, SMALL_WITHOUT_GPU)
    if case.method == "lfr" and "lfr" in case.grid:
        return work * (len(case.grid["lfr"]) / len(COEFFICIENTS)) ** 3
    return work * len(case.grid.get("ratios", ratios())) / len(ratios())


def _compare_solver(unit: Unit) -> float:
    """How much of what the full profile's solver does that of a unit does: small profiles have fewer starts, which end
    sooner. Roughly, for how soon depends on the data: a tenth of the tolerance takes about twice as long."""
    full, own = PROFILES["full"].solver, unit.case.solver
    starts, tol = own.get("n_restarts", full["n_restarts"]), own.get("tol", full["tol"])
    return min(starts / full["n_restarts"], 1.0) * min((full["tol"] / tol) ** log10(2.0), 1.0)


def describe_plan(plans: Mapping[str, Sequence[Unit]], profile: str, n_jobs: int) -> str:
    """The plan as a table: every experiment with its datasets, splits, units and minutes; and the time in all."""
    has_gpu = choose_engine(10**9) == "torch"
    rows = [["experiment", "splits by dataset", "units", "minutes"]]
    total = 0.0
    for name, units in plans.items():
        seconds = estimate_seconds(name, units, n_jobs, has_gpu=has_gpu)
        total += seconds
        by_dataset = Counter(dataset for dataset, _ in dict.fromkeys((u.case.dataset, u.case.seed) for u in units))
        words = ", ".join(f"{dataset} {n}" for dataset, n in by_dataset.items())
        rows.append([name, words, str(len(units)), f"{seconds / 60:.1f}"])
    rows.append(["in all", "", str(sum(map(len, plans.values()))), f"{total / 60:.1f}"])
    place = "with a GPU" if has_gpu else "without a GPU"
    size, unit = (1, "seconds") if total < 90 else (60, "minutes") if total < 5400 else (3600, "hours")
    head = f"Profile {profile}, {effective_n_jobs(n_jobs)} processes {place}: about {total / size:.0f} {unit}."
    head += " Minutes are those on the clock: all processes work on an experiment together."
    return f"{align_rows(rows)}\n\n{head} The estimate is from what units took on {known_times()['machine']}."
