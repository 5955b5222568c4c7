"""Neighbour graphs, smoothed scores and minimum cuts: on processors, or on a device of PyTorch.

    python benchmarks/bench_graph.py [--jobs 2] [--quick] [--json FILE]
    python benchmarks/bench_graph.py --device cuda [--quick] [--only census million]

On processors: Census whole (48,842 x 100; from ``$IFAIR_DATA`` where that is set, else made up) with k = 10 and
strength 0.2. On a device: the graph of Census and of a million made-up people x 100 beside plain torch (products in
single precision and ``topk``, 4,096 people at a time), and smoothing them. "goal s" is what the project set itself.
"other rows" counts people whose neighbours are not the exact ones: of plain torch, in single precision.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

import common
from bench_measures import census
from ifair.graph import NeighbourIndex, minimum_cut, neighbour_graph, newcomer_scores, smooth_with_certificate
from ifair.metrics import nearest_neighbours

K, STRENGTH = 10, 0.2


def scores_of(X: Any) -> np.ndarray:
    """Probabilities of a made-up model."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    return 1 / (1 + np.exp(1 - 2 * (X @ direction) - 0.5 * rng.normal(size=len(X))))


def on_processors(n_people: int, jobs: int) -> common.Rows:
    X, source = census(n_people)
    p, rows = scores_of(X), list[dict[str, Any]]()

    def row(what: str, work: Callable[[], Any], goal: float | None = None, times: int = 1, **more: Any) -> Any:
        took, result = common.time_work(work)
        rows.append({"what": what, "seconds": took.wall / times, "CPU s": took.cpu / times, "goal s": goal, **more})
        return result

    size = f"{source} {X.shape[0]:,} x {X.shape[1]}"
    found = row(f"nearest_neighbours, {size}", lambda: nearest_neighbours(X, K, n_jobs=jobs))
    graph = row(f"neighbour_graph, {size}", lambda: neighbour_graph(X, K, n_jobs=jobs))
    assert abs(neighbour_graph(neighbours=found) - graph).max() == 0, "both searches are exact"
    for tol in (1e-5, 1e-6):
        smoothed = row(f"smooth, gap {tol:g}", lambda tol=tol: smooth_with_certificate(p, graph, STRENGTH, tol=tol))
        rows[-1] |= {"iterations": smoothed.n_iter, "gap": smoothed.relative_gap}
    both = {name: rows[1][name] + rows[-1][name] for name in ("seconds", "CPU s")}
    rows.append({"what": "graph and smoothing together", **both, "goal s": 8.0})
    squared = row("squared, gap 1e-10", lambda: smooth_with_certificate(p, graph, STRENGTH, "squared", tol=1e-10))
    rows[-1] |= {"iterations": squared.n_iter, "gap": squared.relative_gap}
    some = min(n_people, 3000)
    part = neighbour_graph(X[:some], K)
    row(f"squared, {some:,} people", lambda: smooth_with_certificate(p[:some], part, STRENGTH, "squared", tol=1e-10))
    laplacian = sparse.diags_array(part.sum(axis=1)) - part
    system = (sparse.eye_array(some) + 4 * STRENGTH * laplacian).tocsc()
    row(f"the same by factors of the matrix, {some:,} people", lambda: splu(system).solve(p[:some]))
    row("minimum_cut at 0.5", lambda: minimum_cut(p - 0.5, graph, STRENGTH))
    index = row("NeighbourIndex, prepared", lambda: NeighbourIndex(X))
    index.nearest(X[:1], K)

    def newcomers(n: int, times: int) -> None:
        for i in range(times):
            near, _ = index.nearest(X[i : i + n] + 0.01, K)
            newcomer_scores(p[i : i + n], smoothed.scores[near], STRENGTH)

    row("one newcomer", lambda: newcomers(1, 50), 1e-3, times=50)
    row("a newcomer among 256", lambda: newcomers(256, 4), 1e-3, times=4 * 256)
    return rows


def plain_torch(X: Any, k: int, rows_at_once: int = 4096) -> Any:
    """Products in single precision and topk: what one would write first."""
    import torch

    X = X.float()
    squares = (X * X).sum(dim=1)
    found = []
    for start in range(0, len(X), rows_at_once):
        block = X[start : start + rows_at_once]
        distance = torch.addmm(squares, block, X.T, alpha=-2)
        own = torch.arange(len(block), device=X.device)
        distance[own, own + start] = torch.inf
        found.append(distance.topk(k, dim=1, largest=False).indices)
    return torch.cat(found)


