"""The Spark engine where things go wrong, and what travels; that it is right is shown in test_conformance.py."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from ifair import IFair
from ifair.engines import spark_session

from clusters import SPARK_MASTER, open_on, same, short_fit, spark

pytestmark = pytest.mark.cluster

N = 5


@pytest.fixture
def session():
    return spark()


@pytest.fixture
def X(rng):
    return rng.normal(size=(600, N))


def opened(X):
    """An engine on an array, in shards of 100 records."""
    return open_on("spark", X, 100)


def test_a_task_that_fails_once_is_done_again_with_the_identical_result(X, tmp_path):
    def careful(block, rows):
        return np.exp(block).sum(axis=0), block.T @ block

    def clumsy(block, rows):
        if 200 <= rows.start < 400:
            try:
                os.close(os.open(tmp_path / f"tried-{rows.start}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                raise OSError("the first attempt")
        return careful(block, rows)

    with opened(X) as engine:
        assert same(engine.sum(clumsy), engine.sum(careful))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_killed_python_worker_changes_nothing(X, tmp_path):
    def fatal(block, rows):
        if rows.start == 300 and not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return (np.exp(block).sum(axis=0),)

    with opened(X) as engine:
        assert same(engine.sum(fatal), engine.sum(lambda block, rows: (np.exp(block).sum(axis=0),)))
    assert (tmp_path / "killed").exists()


def test_what_keeps_failing_ends_the_fit_with_the_reason(X):
    with opened(X) as engine, pytest.raises(RuntimeError, match=r"a task failed as often .*: ZeroDivisionError"):
        engine.sum(lambda block, rows: (1 / 0,))


def test_workers_that_keep_dying_end_the_fit_with_a_reason(X):
    with (
        opened(X) as engine,
        pytest.raises(RuntimeError, match=r"executors died again and again .* memory .* smaller partitions"),
    ):
        engine.sum(lambda block, rows: os.kill(os.getpid(), signal.SIGKILL))


def test_what_the_executors_lack_is_named(X):
    def needy(block, rows):
        raise ModuleNotFoundError("No module named 'somewhere_only_here'")

    with opened(X) as engine, pytest.raises(ImportError, match=r"executors need .*somewhere_only_here"):
        engine.sum(needy)


def test_a_partition_that_changed_when_read_again_is_refused(session, X):
    from ifair.engines.spark import Shards, SparkEngine, from_array

    rdd, rows = from_array(X, session, 100)
    with (
        SparkEngine(Shards(rdd, [*rows[:-1], 99]), session) as engine,
        pytest.raises(RuntimeError, match="read again holds 100 records, not 99 as before: write the table to files"),
    ):
        engine.sum(lambda block, rows: (block.sum(),))


def test_a_sum_is_one_job(session, X):
    jobs = session.sparkContext.statusTracker().getJobIdsForGroup
    with opened(X) as engine:
        before = len(jobs())
        engine.sum(lambda block, rows: (block.sum(),))
        assert len(jobs()) == before + 1


def test_another_master_than_that_of_the_session_is_refused(session, X):
    with pytest.raises(ValueError, match=rf"already has a Spark session, on '{re.escape(SPARK_MASTER)}'; use engine="):
        short_fit(X, engine="spark:spark://10.0.0.1:7077")
    assert same(*(short_fit(X, engine=engine) for engine in (f"spark:{SPARK_MASTER}", "spark")))


def test_an_interrupt_while_a_command_is_sent_is_an_interrupt_and_leaves_the_session_as_it_was(session, X):
    from py4j.protocol import Py4JError

    def send_halfway():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise Py4JError("Gateway must be connected to send cancel cmd.")  # noqa: B904  # as Py4J raises it

    with pytest.raises(KeyboardInterrupt):
        spark_session.results_of(session.sparkContext, send_halfway, "interrupted")
    with open_on("spark", X, 100) as engine:
        assert engine.sum(lambda block, rows: (len(block),)) == (len(X),)


def test_spark_connect_is_refused_with_a_reason():
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(TypeError, match="Spark Connect has no interface; use a session on the cluster itself"):
        spark_session.context_of(connected)


def test_without_java_the_error_says_so(monkeypatch):
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'ifair[spark]'")
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark_session.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="needs Java, and there is neither JAVA_HOME nor java on the PATH"):
        IFair(3, engine="spark").fit(np.zeros((9, N)))
    monkeypatch.setenv("JAVA_HOME", os.devnull)
    with pytest.raises(RuntimeError, match="JAVA_HOME='/dev/null' holds no bin/java"):
        IFair(3, engine="spark").fit(np.zeros((9, N)))


ALONE = """
import signal
import warnings
import numpy as np
from ifair import IFair
from pyspark import SparkContext
warnings.simplefilter("error")
before = signal.getsignal(signal.SIGINT)
X = np.random.default_rng(0).normal(size=(300, 5))
losses = [IFair(3, engine=e, n_jobs=2, n_restarts=1, tol=0.5, random_state=0).fit(X).loss_ for e in ("spark", "local")]
assert abs(losses[0] - losses[1]) < 1e-9 * losses[1], losses
assert SparkContext._active_spark_context is None
assert signal.getsignal(signal.SIGINT) is before

def stop(*_):
    SparkContext._active_spark_context.stop()

try:
    IFair(3, engine="spark", n_jobs=2, n_restarts=1, tol=0.0, random_state=0, callback=stop).fit(X)
except ConnectionError as error:
    print(error)
"""


@pytest.mark.slow
def test_without_a_session_one_is_made_for_the_fit_and_ends_with_it_or_with_an_error_that_it_was_lost(session):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    alone = subprocess.run([sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, timeout=300)
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout.startswith("engine='spark': the Spark session was lost")
