"""One evaluation and one fit on every engine there is: this machine's processors, and a device of torch.

    python benchmarks/bench_engines.py [--json FILE] [--quick] [--tiles 2048 8192]

Made-up tables of the size of German Credit's and Census' training thirds (333 x 67; 16,281 x 101), of 2,300 x 431, and
of Census whole (48,842 x 101, not on the processors), K = 20, all pairs and 1,000 landmarks, in single and double
precision. A fit is one start of 200 iterations with the default precision. "off by" is the largest difference of the
gradient from that of the local engine in double precision, relative to its largest entry.
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
from ifair.core.euclidean_pairs import pair_kernel
from ifair.core.objective import Objective
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import Engine, LocalEngine

SIZES = [(333, 67), (2300, 431), (16_281, 101), (48_842, 101)]
CORES = len(os.sched_getaffinity(0))
LOCAL_UP_TO = 20_000
K, LANDMARKS, N_PROTECTED = 20, 1000, 2
PRECISIONS = {"single": np.float32, "double": np.float64}


def engines(n_records: int, tiles: list[int]) -> dict[str, Callable[[np.ndarray], Engine]]:
    """How to open each engine; the local one on all cores."""
    found: dict[str, Callable[[np.ndarray], Engine]] = {}
    if n_records <= LOCAL_UP_TO:
        found[f"local, {CORES} threads"] = lambda X: LocalEngine(X, threads=CORES)
    if find_spec("torch") is None:
        return found
    from ifair.engines.torch import TorchEngine, default_device

    found[f"torch, {default_device()}"] = TorchEngine
    if default_device() == "cuda":
        found["torch, cuda, not recorded"] = lambda X: TorchEngine(X, recorded=False)
        found["torch, cuda, not fused"] = lambda X: TorchEngine(X, fused=False)
    for rows in tiles:
        found[f"torch, {default_device()}, tiles of {rows}"] = lambda X, rows=rows: TorchEngine(X, tile_rows=rows)
    return found


@contextmanager
def objective(engine: Engine, protected: np.ndarray, pairs: str, dtype: Any) -> Iterator[Objective]:
    n_landmarks = LANDMARKS if pairs == "landmarks" else None
    kernel = pair_kernel(engine, ~protected, K, weighted=True, single=dtype == np.float32, n_landmarks=n_landmarks)
    drawn = np.sort(np.random.default_rng(0).choice(engine.n_records, min(LANDMARKS, engine.n_records), replace=False))
    term: AllPairs | Landmarks = AllPairs(kernel)
    if pairs == "landmarks":
        term = Landmarks(kernel, engine.take(drawn), engine.n_records)
    with threadpool_limits(1, user_api="blas"), engine:
        yield common.objective(engine, protected, K, pairs=term)


def evaluations(n_records: int, n_attributes: int, pairs: str, tiles: list[int], rounds: int) -> common.Rows:
    X, protected = common.made_up(n_records, n_attributes), np.arange(n_attributes) >= n_attributes - N_PROTECTED
    at = common.start(X[:3000], K, protected, seed=1)
    with objective(LocalEngine(X, threads=CORES), protected, pairs, np.float64) as exact:
        expected = exact.value_and_grad(at)[1].prototypes if n_records <= LOCAL_UP_TO else None
    rows: common.Rows = []
    for precision, dtype in PRECISIONS.items():
        for name, opened in engines(n_records, tiles).items():
            with objective(opened(X), protected, pairs, dtype) as ours:
                gradient = ours.value_and_grad(at)[1].prototypes
                took = common.best_times({name: lambda o=ours: o.value_and_grad(at)}, rounds)[name]
            row = {"records": n_records, "attributes": n_attributes, "pairs": pairs, "precision": precision}
            row |= {"engine": name, "ms": 1000 * took.wall}
            if expected is not None:
                row["off by"] = float(np.abs(gradient - expected).max() / np.abs(expected).max())
            rows.append(row)
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
            "precision": "auto",
            "engine": engine,
            "iterations": model.n_iter_,
            "fit s": time.perf_counter() - began,
            "loss": model.loss_,
        }
    ]


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument(
        "--tiles", type=int, nargs="*", default=[], help="also time torch with tiles of so many records"
    )
    parser.add_argument("--local-iterations", type=int, help="iterations of fits on the local engine; 200, quick: 20")
    chosen = parser.parse_args(arguments)
    rounds = 3 if chosen.quick else 5
    local_iterations = chosen.local_iterations or (20 if chosen.quick else 200)
    machine = common.Machine()
    rows: common.Rows = []
    for n_records, n_attributes in SIZES[:2] if chosen.quick else SIZES:
        for pairs in ("all", "landmarks") if n_records > LANDMARKS else ("all",):
            rows += evaluations(n_records, n_attributes, pairs, chosen.tiles, rounds)
            if find_spec("torch") is not None:
                rows += fits(n_records, n_attributes, pairs, "torch")
            if n_records <= LOCAL_UP_TO:
                rows += fits(n_records, n_attributes, pairs, "local", local_iterations)
    return common.report(
        f"Evaluations and fits, K = {K}", rows, machine, chosen.json, f"Best of {rounds} evaluations; one fit."
    )


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main()
