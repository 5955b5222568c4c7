"""What a walk through a grid of settings gains from starts at the solution of the setting before.

    python benchmarks/bench_grid.py [--json FILE]

German Credit, thirds as in the paper, iFair-b over all distinct ratios of the paper's grid, from utility to fairness.
Three ways: three fresh starts at every setting; two fresh ones and the solution before (what `ifair reproduce` does);
the solution before alone. Printed: processor time, the loss against that of three fresh starts (median and worst over
the settings with a positive lambda), and the hypervolume of AUC above 0.5 and yNN above 0.5 on validation.
"""

import time

import numpy as np

import common
from ifair.evaluate.candidates import Candidate, list_settings
from ifair.evaluate.fronts import hypervolume
from ifair.evaluate.measures import measure_mapped
from ifair.evaluate.splits import Split
from ifair.evaluate.training import fit_representation
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.profiles import ratios

SOLVER = {"n_restarts": 3, "max_iter": 1000, "tol": 1e-3}
WAYS = ("three fresh starts", "two fresh starts and the one before", "the one before alone")


def walk(parts: Split, k: int, way: str, seed: int, every: int = 1) -> tuple[float, np.ndarray, float]:
    """Processor seconds, losses where lambda is positive, and the hypervolume on validation."""
    began, steps, losses, points = time.process_time(), None, [], []
    for setting in list_settings("ifair-b", {"K": [k], "ratios": ratios()[::every]}):
        if way == "the one before alone" and steps is not None:
            # What the harness does with two starts, less the fresh one.
            steps[-1].set_params(warm_start=True, utility_weight=setting["lambda"], fairness_weight=setting["mu"]).fit(
                parts.train.X
            )
        else:
            near = steps if way == "two fresh starts and the one before" else None
            steps = fit_representation(Candidate("ifair-b", setting), parts.train, seed, SOLVER, near=near)
        if setting["lambda"] > 0:
            losses.append(steps[-1].loss_)
        mapped = [np.asarray(steps.transform(part.X)) for part in (parts.train, parts.validation, parts.test)]
        measures, _ = measure_mapped(parts, mapped)
        points.append([measures["AUC"], measures["yNN"]])
    return time.process_time() - began, np.array(losses), hypervolume(points, (0.5, 0.5))


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments)
    rows: common.Rows = []
    for seed in (0,) if chosen.quick else (0, 1):
        parts = prepare(Case("credit", seed))
        for k in (10,) if chosen.quick else (10, 20):
            walked = {way: walk(parts, k, way, seed, every=8 if chosen.quick else 1) for way in WAYS}
            seconds, fresh, _ = walked[WAYS[0]]
            for way, (took, losses, volume) in walked.items():
                rows.append(
                    {
                        "split": seed,
                        "K": k,
                        "starts": way,
                        "processor seconds": took,
                        "of the time": took / seconds,
                        "loss, median": float(np.median(losses / fresh)),
                        "loss, worst": float(np.max(losses / fresh)),
                        "hypervolume": volume,
                    }
                )
    return common.report("A walk through the paper's 17 ratios, German Credit, iFair-b", rows, machine, chosen.json)


if __name__ == "__main__":
    main()
