"""All benchmarks in their quick sizes, one JSON file, and what got slower since the committed baseline.

    python benchmarks/run_all.py [--output FILE] [--baseline FILE] [--only NAME ...] [--write-baseline] [--fail]

Every benchmark runs in a process of its own, between two timings of a reference operation (products and exponentials of
fixed arrays on one thread). Its times are divided by the shorter of them, and compared as these ratios: processor
seconds with processor seconds where the benchmark tells them, else seconds on the clock. Benchmarks in which something
is slower are run again, twice at most, and the best counts: noise only ever adds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import common
from compare import compare, describe_comparison, measures, relative

FOLDER = Path(__file__).resolve().parent
BASELINE = FOLDER / "baseline.json"
OUTPUT = FOLDER / "results" / "latest.json"
AGAIN = 2
"""So many times at most is run again what seems slower."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark, the fields that say what a row is about, and the fields that hold its times, with their clocks."""

    name: str
    keys: tuple[str, ...]
    times: tuple[tuple[str, str], ...] = (("CPU s", "cpu"),)


BENCHES = (
    Bench("evaluation", ("what", "threads", "precision", "records")),
    Bench("engines", ("records", "attributes", "pairs", "precision", "engine"), (("ms", "wall"), ("fit s", "wall"))),
    Bench("fit", ("objective", "evaluation under differences"), (("ours, s/evaluation", "wall"),)),
    Bench("landmarks", ("data", "pairs"), (("seconds", "wall"),)),
    Bench("convergence", ("question", "choice"), (("s/iteration", "wall"),)),
    Bench("many", ("data", "method", "way"), (("s/fit", "wall"),)),
    Bench("transform", ("what", "threads", "dtype")),
    Bench("out_of_core", ("pairs", "threads", "records in")),
    Bench("growth", ("what", "along", "size"), (("CPU ms/evaluation", "cpu"),)),
    Bench("score", ("what",), (("CPU ms", "cpu"),)),
    Bench("measures", ("what",)),
    Bench("graph", ("what",)),
    Bench("datasets", ("dataset",), (("seconds", "wall"),)),
    Bench("walkthrough", ("command", "records")),
)


def reference() -> common.Time:
    """The best time of some fixed work on one thread: what numerical code consists of."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(512, 512)), rng.normal(size=500_000)
    with threadpool_limits(1, user_api="blas"):
        return common.best_times({"reference": lambda: (A @ A @ A, np.exp(b).sum())}, rounds=7)["reference"]


def run(bench: Bench) -> tuple[common.Rows, str]:
    """The rows of a benchmark in its quick size, and what is to be said if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, str(FOLDER / f"bench_{bench.name}.py"), "--quick", "--json", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not file.exists():
            last = (done.stderr.strip().splitlines() or ["no rows were written"])[-1]
            return [], f"failed: {last}"
        rows: common.Rows = json.loads(file.read_text())["rows"]
        return rows, ""


def ratios(bench: Bench, rows: common.Rows, took: common.Time) -> Iterator[tuple[str, float]]:
    for field, clock in bench.times:
        name = bench.name if len(bench.times) == 1 else f"{bench.name}, {field}"
        yield from relative(measures(name, rows, bench.keys, field), getattr(took, clock)).items()


def belongs_to(measure: str) -> str:
    """The benchmark that a measure, by its name, is of."""
    return measure.partition(":")[0].partition(",")[0]


def run_all(chosen: tuple[Bench, ...], done: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run these benchmarks; ``done`` is told of the result so far after each."""
    machine, found, seconds, failed = common.Machine(), {}, {}, {}
    before = reference()
    for bench in chosen:
        began = time.perf_counter()
        rows, problem = run(bench)
        seconds[bench.name] = round(time.perf_counter() - began, 1)
        after = reference()
        took = common.Time(min(before.wall, after.wall), min(before.cpu, after.cpu))
        found.update(ratios(bench, rows, took))
        if problem:
            failed[bench.name] = problem
        said = problem or f"{len(rows)} rows"
        print(f"{bench.name:<12} {seconds[bench.name]:6.1f} s  {said}", flush=True)
        before = after
        about = {**machine.describe(), "reference s": after.wall, "seconds": seconds}
        result = {"machine": about, "failed": failed, "ratios": found}
        done(result)
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the results go")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="what they are compared with")
    parser.add_argument("--only", nargs="+", choices=[bench.name for bench in BENCHES], metavar="NAME")
    parser.add_argument("--write-baseline", action="store_true", help="make this run the baseline, as far as it goes")
    parser.add_argument("--fail", action="store_true", help="end with an error where something is slower")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    target = chosen.baseline if chosen.write_baseline else chosen.output
    target.parent.mkdir(parents=True, exist_ok=True)
    benches = tuple(bench for bench in BENCHES if not chosen.only or bench.name in chosen.only)
    # A baseline keeps what it says of benchmarks that were not run.
    known = json.loads(target.read_text()) if chosen.write_baseline and target.exists() else {}

    def write(result: dict[str, Any]) -> None:
        ran = result["machine"]["seconds"]
        kept = {name: ratio for name, ratio in known.get("ratios", {}).items() if belongs_to(name) not in ran}
        before = known.get("machine", {}).get("seconds", {})
        machine = result["machine"] | {"seconds": before | ran}
        written = result | {"machine": machine, "ratios": kept | result["ratios"]}
        target.write_text(json.dumps(written, indent=1) + "\n")

    result = run_all(benches, write)
    total = sum(result["machine"]["seconds"].values())
    print(f"\n{len(result['ratios'])} times in {total / 60:.1f} minutes: {target}")
    if chosen.write_baseline or not chosen.baseline.exists():
        return int(bool(result["failed"]))
    known = json.loads(chosen.baseline.read_text())
    names = {bench for bench in result["machine"]["seconds"] if bench not in result["failed"]}
    baseline = {name: value for name, value in known["ratios"].items() if belongs_to(name) in names}
    comparison = compare(baseline, result["ratios"])
    for _ in range(AGAIN):
        doubted = {belongs_to(change.name) for change in comparison.slower}
        if not doubted:
            break
        print(f"\nAgain, since something in them seems slower: {', '.join(sorted(doubted))}")
        repeated = run_all(tuple(bench for bench in benches if bench.name in doubted), lambda _: None)["ratios"]
        result["ratios"] |= {name: min(ratio, result["ratios"].get(name, ratio)) for name, ratio in repeated.items()}
        comparison = compare(baseline, result["ratios"])
    write(result)
    print(f"\nAgainst {chosen.baseline.name}, in units of a reference operation of each run:")
    print(describe_comparison(comparison))
    load = result["machine"]["load_before"], known["machine"]["load_before"]
    if max(load) > 0.5:
        print(f"Load {load[0]} now and {load[1]} then: repeat what is slower on an idle machine before believing it.")
    return int(bool(result["failed"]) or (chosen.fail and bool(comparison.slower)))


if __name__ == "__main__":
    sys.exit(main())
