"""Processor seconds of one unit of the paper's evaluation on this machine: a method with one K on one split.

    IFAIR_DATA=folder OMP_NUM_THREADS=1 python benchmarks/paper_unit.py classification compas ifair-b 10 [--share N]

Of the whole unit, of its fits and of the rest (models on top, measures), with the evaluations of loss and gradient that
the fits took; `expected_time.py` of `ifair.reproduce` has its factors without a GPU from these. With --share only every
N-th setting of the grid is tried, where all take too long.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

import ifair.evaluate.training as training
import ifair.reproduce.case as case
from ifair.core.objective import Objective
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.profiles import PROFILES


def counted(
    function: Callable[..., Any], name: str, seconds: dict[str, float], calls: Counter[str]
) -> Callable[..., Any]:
    """The function, whose processor seconds and calls are added up."""

    def call(*arguments: Any, **options: Any) -> Any:
        began = process_time()
        try:
            return function(*arguments, **options)
        finally:
            seconds[name] += process_time() - began
            calls[name] += 1

    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("experiment", "dataset", "method"):
        parser.add_argument(name)
    parser.add_argument("K", type=int)
    parser.add_argument("--share", type=int, default=1)
    wanted = parser.parse_args()
    units = find_experiments()[wanted.experiment].plan(PROFILES["full"].only([wanted.dataset]), {})
    whole = next(u for u in units if u.case.method == wanted.method and wanted.K in u.case.grid["K"])
    unit = replace(whole, case=replace(whole.case, grid={**whole.case.grid, "K": [wanted.K]}))
    seconds, calls, list_settings = defaultdict[str, float](float), Counter[str](), case.list_settings
    case.list_settings = lambda *about: list(list_settings(*about))[:: wanted.share]
    training.fit_many = counted(training.fit_many, "fits", seconds, calls)
    Objective.sums = counted(Objective.sums, "evaluations", seconds, calls)
    counted(unit.run, "unit", seconds, calls)()
    print(
        f"{unit.label}, K = {wanted.K}: {seconds['unit']:.1f} processor seconds, {seconds['fits']:.1f} of them for "
        f"fits, {seconds['evaluations']:.1f} for {calls['evaluations']:,} evaluations"
    )


if __name__ == "__main__":
    main()