def on_device(device: str, parts: list[str], quick: bool) -> common.Rows:
    import torch

    from ifair.core.nearest_torch import nearest

    accelerated = torch.device(device).type == "cuda"

    def wait() -> None:
        if accelerated:
            torch.cuda.synchronize()

    def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
        best, result = np.inf, work()
        for _ in range(rounds):
            wait()
            began = time.perf_counter()
            result = work()
            wait()
            best = min(best, time.perf_counter() - began)
        return best, result

    def peak(work: Callable[[], Any]) -> float | None:
        if not accelerated:
            return None
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        return (torch.cuda.max_memory_allocated() - before) / 1e9

    sizes = {"census": 2_000 if quick else 48_842, "million": 4_000 if quick else 1_000_000}
    goals = {"census": 0.3, "million": 8.0}
    rows: common.Rows = []

    def measure(name: str) -> None:
        n = sizes[name]
        X = census(n)[0] if name == "census" else common.made_up(n, 100)
        people, rounds = torch.from_numpy(X).to(device), 3 if name == "census" else 1
        what = f"{n:,} x {X.shape[1]}"
        took, graph = timed(lambda: neighbour_graph(people, K), rounds)
        rows.append({"what": f"neighbour_graph, {what}", "seconds": took, "goal s": goals[name], "other rows": 0})
        rows[-1]["peak GB"] = peak(lambda: nearest(people, K))
        search, exact = timed(lambda: nearest(people, K)[0], rounds)
        rows.append({"what": f"its search alone, {what}", "seconds": search})
        plain, rough = timed(lambda: plain_torch(people, K), rounds)
        other = int((rough.sort(dim=1)[0] != exact.sort(dim=1)[0]).any(dim=1).sum())
        rows.append({"what": f"plain torch, search alone, {what}", "seconds": plain, "ratio": plain / search})
        rows[-1] |= {"other rows": other, "peak GB": peak(lambda: plain_torch(people, K))}
        if name == "census":
            sample = np.random.default_rng(0).choice(n, size=min(n, 2000), replace=False)
            near = NeighbourIndex(X).nearest(X[sample], K + 1)[0]
            here = [set(line[line != i][:K]) for i, line in zip(sample, near)]
            there = [set(line) for line in exact[torch.from_numpy(sample).to(device)].tolist()]
            rows[0]["other rows"] = sum(a != b for a, b in zip(here, there))
        p = torch.from_numpy(scores_of(X)).to(device)
        for tol, goal in ((1e-4, 2.0 if name == "million" else None), (1e-6, None)):
            took, smoothed = timed(lambda tol=tol: smooth_with_certificate(p, graph, STRENGTH, tol=tol), rounds)
            row = {"what": f"smooth, {n:,} people, gap {tol:g}", "seconds": took, "goal s": goal}
            edges = graph.values().numel() // 2
            rows.append(row | {"iterations": smoothed.n_iter, "gap": smoothed.relative_gap, "edges": edges})
        rows[-1]["peak GB"] = peak(lambda: smooth_with_certificate(p, graph, STRENGTH, tol=1e-4))
        took, _ = timed(lambda: smooth_with_certificate(p, graph, STRENGTH, "squared", tol=1e-6), rounds)
        rows.append({"what": f"squared, {n:,} people, gap 1e-06", "seconds": took})

    for name in parts:
        measure(name)
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="threads of the neighbour search")
    parser.add_argument("--device", help="of PyTorch, such as cuda; by default processors")
    parser.add_argument("--only", nargs="+", choices=("census", "million"), default=["census", "million"])
    options = parser.parse_args(arguments)
    machine = common.Machine()
    if options.device:
        rows = on_device(options.device, options.only, options.quick)
        return common.report(f"Graphs on {options.device}", rows, machine, options.json)
    rows = on_processors(3_000 if options.quick else 48_842, options.jobs)
    notes = f"{options.jobs} threads search for neighbours; all else is on one."
    return common.report("Graphs on processors", rows, machine, options.json, notes)


if __name__ == "__main__":
    main()
