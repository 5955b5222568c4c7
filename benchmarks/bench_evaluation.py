"""One evaluation of the objective and its gradient over all pairs, against whole-matrix NumPy.

    python benchmarks/bench_evaluation.py [--json FILE] [--quick]

Targets: 3,000 x 101, K = 10 at least 20 times faster than straightforward whole matrices; 16,000 records under 1.5 s
on two quiet cores; peak memory above the data under 300 MB at 50,000 records.

"products" are the matrix products that an evaluation cannot avoid, alone: of every unordered pair its input distance
(N), what its gradient sends to the weights (N), its distance in the representation (K) and what that sends to both
records (K twice); in the same tiles, precision and threads as the evaluation.

"categories" is a table of 2,300 people with one number and attributes of 5, 20 and 400 categories of very different
size, as COMPAS has: with all columns in every tile of pairs, and with inputs that are kept in an order in which tiles
need few columns, as a fit on this machine has it.
"""

import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import common
import whole_matrix
from ifair.core.euclidean_pairs import EuclideanPairs, keep_pairs, pair_kernel
from ifair.core.mapping import Parameters
from ifair.core.objective import Objective
from ifair.core.pairs import AllPairs
from ifair.engines.engine import LocalEngine, tiles

N, K, N_PROTECTED = 101, 10, 2
PRECISIONS = {"single": np.float32, "double": np.float64}


def problem(n_records: int) -> tuple[np.ndarray, np.ndarray, Parameters]:
    X = common.made_up(n_records, N)
    protected = np.arange(N) >= N - N_PROTECTED
    return X, protected, common.start(X[:3000], K, protected, seed=1)


def evaluation(objective: Objective, parameters: Parameters) -> Any:
    with threadpool_limits(1, user_api="blas"):
        return objective.value_and_grad(parameters)


