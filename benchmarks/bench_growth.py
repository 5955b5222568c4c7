"""How time and memory of a fit grow with records M, prototypes K and attributes N; LFR and its peers beside it.

    python benchmarks/bench_growth.py [--json docs/results/growth.json] [--up-to 10000000] [--peer-seconds 60]
    python benchmarks/growth_page.py

Fits of made-up records on one thread, one start and three iterations each: IFair with 100 landmarks (in single
precision, as large tables have it) and with moments, from memory and from a memory map; and LFR by ifair, fairlearn and
AIF360 where these are installed. M grows from 1,000 to 10,000,000 at N = 20, K = 10, K and N at M = 20,000. A method is
left out from the size on whose fit is expected to take longer than --peer-seconds (ours: --seconds) or more memory than
there is, by the size before. Times are processor seconds, of a median evaluation within the fit and of the
whole fit; the exponents are explained in ``growth_page.py``, which draws the picture and writes the tables of the page.

Every series of fits runs in a process of its own. Peak memory is that above the table itself.
"""

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

import common
import lfr_vs_peers
from growth_page import FEWEST, slopes
from ifair import IFair
from ifair.core.objective import Objective

M, K, N, LANDMARKS, ITERATIONS = 20_000, 10, 20, 100, 3
RECORDS = (FEWEST, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)
PROTOTYPES = (5, 10, 20, 40, 80)
ATTRIBUTES = (10, 20, 40, 80, 160, 320)
QUICK: dict[str, tuple[int, ...]] = {"M": (1000, 10_000, 100_000), "K": (10, 40), "N": (20, 80)}
OURS: dict[str, Any] = {f"iFair, {LANDMARKS} landmarks": LANDMARKS, "iFair, moments": "moments"}
ON_DISK, ON_DISK_FROM = "iFair, moments, on disk", 100_000
PEERS = {"LFR, ifair": "ifair", "LFR, AIF360": "aif360", "LFR, fairlearn": "fairlearn"}
STEP = 3.2
"""How much longer the next size takes, and how much more memory."""
LEAST_SECONDS = 0.5
"""Fits are repeated for so long, and the best is taken."""


def one_fit(pairs: Any, n_records: int, n_attributes: int, n_prototypes: int, on_disk: bool = False) -> dict[str, Any]:
    """Seconds of a fit and of one of its evaluations, and the peak of memory."""
    X: Any = common.made_up(n_records, n_attributes)
    with tempfile.TemporaryDirectory() as folder:
        if on_disk:
            np.save(Path(folder) / "x.npy", X)
            X = Path(folder) / "x.npy"
        return _measure_fit(X, pairs, n_prototypes)


def _measure_fit(X: Any, pairs: Any, n_prototypes: int) -> dict[str, Any]:
    evaluations: list[float] = []
    original = Objective.value_and_grad

    def time_evaluation(self: Objective, parameters: Any) -> Any:
        began = time.process_time()
        result = original(self, parameters)
        evaluations.append(time.process_time() - began)
        return result

    options: Any = {"n_restarts": 1, "max_iter": ITERATIONS, "tol": 0.0, "n_jobs": 1, "random_state": 0}
    medians: list[float] = []

    def fit() -> None:
        warnings.simplefilter("ignore")
        evaluations.clear()
        IFair(n_prototypes, protected=[0], pairs=pairs, precision="single", **options).fit(X)
        medians.append(float(np.median(evaluations)))

    with threadpool_limits(1), patch.object(Objective, "value_and_grad", time_evaluation):
        best, megabytes = _repeat_fit(fit)
    return {
        "fit s": best.wall,
        "CPU s": best.cpu,
        "evaluations": len(evaluations),
        "CPU ms/evaluation": 1000 * min(medians),
        "peak MB above": megabytes,
    }


def _repeat_fit(fit: Callable[[], object]) -> tuple[common.Time, float]:
    """The best times of a fit that is repeated for a while, and the peak of memory of the first."""
    took: list[common.Time] = []
    began = time.perf_counter()
    megabytes = common.megabytes_above(lambda: took.append(common.time_work(fit)[0]))
    while time.perf_counter() - began < LEAST_SECONDS:
        took.append(common.time_work(fit)[0])
    return reduce(common.Time.best, took), megabytes


