"""Many fits at once: every one has the value and the gradient that it has alone; for every term: test_terms.py."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from ifair.core.batch import COPIES, Batch, form_batches, most_at_once
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Mapping, Packing, Parameters, mean_memberships
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs, Landmarks
from ifair.core.problem import Problem
from ifair.core.solve import losses_at, mean_memberships_at, minimise_many
from ifair.engines.engine import LocalEngine

from devices import open_torch
from oracles import assert_same

M, N, K = 41, 6, 4
UNPROTECTED = np.array([0, 1, 2, 4])
WEIGHTS = [(1.3, 0.7), (1.0, 0.0), (0.0, 2.0), (0.1, 0.9), (50.0, 1.0)]


ENGINES = {
    "local": lambda X: LocalEngine(X, block_rows=20, tile_rows=15),
    "torch": lambda X: open_torch(X, 20, 15),
}


def objectives(engine, pairs="all", *, squared=False, dtype=np.float64, n_prototypes=K):
    unprotected, columns = engine.send(UNPROTECTED, np.array([1.0, 1, 1, 0, 1, 1]))
    kernel = EuclideanPairs(unprotected, n_prototypes, dtype=dtype)
    pair_terms = {
        "all": lambda: [AllPairs(kernel)],
        "landmarks": lambda: [Landmarks(kernel, engine.take(np.array([3, 4, 11, 17, 25, 38])), engine.n_records)],
        "moments": lambda: [Moments(unprotected, input_products(engine, unprotected))],
        "none": list,
    }[pairs]()
    terms = [Reconstruction(columns), *pair_terms]
    return [Objective(engine, Mapping(2.0, squared), tuple(zip(weights, terms))) for weights in WEIGHTS]


def draw(rng):
    X = rng.normal(size=(M, N))
    X[7] = X[8]  # twins
    at = [Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N)) for _ in WEIGHTS]
    return X - X.mean(axis=0), at


PACKING = Packing(K, N, np.zeros(N, dtype=bool))


def take(fits, rows, most=100):
    for fit in fits:
        fit.engine.batch_bytes = most * bytes_each(fit.engine)
    return Batch([fits[row] for row in rows], [PACKING] * len(rows), [0] * len(rows))


def bytes_each(engine):
    return 8 * min(engine.n_records, engine.block_rows) * COPIES * (N + K)


def assert_same_at_once(fits, at, tolerance, most=100):
    """Evaluated at once, every fit has the losses and the gradient that it has alone."""
    apart = [fit.value_and_grad(one) for fit, one in zip(fits, at)]
    thetas = np.stack([PACKING.pack(one) for one in at])
    batch = take(fits, range(len(fits)), most)
    losses, gradients = batch.engine.evaluate(batch.values_and_grads, thetas)
    for theta, values, gradient, (expected_losses, expected) in zip(thetas, losses, gradients, apart, strict=True):
        flat = PACKING.pack_gradient(expected, theta)
        assert_same((batch.name_losses(values), gradient), (expected_losses, flat), tolerance)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pairs", ["all", "landmarks"])
def test_tiles_in_single_precision_agree_to_five_digits(rng, engine, pairs):
    X, at = draw(rng)
    with ENGINES[engine](X) as opened:
        assert_same_at_once(objectives(opened, pairs, dtype=np.float32), at, 1e-5)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("pairs", ["all", "moments", "none"])
@pytest.mark.parametrize("apart_from", [1, 10**9])
def test_fits_of_different_numbers_of_prototypes_are_evaluated_in_one_call(
    rng, monkeypatch, engine, pairs, squared, apart_from
):
    monkeypatch.setattr("ifair.core.batch.APART_FROM", apart_from)
    X, sizes = rng.normal(size=(M, N)), [2, 5, 3]
    at = [Parameters(rng.normal(size=(n, N)), rng.uniform(0.1, 1.0, size=N)) for n in sizes]
    with ENGINES[engine](X) as opened:
        opened.batch_bytes = 2**30
        fits = [objectives(opened, pairs, squared=squared, n_prototypes=n)[0] for n in sizes]
        packings = [Packing(n, N, np.zeros(N, dtype=bool)) for n in sizes]
        groups, filled, batch = form_batches(fits, packings)
        assert groups == [[0, 2, 1]]  # those of most prototypes come last
        together = batch([0, 1, 2, 0])
        thetas = np.stack([filled[i].pack(at[i]) for i in (0, 1, 2, 0)])
        losses, gradients = opened.evaluate(together.values_and_grads, thetas)
        for i, values, gradient in zip((0, 1, 2, 0), losses, gradients, strict=True):
            expected_losses, expected = fits[i].value_and_grad(at[i])
            np.testing.assert_allclose(values, [expected_losses.total, *expected_losses.terms], rtol=1e-10)
            flat = filled[i].pack_gradient(expected, filled[i].pack(at[i]))
            np.testing.assert_allclose(gradient, flat, rtol=1e-10, atol=1e-10 * np.abs(flat).max())
            assert np.count_nonzero(gradient) == np.count_nonzero(flat)
        kept = together.keep([2, 3])
        np.testing.assert_allclose(opened.evaluate(kept.values_and_grads, thetas[2:])[0], losses[2:], rtol=1e-12)
        for one, mean, point in zip(fits, mean_memberships_at([*zip(fits, packings, at)]), at, strict=True):
            np.testing.assert_allclose(mean, mean_memberships(opened, one.mapping, point), rtol=1e-12)
        assert [one.total for one in losses_at([*zip(fits, packings, at)])] == pytest.approx(
            losses[:3, 0].tolist(), rel=1e-10
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments", "none"])
@pytest.mark.parametrize("reduction", ["mean", "norm"])
def test_fits_of_several_tables_are_evaluated_in_one_call(rng, engine, pairs, reduction):
    tables = [rng.normal(size=(n, N)) for n in (M, M, 2 * M)]
    with ExitStack() as stack:
        opened = [stack.enter_context(ENGINES[engine](X)) for X in tables]
        for one in opened:
            one.batch_bytes = 2**30
        fits = [fit for one in opened for fit in objectives(one, pairs)]
        # Those of one table need not stand side by side.
        fits = [replace(fit, reduction=reduction) for fit in fits[::2] + fits[1::2]]
        at = [Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N)) for _ in fits]
        (group,), (packing, *_), batch = form_batches(fits, [PACKING] * len(fits))
        together = batch(group)
        thetas = np.stack([packing.pack(at[i]) for i in group])
        losses, gradients = opened[0].evaluate(together.values_and_grads, thetas)
        for i, theta, values, gradient in zip(group, thetas, losses, gradients, strict=True):
            expected, slope = fits[i].value_and_grad(at[i])
            np.testing.assert_allclose(values, [expected.total, *expected.terms], rtol=1e-10)
            flat = packing.pack_gradient(slope, theta)
            np.testing.assert_allclose(gradient, flat, rtol=1e-10, atol=1e-10 * np.abs(flat).max())
        few = together.keep([1, 7, 12])
        again, _ = opened[0].evaluate(few.values_and_grads, thetas[[1, 7, 12]])
        np.testing.assert_allclose(again, losses[[1, 7, 12]], rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_nearly_even_memberships_keep_their_digits_beside_fits_of_more_prototypes(rng, engine):
    X = 1e-3 * rng.normal(size=(M, N))
    at = [Parameters(1e-3 * rng.normal(size=(n, N)), rng.uniform(0.1, 1.0, size=N)) for n in (3, 40)]
    with ENGINES[engine](X) as opened:
        opened.batch_bytes = 2**30
        fits = [objectives(opened, squared=True, dtype=np.float32, n_prototypes=n)[2] for n in (3, 40)]
        _, filled, batch = form_batches(fits, [Packing(n, N, np.zeros(N, dtype=bool)) for n in (3, 40)])
        together, theta = batch([0, 1]), [packing.pack(one) for packing, one in zip(filled, at)]
        _, gradients = opened.evaluate(together.values_and_grads, np.stack(theta))
        flat = filled[0].pack_gradient(fits[0].value_and_grad(at[0])[1], theta[0])
        np.testing.assert_allclose(gradients[0], flat, rtol=0, atol=1e-6 * np.abs(flat).max())


@pytest.mark.parametrize("most", [1, 2, 3])
def test_more_fits_than_there_is_room_for_are_evaluated_in_turns(rng, monkeypatch, most):
    X, at = draw(rng)
    sizes, sums = [], Objective.sums

    def watched(self, parameters, mixtures):
        sizes.append(len(parameters.prototypes))
        return sums(self, parameters, mixtures)

    fits = objectives(LocalEngine(X))
    monkeypatch.setattr(Objective, "sums", watched)
    assert_same_at_once(fits, at, 1e-10, most)
    sizes = sizes[len(WEIGHTS) :]  # those before were alone
    assert max(sizes) == most
    assert sum(sizes) == len(WEIGHTS)


class Watched(LocalEngine):
    """Notes which functions are evaluated, and for how many fits at once."""

    recorded = True

    def __init__(self, X):
        super().__init__(X)
        self.sizes, self.functions = [], []

    def evaluate(self, function, *arrays, once=False):
        if len(arrays) == 1:
            self.sizes.append(arrays[0].shape[0])
            self.functions.append(function)
        return super().evaluate(function, *arrays)


def test_an_engine_that_records_sees_few_sizes_and_one_function_for_each(rng):
    X, at = draw(rng)
    engine = Watched(X)
    fits = objectives(engine) * 3
    starts = [[one, other] for one, other in zip(at * 3, (at[1:] + at[:1]) * 3)]
    problems = [Problem(fit, two, PACKING, 6 + 2 * i, 1e-9) for i, (fit, two) in enumerate(zip(fits, starts))]
    found = minimise_many(problems, [[*range(len(fits))]], lambda rows: take(fits, rows))
    assert engine.sizes[0] == 30
    assert len(set(engine.functions)) == len(set(engine.sizes)) < 10
    for problem, (solution, _) in zip(problems, found):
        ((expected, _),) = minimise_many([problem])
        assert solution.losses.total <= expected.losses.total * 1.1


@pytest.mark.parametrize("engine", ENGINES)
def test_searches_take_the_same_steps_at_once_and_alone(rng, engine):
    X, at = draw(rng)
    with ENGINES[engine](X) as opened:
        fits = objectives(opened)
        problems = [Problem(fit, [one], PACKING, 6, 0.0) for fit, one in zip(fits, at)]
        found = minimise_many(problems, [[*range(5)]], lambda rows: take(fits, rows))
        for problem, (solution, _) in zip(problems, found, strict=True):
            ((expected, _),) = minimise_many([problem])
            np.testing.assert_allclose(solution.parameters.prototypes, expected.parameters.prototypes, rtol=1e-8)
            np.testing.assert_allclose(solution.losses.total, expected.losses.total, rtol=1e-9)
            np.testing.assert_allclose(solution.losses.terms, expected.losses.terms, rtol=1e-9)


def most(objective):
    return most_at_once(objective, PACKING)


def test_how_many_fits_there_is_room_for_follows_from_memory_and_formulas_of_which_only_euclidean_take_many(rng):
    X, _ = draw(rng)
    engine = LocalEngine(X)
    (fit, *_) = objectives(engine)
    assert most(fit) == 1
    engine.batch_bytes = 5 * bytes_each(engine)
    assert most(fit) == 5
    engine.batch_bytes = 10**9
    assert all(most(fit) > 1 for pairs in ("all", "moments", "none") for fit in objectives(engine, pairs))
    utility, minkowski = (1.0, Reconstruction(np.ones(N))), (1.0, AllPairs(MinkowskiPairs(UNPROTECTED, N, 3.0)))
    assert most(Objective(engine, Mapping(3.0), (utility, minkowski))) == 1
    assert most(Objective(engine, Mapping(3.0), (utility,))) == 1
