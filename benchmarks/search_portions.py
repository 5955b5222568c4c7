"""What does a tuning lose that learns from its trials in portions, as it does on a GPU?

    python benchmarks/search_portions.py [--quick] [--splits 4] [--seeds 20] [--json FILE]

German Credit, split as `ifair tune` splits it, and iFair's part of its search, for both models on top; `ifair tune` has
4 trials of each by default. Settings are rounded to a grid and measured once per split: all searches look things up in
one table. "volume": hypervolume in hundredths of the front of utility above chance and consistency of ranks on
validation data after so many trials, mean over splits, models and seeds. "lost": how much less that is than with one at
a time from the same seed, and its standard error. Portions of 16 are drawn at random: nothing is learned.
"""

import math
from functools import partial
from typing import Any

import numpy as np

import common
from ifair.audit.tuning import MEASURES, SOLVER
from ifair.data import load_credit
from ifair.evaluate.arms import list_arms
from ifair.evaluate.fronts import hypervolume
from ifair.evaluate.judgement import brief_measures
from ifair.evaluate.search import search
from ifair.evaluate.splits import split_table
from ifair.evaluate.training import fit_representations, train

PORTIONS, AFTER = (1, 2, 4, 8, 16), (4, 8, 16)


def search_split(split: int, n_seeds: int) -> np.ndarray:
    """Hypervolumes of one split, shape (searches, portions, numbers of trials)."""
    parts, fitted, known = split_table(load_credit(), split), dict[str, Any](), dict[str, Any]()

    def look_up(one: Any) -> dict[str, Any]:
        if one.id not in known:
            key = str({**one.setting, "C": None})
            if key not in fitted:
                (fitted[key],) = fit_representations([one], parts.blind, split, SOLVER)
            outcome = train(one, parts, split, SOLVER, fitted=fitted[key]).outcome(parts.validation)
            known[one.id] = dict(brief_measures(parts.validation, outcome, parts))
        return {"validation": known[one.id]}

    found = []
    for arm in (arm for arm in list_arms(parts.task) if arm.method == "ifair"):
        for seed, i in np.ndindex(n_seeds, len(PORTIONS)):
            how: Any = {"measures": MEASURES, "n_trials": AFTER[-1], "start": [arm.start], "at_once": PORTIONS[i]}
            measure = partial(map, lambda one: look_up(arm.candidate(round_setting(one))))  # noqa: B023
            trials = search(measure, arm.space, seed=seed, **how)
            points = [[trial.result["validation"][name] for name in MEASURES] for trial in trials]
            found.append([100 * hypervolume(points[:n], (0.5, 0.0)) for n in AFTER])
    return np.reshape(found, (-1, len(PORTIONS), len(AFTER)))


def round_setting(setting: dict[str, Any]) -> dict[str, Any]:
    """The nearest one of the grid: K by factors of 2, odds of the share and C by 10, strengths by the root of 10."""
    share, strength = setting["share"], setting["strength"]
    odds = 10.0 ** round(math.log10(share / (1 - share))) if 0 < share < 1 else math.nan
    rounded = {"K": 3 * 2 ** min(round(math.log2(setting["K"] / 3)), 4)}
    rounded |= {"share": float(f"{odds / (1 + odds):.3g}")} if 0 < share < 1 else {}
    rounded |= {"strength": float(f"{10 ** (round(2 * math.log10(strength)) / 2):.3g}")} if strength else {}
    rounded |= {"C": 10.0 ** round(math.log10(setting["C"]))} if "C" in setting else {}
    return {**setting, **rounded}


def main(arguments: list[str] | None = None) -> common.Rows:
    options, machine = common.begin(__doc__, arguments, splits=(1, 4, "splits"), seeds=(2, 20, "of searches"))
    volumes = np.concatenate([search_split(split, options.seeds) for split in range(options.splits)])
    rows = []
    for i, at_once in enumerate(PORTIONS):
        row: dict[str, Any] = {"at once": at_once, "searches": len(volumes)}
        for n, got, lost in zip(AFTER, volumes[:, i].T, (volumes[:, 0] - volumes[:, i]).T):
            error = lost.std(ddof=1) / math.sqrt(len(lost))
            row |= {f"volume after {n}": f"{got.mean():.2f}", f"lost after {n}": f"{lost.mean():.2f} ± {error:.2f}"}
        rows.append(row)
    return common.report("Searches in portions", rows, machine, options.json)


if __name__ == "__main__":
    main()
