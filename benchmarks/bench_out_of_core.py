"""One evaluation of records on disk against the same in memory: a memory map and Parquet files, read as it goes.

    python benchmarks/bench_out_of_core.py [--json FILE] [--records 2000000] [--cold] [--folder DIR]

Made-up records x 50, K = 10, 100 landmarks (single precision) and moments, on one thread and on all cores (a thread
more reads ahead). Parquet is read as a fit reads it, decoded once into a temporary file (its seconds are the "set-up"),
and as with ``spool=False``, decoded in every evaluation. All give the same loss, which is checked bit by bit. The files
have just been written, so that the system holds them in memory as far as it can: what is measured is the reading and
decoding, not the disk. ``--cold`` has the system forget them before every evaluation.
"""

import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import common
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Term
from ifair.core.pairs import Landmarks
from ifair.engines.engine import Engine, LocalEngine
from ifair.engines.streamed import StreamedEngine, chunk_rows
from ifair.inputs.disk import read_records
from ifair.inputs.parquet import ParquetRecords
from ifair.inputs.temporary_copy import TemporaryCopy

N, K, LANDMARKS = 50, 10, 100
CORES = len(os.sched_getaffinity(0))
WRITTEN_AT_ONCE = 250_000


def write(X: np.ndarray, folder: Path) -> None:
    np.save(folder / "x.npy", X)
    (folder / "parquet").mkdir()
    names = [f"c{j}" for j in range(X.shape[1])]
    for start in range(0, len(X), WRITTEN_AT_ONCE):
        part = pd.DataFrame(X[start : start + WRITTEN_AT_ONCE], columns=names)
        part.to_parquet(folder / "parquet" / f"{start:012d}.parquet")


def forget(folder: Path) -> None:
    """Have the system drop what it holds of these files."""
    for file in folder.rglob("*.*"):
        if file.is_file():
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def objective(engine: Engine, pairs: str, protected: np.ndarray) -> Objective:
    (unprotected,) = engine.send(np.flatnonzero(~protected))
    term: Term
    if pairs == "moments":
        term = Moments(unprotected, input_products(engine, unprotected))
    else:
        drawn = np.sort(np.random.default_rng(0).choice(engine.n_records, LANDMARKS, replace=False))
        kernel = EuclideanPairs(unprotected, K, True, np.float32)
        term = Landmarks(kernel, engine.take(drawn), engine.n_records)
    return common.objective(engine, protected, K, pairs=term)


def spool(records: ParquetRecords, folder: Path) -> tuple[TemporaryCopy, float]:
    """The records as a fit has them after its first walk, and the seconds on the clock of that walk."""
    spooled = TemporaryCopy(records, folder)
    began = time.perf_counter()
    for _ in spooled.chunks(chunk_rows(records.shape[1])):
        pass
    assert spooled.is_complete
    return spooled, time.perf_counter() - began


def measure_evaluations(X: np.ndarray, folder: Path, pairs: str, threads: int, rounds: int, cold: bool) -> common.Rows:
    protected = np.arange(N) >= N - 2
    at = common.start(X[:3000], K, protected, seed=1)
    centre = X.mean(axis=0)
    spooled, set_up = spool(ParquetRecords(folder / "parquet"), folder)
    engines: dict[str, Any] = {
        "memory": LocalEngine(X - centre, threads=threads),
        "memory map": StreamedEngine(read_records(folder / "x.npy"), centre, threads=threads),
        "Parquet": StreamedEngine(spooled, centre, threads=threads),
        "Parquet, no spool": StreamedEngine(ParquetRecords(folder / "parquet"), centre, threads=threads),
    }
    with threadpool_limits(1, user_api="blas"):
        works = {name: objective(engine, pairs, protected) for name, engine in engines.items()}
        losses = {name: work.value_and_grad(at)[0].total for name, work in works.items()}
        assert len(set(losses.values())) == 1, losses
        timed = {name: partial(work.value_and_grad, at) for name, work in works.items()}
        best = common.best_times(timed, rounds, before=lambda: forget(folder) if cold else None)
    for engine in engines.values():
        engine.__exit__()
    spooled.__exit__()
    return [
        {
            "pairs": pairs,
            "threads": threads,
            "records in": name,
            "seconds": took.wall,
            "CPU s": took.cpu,
            "this/memory": took.wall / best["memory"].wall,
            "same, CPU": took.cpu / best["memory"].cpu,
            "set-up s": set_up if name == "Parquet" else None,
        }
        for name, took in best.items()
    ]


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--records", type=int, help="2,000,000; quick: 200,000")
    parser.add_argument("--cold", action="store_true", help="have the system forget the files before every evaluation")
    parser.add_argument("--folder", type=Path, help="where to write the files; by default where temporary files go")
    chosen = parser.parse_args(arguments)
    n_records = chosen.records or (200_000 if chosen.quick else 2_000_000)
    machine = common.Machine()
    X = common.made_up(n_records, N) + 1.0
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        write(X, Path(name))
        rows = [
            row
            for pairs in (f"{LANDMARKS} landmarks", "moments")
            for threads in sorted({1, CORES})
            for row in measure_evaluations(X, Path(name), pairs, threads, rounds=3, cold=chosen.cold)
        ]
    title = f"One evaluation of {n_records:,} x {N} ({X.nbytes / 2**30:.1f} GB), K = {K}"
    notes = "Best of 3 rounds taken in turns; " + ("files forgotten before each." if chosen.cold else "files warm.")
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
