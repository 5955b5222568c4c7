"""The paper's whole grid of one dataset as one batched problem, against one fit after the other.

    python benchmarks/bench_many.py [--json FILE] [--quick] [--data credit compas] [--engine torch] [--alone 6]

iFair-b on the training thirds of German Credit and COMPAS: K = 10, 20, 30, the 17 distinct ratios of lambda and mu
among the paper's coefficients (with --all its 35 pairs), three restarts, at most 1,000 iterations, in one process.
Without the file of COMPAS a made-up table of its size is taken, and the row says so. --alone limits how many of the
fits, spread evenly over the grid, are timed one after the other; seconds of the rest are then extrapolated.
"evaluating s" is the time from orders to reports: all steps, values, gradients and inner products, on the device where
there is one. "rest s" is what is left: preparing, recording where that is done, and decisions about steps on the host.
"""

import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

import common
from ifair import Encoder, IFair, fit_many
from ifair.data import load, thirds
from ifair.reproduce.profiles import COEFFICIENTS, DIMENSIONS, ratios

SEARCH = {"n_restarts": 3, "max_iter": 1000, "tol": 1e-3}
SIZES = {"credit": (334, 66), "compas": (2300, 265)}


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
            freeze_protected=False,
            init="k-means++",
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

    def models() -> list[IFair]:
        return grid(protected, chosen.engine, weights, dimensions, **search)

    # Libraries and devices are set up before anything is timed.
    fit_many(grid(protected, chosen.engine, weights[-1:], (2,), **(search | {"max_iter": 3})), X)
    rows: common.Rows = []
    with common.counted() as counter:
        began = time.perf_counter()
        together = fit_many(models(), X)
        rows.append(row(called, X, "at once", together, began, counter))
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
    rows[-1]["95 % below"] = float(np.quantile(differences, 0.95))
    rows[-1]["whole grid s"] = rows[-1]["s/fit"] * n_models
    for one in rows[:-1]:
        one["times faster"] = rows[-1]["whole grid s"] / one["seconds"]
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--data", nargs="*", default=list(SIZES), choices=list(SIZES), help="which datasets")
    parser.add_argument("--engine", default="torch" if find_spec("torch") else "local", help="as for IFair")
    parser.add_argument("--alone", type=int, metavar="N", help="time so many fits one after the other; default: all")
    parser.add_argument("--all", action="store_true", help="all 35 pairs of the paper's coefficients")
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    title = f"The paper's grid, iFair-b, three restarts, engine {chosen.engine}"
    rows: common.Rows = []
    for name in chosen.data[:1] if chosen.quick else chosen.data:
        rows += compared(name, chosen)
        print(f"\n{common.table(rows)}", flush=True)
    return common.report(title, rows, machine, chosen.json, "Whole grids by --alone fits are extrapolated from those.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
