"""The paper's whole grid of one dataset as one batched problem, against one fit after the other.

    python benchmarks/bench_many.py [--json FILE] [--quick] [--data credit compas] [--jobs 1 16] [--alone 6]

iFair-b on the training thirds of German Credit and COMPAS: K = 10, 20, 30, the 17 distinct ratios of lambda and mu
among the paper's coefficients (with --all its 35 pairs), three restarts, at most 1,000 iterations. Without the file of
COMPAS a made-up table of its size is taken, and the row says so. --alone limits how many of the fits, spread evenly
over the grid, are timed one after the other; seconds of the rest are then extrapolated. "evaluating s" is the time that
the calling thread spends in evaluations, "rest s" what is left of the fit: preparing, and waiting for searches, which
are L-BFGS on the host; they overlap as far as there are several K.

A second table compares where the state of L-BFGS might be kept: what SciPy takes for a step beside the evaluation, on
the host, fit by fit; and the two-loop recursion of as many steps remembered in torch on a device, of one fit and of
many at once, as it comes and, on CUDA, recorded and replayed.
"""

import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.optimize import minimize

import common
from ifair import Encoder, IFair, fit_many
from ifair.core.solve import MEMORY
from ifair.data import load, thirds
from ifair.reproduce.profiles import COEFFICIENTS, DIMENSIONS, ratios

SEARCH = {"n_restarts": 3, "max_iter": 1000, "tol": 1e-3}
SIZES = {"credit": (334, 66), "compas": (2300, 265)}
STATES = [(10, 66), (30, 66), (30, 265), (20, 431)]
MANY = 51


def table(name: str, seed: int = 0) -> tuple[str, np.ndarray, list[int]]:
    """What the table is called, the encoded training third, and its protected columns."""
    try:
        dataset = load(name)
    except Exception as error:  # no file, no network: the size is what matters
        n_records, n_attributes = SIZES[name]
        print(f"{name}: made-up data of its size, for {type(error).__name__}: {error}".splitlines()[0])
        return f"{name} (made up)", common.made_up(n_records, n_attributes), [n_attributes - 2, n_attributes - 1]
    frame = dataset.frame.iloc[thirds(dataset, seed).train]
    encoded = Encoder(missing="ignore").fit_transform(frame)
    protected = common.protected_mask(list(dataset.protected), encoded, encoded.shape[1], list(encoded.columns))
    return name, encoded.to_numpy(dtype=np.float64), list(map(int, np.flatnonzero(protected)))


def grid(
    protected: list[int], engine: str, weights: list[tuple[float, float]], dimensions: tuple[int, ...], **search: Any
) -> list[IFair]:
    return [
        IFair(
            k,
            utility_weight=lam,
            fairness_weight=mu,
            protected=protected,
            engine=engine,
            random_state=0,
            **search,
        )
        for k in dimensions
        for lam, mu in weights
    ]


def row(
    name: str, X: np.ndarray, way: str, models: list[IFair], began: float, counter: common.Counter
) -> dict[str, Any]:
    took = time.perf_counter() - began
    return {
        "data": name,
        "records": X.shape[0],
        "attributes": X.shape[1],
        "way": way,
        "fits": len(models),
        "evaluations": counter.evaluations,
        "calls": counter.calls,
        "seconds": took,
        "s/fit": took / len(models),
        "evaluating s": counter.seconds,
        "rest s": took - counter.seconds,
        "mean loss": float(np.mean([model.loss_ for model in models])),
    }


def compared(name: str, chosen: Any) -> common.Rows:
    called, X, protected = table(name)
    weights = ratios()
    if chosen.all:
        weights = [(lam, mu) for lam in COEFFICIENTS for mu in COEFFICIENTS if lam + mu > 0]
    dimensions, search, alone = DIMENSIONS, dict(SEARCH), chosen.alone
    if chosen.quick:
        X, weights, dimensions = X[:500], weights[4::4], (10,)
        search |= {"max_iter": 60}
        alone = 2 if alone is None else alone

    def models(n_jobs: int = 1) -> list[IFair]:
        return grid(protected, chosen.engine, weights, dimensions, n_jobs=n_jobs, **search)

    # Libraries and devices are set up before anything is timed.
    fit_many(grid(protected, chosen.engine, weights[-1:], (2,), **(search | {"max_iter": 3})), X)
    rows: common.Rows = []
    for n_jobs in chosen.jobs:
        with common.counted() as counter:
            began = time.perf_counter()
            together = fit_many(models(n_jobs), X)
            rows.append(row(called, X, f"at once, n_jobs={n_jobs}", together, began, counter))
    n_models = len(together)
    n_alone = n_models if alone is None else min(alone, n_models)
    numbers = np.unique(np.linspace(0, n_models - 1, n_alone).round().astype(int)) if n_alone else []
    if len(numbers) == 0:
        return rows
    with common.counted() as counter:
        began = time.perf_counter()
        apart = [models()[i].fit(X) for i in numbers]
        rows.append(row(called, X, "one after the other", apart, began, counter))
    differences = [abs(one.loss_ / together[i].loss_ - 1) for i, one in zip(numbers, apart) if one.loss_ > 0]
    rows[-1]["loss off by, median"] = float(np.median(differences))
    rows[-1]["whole grid s"] = rows[-1]["s/fit"] * n_models
    for one in rows[:-1]:
        one["times faster"] = rows[-1]["whole grid s"] / one["seconds"]
    return rows


