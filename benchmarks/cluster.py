"""Are two workers twice as fast as one? Evaluations of loss and gradient on Dask clusters of both sizes, here.

    python benchmarks/cluster.py                     2 million x 50, 100 landmarks; minutes on two idle cores
    python benchmarks/cluster.py --moments           the same, then with moments
    python benchmarks/cluster.py --records 200000    smaller

Records are made up on the workers, the same on both clusters: 50 columns, 10 prototypes, tiles in single precision.
Workers are processes of one thread, also in BLAS. Both clusters hold all records; after an evaluation that does not
count they take turns, and the ratio is taken within every round, so that a machine that is busy for a while falls on
both. Losses and gradients must be identical to the last bit. Told are medians over rounds, the processor seconds of the
busiest worker (what an evaluation takes on an idle machine, but for Dask's own part), how many of the shards it
holds, and what travels: bytes are counted from the messages themselves, sent with every task, come back from every
task, and kept on the workers since the start (the landmarks). With ten records per shard there is nearly nothing to
compute: that is what Dask takes.
"""

import os
import pickle
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

import common
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Parameters
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Term
from ifair.core.pairs import Landmarks
from ifair.engines import dask as engines
from ifair.engines.dask_client import local_cluster
from ifair.inputs.dask_table import load_shards

K, N = 10, 50
PROTECTED = np.arange(N) >= N - 2
GOAL = 1.6
"""How many times as fast as one worker two on two cores shall be, at least."""


@contextmanager
def opened(workers: int, records: int, shards: int) -> Iterator[engines.DaskEngine]:
    """An engine on a cluster of its own, whose workers make up the records."""
    with (
        local_cluster(workers) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        table = da.random.default_rng(0).normal(size=(records, N), chunks=(-(-records // shards), N))
        loaded, _ = load_shards(client, table)
        with engines.DaskEngine(loaded, client) as engine:
            del loaded
            yield engine


class Traffic:
    """Counts what an engine sends with a task and what comes back from one."""

    def __init__(self, engine: engines.DaskEngine) -> None:
        self.sent = self.received = self.passes = 0
        self.message, self.results = engine._message, engine._results
        engine._message, engine._results = self._send, self._receive  # type: ignore[method-assign]

    def _send(self, function: Any, n_tasks: int) -> Any:
        message, kept = self.message(function, n_tasks)
        self.sent += len(message if isinstance(message, bytes) else message.result())
        self.passes += 1
        return message, kept

    def _receive(self, futures: list[Any]) -> list[Any]:
        results = self.results(futures)
        self.received += len(pickle.dumps(results[0], protocol=5))
        return results


def processor_seconds(engine: engines.DaskEngine) -> dict[str, float]:
    """What every worker has computed so far."""
    seconds: dict[str, float] = engine.client.run(time.process_time)
    return seconds


def pair_term(engine: engines.DaskEngine, n_landmarks: int) -> Term:
    (unprotected,) = engine.send(np.flatnonzero(~PROTECTED))
    if n_landmarks == 0:
        return Moments(unprotected, input_products(engine, unprotected))
    drawn = np.linspace(0, engine.n_records - 1, n_landmarks).astype(np.intp)
    return Landmarks(EuclideanPairs(unprotected, K, True, np.float32), engine.take(drawn), engine.n_records)


def check_one_thread(engine: engines.DaskEngine) -> None:
    """Every worker computes on one core only."""
    for threads in engine.client.run(lambda: os.environ.get("OMP_NUM_THREADS")).values():
        assert threads == "1", f"workers compute with {threads} threads"


def most_shards(engine: engines.DaskEngine) -> int:
    """How many shards the worker with the most of them holds."""
    keys = {future.key for future in engine.shards.futures}
    return max(len(keys.intersection(held)) for held in engine.client.has_what().values())


def rows_of(by_workers: dict[int, engines.DaskEngine], n_landmarks: int, rounds: int) -> common.Rows:
    rng = np.random.default_rng(1)
    at = Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N))
    objectives = {
        workers: common.objective(engine, PROTECTED, K, pairs=pair_term(engine, n_landmarks))
        for workers, engine in by_workers.items()
    }
    traffic = Traffic(by_workers[1])
    results = {workers: objective.value_and_grad(at) for workers, objective in objectives.items()}
    sent, received, passes = traffic.sent, traffic.received, traffic.passes
    for losses, gradient in results.values():
        assert losses == results[1][0]
        assert np.array_equal(gradient.prototypes, results[1][1].prototypes)
    wall: dict[int, list[float]] = {workers: [] for workers in objectives}
    busiest: dict[int, list[float]] = {workers: [] for workers in objectives}
    for i in range(rounds):
        # Whoever comes second finds the machine as the other left it: each comes second in turn.
        for workers in sorted(objectives, reverse=i % 2 == 1):
            before, start = processor_seconds(by_workers[workers]), time.perf_counter()
            objectives[workers].value_and_grad(at)
            wall[workers].append(time.perf_counter() - start)
            after = processor_seconds(by_workers[workers])
            busiest[workers].append(max(after[worker] - before[worker] for worker in after))
    return [
        {
            "records": engine.n_records,
            "pairs": f"{n_landmarks} landmarks" if n_landmarks else "moments",
            "workers": workers,
            "seconds": float(np.median(wall[workers])),
            "one / this": float(np.median(np.divide(wall[1], wall[workers]))),
            "least": float(np.min(np.divide(wall[1], wall[workers]))),
            "most": float(np.max(np.divide(wall[1], wall[workers]))),
            "busiest, cpu s": float(np.median(busiest[workers])),
            "one / this, cpu": float(np.median(np.divide(busiest[1], busiest[workers]))),
            "its shards": most_shards(engine),
            "of": len(engine.rows),
            "passes": passes,
            "bytes to a task": sent // passes,
            "bytes from a task": received // passes,
            "bytes kept": 8 * n_landmarks * N,
        }
        for workers, engine in by_workers.items()
    ]


def verdict(rows: common.Rows) -> str:
    """Whether the goal was reached, in a line for every way to pair records."""
    lines = [
        f"{row['records']:,} x {N}, {row['pairs']}: two workers are {row['one / this']:.2f} times as fast as one "
        f"(rounds from {row['least']:.2f} to {row['most']:.2f}); the goal is {GOAL}: "
        + ("reached" if row["one / this"] >= GOAL else "not reached")
        for row in rows
        if row["workers"] == 2
    ]
    return "\n".join(lines[1:])  # the first has nothing to compute


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--landmarks", type=int, nargs="*", default=[100])
    parser.add_argument("--moments", action="store_true", help="with moments, too")
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    if chosen.quick:
        chosen.records, chosen.rounds = 100_000, 3
    machine = common.Machine()
    rows = []
    kinds = [*chosen.landmarks, *([0] if chosen.moments else [])]
    for records, these in ((10 * chosen.shards, kinds[:1]), (chosen.records, kinds)):
        with ExitStack() as stack:
            both = {w: stack.enter_context(opened(w, records, chosen.shards)) for w in (1, 2)}
            for engine in both.values():
                check_one_thread(engine)
            for n_landmarks in these:
                rows += rows_of(both, n_landmarks, chosen.rounds)
    title = f"One evaluation on Dask, {N} columns, {K} prototypes, workers of one thread on this machine"
    return common.report(title, rows, machine, chosen.json, verdict(rows))


if __name__ == "__main__":
    main()