def peer_fit(package: str, n_records: int) -> dict[str, Any]:
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
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        make(X[:200], y[:200], group[:200])  # the first call imports and sets up
        best, megabytes = _repeat_fit(lambda: make(X, y, group))
    return {"fit s": best.wall, "CPU s": best.cpu, "peak MB above": megabytes}


class Growth:
    """The rows so far, written down after every series, and why some are missing."""

    def __init__(self) -> None:
        self.rows: common.Rows = []
        self.left_out: list[str] = []

    def series(
        self, what: str, along: str, sizes: tuple[int, ...], longest: float, fit: Callable[..., Any], of: Any
    ) -> None:
        """Fits of one method along one size, as far as they take neither too long nor too much memory."""
        with common.fresh_process() as process:
            for size, following in zip(sizes, (*sizes[1:], None)):
                try:
                    took = process.submit(fit, *of(size)).result()
                except Exception as error:  # whatever a peer, or the system, raises: the others go on
                    self.left_out.append(f"{what} at {size:,}: {type(error).__name__}: {error}")
                    return
                self.rows.append({"what": what, "along": along, "size": size, **took})
                print(common.table(self.rows[-1:]).splitlines()[-1], flush=True)
                problem = too_much(took, longest)
                if problem and following is not None:
                    self.left_out.append(f"{what} from {following:,} on: {problem}")
                    return


def too_much(took: dict[str, Any], longest: float) -> str:
    """Why the next size is not tried, or nothing."""
    seconds, megabytes = STEP * took["CPU s"], STEP * took["peak MB above"]
    if seconds > longest:
        return f"expected to take {seconds:,.0f} s, more than {longest:,.0f}"
    # The next table itself, and what it is made from, must fit beside that.
    there = 0.7 * common.available_megabytes()
    return f"expected to take {megabytes:,.0f} MB of {there:,.0f}" if megabytes > there else ""


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--up-to", type=int, default=RECORDS[-1], metavar="M", help="the most records")
    parser.add_argument("--seconds", type=float, default=300.0, help="longest fit of ours")
    parser.add_argument("--peer-seconds", type=float, default=60.0, help="longest fit of a peer; 0: no LFR at all")
    chosen = parser.parse_args(arguments)
    machine, growth = common.Machine(), Growth()
    sizes = QUICK if chosen.quick else {"M": RECORDS, "K": PROTOTYPES, "N": ATTRIBUTES}
    sizes = sizes | {"M": tuple(size for size in sizes["M"] if size <= chosen.up_to)}
    for along, steps in sizes.items():
        for name, pairs in OURS.items():

            def shape(size: int, pairs: Any = pairs, along: str = along) -> tuple[Any, ...]:
                shaped = {"M": M, "N": N, "K": K} | {along: size}
                return pairs, shaped["M"], shaped["N"], shaped["K"]

            growth.series(name, along, steps, chosen.seconds, one_fit, shape)
    if not chosen.quick:
        large = tuple(size for size in sizes["M"] if size >= ON_DISK_FROM)
        growth.series(ON_DISK, "M", large, chosen.seconds, one_fit, lambda size: ("moments", size, N, K, True))
        for name, package in PEERS.items() if chosen.peer_seconds > 0 else ():
            if find_spec(package) is None:
                growth.left_out.append(f"{name}: not installed")
                continue
            longest = chosen.seconds if package == "ifair" else chosen.peer_seconds
            growth.series(name, "M", sizes["M"], longest, peer_fit, lambda size, package=package: (package, size))
    found = common.table(slopes(growth.rows))
    notes = "\n".join([f"Measured exponents (growth_page.py tells how):\n\n{found}", "", *growth.left_out])
    title = f"Growth of a fit of {ITERATIONS} iterations: M = {M:,}, N = {N}, K = {K} unless it grows; one thread"
    return common.report(title, growth.rows, machine, chosen.json, notes, {"left out": growth.left_out})


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