def products(engine: LocalEngine, dtype: Any) -> None:
    """The matrix products of an evaluation and nothing else."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(engine.n_records, N - N_PROTECTED)).astype(dtype)
    shares = rng.random(size=(engine.n_records, K)).astype(dtype)
    cut = tiles(engine.n_records, engine.tile_rows)

    def stripe(first: int) -> None:
        for i in range(first, len(cut), engine.stripes):
            a, u = inputs[cut[i]], shares[cut[i]]
            for at in cut[i:]:
                b, v = inputs[at], shares[at]
                pairs = a @ b.T
                _ = pairs @ b
                pairs = u @ v.T
                _ = pairs @ v
                _ = pairs.T @ u

    with threadpool_limits(1, user_api="blas"):
        for _ in engine.run(stripe, engine.stripes):
            pass


def check(X: np.ndarray, protected: np.ndarray, parameters: Parameters) -> None:
    """All versions compute the same thing."""
    unprotected = np.flatnonzero(~protected)
    V, alpha = parameters.prototypes, parameters.alpha
    loss, d_V, d_alpha = whole_matrix.value_and_grad(X, unprotected, V, alpha, whole_matrix.plain_distances)
    others = [whole_matrix.value_and_grad(X, unprotected, V, alpha, whole_matrix.gram_distances)]
    tolerances = [1e-9]
    with LocalEngine(X) as engine:
        for precision, tolerance in (("double", 1e-9), ("single", 1e-4)):
            ours = common.objective(engine, protected, K, dtype=PRECISIONS[precision])
            losses, gradient = evaluation(ours, parameters)
            others.append((losses.total, gradient.prototypes, gradient.alpha))
            tolerances.append(tolerance)
    for other, tolerance in zip(others, tolerances):
        np.testing.assert_allclose(other[0], loss, rtol=tolerance)
        np.testing.assert_allclose(other[1], d_V, rtol=0, atol=tolerance * np.abs(d_V).max())
        np.testing.assert_allclose(other[2], d_alpha, rtol=0, atol=tolerance * np.abs(d_alpha).max())


def peak(n_records: int) -> tuple[float, float]:
    """Seconds of one evaluation in single precision on two threads, and its peak memory above the data."""
    X, protected, parameters = problem(n_records)
    with LocalEngine(X[:600], threads=2) as engine:  # libraries and threads are there before
        evaluation(common.objective(engine, protected, K, dtype=np.float32), parameters)
    with LocalEngine(X, threads=2) as engine:
        ours = common.objective(engine, protected, K, dtype=np.float32)
        began = time.perf_counter()
        megabytes = common.megabytes_above(lambda: evaluation(ours, parameters))
        return time.perf_counter() - began, megabytes


def time_categories(rounds: int) -> common.Rows:
    """Evaluations on a table of rare categories, with all columns and with those that a tile needs."""
    rng = np.random.default_rng(0)
    dummies = [np.eye(n)[np.minimum(rng.geometric(3 / n, 2300), n) - 1] for n in (5, 20, 400)]
    X = np.hstack([rng.normal(size=(2300, 1)), *dummies])
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    protected = np.arange(X.shape[1]) < 2
    parameters = common.start(X, K, protected, seed=1)
    works: dict[str, Any] = {}
    with LocalEngine(X) as engine:
        kernel = pair_kernel(engine, ~protected, K, weighted=True, single=True)
        assert isinstance(kernel, EuclideanPairs)
        terms = {
            "categories": AllPairs(kernel),
            "categories, kept": keep_pairs(engine, kernel),
        }
        for name, term in terms.items():
            ours = common.objective(engine, protected, K, pairs=term)
            works[name] = lambda o=ours: evaluation(o, parameters)
        (expected, right), (found, gradient) = (work() for work in works.values())
        np.testing.assert_allclose(found.total, expected.total, rtol=1e-5)
        np.testing.assert_allclose(gradient.alpha, right.alpha, rtol=0, atol=1e-4 * np.abs(right.alpha).max())
        times = common.best_times(works, rounds)
    rows: common.Rows = [
        {"what": name, "threads": 1, "precision": "single", "records": len(X), "seconds": took.wall, "CPU s": took.cpu}
        for name, took in times.items()
    ]
    rows[1]["all columns/ours"] = rows[0]["seconds"] / rows[1]["seconds"]
    return rows


def time_evaluations(n_records: int, rounds: int, kinds: list[tuple[int, str]], whole: bool) -> common.Rows:
    """Rows of one size; ``kinds`` are (threads, precision)."""
    X, protected, parameters = problem(n_records)
    unprotected = np.flatnonzero(~protected)
    V, alpha = parameters.prototypes, parameters.alpha
    engines = {threads: LocalEngine(X, threads=threads) for threads, _ in kinds}
    works: dict[str, Any] = {}
    rows: common.Rows = []
    if whole:
        for name, distances, threads in (
            ("whole matrices, scipy cdist", whole_matrix.plain_distances, 1),
            ("whole matrices, Gram product", whole_matrix.gram_distances, 2),
        ):
            works[name] = lambda d=distances: whole_matrix.value_and_grad(X, unprotected, V, alpha, d)
            rows.append({"what": name, "threads": threads, "precision": "double"})
    for threads, precision in kinds:
        ours = common.objective(engines[threads], protected, K, dtype=PRECISIONS[precision])
        name = f"{threads} {precision}"
        works[f"ours {name}"] = lambda o=ours: evaluation(o, parameters)
        works[f"products {name}"] = lambda e=engines[threads], p=precision: products(e, PRECISIONS[p])
        rows.append({"what": "ours", "threads": threads, "precision": precision})
    times = common.best_times(works, rounds)
    for engine in engines.values():
        engine.__exit__()
    for row in rows:
        name = f"{row['threads']} {row['precision']}"
        took = times[f"ours {name}" if row["what"] == "ours" else row["what"]]
        row |= {"records": n_records, "seconds": took.wall, "CPU s": took.cpu}
        if row["what"] == "ours":
            if whole:
                row["cdist/ours"] = times["whole matrices, scipy cdist"].wall / took.wall
                row["Gram/ours"] = times["whole matrices, Gram product"].wall / took.wall
            row["ours/products"] = took.wall / times[f"products {name}"].wall
            row["same, CPU"] = took.cpu / times[f"products {name}"].cpu
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments)
    check(*problem(1000))
    rounds = 3 if chosen.quick else 7
    rows = time_evaluations(3000, rounds, [(1, "double"), (1, "single"), (2, "double"), (2, "single")], whole=True)
    rows += time_categories(rounds)
    if not chosen.quick:
        rows += time_evaluations(16_000, 3, [(2, "single")], whole=False)
        seconds, megabytes = common.in_fresh_process(peak, 50_000)
        rows.append(
            {
                "what": "ours",
                "threads": 2,
                "precision": "single",
                "records": 50_000,
                "seconds": seconds,
                "peak MB above data": megabytes,
            }
        )
    title = f"One evaluation, all pairs, N = {N}, K = {K}; checked to agree before timing"
    notes = (
        f"Threads of the Gram product are BLAS's own. "
        f"Best of {rounds} rounds taken in turns (3 at 16,000, 1 at 50,000)."
    )
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
