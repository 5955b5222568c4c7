"""All pairs and landmarks on a CUDA device, in one kernel per tile and in steps, and how far that is from its limits.

    python benchmarks/gpu.py [--json FILE] [--quick] [--only census million fits host profile]

census: one evaluation of loss and gradient of all pairs of 48,842 x 101 made-up records (Census whole), K = 20, with
and without weights in the distance. million: all 10^12 pairs of a million records of 101 columns. fits: a million
records x 101, 4,096 landmarks, 200 iterations from one start, from a CUDA tensor to the fitted model. host: what of an
iteration the solver takes, which keeps its state on the host. profile: why it is not faster.

"off by" is the largest difference of the gradient from that in steps and double precision, relative to its largest
entry. Limits are measured in the same run: products of large matrices in half precision, and copies within the device.
Operations are those that tensor cores perform, three products for one of single precision, on widths padded to what
they like; "needed" are those of the formulas, of pairs counted once. Bytes are the sums that tiles write and read
again. A fit's seconds include checks, the copies to the host and back, and drawing the start.

The profile has, for both distances: the time of every kernel of an evaluation; what the fused tile takes of a
multiprocessor (registers per thread, spilled ones, shared memory), how many blocks and warps of it that leaves room
for, and what allows no more; and one launch of it beside the same with only its products, with one product of halves
for every three, and with all products twice. If a tile's products alone took x % of its time and the rest could not
overlap with them, products twice would take 100 + x %; less is overlap.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import common
import gpu_profile
from ifair import IFair
from ifair.core.euclidean_pairs import pair_kernel
from ifair.core.mapping import Parameters
from ifair.core.pairs import AllPairs
from ifair.engines.torch import TorchEngine
from ifair.engines.triton_pairs import SHAPES, FusedPairs

K, N, N_PROTECTED = 20, 101, 2
COUNTS = np.arange(N) < N - N_PROTECTED
PARTS = ("census", "million", "fits", "host", "profile")


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best time of work on the device, after a first try."""
    work()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return min(times)


