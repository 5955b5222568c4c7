"""All benchmarks in their quick sizes: this version and an earlier one, in turns on the same machine.

    python benchmarks/run_all.py [--against REVISION] [--only NAME ...] [--output FILE] [--fail]

Times of two machines, or of two kinds of processor, say nothing of two versions. So the earlier one, the last commit by
default, is unpacked, and its benchmarks and ours take turns, in processes of their own. Those in which something seems
slower are run again, twice at most, and of every time the best counts: noise only ever adds.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import common
from compare import compare, describe_comparison, measures

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "benchmarks" / "results" / "latest.json"
AGAIN = 2
"""So many times at most is run again what seems slower."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark, the fields that say what a row is about, and the fields that hold its times."""

    name: str
    keys: tuple[str, ...]
    times: tuple[str, ...] = ("CPU s",)


BENCHES = (
    Bench("evaluation", ("what", "threads", "precision", "records")),
    Bench("engines", ("records", "attributes", "pairs", "precision", "engine"), ("ms", "fit s")),
    Bench("fit", ("objective", "evaluation under differences"), ("ours, s/evaluation",)),
    Bench("landmarks", ("data", "pairs"), ("seconds",)),
    Bench("convergence", ("question", "choice"), ("s/iteration",)),
    Bench("many", ("data", "method", "way"), ("s/fit",)),
    Bench("transform", ("what", "threads", "dtype")),
    Bench("out_of_core", ("pairs", "threads", "records in")),
    Bench("growth", ("what", "along", "size"), ("CPU ms/evaluation",)),
    Bench("score", ("what",), ("CPU ms",)),
    Bench("measures", ("what",)),
    Bench("graph", ("what",)),
    Bench("datasets", ("dataset",), ("seconds",)),
    Bench("walkthrough", ("command", "records")),
)


def run(bench: Bench, tree: Path) -> tuple[dict[str, float], str]:
    """The times of a benchmark of a version, by name, and what is to be said if there are none."""
    script = tree / "benchmarks" / f"bench_{bench.name}.py"
    if not script.exists():
        return {}, "not there"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, str(script), "--quick", "--json", str(file)]
        environment = os.environ | {"PYTHONPATH": str(tree / "src")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)
        if done.returncode != 0 or not file.exists():
            last = (done.stderr.strip().splitlines() or ["no rows were written"])[-1]
            return {}, f"failed: {last}"
        rows: common.Rows = json.loads(file.read_text())["rows"]
    times: dict[str, float] = {}
    for field in bench.times:
        name = bench.name if len(bench.times) == 1 else f"{bench.name}, {field}"
        times |= measures(name, rows, bench.keys, field)
    return times, ""


@dataclass(slots=True)
class Versions:
    """The best times of both versions so far, and benchmarks of ours that failed."""

    before: dict[str, float]
    now: dict[str, float]
    failed: dict[str, str]

    def add(self, bench: Bench, earlier: Path) -> None:
        """Run a benchmark of both versions, the earlier one first."""
        for which, tree, best in (("before", earlier, self.before), ("now", ROOT, self.now)):
            began = time.perf_counter()
            found, problem = run(bench, tree)
            said = problem or f"{len(found)} times"
            print(f"{bench.name:<12} {which:<6} {time.perf_counter() - began:6.1f} s  {said}", flush=True)
            if problem and tree == ROOT:
                self.failed[bench.name] = problem
            best |= {name: min(value, best.get(name, value)) for name, value in found.items()}


@contextmanager
def unpacked(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "tree.tar"
        command = ["git", "archive", "-o", str(archive), revision]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"--against {revision}: {done.stderr.strip()}")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default="HEAD", metavar="REVISION", help="the version to compare with")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the results go")
    parser.add_argument("--only", nargs="+", choices=[bench.name for bench in BENCHES], metavar="NAME")
    parser.add_argument("--fail", action="store_true", help="end with an error where something is slower")
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
    machine, versions, began = common.Machine(), Versions({}, {}, {}), time.perf_counter()
    doubted = [bench for bench in BENCHES if not chosen.only or bench.name in chosen.only]
    with unpacked(chosen.against) as earlier:
        for attempt in range(1 + AGAIN):
            if attempt and doubted:
                print("\nAgain, since something in them seems slower:")
            for bench in doubted:
                versions.add(bench, earlier)
            comparison = compare(versions.before, versions.now)
            slower = {change.name.partition(":")[0].partition(",")[0] for change in comparison.slower}
            doubted = [bench for bench in BENCHES if bench.name in slower]
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": machine.describe(), "against": chosen.against, **asdict(versions)}
    chosen.output.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\n{len(versions.now)} times in {(time.perf_counter() - began) / 60:.1f} minutes: {chosen.output}")
    print(f"\nAgainst {chosen.against}, on the same machine in turns:")
    print(describe_comparison(comparison))
    return int(bool(versions.failed) or (chosen.fail and bool(comparison.slower)))


if __name__ == "__main__":
    sys.exit(main())
