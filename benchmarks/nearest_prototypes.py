"""Nearest prototypes of iFair beside plain K-means with as many: what is bound, what is kept, and what it takes.

    python benchmarks/nearest_prototypes.py [--quick] [--without-ifair] [--json FILE]

German Credit, 1,000 records, and the first 3,000 of Census (made-up ones where IFAIR_DATA has none), encoded and
scaled, K of 10, 50 and 200. Every model is fitted once, from one start and the same seed; iFair for at most 100
iterations, with its weights of protected columns frozen at 0 and a utility loss of the others, so that both see the
same columns. "crisp" takes memberships from squared distances, begins with equal weights, and compares pairs in plain
distances, so that memberships are nearly all or nothing while it learns; these three options were chosen on German
Credit with K = 50. "means of cells" shows instead of the crisp model's prototypes the mean records of those who have
them, as K-means does, and tells apart what cells and rows are worth.

"neighbour pairs" is another objective for the same output, begun where K-means ends: the expected squared distance to
the prototype, plus a weight times the share of pairs of *neighbours* that have different ones, both under memberships
``softmax(-distance^2 / T)`` with T a tenth of K-means' error. The weight is 0.3 and 1 of that error. Shown are the mean
records of those who have a prototype.

bound: `consistency_bound` of the people fitted on, ten neighbours. error: mean squared error of the unprotected
columns, as a share of their variance. used: prototypes that are the nearest of somebody. "new": of every other person,
learned from the rest.
"""

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

import bench_measures
import common
from ifair import IFair
from ifair.graph import neighbour_graph
from ifair.metrics import consistency, nearest_neighbours

PAIR_WEIGHTS = (0.3, 1.0)

KINDS = {
    "iFair, k-means++": {},
    "iFair, k-means": {"init": "k-means"},
    "iFair, k-means, crisp": {"init": "k-means", "squared": True, "fairness_distance": "euclidean"},
}


def learn_from_neighbours(X: np.ndarray, graph: Any, start: np.ndarray, weight: float, iterations: int) -> np.ndarray:
    """Prototypes that are near records, and the same for neighbours: by L-BFGS with the gradient written out."""
    shape, n = start.shape, len(X)
    squares = (X**2).sum(axis=1)[:, None]
    error = pairwise_distances(X, start, metric="sqeuclidean").min(axis=1).mean()
    temperature, mu = 0.1 * error, weight * error
    W = graph / graph.sum()

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        V = flat.reshape(shape)
        D = squares + (V**2).sum(axis=1) - 2 * X @ V.T
        U = softmax(-D / temperature, axis=1)
        near = W @ U
        value = (U * D).sum() / n + mu * (1 - (U * near).sum())
        by_U = D / n - 2 * mu * near
        by_D = U / n - U * (by_U - (U * by_U).sum(axis=1, keepdims=True)) / temperature
        return value, (2 * (by_D.sum(axis=0)[:, None] * V - by_D.T @ X)).ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return np.asarray(found.x.reshape(shape))


def measure_rows(
    dataset: str, X: np.ndarray, protected: np.ndarray, k: int, iterations: int, kinds: dict[str, Any]
) -> common.Rows:
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
    for kind, options in kinds.items():
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
        took, shown = common.time_work(lambda model=model: model.fit(X).transform(X)[:, ~protected])
        _, cells = np.unique(shown, axis=0, return_inverse=True)
        rows.append(row(kind, cells, shown, took.cpu))
    if kinds:
        means = np.stack([plain[cells == cell].mean(axis=0) for cell in range(cells.max() + 1)])
        rows.append(row("the same, means of cells", cells, means[cells], took.cpu))
    begin, rival = common.time_work(lambda: KMeans(k, n_init=1, random_state=0).fit(plain))
    rows.append(row("K-means", rival.labels_, rival.cluster_centers_[rival.labels_], begin.cpu))
    graph = neighbour_graph(neighbours=neighbours)
    for weight in PAIR_WEIGHTS:
        learn = partial(learn_from_neighbours, plain, graph, rival.cluster_centers_, weight, iterations)
        took, V = common.time_work(learn)
        rows.append(row(f"neighbour pairs, weight {weight:g}", *_assign(plain, V, plain), took.cpu + begin.cpu))
    # Every other person is new: prototypes are learned from the others.
    seen, new = plain[::2], plain[1::2]
    start = KMeans(min(k, len(seen) // 2), n_init=1, random_state=0).fit(seen).cluster_centers_
    near, half = nearest_neighbours(new, 10), neighbour_graph(seen, 10)
    learned = {
        f"neighbour pairs, weight {w:g}": learn_from_neighbours(seen, half, start, w, iterations) for w in PAIR_WEIGHTS
    }
    for one in rows:
        V = start if one["kind"] == "K-means" else learned.get(str(one["kind"]))
        if V is not None:
            cells, means = _assign(seen, V, new)
            one["bound, new"] = round(consistency(cells, neighbours=near, kind="label"), 3)
            one["error, new"] = round(float(((means - new) ** 2).sum(axis=1).mean() / new.var(axis=0).sum()), 3)
    return rows


def _assign(seen: np.ndarray, V: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Everybody's nearest prototype, and the mean of the people seen who have it."""
    own, theirs = (pairwise_distances(X, V, metric="sqeuclidean").argmin(axis=1) for X in (seen, people))
    means = np.stack([seen[own == j].mean(axis=0) if (own == j).any() else V[j] for j in range(len(V))])
    return theirs, means[theirs]


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--records", type=int, help="of Census; 3,000, quick: 300")
    parser.add_argument("--without-ifair", action="store_true", help="only K-means and pairs of neighbours")
    chosen, machine = parser.parse_args(arguments), common.Machine()
    census, origin = bench_measures.census(chosen.records or (300 if chosen.quick else 3000))
    tables = {"Credit": common.credit(), origin: (census, np.zeros(census.shape[1], dtype=bool))}
    iterations, kinds = 10 if chosen.quick else 100, {} if chosen.without_ifair else KINDS
    rows: common.Rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for dataset, (X, protected) in tables.items():
            for k in (10, 50) if chosen.quick else (10, 50, 200):
                rows += measure_rows(dataset, X, protected, k, iterations, kinds)
    return common.report("Nearest prototypes and K-means", rows, machine, chosen.json)


if __name__ == "__main__":
    main()
