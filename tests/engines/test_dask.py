"""The Dask engine where things go wrong, and what travels; that it is right is shown in test_conformance.py."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ifair import IFair

from clusters import open_on, processes, same, short_fit, tasks_left, two_threads, two_workers

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")

from ifair.engines import dask, dask_client, sharded
from ifair.engines.dask import DaskEngine, from_array
from ifair.engines.dask_client import open_client
from ifair.engines.engine import add_in_order

pytestmark = pytest.mark.cluster

K, N = 3, 5


@pytest.fixture
def X(rng):
    return rng.normal(size=(600, N))


def fitted(client, X, **changes):
    """Prototypes and weights of a short fit on a client."""
    with client.as_current():
        return short_fit(X, **{"engine": "dask", "max_iter": 12, **changes})


@pytest.mark.slow
def test_a_worker_killed_in_mid_fit_changes_nothing_nor_does_the_number_of_workers(X, monkeypatch):
    monkeypatch.setattr(sharded, "SHARD_ROWS", 100)
    with processes(2) as client:
        undisturbed = fitted(client, X)
        before = set(client.run(os.getpid).values())

        def kill_one(iteration, loss, gradient_norm):
            if iteration == 4:
                os.kill(min(before), signal.SIGKILL)

        assert same(fitted(client, X, callback=kill_one), undisturbed)
        client.wait_for_workers(2, timeout=30)
        assert min(before) not in client.run(os.getpid).values()
        assert tasks_left(client) == []
    assert same(fitted(two_workers(), X), undisturbed)


@pytest.mark.slow
def test_workers_that_keep_dying_end_the_fit_with_a_reason(X):
    with (
        processes(1, allowed_failures=1) as client,
        DaskEngine(from_array(X, client), client) as engine,
        pytest.raises(RuntimeError, match=r"workers died again and again .* memory .* smaller partitions"),
    ):
        engine.sum(lambda block, rows: os.kill(os.getpid(), signal.SIGKILL))


def test_a_cluster_without_workers_is_not_waited_for_for_ever(X, monkeypatch):
    monkeypatch.setattr(dask_client, "NO_WORKER_SECONDS", 0.3)
    monkeypatch.setattr(dask_client, "LOOK_SECONDS", 0.1)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0", silence_logs=50) as empty,
        Client(empty, set_as_default=False) as client,
        DaskEngine(from_array(X, client), client) as engine,
        pytest.raises(TimeoutError, match=r"no worker for 0.3 seconds; start some with 'dask worker"),
    ):
        engine.sum(lambda block, rows: (block.sum(),))


@pytest.mark.slow
def test_a_slow_task_is_waited_for(X, monkeypatch):
    monkeypatch.setattr(dask_client, "NO_WORKER_SECONDS", 0.2)
    monkeypatch.setattr(dask_client, "LOOK_SECONDS", 0.05)
    with open_on("dask", X, len(X)) as engine:
        (total,) = engine.sum(lambda block, rows: (time.sleep(0.6) or len(block),))
    assert total == len(X)


def test_leaving_while_sums_wait_to_be_added_keeps_the_connection(X):
    """The client wants the last sum only, and no longer those that it is made of: the scheduler must not mind."""
    with two_threads() as client:
        others = client.submit(int, "7")
        with DaskEngine(from_array(X, client, 10), client) as engine:
            parts = engine._submit(sharded.sum_shard, lambda block, rows: (time.sleep(1.0) or 0.0,))
            last = client.map(add_in_order, [parts], pure=False, key=engine._name)
            del parts
            client.run_on_scheduler(lambda: None)  # it has heard of both by now
        assert last[0].cancelled()
        assert tasks_left(client, but=[others.key]) == []
        assert others.result(timeout=30) == 7  # lost with the connection


def test_errors_of_a_function_come_back_as_they_are(X):
    with open_on("dask", X, 100) as engine, pytest.raises(ZeroDivisionError):
        engine.sum(lambda block, rows: (1 / 0,))


def test_tasks_cancelled_by_others_are_not_waited_for():
    with two_threads() as client:
        futures = client.map(time.sleep, [5.0] * 4, pure=False)
        threading.Timer(0.3, client.cancel, (futures[2:],), {"force": True}).start()
        with pytest.raises(ConnectionError, match="were cancelled, or the scheduler was lost"):
            dask_client.results_of(client, futures[2:])
        client.cancel(futures, force=True)


def test_no_scheduler_at_the_address_is_said_at_once(monkeypatch):
    monkeypatch.setattr(dask_client, "CONNECT_SECONDS", 1)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        IFair(K, engine="dask:tcp://127.0.0.1:9").fit(np.zeros((9, N)))


def test_an_existing_scheduler_is_used_by_its_address_and_left_alone(X):
    client = two_workers()
    expected = fitted(client, X)
    address = client.scheduler.address
    other, resources = open_client(address)
    with resources:
        assert other is not client
        assert other.scheduler.address == address
    assert same(fitted(client, X, engine=f"dask:{address}"), expected)
    assert client.status == "running"


def test_many_shards_are_added_up_on_the_workers_first(X, monkeypatch):
    client = two_workers()
    arrived = []
    gather = client.gather
    monkeypatch.setattr(client, "gather", lambda futures: arrived.append(len(futures)) or gather(futures))
    with open_on("dask", X, 10) as engine:
        (total,) = engine.sum(lambda block, rows: (block.sum(axis=0),))
    assert arrived == [2]  # sixty shards in groups of 32
    np.testing.assert_allclose(total, X.sum(axis=0), rtol=1e-12)


def test_a_message_too_large_to_repeat_travels_once(X, monkeypatch):
    with open_on("dask", X, 100) as engine:
        inline, _ = engine._message(np.sum, 6)
        expected = engine.sum(lambda block, rows: (block.sum(axis=0),))
        monkeypatch.setattr(dask, "MESSAGE_BYTES", 0)
        once, _ = engine._message(np.sum, 6)
        assert isinstance(inline, bytes)
        assert once.result() == inline
        assert same(engine.sum(lambda block, rows: (block.sum(axis=0),)), expected)


def test_a_script_that_its_workers_would_run_again_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text("import numpy as np\nfrom ifair import IFair\nIFair(2, engine='dask').fit(np.eye(9)[:, :3])\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert 'put what it does under `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]
