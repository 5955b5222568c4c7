"""Many fits at once: every one has the value and the gradient that it has alone."""

import itertools

import numpy as np
import pytest

from ifair.core.batch import Batch, can_be_batched, ladder, most_at_once
from ifair.core.mapping import Mapping
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective
from ifair.core.pair_terms import AllPairs, Landmarks
from ifair.core.pairs import EuclideanPairs, MinkowskiPairs
from ifair.core.parameters import Parameters
from ifair.core.terms import Reconstruction
from ifair.engines.engine import LocalEngine

M, N, K = 41, 6, 4
UNPROTECTED = np.array([0, 1, 2, 4])
WEIGHTS = [(1.3, 0.7), (1.0, 0.0), (0.0, 2.0), (0.1, 0.9), (50.0, 1.0)]


def on_torch(X):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'ifair[torch]'")
    from ifair.engines.torch import TorchEngine

    return TorchEngine(X, device="cpu", block_rows=20, tile_rows=15)


ENGINES = {
    "local": lambda X: LocalEngine(X, block_rows=20, tile_rows=15),
    "local on two threads": lambda X: LocalEngine(X, threads=2, block_rows=20, tile_rows=15),
    "torch": on_torch,
}


def objectives(engine, pairs="all", *, weighted=True, squared=False, reduction="mean", dtype=np.float64):
    unprotected, columns = engine.send(UNPROTECTED, np.array([1.0, 1, 1, 0, 1, 1]))
    kernel = EuclideanPairs(unprotected, K, weighted, dtype)
    pair_terms = {
        "all": lambda: [AllPairs(kernel)],
        "landmarks": lambda: [Landmarks(kernel, engine.take(np.array([3, 4, 11, 17, 25, 38])), engine.n_records)],
        "moments": lambda: [Moments(unprotected, input_products(engine, unprotected), weighted)],
        "none": list,
    }[pairs]()
    terms = [Reconstruction(columns), *pair_terms]
    return [Objective(engine, Mapping(2.0, squared), tuple(zip(weights, terms)), reduction) for weights in WEIGHTS]


def draw(rng):
    X = rng.normal(size=(M, N))
    X[7] = X[8]  # twins
    at = [Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N)) for _ in WEIGHTS]
    return X - X.mean(axis=0), at


def assert_same(together, apart, tolerance):
    for (losses, gradient), (expected_losses, expected) in zip(together, apart, strict=True):
        values, expected_values = ([one.total, *one.terms] for one in (losses, expected_losses))
        assert all(type(value) is float for value in values)
        np.testing.assert_allclose(values, expected_values, rtol=tolerance)
        for a, b in ((gradient.prototypes, expected.prototypes), (gradient.alpha, expected.alpha)):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("pairs", "weighted", "squared", "reduction"),
    list(itertools.product(("all", "landmarks", "moments", "none"), (True, False), (True, False), ("mean", "norm"))),
)
def test_every_fit_has_the_loss_and_gradient_that_it_has_alone(rng, engine, pairs, weighted, squared, reduction):
    X, at = draw(rng)
    with ENGINES[engine](X) as opened:
        fits = objectives(opened, pairs, weighted=weighted, squared=squared, reduction=reduction)
        apart = [fit.value_and_grad(one) for fit, one in zip(fits, at)]
        assert_same(Batch(fits[0], 100).value_and_grads(fits, at), apart, 1e-10)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pairs", ["all", "landmarks"])
def test_tiles_in_single_precision_agree_to_five_digits(rng, engine, pairs):
    X, at = draw(rng)
    with ENGINES[engine](X) as opened:
        fits = objectives(opened, pairs, dtype=np.float32)
        apart = [fit.value_and_grad(one) for fit, one in zip(fits, at)]
        assert_same(Batch(fits[0], 100).value_and_grads(fits, at), apart, 1e-5)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_more_fits_than_there_is_room_for_are_evaluated_in_turns(rng, most):
    X, at = draw(rng)
    engine = Watched(X)
    fits = objectives(engine)
    apart = [fit.value_and_grad(one) for fit, one in zip(fits, at)]
    engine.sizes.clear()
    assert_same(Batch(fits[0], most).value_and_grads(fits, at), apart, 1e-10)
    assert max(engine.sizes) == most
    assert sum(engine.sizes) == len(WEIGHTS)


class Watched(LocalEngine):
    """Notes which functions are evaluated, and at how many parameters at once."""

    recorded = False

    def __init__(self, X):
        super().__init__(X)
        self.sizes, self.functions = [], []

    def evaluate(self, function, *arrays):
        self.sizes.append(arrays[1].shape[0])
        self.functions.append(function)
        return super().evaluate(function, *arrays)


def test_an_engine_that_records_sees_few_sizes_and_one_function_for_each(rng):
    X, at = draw(rng)
    engine = Watched(X)
    fits, at = objectives(engine) * 4, at * 4
    apart = [fit.value_and_grad(one) for fit, one in zip(fits, at)]
    engine.recorded = True
    engine.sizes.clear()
    engine.functions.clear()
    batch = Batch(fits[0], 100)
    for n in (20, 19, 18, 17, 9, 3):
        assert_same(batch.value_and_grads(fits[:n], at[:n]), apart[:n], 1e-10)
    assert engine.sizes == [20, 20, 20, 20, 10, 3]
    assert len(set(engine.functions)) == 3
    batch = Batch(fits[0], 17)
    batch.value_and_grads(fits[:17], at[:17])
    assert engine.sizes[-1] == 17, "no more than there is room for"


def test_rungs_of_the_ladder_are_few_and_at_most_a_third_above_what_is_wanted():
    rungs = {n: ladder(n) for n in range(1, 1025)}
    assert all(n <= rung <= n * 4 / 3 for n, rung in rungs.items())
    assert len(set(rungs.values())) <= 36


def test_only_euclidean_formulas_take_many_fits(rng):
    X, _ = draw(rng)
    engine = LocalEngine(X)
    assert all(can_be_batched(fit) for pairs in ("all", "moments", "none") for fit in objectives(engine, pairs))
    utility, minkowski = (1.0, Reconstruction(np.ones(N))), (1.0, AllPairs(MinkowskiPairs(UNPROTECTED, N, 3.0)))
    assert not can_be_batched(Objective(engine, Mapping(3.0), (utility, minkowski)))
    assert not can_be_batched(Objective(engine, Mapping(3.0), (utility,)))


def test_how_many_fits_there_is_room_for_follows_from_the_engines_memory(rng):
    X, _ = draw(rng)
    engine = LocalEngine(X)
    (fit, *_) = objectives(engine)
    assert most_at_once(fit, K, N) == 1
    engine.batch_bytes = 8 * M * 8 * (N + K) * 5
    assert most_at_once(fit, K, N) == 5
