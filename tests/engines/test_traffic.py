"""What travels between a fit and a cluster: one message a pass, parameters out, sums back, and never the records."""

import importlib
import pickle

import numpy as np
import pytest

from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Mapping, Parameters
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import Landmarks
from ifair.engines.sharded import ShardedEngine

from clusters import spark, two_workers

pytestmark = pytest.mark.cluster

K, N, L = 3, 5, 200
SHARD = 100


def on_dask(X):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")
    from ifair.engines.dask import DaskEngine, from_array

    return DaskEngine(from_array(X, two_workers(), SHARD), two_workers())


def on_spark(X):
    session = spark()
    from ifair.engines.spark import SparkEngine, from_array

    return SparkEngine(from_array(X, session, SHARD), session)


@pytest.fixture(params=["dask", "spark"])
def family(request):
    return request.param


@pytest.fixture
def opened(family):
    return {"dask": on_dask, "spark": on_spark}[family]


@pytest.fixture
def traffic(family, opened, monkeypatch):
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
    opened, traffic, rng, pairs, passes
):
    parameters = Parameters(rng.normal(size=(K, N)), np.ones(N))
    messages, answers = traffic
    sizes = []
    for n_shards in (6, 24):
        with opened(rng.normal(size=(n_shards * SHARD, N))) as engine:
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


def test_landmarks_are_sent_once_and_not_with_every_evaluation(opened, traffic, rng):
    messages, _ = traffic
    sizes = []
    for n_landmarks in (L, 5 * L):
        with opened(rng.normal(size=(10 * SHARD, N))) as engine:
            ways = Landmarks(EuclideanPairs(np.arange(N), K), engine.take(np.arange(n_landmarks)), engine.n_records)
            objective = Objective(engine, Mapping(), ((1.0, Reconstruction(np.ones(N))), (1.0, ways)))
            messages.clear()
            objective.value_and_grad(Parameters(rng.normal(size=(K, N)), np.ones(N)))
            sizes += messages
    assert len(sizes) == 2
    assert abs(sizes[0] - sizes[1]) <= 16
