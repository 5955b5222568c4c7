"""Landmarks and moments against all pairs: what the solution is worth on ALL pairs, and what it costs.

    python benchmarks/bench_landmarks.py [--json FILE] [--records 6000]

Compas where IFAIR_DATA names a folder with it, and made-up records of the shape of Census. All fits take the same
number of iterations from the same start. Losses are those of the fitted solution on every pair of the training
records, in per cent above the loss that the fit on all pairs reached; landmarks are drawn three times (3,000 of them
once).

It backs the defaults of `pairs="auto"`.
"""

import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import common
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Packing
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Term
from ifair.core.pairs import AllPairs, Landmarks
from ifair.data import DataError, load_compas
from ifair.engines.engine import LocalEngine

K, ITERATIONS = 10, 60
LANDMARKS = {100: 3, 300: 3, 1000: 3, 3000: 1}  # how many, and how often drawn


def compas(n_records: int) -> tuple[np.ndarray, np.ndarray] | None:
    try:
        dataset = load_compas(download_if_missing=False)
    except DataError:
        return None
    X, protected = common.encoded(dataset, min_frequency=20)
    X = X[np.random.default_rng(0).permutation(len(X))[:n_records]]
    return X - X.mean(axis=0), protected


def rows_of(name: str, X: np.ndarray, protected: np.ndarray, iterations: int) -> common.Rows:
    unprotected = np.flatnonzero(~protected)
    kernel = EuclideanPairs(unprotected, K, True, np.float32)
    packing = Packing(K, X.shape[1], np.zeros_like(protected))
    first = common.start(X, K, protected, seed=0)
    rows: common.Rows = []
    with threadpool_limits(1, user_api="blas"), LocalEngine(X, threads=2) as engine:
        exact = common.objective(engine, protected, K, pairs=AllPairs(kernel))

        def fit(pairs: Term) -> tuple[float, float]:
            objective = common.objective(engine, protected, K, pairs=pairs)
            began = time.perf_counter()
            solution = common.descend(objective, first, packing, max_iter=iterations, tol=0.0)
            took = time.perf_counter() - began
            return exact.value_and_grad(solution.parameters)[0].total, took

        def draw_landmarks(n_landmarks: int, seed: int) -> Term:
            chosen = np.random.default_rng(seed).choice(len(X), n_landmarks, replace=False)
            return Landmarks(kernel, X[np.sort(chosen)], len(X))

        best, took_all = fit(AllPairs(kernel))

        def row(pairs: str, fits: list[tuple[float, float]]) -> dict[str, Any]:
            above = [100.0 * (loss / best - 1.0) for loss, _ in fits]
            seconds = min(took for _, took in fits)
            return {
                "data": f"{name} {len(X):,} x {X.shape[1]}",
                "pairs": pairs,
                "loss on all pairs": float(np.mean([loss for loss, _ in fits])),
                "above all, %": round(float(np.mean(above)), 2),
                "worst, %": round(max(above), 2),
                "seconds": seconds,
                "all pairs/this": took_all / seconds,
            }

        rows.append(row("all", [(best, took_all)]))
        for n_landmarks, n_draws in LANDMARKS.items():
            if n_landmarks < len(X):
                fits = [fit(draw_landmarks(n_landmarks, seed)) for seed in range(n_draws)]
                rows.append(row(f"{n_landmarks} landmarks", fits))
        rows.append(row("moments", [fit(Moments(unprotected, input_products(engine, unprotected)))]))
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments, records=(2000, 6000, "of the table"))
    n_records, iterations = chosen.records, 15 if chosen.quick else ITERATIONS
    N = 101
    rows = rows_of("made up", common.made_up(n_records, N), np.arange(N) >= N - 2, iterations)
    real = compas(n_records)
    if real is not None:
        rows = rows_of("Compas", *real, iterations) + rows
    title = f"Which pairs: {iterations} iterations from one start, K = {K}, single precision, two threads"
    notes = "" if real is not None else "Compas left out: IFAIR_DATA names no folder with it."
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
