"""Engines on clusters: one message a pass, parameters out, sums back, never the records; and nothing stays there."""

import importlib
import os
import pickle
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ifair import IFair
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Mapping, Parameters
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import Landmarks
from ifair.engines import sharded
from ifair.engines.sharded import ShardedEngine

from clusters import jobs_left, open_on, short_fit, spark, tasks_left, two_threads

pytestmark = pytest.mark.cluster

K, N, L = 3, 5, 200
SHARD = 100


@pytest.fixture(params=["dask", "spark"])
def family(request):
    return request.param


@contextmanager
def disorder(family, monkeypatch):
    """A cluster that may be left in disorder, and what is left there in the end: nothing."""
    if family == "spark":
        session = spark()
        yield
        assert jobs_left(session) == []
        return
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")
    with two_threads() as client, client.as_current():
        monkeypatch.setattr("clusters.two_workers", lambda: client)
        yield
        assert tasks_left(client) == []


def interrupt_in(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_an_interrupt_leaves_nothing_behind_and_keeps_the_best_so_far(family, rng, monkeypatch):
    def interrupt_soon(iteration, loss, gradient_norm):
        if iteration == 2:
            interrupt_in(0.02)

    options = {"pairs": 50, "n_restarts": 1, "max_iter": 10_000, "tol": 0.0, "random_state": 0}
    with disorder(family, monkeypatch), pytest.warns(ConvergenceWarning, match="was interrupted after"):
        learned = IFair(K, engine=family, callback=interrupt_soon, **options).fit(rng.normal(size=(600, N)))
    assert np.isfinite(learned.loss_)


def test_an_interrupt_cancels_what_is_under_way(family, rng, monkeypatch):
    with disorder(family, monkeypatch):
        with open_on(family, rng.normal(size=(600, N)), 10) as engine:
            engine.sum(lambda block, rows: (block.sum(),))
            interrupt_in(0.5)
            began = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                engine.sum(lambda block, rows: (time.sleep(2.0) or 0.0,))
            assert time.monotonic() - began < 30.0  # sixty tasks of two seconds on two workers
        # The cluster can still be used.
        with open_on(family, rng.normal(size=(600, N)), 100) as engine:
            assert engine.sum(lambda block, rows: (len(block),)) == (600,)


def test_all_pairs_of_too_many_records_are_refused_with_what_to_do(family, rng, monkeypatch):
    monkeypatch.setattr(sharded, "ALL_PAIRS_UP_TO", 599)
    advice = rf"'{family}' compares .* at most 599 records, .* such as pairs=1000, or pairs='moments'"
    with disorder(family, monkeypatch), pytest.raises(ValueError, match=advice):
        short_fit(rng.normal(size=(600, N)), engine=family, pairs="all")


@pytest.fixture
def traffic(family, monkeypatch):
    """Bytes of every message to tasks, and of every answer of a task, since the last look."""
    messages, answers = [], []
    module = importlib.import_module(f"ifair.engines.{family}")
    dump, results_of = ShardedEngine._dump, module.results_of

    def counted_message(self, function):
        message, used = dump(self, function)
        messages.append(len(message))
        return message, used

    def counted_answers(*how):
        results = results_of(*how)
        answers.extend(len(pickle.dumps(result, protocol=5)) for result in results)
        return results

    monkeypatch.setattr(ShardedEngine, "_dump", counted_message)
    monkeypatch.setattr(module, "results_of", counted_answers)
    return messages, answers


def pair_term(engine, pairs):
    if pairs == "moments":
        return Moments(np.arange(N), input_products(engine, np.arange(N)))
    return Landmarks(EuclideanPairs(np.arange(N), K), engine.take(np.arange(0, 3 * L, 3)), engine.n_records)


# In doubles, the sums of a block as the documentation counts them, and what pickling adds to them.
SUMS = {"landmarks": 3 * K * N + 2 * N + L * (K + 2) + 2, "moments": 3 * K * N + 2 * N + N * N + 2}


@pytest.mark.parametrize(("pairs", "passes"), [("landmarks", 1), ("moments", 2)])
def test_an_evaluation_sends_parameters_and_gets_gradients_whatever_the_number_of_records(
    family, traffic, rng, pairs, passes
):
    parameters = Parameters(rng.normal(size=(K, N)), np.ones(N))
    messages, answers = traffic
    sizes = []
    for n_shards in (6, 24):
        with open_on(family, rng.normal(size=(n_shards * SHARD, N)), SHARD) as engine:
            ways = pair_term(engine, pairs)
            objective = Objective(engine, Mapping(), ((1.0, Reconstruction(np.ones(N))), (1.0, ways)))
            for _ in range(2):
                messages.clear()
                answers.clear()
                objective.value_and_grad(parameters)
                assert len(messages) == passes
                assert len(answers) == passes * n_shards  # a task per shard and pass
        sizes.append((max(messages), max(answers)))
    # Four times the records: not a byte more, but for the digits of their number.
    np.testing.assert_allclose(sizes[0], sizes[1], atol=16)
    message, answer = sizes[0]
    assert 8 * (K * N + N) < message < 8 * (K * N + N) + 4500
    assert answer < 8 * SUMS[pairs] + 2500
    assert max(message, answer) < 8 * SHARD * N * 3  # the answer of a shard is not the shard, however small


def test_landmarks_are_sent_once_and_not_with_every_evaluation(family, traffic, rng):
    messages, _ = traffic
    sizes = []
    for n_landmarks in (L, 5 * L):
        with open_on(family, rng.normal(size=(10 * SHARD, N)), SHARD) as engine:
            ways = Landmarks(EuclideanPairs(np.arange(N), K), engine.take(np.arange(n_landmarks)), engine.n_records)
            objective = Objective(engine, Mapping(), ((1.0, Reconstruction(np.ones(N))), (1.0, ways)))
            messages.clear()
            objective.value_and_grad(Parameters(rng.normal(size=(K, N)), np.ones(N)))
            sizes += messages
    assert len(sizes) == 2
    assert abs(sizes[0] - sizes[1]) <= 16
    assert sizes[0] < 4500
