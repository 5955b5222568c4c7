"""How time and memory of a fit grow with records M, prototypes K and attributes N; LFR and its peers beside it.

    python benchmarks/bench_growth.py [--json FILE] [--plot FILE.svg] [--largest] [--seconds 600] [--peer-seconds 20]

Fits of made-up records on one thread, one start and three iterations each: IFair with 100 landmarks and with moments,
and LFR by ifair, fairlearn and AIF360 where these are installed, as far as a fit takes no longer than
--peer-seconds. M grows from 1,000 to 1,000,000 (10,000,000 with ``--largest``) at N = 20, K = 10; K and N grow at
M = 20,000. Measured exponents are slopes of log time against log size, of processor seconds: of the evaluations
within the fit, and of the whole fit, in which small tables pay for checks and start-up as large ones do.

Every series of fits runs in a process of its own. Peak memory is that above the table itself.
"""

import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

import common
import lfr_vs_peers
from ifair import IFair
from ifair.core.objective import Objective

M, K, N, LANDMARKS, ITERATIONS = 20_000, 10, 20, 100, 3
RECORDS = (1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)
PROTOTYPES = (5, 10, 20, 40, 80)
ATTRIBUTES = (10, 20, 40, 80, 160, 320)
QUICK = {"records": (1000, 10_000, 100_000), "prototypes": (10, 40), "attributes": (20, 80)}
OURS = {f"{LANDMARKS} landmarks": LANDMARKS, "moments": "moments"}
PEERS = {"LFR, ifair": "ifair", "LFR, AIF360": "aif360", "LFR, fairlearn": "fairlearn"}
STEP = 3.2
"""How much longer the next size takes, at the least."""
LEAST_SECONDS = 0.5
"""Fits are repeated for so long, and the best is taken."""


def one_fit(pairs: Any, n_records: int, n_attributes: int, n_prototypes: int) -> dict[str, float]:
    """Seconds of a fit and of one of its evaluations, and the peak of memory."""
    X = common.made_up(n_records, n_attributes)
    evaluations: list[float] = []
    original = Objective.value_and_grad

    def timed(self: Objective, parameters: Any) -> Any:
        began = time.process_time()
        result = original(self, parameters)
        evaluations.append(time.process_time() - began)
        return result

    best, one = common.Time(np.inf, np.inf), np.inf

    def fit() -> None:
        nonlocal best, one
        warnings.simplefilter("ignore")
        evaluations.clear()
        options: Any = {"n_restarts": 1, "max_iter": ITERATIONS, "tol": 0.0, "n_jobs": 1, "random_state": 0}
        wall, cpu = time.perf_counter(), time.process_time()
        IFair(n_prototypes, protected=[0], pairs=pairs, **options).fit(X)
        best = common.Time(min(best.wall, time.perf_counter() - wall), min(best.cpu, time.process_time() - cpu))
        one = min(one, float(np.median(evaluations)))

    with threadpool_limits(1), patch.object(Objective, "value_and_grad", timed):
        began = time.perf_counter()
        megabytes = common.megabytes_above(fit)
        while time.perf_counter() - began < LEAST_SECONDS:
            fit()
    return {
        "fit s": best.wall,
        "CPU s": best.cpu,
        "evaluations": len(evaluations),
        "CPU ms/evaluation": 1000 * one,
        "peak MB above": megabytes,
    }


def peer_fit(package: str, n_records: int) -> dict[str, float]:
    """The same for an LFR."""
    X = common.made_up(n_records, N)
    rng = np.random.default_rng(0)
    group = X[:, -1] > 0
    y = (X[:, 0] + 0.5 * group + rng.normal(size=n_records) > 0).astype(int)
    options: Any = {"max_iter": ITERATIONS, "random_state": 0}
    if package == "ifair":
        make = lfr_vs_peers.ours(n_restarts=1, tol=0.0, **options)
    elif package == "aif360":
        make = lfr_vs_peers.aif360s(tol=0.0, **options)
    else:
        make = lfr_vs_peers.fairlearns(**options)
    if find_spec("torch") is not None and package == "aif360":
        import torch

        torch.set_num_threads(1)
    took = common.Time(np.inf, np.inf)

    def fit() -> None:
        nonlocal took
        wall, cpu = time.perf_counter(), time.process_time()
        make(X, y, group)
        took = common.Time(time.perf_counter() - wall, time.process_time() - cpu)

    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        make(X[:200], y[:200], group[:200])  # the first call imports and sets up
        megabytes = common.megabytes_above(fit)
    return {"fit s": took.wall, "CPU s": took.cpu, "peak MB above": megabytes}


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of log seconds against log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def with_exponents(rows: common.Rows) -> common.Rows:
    """Rows of one method along one size, with the exponents of the fit and of an evaluation."""
    sizes = [row["size"] for row in rows]
    slopes = {
        name: exponent(sizes, [row[field] for row in rows])
        for name, field in (("exponent, evaluation", "CPU ms/evaluation"), ("exponent, fit", "CPU s"))
        if len(rows) > 1 and field in rows[0]
    }
    return [row | slopes for row in rows]


