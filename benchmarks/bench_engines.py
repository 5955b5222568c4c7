"""One evaluation and one fit on every engine there is: this machine's processors, and a device of torch.

    python benchmarks/bench_engines.py [--json FILE] [--quick] [--tiles 2048 4096 8192]

Tables like Census' training part (16,281 x 101) and Airbnb's (2,300 x 431), K = 20, all pairs and 1,000 landmarks, in
single and double precision. A fit is one start of 200 iterations. "off by" is the largest difference of the gradient
from that of the local engine in double precision, relative to its largest entry.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import common
from ifair import IFair
from ifair.core.objective import Objective
from ifair.core.pairs import EuclideanPairs
from ifair.core.schedules import AllPairs, Landmarks, Schedule
from ifair.engines.local import LocalEngine
from ifair.engines.protocol import Engine

SIZES = [(16_281, 101), (2300, 431)]
K, LANDMARKS, N_PROTECTED = 20, 1000, 2
PRECISIONS = {"single": np.float32, "double": np.float64}


def engines(chosen_tiles: list[int]) -> dict[str, Callable[[np.ndarray], Engine]]:
    """How to open each engine; the local one on all cores."""
    cores = len(os.sched_getaffinity(0))
    found: dict[str, Callable[[np.ndarray], Engine]] = {
        f"local, {cores} threads": lambda X: LocalEngine(X, threads=cores)
    }
    if find_spec("torch") is None:
        return found
    from ifair.engines.torch import TorchEngine, default_device

    for rows in chosen_tiles or [None]:
        label = f"torch, {default_device()}" + (f", tiles of {rows}" if rows else "")
        found[label] = lambda X, rows=rows: TorchEngine(X, tile_rows=rows)
    return found


@contextmanager
def objective(engine: Engine, protected: np.ndarray, pairs: str, dtype: Any) -> Iterator[Objective]:
    (unprotected,) = engine.send(np.flatnonzero(~protected))
    kernel = EuclideanPairs(unprotected, K, True, dtype)
    drawn = np.sort(np.random.default_rng(0).choice(engine.n_records, LANDMARKS, replace=False))
    schedule: Schedule = AllPairs(kernel)
    if pairs == "landmarks":
        schedule = Landmarks(kernel, engine.take(drawn), engine.n_records)
    with threadpool_limits(1, user_api="blas"), engine:
        yield common.objective(engine, protected, K, pairs=schedule)


def evaluations(n_records: int, n_attributes: int, pairs: str, tiles: list[int], rounds: int) -> common.Rows:
    X, protected = common.made_up(n_records, n_attributes), np.arange(n_attributes) >= n_attributes - N_PROTECTED
    at = common.start(X[:3000], K, protected, seed=1)
    with objective(LocalEngine(X), protected, pairs, np.float64) as exact:
        expected = exact.value_and_grad(at)[1].prototypes
    rows: common.Rows = []
    for precision, dtype in PRECISIONS.items():
        for name, opened in engines(tiles).items():
            with objective(opened(X), protected, pairs, dtype) as ours:
                gradient = ours.value_and_grad(at)[1].prototypes
                took = common.best_times({name: lambda o=ours: o.value_and_grad(at)}, rounds)[name]
            off = np.abs(gradient - expected).max() / np.abs(expected).max()
            rows.append(
                {
                    "records": n_records,
                    "attributes": n_attributes,
                    "pairs": pairs,
                    "precision": precision,
                    "engine": name,
                    "ms": 1000 * took.wall,
                    "off by": float(off),
                }
            )
    return rows


def fits(n_records: int, n_attributes: int, pairs: str, engine: str, n_iter: int = 200) -> common.Rows:
    X = common.made_up(n_records, n_attributes)
    protected = list(range(n_attributes - N_PROTECTED, n_attributes))
    model = IFair(
        K,
        protected=protected,
        pairs="all" if pairs == "all" else LANDMARKS,
        n_restarts=1,
        max_iter=n_iter,
        tol=0.0,
        engine=engine,
        n_jobs=-1,
        random_state=0,
    )
    began = time.perf_counter()
    model.fit(X)
    return [
        {
            "records": n_records,
            "attributes": n_attributes,
            "pairs": pairs,
            "precision": "single",
            "engine": engine,
            "iterations": model.n_iter_,
            "fit s": time.perf_counter() - began,
            "loss": model.loss_,
        }
    ]


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--quick", action="store_true", help="landmarks only")
    parser.add_argument(
        "--tiles", type=int, nargs="*", default=[], help="also time torch with tiles of so many records"
    )
    parser.add_argument("--local-iterations", type=int, default=200, help="iterations of fits on the local engine")
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    rows: common.Rows = []
    for n_records, n_attributes in SIZES:
        for pairs in ("landmarks",) if chosen.quick else ("all", "landmarks"):
            rows += evaluations(n_records, n_attributes, pairs, chosen.tiles, rounds=5)
            if find_spec("torch") is not None:
                rows += fits(n_records, n_attributes, pairs, "torch")
            rows += fits(n_records, n_attributes, pairs, "local", chosen.local_iterations)
    return common.report(
        f"Evaluations and fits, K = {K}", rows, machine, chosen.json, "Best of 5 evaluations; one fit."
    )


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