def limits() -> tuple[float, float]:
    """Operations and bytes per second."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    product = seconds(lambda: a @ a, 10)
    b = torch.empty(2**31, device="cuda", dtype=torch.uint8)
    copy = seconds(lambda: b.clone(), 10)
    return 2 * 8192**3 / product, 2 * 2**31 / copy


def costs(n_records: int, weighted: bool, kernel: Any) -> tuple[float, float, float]:
    """Operations on tensor cores, those that are needed, and bytes of sums, of an evaluation of all pairs."""
    pairs, used = 0.5 * n_records**2, N - N_PROTECTED
    side = kernel.side(*_few_records(), Parameters(torch.ones(K, N, **DOUBLES), torch.ones(N, **DOUBLES)))
    wide, narrow = side.input_left.shape[1] // 2, side.left.shape[1] // 2
    performed = 6.0 * pairs * (wide * (2 if weighted else 1) + 3 * narrow)
    needed = 2.0 * pairs * (used * (2 if weighted else 1) + 3 * K)
    written = 4.0 * pairs * (narrow + 1) * (1 / SHAPES[weighted].rows + 1 / 1024)
    return performed, needed, 2.0 * written


DOUBLES = {"dtype": torch.float64, "device": "cuda"}


def _few_records() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(2, N, **DOUBLES), torch.full((2, K), 1.0 / K, **DOUBLES)


def evaluations(n_records: int, names: list[str], rounds: int, peak: tuple[float, float]) -> common.Rows:
    """Rows for every way named: fused, in steps, in steps and double precision."""
    X, rows = common.made_up(n_records, N), []
    at = common.start(X[:3000], K, ~COUNTS, seed=1)
    for weighted in (True, False):
        gradients: dict[str, Any] = {}
        for name in names:
            with TorchEngine(X, device="cuda", fused=name == "one kernel") as engine:
                kernel = pair_kernel(engine, COUNTS, K, weighted=weighted, single="double" not in name)
                pairs = AllPairs(kernel)
                objective = common.objective(engine, ~COUNTS, K, pairs=pairs)
                gradients[name] = objective.value_and_grad(at)[1].prototypes
                took = seconds(lambda o=objective: o.value_and_grad(at), rounds)
            row = {"records": n_records, "distance": "weighted" if weighted else "plain", "tiles": name}
            row |= {"ms": 1e3 * took, "pairs/s, 10^9": 0.5 * n_records**2 / took / 1e9}
            if isinstance(kernel, FusedPairs):
                performed, needed, moved = costs(n_records, weighted, kernel)
                row |= {"TFLOP/s": performed / took / 1e12, "of the limit": performed / took / peak[0]}
                row |= {"needed TFLOP/s": needed / took / 1e12, "GB/s": moved / took / 1e9}
                row |= {"of the bandwidth": moved / took / peak[1]}
            rows.append(row)
        *others, exact = gradients.values()
        for row, gradient in zip(rows[-len(names) :], others):
            row["off by"] = float(np.abs(gradient - exact).max() / np.abs(exact).max())
    return rows


def fits(n_records: int, n_landmarks: int, n_iter: int) -> common.Rows:
    rows = []
    table = torch.from_numpy(common.made_up(n_records, N)).cuda()
    for distance in ("weighted", "euclidean"):
        options = {"protected": list(range(N - N_PROTECTED, N)), "pairs": n_landmarks, "fairness_distance": distance}
        model = IFair(K, **options, n_restarts=1, max_iter=n_iter, tol=0.0, random_state=0)
        began = time.perf_counter()
        model.fit(table)
        row = {"records": n_records, "landmarks": n_landmarks, "distance": distance, "iterations": model.n_iter_}
        rows.append(row | {"seconds": time.perf_counter() - began, "loss": model.loss_})
    return rows


def host_share(sizes: list[tuple[int, int]], n_iter: int = 200) -> common.Rows:
    """Seconds of a fit in evaluations, which wait for the device, and in the rest, which is the solver's."""
    rows = []
    for n_records, n_attributes in sizes:
        X, marks = common.made_up(n_records, n_attributes), list[float]()
        options = {"protected": [n_attributes - 1], "pairs": "all", "engine": "torch"}
        model = IFair(K, **options, n_restarts=1, max_iter=n_iter, tol=0.0, random_state=0)
        model.fit(X)  # a first time, for compilers
        model.set_params(callback=lambda *_, marks=marks: marks.append(time.perf_counter()))
        with common.counted() as counter:
            model.fit(X)
        # From the first iteration to the last: without checks, start and the closing sums.
        whole = (marks[-1] - marks[0]) / (len(marks) - 1)
        evaluation = counter.seconds / counter.calls * (counter.calls - 1) / (len(marks) - 1)
        row = {"records": n_records, "attributes": n_attributes, "parameters": K * n_attributes + n_attributes}
        row |= {"ms an iteration": 1e3 * whole, "evaluations, ms": 1e3 * evaluation}
        rows.append(row | {"solver on the host, ms": 1e3 * max(0.0, whole - evaluation)})
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    chosen = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        raise SystemExit("there is no CUDA device here, and nothing to measure")
    warnings.simplefilter("ignore")
    machine, small = common.Machine(), chosen.quick
    rows: common.Rows = []
    peak = limits()
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}: {peak[0] / 1e12:.0f} TFLOP/s in half precision, "
        f"{peak[1] / 1e9:,.0f} GB/s"
    )
    if "census" in chosen.only:
        ways = ["one kernel", "in steps", "in steps, double"]
        found = evaluations(8_000 if small else 48_842, ways, 5, peak)
        rows += common.report("All pairs of Census whole", found, machine, None)
    if "million" in chosen.only:
        found = evaluations(65_536 if small else 1_000_000, ["one kernel"], 1, peak)
        rows += common.report("All pairs of a million records", found, machine, None)
    if "fits" in chosen.only:
        found = fits(50_000 if small else 1_000_000, 4096, 20 if small else 200)
        rows += common.report("Fits with landmarks", found, machine, None)
    if "host" in chosen.only:
        found = host_share([(333, 67), (2300, 431)] if small else [(333, 67), (2300, 431), (16_281, 101)])
        rows += common.report("The solver's share of an iteration", found, machine, None)
    if "profile" in chosen.only:
        for n_records in [8_000] if small else [48_842, 1_000_000]:
            X = common.made_up(n_records, N)
            rows += gpu_profile.profile(X, COUNTS, K, machine, apart=n_records < 1_000_000)
    if chosen.json:
        common.report("All of it", rows, machine, chosen.json)
    return rows


if __name__ == "__main__":
    main()
