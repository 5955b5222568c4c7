"""What every term must do: the right gradient, whatever the engine, the blocks and the reduction, alone and in a batch.

A new term joins by one line in ``TERMS``.
"""

import inspect
import pickle
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ifair import IFair, fit_many
from ifair.core.arrays import at_least, namespace
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lfr_terms import GroupParity, LabelCrossEntropy
from ifair.core.mapping import Mapping, Parameters
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction, Term
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine

from devices import open_torch
from oracles import assert_gradient_is_right

M, N, K, B = 17, 4, 3, 5
UNPROTECTED = np.array([0, 1, 3])
LABELS = np.tile([0.0, 1.0, 1.0], 6)[:M]
GROUPS = np.arange(M) % 3


@dataclass(frozen=True, slots=True)
class MembershipEntropy(Term):
    """Entropy of memberships; the example of CONTRIBUTING for a term of one's own."""

    def block(self, known, X, U, rows, parameters):
        xp = namespace(U)
        log_U = xp.log(at_least(U, 1e-300))
        return -(log_U + 1.0), (-xp.sum(U * log_U, axis=(-2, -1)),)


def moments(engine, weighted):
    (unprotected,) = engine.send(UNPROTECTED)
    return Moments(unprotected, input_products(engine, unprotected), weighted)


def landmarks(engine, kernel):
    return Landmarks(kernel, engine.take(np.array([2, 3, 5, 7, 11, 13])), engine.n_records)


def euclidean(engine, weighted):
    return EuclideanPairs(*engine.send(UNPROTECTED), K, weighted)


def minkowski(engine, p=1.5):
    return MinkowskiPairs(*engine.send(UNPROTECTED), N, p)


TERMS = {
    "reconstruction": lambda engine: Reconstruction(*engine.send(np.array([1.0, 1.0, 0.0, 1.0]))),
    "all pairs": lambda engine: AllPairs(euclidean(engine, weighted=True)),
    "all pairs, unweighted": lambda engine: AllPairs(euclidean(engine, weighted=False)),
    "all pairs, p = 1.5": lambda engine: AllPairs(minkowski(engine)),
    "landmarks": lambda engine: landmarks(engine, euclidean(engine, weighted=True)),
    "landmarks, unweighted": lambda engine: landmarks(engine, euclidean(engine, weighted=False)),
    "landmarks, p = 1.5": lambda engine: landmarks(engine, minkowski(engine)),
    "moments": lambda engine: moments(engine, weighted=True),
    "moments, unweighted": lambda engine: moments(engine, weighted=False),
    "label cross-entropy": lambda engine: LabelCrossEntropy(*engine.send(LABELS)),
    "group parity": lambda engine: GroupParity(*engine.send(GROUPS, np.bincount(GROUPS).astype(float))),
    "membership entropy": lambda engine: MembershipEntropy(),
}


def local(X, block_rows):
    return LocalEngine(X, block_rows=block_rows, tile_rows=5)


ENGINES = {"local": local, "torch": partial(open_torch, tile_rows=5)}

every_term = pytest.mark.parametrize("name", TERMS)
every_engine = pytest.mark.parametrize("engine", ENGINES)


def draw(rng):
    X = rng.normal(size=(M, N))
    extra = {"log_odds": rng.normal(size=K)}
    return X - X.mean(axis=0), Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N), extra)


def objective(name, engine, reduction="mean"):
    """One term, with a weight, where its name is known; else all of them together."""
    names = [name] if name in TERMS else [other for other in TERMS if "p = 1.5" not in other]
    terms = [(0.3 + 0.2 * i, TERMS[other](engine)) for i, other in enumerate(names)]
    return Objective(engine, Mapping(), tuple(terms), reduction)


