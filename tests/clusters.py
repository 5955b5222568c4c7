"""Small clusters of Dask and Spark for tests."""

import atexit
import shutil
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import cache

import numpy as np
import pytest
from quiet import fit_quietly

from ifair import IFair


def assert_same_model(one, other):
    """Whether two models agree up to the rounding of sums in another order, and name the same columns."""
    np.testing.assert_allclose(one.prototypes_, other.prototypes_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(one.alpha_, other.alpha_, rtol=1e-7, atol=1e-10)
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-9)
    assert one.n_features_in_ == other.n_features_in_
    assert list(getattr(one, "feature_names_in_", [])) == list(getattr(other, "feature_names_in_", []))
    for name in ("classes_", "group_labels_"):
        assert list(getattr(one, name, [])) == list(getattr(other, name, []))


@cache
def two_workers():
    """A client of two workers in this process, shared by all tests."""
    shared = ExitStack()
    client = shared.enter_context(two_threads())
    atexit.register(shared.close)
    return client


@contextmanager
def two_threads():
    """A client of two workers in this process, for a test that may leave it in disorder."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def processes(n_workers, allowed_failures=3):
    """A client of workers that are processes and can be killed; a nanny starts them again."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": allowed_failures}),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=60) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def tasks_left(client, but=()):
    """What the scheduler still knows of, but for some keys, given a moment to forget."""
    for _ in range(200):
        left = client.run_on_scheduler(lambda dask_scheduler: sorted(set(map(str, dask_scheduler.tasks)) - {*but}))
        if not left:
            break
        time.sleep(0.05)
    return left


def spark():
    """A Spark session of two threads in local mode, shared by all tests; skips where there can be none."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'ifair[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not here")
    return _session()


SPARK_MASTER = "local[2,2]"
"""Two threads, and two attempts at every task."""


@cache
def _session():
    from ifair.engines import spark_session

    # A Java that compiles less starts sooner and ends sooner here, where no job takes long.
    flags = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
    added = {"PYSPARK_SUBMIT_ARGS": flags, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in added.items():
            patch.setenv(name, value)
        session, resources = spark_session.open_session(SPARK_MASTER)
    session.sparkContext.setLogLevel("OFF")
    atexit.register(resources.close)
    return session


def open_on(family, X, shard_rows, **options):
    """An engine of Dask or Spark that holds an array in shards of so many records; skips where there can be none."""
    if family == "dask":
        pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")
        from ifair.engines.dask import DaskEngine, from_array

        return DaskEngine(from_array(X, two_workers(), shard_rows), two_workers(), **options)
    session = spark()
    from ifair.engines.spark import SparkEngine, from_array

    return SparkEngine(from_array(X, session, shard_rows), session, **options)


def short_fit(X, **changes):
    """Prototypes, weights, loss and iterations of a short fit, as arrays."""
    settings = {"protected": [4], "pairs": 50, "n_restarts": 1, "max_iter": 4, "random_state": 0}
    learned = fit_quietly(IFair(3, **settings | changes), X)
    return learned.prototypes_, learned.alpha_, np.array([learned.loss_, learned.n_iter_])


def same(a, b):
    """Whether two lists of arrays are the same to the last bit."""
    return all(np.array_equal(one, other) for one, other in zip(a, b, strict=True))


def jobs_left(session):
    """Jobs of Spark that are still at work, given a moment to end, and tables that it keeps."""
    for _ in range(200):
        running = list(session.sparkContext.statusTracker().getActiveJobsIds())
        if not running:
            break
        time.sleep(0.05)
    return [*running, *session.sparkContext._jsc.getPersistentRDDs()]