# Where the state of L-BFGS is kept.


def host_step(n: int, iterations: int = 100) -> float:
    """Seconds that SciPy takes for an iteration, less those of the function."""
    rng = np.random.default_rng(0)
    scales, spent = rng.uniform(1.0, 1000.0, n), 0.0

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal spent
        began = time.perf_counter()
        result = float(0.5 * x @ (scales * x) + np.cos(x).sum()), scales * x - np.sin(x)
        spent += time.perf_counter() - began
        return result

    options = {"maxiter": iterations, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    began = time.perf_counter()
    result = minimize(function, rng.normal(size=n), jac=True, method="L-BFGS-B", options=options)
    return (time.perf_counter() - began - spent) / result.nit


def device_step(n: int, n_fits: int, recorded: bool, device: str, rounds: int = 100) -> float:
    """Seconds of one direction by the two-loop recursion, of all fits, until the host has it."""
    import torch

    generator = torch.Generator(device=device).manual_seed(0)
    S, Y = (torch.randn(MEMORY, n_fits, n, dtype=torch.float64, device=device, generator=generator) for _ in range(2))
    gradient = torch.randn(n_fits, n, dtype=torch.float64, device=device, generator=generator)

    def direction() -> torch.Tensor:
        q, factors = gradient.clone(), []
        scales = 1.0 / (S * Y).sum(-1, keepdim=True)
        for i in reversed(range(MEMORY)):
            factors.append(scales[i] * (S[i] * q).sum(-1, keepdim=True))
            q -= factors[-1] * Y[i]
        q *= (S[-1] * Y[-1]).sum(-1, keepdim=True) / (Y[-1] * Y[-1]).sum(-1, keepdim=True)
        for i in range(MEMORY):
            q += (factors[MEMORY - 1 - i] - scales[i] * (Y[i] * q).sum(-1, keepdim=True)) * S[i]
        return q

    run: Callable[[], torch.Tensor] = direction
    for _ in range(3):
        result = direction()
    if recorded:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = direction()

        def run() -> torch.Tensor:
            graph.replay()
            return result

    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        float(run()[0, 0])
        best = min(best, time.perf_counter() - began)
    return best


def states(quick: bool) -> common.Rows:
    rows: common.Rows = []
    has_torch = find_spec("torch") is not None
    for k, n_attributes in STATES[:2] if quick else STATES:
        n = (k + 1) * n_attributes
        host = 1000 * min(host_step(n) for _ in range(3))
        found: dict[str, Any] = {"parameters": n, "SciPy, ms/step of 1": host, f"of {MANY}": MANY * host}
        if has_torch:
            from ifair.engines.torch import default_device

            device = default_device()
            for n_fits in (1, MANY):
                for recorded in (False, True) if device == "cuda" else (False,):
                    name = f"torch on {device}{', recorded' if recorded else ''}, ms/direction of {n_fits}"
                    found[name] = 1000 * device_step(n, n_fits, recorded, device, rounds=5 if quick else 100)
        rows.append(found)
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--data", nargs="*", default=list(SIZES), choices=list(SIZES), help="which datasets")
    parser.add_argument("--engine", default="torch" if find_spec("torch") else "local", help="as for IFair")
    parser.add_argument(
        "--jobs", type=int, nargs="*", default=[1], help="n_jobs of fits at once: processes for L-BFGS beside a device"
    )
    parser.add_argument("--alone", type=int, metavar="N", help="time so many fits one after the other; default: all")
    parser.add_argument("--all", action="store_true", help="all 35 pairs of the paper's coefficients")
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    title = f"The paper's grid, iFair-b, three restarts, engine {chosen.engine}"
    where = states(chosen.quick)
    print(f"\nA step of L-BFGS, {MEMORY} steps remembered\n\n{common.table(where)}", flush=True)
    rows: common.Rows = []
    for name in chosen.data[:1] if chosen.quick else chosen.data:
        rows += compared(name, chosen)
        print(f"\n{common.table(rows)}", flush=True)
    rows = [*rows, *({"data": "step of L-BFGS", "way": f"{one['parameters']} parameters", **one} for one in where)]
    return common.report(title, rows, machine, chosen.json, "Whole grids by --alone fits are extrapolated from those.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
