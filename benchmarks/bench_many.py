"""The paper's whole grids of a dataset, each as one batched problem, against one fit after the other.

    python benchmarks/bench_many.py [--json FILE] [--quick] [--data credit compas] [--methods ifair-b lfr]
                                    [--engine torch] [--alone 6] [--splits 4]

Grids, starts and solver are those of `ifair reproduce --profile full`, fitted as there to the training third of the
first split, in one process: iFair-b with K = 10, 20, 30 and the 17 distinct ratios of the paper's coefficients, LFR
with the same K and its 145 distinct triples; three restarts each. --alone limits how many of the fits, spread evenly
over the grid, are timed one after the other; seconds of the rest are then extrapolated. "evaluating s" is the time from
orders to reports: all steps, values, gradients and inner products, on the device where there is one. "rest s" is what
is left: preparing, recording where that is done, and decisions about steps on the host. --splits fits the grids of so
many splits besides, one split after the other and all of them at once; copies of people are not merged there.
"""

import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import clone

import common
from ifair import fit_many
from ifair.evaluate.candidates import Candidate, list_settings
from ifair.evaluate.splits import Part
from ifair.evaluate.training import fit_representations
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.profiles import PROFILES

FULL = PROFILES["full"]
FEW = {"K": [10], "ratios": FULL.grid["ratios"][4::4], "lfr": [0.05, 1.0]}


def time_fits(
    case: Case, candidates: list[Candidate], train: Part, solver: dict[str, Any], *, at_once: bool
) -> tuple[dict[str, Any], list[float]]:
    """What it took to fit them, and their losses."""
    portions = [candidates] if at_once else [[one] for one in candidates]
    with common.counted() as counter:
        began = time.perf_counter()
        fitted = [
            steps
            for some in portions
            for steps in fit_representations(some, train, case.seed, solver, merge_copies=True)
        ]
        took = time.perf_counter() - began
    losses = [float(steps[-1].loss_) for steps in fitted]
    row = {
        "data": case.dataset,
        "records": len(train),
        "attributes": train.X.shape[1],
        "method": case.method,
        "way": "at once" if at_once else "one after the other",
        "fits": len(candidates),
        "evaluations": counter.evaluations,
        "calls": counter.calls,
        "seconds": took,
        "s/fit": took / len(candidates),
        "evaluating s": counter.seconds,
        "rest s": took - counter.seconds,
        "mean loss": float(np.mean(losses)),
    }
    return row, losses


def compare_ways(name: str, method: str, chosen: Any) -> common.Rows:
    """The grid of a method on a dataset at once, and some of it one after the other."""
    source = next(one for one in FULL.classification if one.name == name)
    case = FULL.case(source, 0, method=method, grid=FEW if chosen.quick else FULL.grid_of(source))
    train, alone = prepare(case).train, 2 if chosen.quick and chosen.alone is None else chosen.alone
    solver = {**case.solver, "engine": chosen.engine, **({"max_iter": 60} if chosen.quick else {})}
    candidates = [Candidate(method, setting) for setting in list_settings(method, case.grid)]

    # Libraries and devices are set up before anything is timed.
    fit_representations(candidates[-1:], train, 0, {**solver, "max_iter": 3}, merge_copies=True)
    together, losses = time_fits(case, candidates, train, solver, at_once=True)
    n_alone = len(candidates) if alone is None else min(alone, len(candidates))
    if n_alone == 0:
        return [together]
    numbers = np.unique(np.linspace(0, len(candidates) - 1, n_alone).round().astype(int))
    apart, own = time_fits(case, [candidates[i] for i in numbers], train, solver, at_once=False)
    differences = [abs(one / losses[i] - 1) for i, one in zip(numbers, own) if one > 0]
    apart["loss off by, median"] = float(np.median(differences))
    apart["95 % below"] = float(np.quantile(differences, 0.95))
    apart["whole grid s"] = apart["s/fit"] * len(candidates)
    together["times faster"] = apart["whole grid s"] / together["seconds"]
    return [together, apart]


def compare_splits(name: str, method: str, chosen: Any) -> common.Rows:
    """The grids of a method on several splits of a dataset: one split after the other, and all at once."""
    source = next(one for one in FULL.classification if one.name == name)
    grid = FEW if chosen.quick else FULL.grid_of(source)
    cases = [FULL.case(source, seed, method=method, grid=grid) for seed in range(chosen.splits)]
    settings, given = list(list_settings(method, cases[0].grid)), []
    for case in cases:
        train = prepare(case).train
        beside = {"X": train.X, "y": train.y, "sensitive_features": train.group}
        options = train.records.protected, train.may_count.shape[1], case.seed, {**case.solver, "engine": chosen.engine}
        given.append(([Candidate(method, one).build_steps(*options)[-1][1] for one in settings], beside))
    rows: common.Rows = []
    for at_once in (False, True):
        portions = [given] if at_once else [[one] for one in given]
        with common.counted() as counter:
            began = time.perf_counter()
            fitted = []
            for some in portions:
                models = [clone(model) for models, _ in some for model in models]
                lists = {key: [beside[key] for models, beside in some for _ in models] for key in some[0][1]}
                fitted += fit_many(models, **lists)
            took = time.perf_counter() - began
        rows.append(
            {
                "data": name,
                "method": method,
                "splits": len(cases),
                "way": "all splits at once" if at_once else "one split after the other",
                "fits": len(fitted),
                "calls": counter.calls,
                "seconds": took,
                "mean loss": float(np.mean([model.loss_ for model in fitted])),
            }
        )
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    names = ["credit", "compas"]
    parser.add_argument("--data", nargs="*", default=names, choices=names, help="which datasets")
    parser.add_argument("--methods", nargs="*", default=["ifair-b", "lfr"], help="which methods")
    parser.add_argument("--engine", default="torch" if find_spec("torch") else "local", help="as for IFair")
    parser.add_argument("--alone", type=int, metavar="N", help="time so many fits one after the other; default: all")
    parser.add_argument("--splits", type=int, default=0, metavar="N", help="the grids of so many splits besides")
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    rows: common.Rows = []
    for name in chosen.data[:1] if chosen.quick else chosen.data:
        for method in chosen.methods:
            rows += compare_ways(name, method, chosen)
            print(f"\n{common.table(rows)}", flush=True)
    splits = [
        compare_splits(name, method, chosen) for name in chosen.data for method in chosen.methods if chosen.splits
    ]
    if splits:
        print(f"\nSplits\n\n{common.table([row for rows in splits for row in rows])}", flush=True)
    title = f"The paper's grids, three restarts, engine {chosen.engine}"
    return common.report(title, rows, machine, chosen.json, "Whole grids by --alone fits are extrapolated from those.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
