"""How long the measures take at the size of Census, and FA*IR at k = 1,500.

    python benchmarks/bench_measures.py [--jobs 2] [--quick]

Census is read from ``$IFAIR_DATA/census`` when that is set (adult.data and adult.test, one-hot encoded,
standardised, without race, sex and the duplicate of education), otherwise made up with the same shape.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

import common
from ifair.metrics import certify, consistency, consistency_interval, nearest_neighbours
from ifair.ranking import FAStarIR, failure_probability, minimum_counts
from ifair.ranking.minimum_tables import _make_tables

COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex gain loss "
    "hours country"
)


def standardise_columns(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def census(n):
    """Records of Census and where they came from."""
    folder = Path(os.environ.get("IFAIR_DATA", "")) / "census"
    if os.environ.get("IFAIR_DATA") and folder.is_dir():
        names = [*COLUMNS.split(), "income"]
        parts = [
            pd.read_csv(folder / name, names=names, skipinitialspace=True, comment="|")
            for name in ("adult.data", "adult.test")
        ]
        table = pd.concat(parts).drop(columns=["race", "sex", "income", "education_num"]).head(n)
        return standardise_columns(pd.get_dummies(table).to_numpy(dtype=float)), "Census"
    rng = np.random.default_rng(0)
    sizes = (9, 16, 7, 15, 6, 42)
    hot = [np.eye(size)[np.minimum(rng.geometric(0.3, n) - 1, size - 1)] for size in sizes]
    return standardise_columns(np.hstack([rng.normal(size=(n, 6)).round(1), *hot])), "made up"


def main(arguments=None):
    options, machine = common.begin(__doc__, arguments, jobs=(2, 2, "threads of the neighbour search"))
    X, source = census(4_884 if options.quick else 48_842)
    y = (X[:, 0] > 0).astype(int)
    rows = []

    def row(what, work):
        took, result = common.time_work(work)
        rows.append({"what": what, "seconds": took.wall, "CPU s": took.cpu})
        return result

    size = f"{X.shape[0]:,} x {X.shape[1]}"
    near = row(
        f"nearest_neighbours, k = 10, {source} {size}, {options.jobs} threads",
        lambda: nearest_neighbours(X, 10, n_jobs=options.jobs),
    )
    row("consistency with those neighbours", lambda: consistency(y, neighbours=near))
    row(
        "consistency_interval, 100 resamples",
        lambda: consistency_interval(y, neighbours=near, n_resamples=100),
    )
    row("certify, disjoint pairs", lambda: certify(0.9 * X, X))
    for p in (0.1, 0.5, 0.9):
        _make_tables.cache_clear()
        counts = row(f"minimum_counts, k = 1,500, p = {p}, alpha = 0.1", lambda p=p: minimum_counts(1500, p, 0.1))
        row(
            f"failure_probability of it, {failure_probability(counts, p):.6f}",
            lambda c=counts, p=p: failure_probability(c, p),
        )
    row("minimum_counts, k = 100, two groups", lambda: minimum_counts(100, [0.3, 0.2], 0.1))
    rng = np.random.default_rng(0)
    scores, protected, query = (
        rng.normal(size=57 * 40),
        rng.uniform(size=57 * 40) < 0.33,
        np.repeat(np.arange(57), 40),
    )
    ranker = FAStarIR(p=0.5, shortage="ignore")
    row("FAStarIR, 57 queries of 40", lambda: ranker.rank(scores, sensitive_features=protected, query=query))

    return common.report("Measures and rankers", rows, machine, options.json)


if __name__ == "__main__":
    main()