def assert_same(actual, expected, tolerance=1e-10):
    for a, b in zip(flat(actual), flat(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max(initial=0.0))


def flat(result):
    losses, gradient = result
    return [[losses.total, *losses.terms], gradient.prototypes, gradient.alpha, *gradient.extra.values()]


@pytest.mark.every_seed
@every_term
@pytest.mark.parametrize("reduction", ["mean", "sum", "norm"])
def test_the_gradient_of_a_term_equals_central_differences(rng, name, reduction):
    X, at = draw(rng)
    assert_gradient_is_right(objective(name, local(X, 6), reduction), at)


@pytest.mark.every_seed
@every_engine
@pytest.mark.parametrize("reduction", ["mean", "sum", "norm"])
def test_the_gradient_of_all_terms_together_equals_central_differences(rng, engine, reduction):
    X, at = draw(rng)
    opened, whole = (objective("all", one, reduction) for one in (ENGINES[engine](X, 6), local(X, M)))
    assert_gradient_is_right(opened, at, whole=whole)


@every_engine
def test_the_total_is_the_weighted_sum_of_what_every_term_says_alone(rng, engine):
    X, at = draw(rng)
    opened = ENGINES[engine](X, 6)
    together = objective("all", opened)
    alone = [replace(together, terms=(one,)).value_and_grad(at)[0] for one in together.terms]
    losses, _ = together.value_and_grad(at)
    assert losses.terms == pytest.approx([one.terms[0] for one in alone], rel=1e-12)
    assert losses.total == pytest.approx(sum(one.total for one in alone), rel=1e-12)


@every_term
@every_engine
@pytest.mark.parametrize("block_rows", [1, 6, 1024])
def test_neither_the_engine_nor_the_blocks_matter(rng, name, engine, block_rows):
    X, at = draw(rng)
    expected = objective(name, local(X, M)).value_and_grad(at)
    assert_same(objective(name, ENGINES[engine](X, block_rows)).value_and_grad(at), expected)


@every_term
def test_a_term_is_the_same_after_a_journey_to_another_process(rng, name):
    X, at = draw(rng)
    here = objective(name, local(X, 6))
    ((weight, term),) = here.terms
    there = replace(here, terms=((weight, pickle.loads(pickle.dumps(term))),))
    assert_same(there.value_and_grad(at), here.value_and_grad(at), 0.0)


@every_engine
@pytest.mark.parametrize("name", [name for name in TERMS if "p = 1.5" not in name])
@pytest.mark.parametrize("block_rows", [6, 1024])
def test_many_fits_at_once_have_the_sums_and_gradients_that_they_have_alone(rng, name, engine, block_rows):
    X, _ = draw(rng)
    fits, shares = [draw(rng)[1] for _ in range(B)], rng.uniform(0.5, 2.0, size=B)
    opened = ENGINES[engine](X, block_rows)
    whole = objective(name, opened, "sum")
    arrays = [(at.prototypes, at.alpha, *(at.extra[extra] for extra in whole.extra)) for at in fits]

    def sums(share, *arrays):
        return whole.sums(Parameters(*arrays[:2], dict(zip(whole.extra, arrays[2:]))), [[share]])

    together = opened.evaluate(sums, shares, *map(np.stack, zip(*arrays)))
    for i, at in enumerate(fits):
        loss, *gradient = (array[i] for array in together)
        losses, expected = whole.with_weights(float(shares[i])).value_and_grad(at)
        assert loss == pytest.approx(losses.terms[0], rel=1e-10)
        for a, b in zip(gradient, (expected.prototypes, expected.alpha, *expected.extra.values()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * np.abs(b).max())


def test_parameters_that_no_term_learns_have_no_slope(rng):
    X, at = draw(rng)
    assert objective("reconstruction", local(X, 6)).value_and_grad(at)[1].extra == {}
    assert_gradient_is_right(objective("reconstruction", local(X, 6)), at)


# ---- the recipe of CONTRIBUTING, to its end: the line in an estimator ----


def test_the_recipe_shows_this_very_term():
    recipe = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    assert all(line.strip() in recipe for line in inspect.getsource(MembershipEntropy.block).splitlines())


class DecisiveIFair(IFair):
    """IFair that prefers records to belong to few prototypes."""

    entropy_weight = 0.0

    def _weights(self, *arguments):
        return *super()._weights(*arguments), self.entropy_weight

    def _terms(self, *arguments):
        return *super()._terms(*arguments), MembershipEntropy()


def decide(entropy_weight, **options):
    model = DecisiveIFair(K, init="k-means++", n_restarts=1, tol=0.1, random_state=0, **options)
    model.entropy_weight = entropy_weight
    return model


def mean_entropy(model, X):
    U = model.membership(X)
    return -np.sum(U * np.log(U + 1e-300)) / len(X)


@pytest.mark.parametrize("fairness_weight", [1.0, 0.0])
def test_a_term_of_ones_own_shapes_what_an_estimator_learns(rng, fairness_weight):
    X, _ = draw(rng)
    plain, decisive = (decide(weight, fairness_weight=fairness_weight).fit(X) for weight in (0.0, 5.0))
    assert mean_entropy(decisive, X) < 0.5 * mean_entropy(plain, X)


@pytest.mark.parametrize("fairness_weight", [1.0, 0.0])
@pytest.mark.parametrize("batch_bytes", [0, 10**9])
def test_a_term_of_ones_own_has_its_own_weight_alone_and_among_many(rng, monkeypatch, fairness_weight, batch_bytes):
    X, _ = draw(rng)
    alone = [decide(weight, fairness_weight=fairness_weight).fit(X) for weight in (0.3, 5.0)]
    monkeypatch.setattr(LocalEngine, "batch_bytes", batch_bytes)
    together = fit_many([decide(weight, fairness_weight=fairness_weight) for weight in (0.3, 5.0)], X)
    for one, other in zip(alone, together, strict=True):
        own = one.entropy_weight * mean_entropy(one, X)
        assert one.loss_ == pytest.approx(one.utility_loss_ + fairness_weight * one.fairness_loss_ + own)
        assert other.loss_ == pytest.approx(one.loss_, rel=1e-6)