def grown(name: str, pairs: Any, along: str, sizes: tuple[int, ...], longest: float) -> common.Rows:
    rows: common.Rows = []
    with common.fresh_process() as process:
        for size in sizes:
            shape = {"M": M, "N": N, "K": K} | {along: size}
            took = process.submit(one_fit, pairs, shape["M"], shape["N"], shape["K"]).result()
            rows.append({"what": name, "along": along, "size": size, **took})
            print(common.table(rows[-1:]).splitlines()[-1], flush=True)
            if took["fit s"] > longest / STEP:
                break
    return with_exponents(rows)


def peers(sizes: tuple[int, ...], longest: float) -> tuple[common.Rows, list[str]]:
    rows: common.Rows = []
    missing = []
    for name, package in PEERS.items():
        if find_spec(package) is None:
            missing.append(package)
            continue
        found: common.Rows = []
        with common.fresh_process() as process:
            for size in sizes:
                took = process.submit(peer_fit, package, size).result()
                found.append({"what": name, "along": "M", "size": size, **took})
                print(common.table(found[-1:]).splitlines()[-1], flush=True)
                if took["fit s"] > longest / STEP:
                    break
        rows += with_exponents(found)
    return rows, missing


def plot(rows: common.Rows, file: Path) -> None:
    """Seconds of a fit and peak memory against M, both on logarithmic scales."""
    import matplotlib
    from matplotlib.figure import Figure

    colours = {f"{LANDMARKS} landmarks": "#0072B2", "moments": "#009E73"}
    colours |= {"LFR, ifair": "#E69F00", "LFR, AIF360": "#CC79A7", "LFR, fairlearn": "#D55E00"}
    markers = dict(zip(colours, "os^vD"))
    figure = Figure(figsize=(7.6, 3.8), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for name, colour in colours.items():
        found = [row for row in rows if row["what"] == name and row["along"] == "M"]
        if not found:
            continue
        sizes = [row["size"] for row in found]
        label = name if name.startswith("LFR") else f"iFair, {name}"
        style: Any = {"color": colour, "marker": markers[name], "markersize": 4, "linewidth": 1.4}
        time_axes.plot(sizes, [row["CPU s"] for row in found], label=label, **style)
        memory_axes.plot(sizes, [max(row["peak MB above"], 0.1) for row in found], **style)
    for axes, title in ((time_axes, "processor seconds of a fit"), (memory_axes, "peak memory above the table, MB")):
        axes.set(xscale="log", yscale="log", xlabel="records", title=title)
        axes.title.set_fontsize(10)
        axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    with matplotlib.rc_context({"svg.hashsalt": "ifair", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None})


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--largest", action="store_true", help="up to ten million records instead of one")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="also draw time and memory against records, as SVG")
    parser.add_argument("--seconds", type=float, default=600.0, help="longest fit: larger sizes are left out")
    parser.add_argument("--peer-seconds", type=float, default=20.0, help="longest fit of an LFR; 0: no LFR at all")
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    sizes = {"M": RECORDS if chosen.largest else RECORDS[:-2], "K": PROTOTYPES, "N": ATTRIBUTES}
    if chosen.quick:
        sizes = {"M": QUICK["records"], "K": QUICK["prototypes"], "N": QUICK["attributes"]}
    rows: common.Rows = []
    for along, steps in sizes.items():
        for name, pairs in OURS.items():
            rows += grown(name, pairs, along, steps, chosen.seconds)
    missing: list[str] = []
    if chosen.peer_seconds > 0 and not chosen.quick:
        more, missing = peers(tuple(size for size in sizes["M"] if size <= 1_000_000), chosen.peer_seconds)
        rows += more
    if chosen.plot is not None:
        plot(rows, chosen.plot)
    slopes = {(row["what"], row["along"]): row for row in rows}
    notes = "Measured exponents, of an evaluation and of a fit:\n" + "\n".join(
        f"  {what:<16} {along}  {row.get('exponent, evaluation', np.nan):.2f}  {row.get('exponent, fit', np.nan):.2f}"
        for (what, along), row in slopes.items()
    )
    if missing:
        notes += f"\nNot installed, left out: {', '.join(missing)}."
    title = f"Growth of a fit of {ITERATIONS} iterations: M = {M:,}, N = {N}, K = {K} unless it grows; one thread"
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
