"""What the benchmarks share: timing, peak memory, data, objectives, and the table at the end.

A benchmark's ``main`` returns its rows and prints them as one table; ``--json FILE`` also writes them. Ratios are
between rows of one run. Times are the best of several rounds in which everything compared takes its turn, so that a
machine that is busy for a while does not fall on one row only; processor seconds are printed beside them.
"""

import argparse
import contextlib
import ctypes
import importlib
import json
import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ifair import Encoder
from ifair.core import mapping
from ifair.core.batch import Batch
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lbfgs import LIVE
from ifair.core.mapping import Parameters
from ifair.core.objective import Objective, Reconstruction, Term
from ifair.core.pairs import AllPairs
from ifair.core.problem import Problem
from ifair.core.solve import PATIENCE, minimise_many
from ifair.data import Dataset, load_credit
from ifair.encode import columns_of
from ifair.engines.engine import Engine
from ifair.models.starts import first_parameters

Rows = list[dict[str, Any]]


class Time(NamedTuple):
    """Seconds on the clock and of processors, the best of each."""

    wall: float
    cpu: float

    def best(self, other: "Time") -> "Time":
        return Time(min(self.wall, other.wall), min(self.cpu, other.cpu))


def time_work(work: Callable[[], Any]) -> tuple[Time, Any]:
    """The times of one piece of work, done once, and what it returns."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Time(time.perf_counter() - wall, time.process_time() - cpu), result


def best_times(
    works: Mapping[str, Callable[[], object]], rounds: int, before: Callable[[], object] = lambda: time.sleep(0.05)
) -> dict[str, Time]:
    """The best times of several pieces of work, which take turns.

    What comes ``before`` each is not counted: by default a rest, for threads of BLAS spin for a while after work.
    """
    best = {name: Time(np.inf, np.inf) for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            before()
            best[name] = best[name].best(time_work(work)[0])
    return best


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a module's function in a process of its own, whose peak memory is its own too."""
    with fresh_process() as process:
        return process.submit(function, *arguments).result()


