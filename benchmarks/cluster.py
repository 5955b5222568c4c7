"""An evaluation of loss and gradient on Dask clusters of one and of two workers on this machine, and what travels.

    python benchmarks/cluster.py [--json FILE] [--records 200000] [--landmarks 100]

Records are made up on the workers, 50 columns, 10 prototypes, tiles in single precision. Both clusters hold all records
and take turns; the workers are processes with one thread each. Losses and gradients must be identical to the last bit.
Bytes are counted from the messages themselves: sent with every task, come back from every task, and kept on the workers
since the start (the landmarks). The processor seconds of the busiest worker are what an evaluation takes on an idle
machine, but for Dask's own part. With ten records a shard there is nearly nothing to compute: it is what Dask takes.
"""

import pickle
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

import common
from ifair.core.moments import Moments, input_products
from ifair.core.pairs import EuclideanPairs
from ifair.core.parameters import Parameters
from ifair.core.schedules import Landmarks, Schedule
from ifair.engines import dask as engines
from ifair.engines import tables
from ifair.engines.cluster import local_cluster

K, N = 10, 50
PROTECTED = np.arange(N) >= N - 2


@contextmanager
def opened(workers: int, records: int, shards: int) -> Iterator[engines.DaskEngine]:
    """An engine on a cluster of its own, whose workers make up the records."""
    with (
        local_cluster(workers) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        table = da.random.default_rng(0).normal(size=(records, N), chunks=(-(-records // shards), N))
        loaded, _ = tables.load(client, table)
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


def schedule(engine: engines.DaskEngine, n_landmarks: int) -> Schedule:
    (unprotected,) = engine.send(np.flatnonzero(~PROTECTED))
    if n_landmarks == 0:
        return Moments(unprotected, input_products(engine, unprotected))
    drawn = np.linspace(0, engine.n_records - 1, n_landmarks).astype(np.intp)
    return Landmarks(EuclideanPairs(unprotected, K, True, np.float32), engine.take(drawn), engine.n_records)


def rows_of(engines_by_workers: dict[int, engines.DaskEngine], n_landmarks: int, rounds: int) -> common.Rows:
    rng = np.random.default_rng(1)
    at = Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N))
    objectives = {
        workers: common.objective(engine, PROTECTED, K, pairs=schedule(engine, n_landmarks))
        for workers, engine in engines_by_workers.items()
    }
    traffic = Traffic(engines_by_workers[1])
    results = {workers: objective.value_and_grad(at) for workers, objective in objectives.items()}
    sent, received, passes = traffic.sent, traffic.received, traffic.passes
    for losses, gradient in results.values():
        assert losses == results[1][0]
        assert np.array_equal(gradient.prototypes, results[1][1].prototypes)
    wall, busiest = dict.fromkeys(objectives, np.inf), dict.fromkeys(objectives, np.inf)
    for _ in range(rounds):
        for workers, objective in objectives.items():
            before, start = processor_seconds(engines_by_workers[workers]), time.perf_counter()
            objective.value_and_grad(at)
            wall[workers] = min(wall[workers], time.perf_counter() - start)
            after = processor_seconds(engines_by_workers[workers])
            busiest[workers] = min(busiest[workers], max(after[worker] - before[worker] for worker in after))
    return [
        {
            "records": engine.n_records,
            "shards": len(engine.shards.rows),
            "pairs": f"{n_landmarks} landmarks" if n_landmarks else "moments",
            "workers": workers,
            "seconds": wall[workers],
            "one / this": wall[1] / wall[workers],
            "busiest worker, cpu s": busiest[workers],
            "one / this, cpu": busiest[1] / busiest[workers],
            "passes": passes,
            "bytes to a task": sent // passes,
            "bytes from a task": received // passes,
            "bytes kept": 8 * n_landmarks * N,
        }
        for workers, engine in engines_by_workers.items()
    ]


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--landmarks", type=int, nargs="*", default=[100])
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    machine = common.Machine()
    rows = []
    for records, kinds in ((10 * chosen.shards, chosen.landmarks[:1]), (chosen.records, [*chosen.landmarks, 0])):
        with ExitStack() as stack:
            both = {w: stack.enter_context(opened(w, records, chosen.shards)) for w in (1, 2)}
            for n_landmarks in kinds:
                rows += rows_of(both, n_landmarks, chosen.rounds)
    title = f"One evaluation on Dask, {N} columns, {K} prototypes, workers of one thread on this machine"
    return common.report(title, rows, machine, chosen.json)


if __name__ == "__main__":
    main()
