"""Nearest prototypes of iFair beside plain K-means with as many: what is bound, what is kept, and what it takes.

    python benchmarks/nearest_prototypes.py [--quick] [--json FILE]

German Credit, 1,000 records, and the first 3,000 of Census (made-up ones where IFAIR_DATA has none), encoded and
scaled, K of 10, 50 and 200. Every model is fitted once, from one start and the same seed; iFair for at most 100
iterations, with its weights of protected columns frozen at 0 and a utility loss of the others, so that both see the
same columns. "crisp" takes memberships from squared distances, begins with equal weights, and compares pairs in plain
distances, so that memberships are nearly all or nothing while it learns; these three options were chosen on German
Credit with K = 50. "means of cells" shows instead of the crisp model's prototypes the mean records of those who have
them, as K-means does, and tells apart what cells and rows are worth.

bound: `consistency_bound` of the people fitted on, ten neighbours. error: mean squared error of the unprotected
columns, as a share of their variance. used: prototypes that are the nearest of somebody.
"""

import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import bench_measures
import common
from ifair import IFair
from ifair.metrics import consistency, nearest_neighbours

KINDS = {
    "iFair, k-means++": {},
    "iFair, k-means": {"init": "k-means"},
    "iFair, k-means, crisp": {"init": "k-means", "squared": True, "fairness_distance": "euclidean"},
}


def measure_rows(dataset: str, X: np.ndarray, protected: np.ndarray, k: int, iterations: int) -> common.Rows:
    plain = X[:, ~protected]
    neighbours = nearest_neighbours(plain, 10)
    spread = plain.var(axis=0).sum()

    def row(kind: str, cells: np.ndarray, shown: np.ndarray, seconds: float) -> dict[str, object]:
        return {
            "dataset": dataset,
            "K": k,
            "kind": kind,
            "bound": round(consistency(cells, neighbours=neighbours, kind="label"), 3),
            "error": round(float(((shown - plain) ** 2).sum(axis=1).mean() / spread), 3),
            "used": len(np.unique(cells)),
            "cpu s": round(seconds, 2),
        }

    rows = []
    for kind, options in KINDS.items():
        if kind.endswith("crisp"):
            options = {**options, "alpha_init": np.where(protected, 0.0, 1.0)}
        model = IFair(
            k,
            protected=protected,
            freeze_protected=True,
            utility_columns="unprotected",
            output="nearest",
            n_restarts=1,
            max_iter=iterations,
            random_state=0,
            **options,
        )
        begun = time.process_time()
        shown = model.fit(X).transform(X)[:, ~protected]
        seconds = time.process_time() - begun
        _, cells = np.unique(shown, axis=0, return_inverse=True)
        rows.append(row(kind, cells, shown, seconds))
    means = np.stack([plain[cells == cell].mean(axis=0) for cell in range(cells.max() + 1)])
    rows.append(row("the same, means of cells", cells, means[cells], seconds))
    begun = time.process_time()
    rival = KMeans(k, n_init=1, random_state=0).fit(plain)
    seconds = time.process_time() - begun
    return [*rows, row("K-means", rival.labels_, rival.cluster_centers_[rival.labels_], seconds)]


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments, records=(300, 3000, "of Census"))
    census, origin = bench_measures.census(chosen.records)
    tables = {"Credit": common.credit(), origin: (census, np.zeros(census.shape[1], dtype=bool))}
    rows: common.Rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for dataset, (X, protected) in tables.items():
            for k in (10, 50) if chosen.quick else (10, 50, 200):
                rows += measure_rows(dataset, X, protected, k, 10 if chosen.quick else 100)
    return common.report("Nearest prototypes and K-means", rows, machine, chosen.json)


if __name__ == "__main__":
    main()