def fresh_process() -> ProcessPoolExecutor:
    """A process of its own, to which functions of modules can be submitted."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def megabytes_above(work: Callable[[], object]) -> float:
    """Peak resident memory during the work above that before it, in MB (Linux)."""
    _give_back_freed_memory()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    except OSError:
        return float("nan")
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024


def _give_back_freed_memory() -> None:
    """What the C library keeps of earlier work would hide what this work takes."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def available_megabytes() -> float:
    """Memory that could be had without swapping (Linux; elsewhere no limit is known)."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 1024


def made_up(n_records: int, n_attributes: int, seed: int = 0) -> np.ndarray:
    """Centred records in some twenty loose groups: a fifth of the columns numeric, the rest rare categories."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 20, n_records)
    n_numeric = max(1, n_attributes // 5)
    X = np.empty((n_records, n_attributes))
    X[:, :n_numeric] = rng.normal(size=(20, n_numeric))[group]
    X[:, :n_numeric] += rng.normal(size=(n_records, n_numeric))
    rate = rng.beta(0.5, 2.0, size=(20, n_attributes - n_numeric))
    X[:, n_numeric:] = rng.random((n_records, n_attributes - n_numeric)) < rate[group]
    X -= X.mean(axis=0)
    X /= np.maximum(X.std(axis=0), 0.05)
    return X


def credit() -> tuple[np.ndarray, np.ndarray]:
    """German Credit encoded, 1,000 x 67, centred; and which columns are protected."""
    X, protected = encoded(load_credit())
    return X - X.mean(axis=0), protected


def encoded(dataset: Dataset, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """A dataset encoded with options of the encoder; and which columns are protected."""
    table = Encoder(**options).fit_transform(dataset.frame)
    protected = [column for name in dataset.protected for column in columns_of(name, list(table.columns))]
    return table.to_numpy(dtype=np.float64), np.isin(np.arange(table.shape[1]), protected)


def start(X: np.ndarray, n_prototypes: int, protected: np.ndarray, seed: int, init: str = "k-means++") -> Parameters:
    """A first solution, drawn as :class:`ifair.IFair` draws it."""
    frozen = np.zeros_like(protected)
    random_state = np.random.RandomState(seed)
    return first_parameters(X, n_prototypes, init, "masked", protected, frozen, random_state)


def objective(
    engine: Engine,
    protected: np.ndarray,
    n_prototypes: int,
    *,
    utility_weight: float = 1.0,
    fairness_weight: float = 1.0,
    authors: bool = False,
    dtype: Any = np.float64,
    pairs: Term | None = None,
) -> Objective:
    """The paper's objective with means for sums; or, as the authors' code has it, squared, unweighted, with norms."""
    unprotected, columns = engine.send(np.flatnonzero(~protected), np.ones(len(protected)))
    kernel = EuclideanPairs(unprotected, n_prototypes, not authors, dtype)
    return Objective(
        engine,
        mapping.Mapping(2.0, squared=authors),
        ((utility_weight, Reconstruction(columns)), (fairness_weight, pairs or AllPairs(kernel))),
        "norm" if authors else "mean",
    )


def descend(objective: Objective, first: Parameters, packing: mapping.Packing, **options: Any) -> Any:
    """The solution of the search from one start."""
    (result,) = minimise_many([Problem(objective, [first], packing, **options)])
    assert result is not None
    return result[0]


def stop(history: np.ndarray, tol: float) -> int:
    """The iteration, counted from 0, at which a fit with this tol would have stopped, by its loss after each."""
    fall = history[:-PATIENCE] - history[PATIENCE:]
    small = np.flatnonzero(fall <= tol * np.abs(history[:-PATIENCE]))
    return int(small[0]) + PATIENCE if len(small) else len(history) - 1


class Counter:
    """Seconds in calls, how many there were, and how many evaluations they were worth."""

    def __init__(self) -> None:
        self.seconds, self.calls, self.evaluations = 0.0, 0, 0


@contextlib.contextmanager
def counted() -> Iterator[Counter]:
    """Count and time evaluations, of one fit and of many at once."""
    counter, one = Counter(), Objective.value_and_grad
    engines = [Engine, *((importlib.import_module("ifair.engines.torch").TorchEngine,) if find_spec("torch") else ())]
    own = {engine: engine.evaluate for engine in engines}

    def timed(function: Callable[..., Any], worth: Callable[..., int]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            result = function(*arguments, **options)
            if n := worth(*arguments):
                counter.seconds += time.perf_counter() - began
                counter.calls += 1
                counter.evaluations += n
            return result

        return call

    def count_live(_: Any, function: Any, *arrays: Any) -> int:
        """Searches that a step of many is for; 0 for everything else that an engine evaluates."""
        functions = getattr(getattr(function, "__self__", None), "functions", None)
        return int(arrays[0][:, LIVE].sum()) if isinstance(functions, Batch) else 0

    Objective.value_and_grad = timed(one, lambda *_: 1)  # type: ignore[method-assign]
    for engine, evaluate in own.items():
        engine.evaluate = timed(evaluate, count_live)  # type: ignore[method-assign]
    try:
        yield counter
    finally:
        Objective.value_and_grad = one  # type: ignore[method-assign]
        for engine, evaluate in own.items():
            engine.evaluate = evaluate  # type: ignore[method-assign]


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows and the machine here")
    parser.add_argument("--quick", action="store_true", help="small sizes, as `make bench` has them: a minute at most")
    return parser


def begin(
    description: str | None, arguments: list[str] | None, **sizes: tuple[float, float, str]
) -> "tuple[argparse.Namespace, Machine]":
    """Read a benchmark's options, and take note of the machine.

    ``sizes`` are further options: their values with and without ``--quick``, and what they are about.
    """
    parser = options(description)
    for name, (quick, whole, about) in sizes.items():
        parser.add_argument(f"--{name}", type=type(whole), help=f"{about}; {whole:,}, quick: {quick:,}")
    chosen = parser.parse_args(arguments)
    for name, (quick, whole, _) in sizes.items():
        setattr(chosen, name, getattr(chosen, name) or (quick if chosen.quick else whole))
    return chosen, Machine()


class Machine:
    """What the figures depend on; taken at the start, told at the end."""

    def __init__(self) -> None:
        self.load_before = os.getloadavg()[0]

    def describe(self) -> dict[str, Any]:
        return {
            "cores": os.cpu_count(),
            "load_before": round(self.load_before, 1),
            "load_after": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "numpy": np.__version__,
        }


def report(
    title: str,
    rows: Rows,
    machine: Machine,
    json_file: Path | None,
    notes: str = "",
    more: Mapping[str, Any] | None = None,
) -> Rows:
    """Print the table, write the file, with ``more`` in it where given, and return the rows."""
    about = machine.describe()
    print(f"\n{title}\n")
    print(table(rows))
    if notes:
        print(f"\n{notes}")
    print(
        f"\n{about['cores']} cores, load {about['load_before']} at the start and {about['load_after']} at the end, "
        f"Python {about['python']}, NumPy {about['numpy']}"
    )
    if about["load_before"] > 0.5:
        print("The machine was busy when this began: clock times are upper bounds; compare processor seconds.")
    if json_file is not None:
        written = {"title": title, "machine": about, **(more or {}), "rows": rows}
        json_file.write_text(json.dumps(written, indent=1) + "\n")
    return rows


def table(rows: Rows) -> str:
    """Rows under the names of their fields, numbers to the right."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    numeric = [all(not isinstance(row.get(name), str) for row in rows) for name in names]
    lines = [
        "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in zip(line, widths, numeric)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "-" * sum(widths, 2 * (len(widths) - 1)), *lines[1:]])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        size = abs(value)
        return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 20 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
