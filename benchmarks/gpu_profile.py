"""What limits all pairs on a CUDA device: ``python benchmarks/gpu.py --only profile``, whose page tells what is shown.

Times of kernels are those of torch's profiler. What the fused tile is made of is found by replaying one launch of it
with other kernels in its place: its products alone, one product of halves for every three, and all products twice.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np
import torch
import triton
import triton.language as tl

import common
from ifair.core.euclidean_pairs import pair_kernel
from ifair.core.pairs import AllPairs
from ifair.engines import triton_pairs
from ifair.engines.torch import TorchEngine
from ifair.engines.triton_pairs import _dot, _tile

NAMED = 6
"""Kernels that have a row of their own."""

REGISTERS = 65_536
"""Of a multiprocessor, where torch does not say."""


class Launches:
    """Stands in for the fused tile, performs it, and keeps one launch: of two different sides, if there is any."""

    def __init__(self) -> None:
        self.grid: Any = None
        self.arguments: dict[str, Any] = {}
        self.compiled: Any = None

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def launch(*arguments: Any, **options: Any) -> Any:
            compiled, named = _tile[grid](*arguments, **options), dict(zip(_tile.arg_names, arguments)) | options
            if not self.arguments or (self.arguments["same"] and not named["same"]):
                self.grid, self.arguments, self.compiled = grid, named, compiled
            return compiled

        return launch

    def replay(self, kernel: Any) -> None:
        """Launch another kernel on those of the arguments that it takes, in as many warps and stages."""
        names = *kernel.arg_names, "num_warps", "num_stages"
        kernel[self.grid](**{name: self.arguments[name] for name in names})

    @property
    def pairs(self) -> float:
        n_a, n_b, same = (self.arguments[name] for name in ("n_a", "n_b", "same"))
        return n_a * n_b / (2.0 if same else 1.0)


@contextlib.contextmanager
def evaluation(X: np.ndarray, counts: np.ndarray, n_prototypes: int, weighted: bool) -> Iterator[Callable[[], Any]]:
    """What evaluates loss and gradient of all pairs, by fused tiles, nothing recorded."""
    at = common.start(X[:3000], n_prototypes, ~counts, seed=1)
    with TorchEngine(X, device="cuda", recorded=False, fused=True) as engine:
        kernel = pair_kernel(engine, counts, n_prototypes, weighted=weighted, single=True)
        objective = common.objective(engine, ~counts, n_prototypes, pairs=AllPairs(kernel))
        yield lambda: objective.value_and_grad(at)


def kernel_shares(work: Callable[[], Any], about: dict[str, Any]) -> common.Rows:
    """Calls, milliseconds and share of every kernel; the shorter ones together."""
    cuda = torch.profiler.ProfilerActivity.CUDA
    with torch.profiler.profile(activities=[cuda]) as found:
        work()
        torch.cuda.synchronize()
    times: dict[str, list[float]] = {}
    for event in found.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times.setdefault(event.name, []).append(event.time_range.elapsed_us() / 1e3)
    if not times:
        raise RuntimeError("the profiler saw no kernel")
    total = sum(map(sum, times.values()))
    first, rest = (ranked := sorted(times.items(), key=lambda item: -sum(item[1])))[:NAMED], ranked[NAMED:]
    if rest:
        first.append((f"{len(rest)} others", [ms for _, each in rest for ms in each]))
    rows = [{"kernel": short(name), "calls": len(each), "ms": sum(each)} for name, each in first]
    return [about | row | {"share": row["ms"] / total} for row in rows]


def short(name: str) -> str:
    for word in ("void ", "at::native::", "(anonymous namespace)::"):
        name = name.replace(word, "")
    return name[:60]


def residency(compiled: Any, device: Any) -> dict[str, Any]:
    """What a compiled kernel takes, how many blocks of it a multiprocessor holds, and what allows no more."""
    warps, shared = compiled.metadata.num_warps, compiled.metadata.shared
    # Each quarter of a multiprocessor holds whole warps, in units of 8 registers per thread; a block takes 1 KB more.
    quarter = getattr(device, "regs_per_multiprocessor", REGISTERS) // 4
    most_warps = device.max_threads_per_multi_processor // 32
    fit = {"registers": 4 * (quarter // (32 * 8 * -(-compiled.n_regs // 8))) // warps}
    fit |= {"shared memory": device.shared_memory_per_multiprocessor // (shared + 1024), "warps": most_warps // warps}
    blocks = min(fit.values())
    row = {"registers": compiled.n_regs, "spilled": compiled.n_spills, "shared, KB": shared / 1024, "warps": warps}
    row |= {"blocks": blocks, "warps held": blocks * warps, "of": most_warps, "occupancy": blocks * warps / most_warps}
    return row | {"limited by": " and ".join(name for name, n in fit.items() if n == blocks)}


def milliseconds(work: Callable[[], Any], rounds: int = 5) -> float:
    """The best time on the device, after a first try."""
    times = []
    for _ in range(rounds + 1):
        began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        began.record()
        work()
        ended.record()
        torch.cuda.synchronize()
        times.append(began.elapsed_time(ended))
    return min(times[1:])


def variants() -> dict[str, Callable[[], Any]]:
    """Kernels by what they do of the fused tile, each made when it is asked for."""
    return {
        "whole": lambda: _tile,
        "products alone": lambda: _products,
        "one product for three": lambda: with_product(_one_product),
        "products twice": lambda: with_product(_products_twice),
    }


def with_product(dot: Any) -> Any:
    """The fused tile with another function where it multiplies matrices."""
    whole = _tile.fn
    copy = FunctionType(whole.__code__, {**whole.__globals__, "_dot": dot}, whole.__name__)
    copy.__annotations__, copy.__module__ = whole.__annotations__, whole.__module__
    return triton.jit(copy)


def take_apart(launches: Launches, about: dict[str, Any]) -> common.Rows:
    """Times of one launch of each variant, and what all pairs of a million records would take at this rate."""
    rows: common.Rows = []
    for name, make in variants().items():
        with or_say_why(f"{name}, {about['distance']} distance"):
            kernel = make()
            ms = milliseconds(lambda kernel=kernel: launches.replay(kernel))
            row = about | {"kernel": name, "ms": ms, "of the whole": ms / rows[0]["ms"] if rows else 1.0}
            rows.append(row | {"10^12 pairs, s": 1e-3 * ms * 0.5e12 / launches.pairs})
    return rows


@contextlib.contextmanager
def or_say_why(title: str) -> Iterator[None]:
    """Whatever a profiler, a compiler or a driver objects to: the other parts go on."""
    try:
        yield
    except Exception as error:
        print(f"\n{title}: not measured ({type(error).__name__}: {error})")


def profile(
    X: np.ndarray, counts: np.ndarray, n_prototypes: int, machine: common.Machine, *, apart: bool
) -> common.Rows:
    """Tables for the plain distance and the weighted one; ``apart``: also of the fused tile, with a line for each."""
    shares: common.Rows = []
    held: common.Rows = []
    parts: common.Rows = []
    for weighted in (False, True):
        about, launches = {"records": len(X), "distance": "weighted" if weighted else "plain"}, Launches()
        title = f"{about['distance']} distance"
        with (
            or_say_why(f"evaluations, {title}"),
            mock.patch.object(triton_pairs, "_tile", launches),
            evaluation(X, counts, n_prototypes, weighted) as work,
        ):
            launches.arguments.clear()  # of the trial
            if apart:
                work()  # a first time, for compilers
            with or_say_why(f"kernels, {title}"):
                shares += kernel_shares(work, about)
        if apart:
            with or_say_why(f"the tile on a multiprocessor, {title}"):
                held.append(about | residency(launches.compiled, torch.cuda.get_device_properties("cuda")))
            with or_say_why(f"the tile taken apart, {title}"):
                parts += take_apart(launches, about)
    tables = {"Kernels of an evaluation": shares, "The fused tile on a multiprocessor": held}
    for name, rows in (tables | {"One launch of the fused tile, taken apart": parts}).items():
        if rows:
            common.report(f"{name}, {len(X):,} records", rows, machine, None)
    for distance in ("plain", "weighted"):
        of_this = ([row for row in rows if row["distance"] == distance] for rows in (shares, held, parts))
        print(sum_up(distance, *of_this))
    return shares + held + parts


def sum_up(distance: str, shares: common.Rows, held: common.Rows, parts: common.Rows) -> str:
    """In words, as far as it was measured."""
    words = []
    if shares:
        tiles = sum(row["share"] for row in shares if row["kernel"].startswith("_tile"))
        words.append(f"{sum(row['ms'] for row in shares):,.1f} ms on the device, of this fused tiles {tiles:.0%}")
    found = {row["kernel"]: row["of the whole"] for row in parts}
    if alone := found.get("products alone"):
        words.append(f"of a tile, products alone {alone:.0%}, between the products {1.0 - alone:.0%}")
    if twice := found.get("products twice"):
        words.append(f"all products once more would add {twice - 1.0:.0%}")
    if once := found.get("one product for three"):
        words.append(f"splitting in halves costs {1.0 - once:.0%}")
    words += [
        f"a multiprocessor holds {row['blocks']} blocks, {row['warps held']} of {row['of']} warps "
        f"({row['occupancy']:.0%}), limited by {row['limited by']}; {row['spilled']} registers spilled"
        for row in held
    ]
    return f"{distance} distance: {'; '.join(words) or 'nothing measured'}"


@triton.jit
def _one_product(a_high, a_low, b_high, b_low, total):  # noqa: ARG001
    return tl.dot(a_high, b_high, total)


@triton.jit
def _products_twice(a_high, a_low, b_high, b_low, total):
    return _dot(a_high, a_low, b_high, b_low, _dot(a_high, a_low, b_high, b_low, total))


@triton.jit
def _products(
    a_left,
    a_right,
    a_inputs,
    b_right,
    b_inputs,
    loss_out,
    n_b,
    same,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    BLOCK: tl.constexpr,
    WEIGHTED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """The loads and products of a fused tile, of tables no wider than a block; between them a cast, so that the
    second ones wait for the first as they do there. The sum of everything is stored, or it would not be computed."""
    tl.static_assert(WIDE == BLOCK)
    block, turn = tl.program_id(0), tl.program_id(1)
    top = block * ROWS
    left_high, left_low = a_left.load([top, 0]), a_left.load([top, NARROW])
    u_i_high, u_i_low = a_right.load([top, 0]), a_right.load([top, NARROW])
    x_i_high, x_i_low = a_inputs.load([top, 0]), a_inputs.load([top, WIDE])
    rows_a, rows_b = tl.zeros([ROWS, NARROW], tl.float32), tl.zeros([COLUMNS, NARROW], tl.float32)
    if WEIGHTED:
        product = tl.zeros([ROWS, BLOCK], tl.float32)
    first = turn * CHUNK
    if same:
        first = tl.maximum(first, (top // COLUMNS) * COLUMNS)
    for start in range(first, tl.minimum((turn + 1) * CHUNK, n_b), COLUMNS):
        u_j_high, u_j_low = b_right.load([start, 0]), b_right.load([start, NARROW])
        x_j_high, x_j_low = b_inputs.load([start, 0]), b_inputs.load([start, WIDE])
        squared = _dot(left_high, left_low, u_j_high.T, u_j_low.T, tl.zeros([ROWS, COLUMNS], tl.float32))
        in_squared = _dot(x_i_high, x_i_low, x_j_high.T, x_j_low.T, tl.zeros([ROWS, COLUMNS], tl.float32))
        W_high, W_low = (squared * 2.0**-12).to(tl.float16), (in_squared * 2.0**-12).to(tl.float16)
        if WEIGHTED:
            product = _dot(W_low, W_high, x_j_high, x_j_low, product)
        rows_a += _dot(W_high, W_low, u_j_high, u_j_low, tl.zeros([ROWS, NARROW], tl.float32))
        rows_b += _dot(W_high.T, W_low.T, u_i_high, u_i_low, tl.zeros([COLUMNS, NARROW], tl.float32))
    total = tl.sum(rows_a) + tl.sum(rows_b)
    if WEIGHTED:
        total += tl.sum(product)
    tl.store(loss_out + turn * tl.num_programs(0) + block, total)
