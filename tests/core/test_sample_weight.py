"""Weights of records in every term: a whole number is so many copies of the record, 0 is none, and gradients are right.

Copies are the independent oracle: the same terms, without weights, of a table in which the records are repeated.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lfr_terms import GroupParity, LabelCrossEntropy, first_log_odds
from ifair.core.mapping import Mapping, Parameters, mean_memberships
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine

from devices import open_torch
from oracles import assert_gradient_is_right

M, N, K = 13, 4, 3
UNPROTECTED = np.array([0, 1, 3])
DRAWN = np.array([2, 3, 5, 7, 11])
LABELS = np.tile([0.0, 1.0, 1.0], 5)[:M]
GROUPS = np.arange(M) % 3


def send_weights(engine, weights):
    return None if weights is None else engine.send(weights)[0]


def reconstruction(engine, weights, rows):
    return Reconstruction(*engine.send(np.array([1.0, 1.0, 0.0, 1.0])), send_weights(engine, weights))


def all_pairs(kernel):
    return lambda engine, weights, rows: AllPairs(kernel(engine), send_weights(engine, weights))


def landmarks(kernel):
    """The landmarks are certain records; of a table of copies, their copies."""

    def term(engine, weights, rows):
        if weights is None:
            return Landmarks(kernel(engine), engine.take(np.flatnonzero(np.isin(rows, DRAWN))), engine.n_records)
        mean_one = weights[DRAWN] / weights[DRAWN].mean()
        sent = engine.send(weights, mean_one)
        return Landmarks(kernel(engine), engine.take(DRAWN), float(weights.sum()), *sent)

    return term


def moments(weighted):
    def term(engine, weights, rows):
        (unprotected,), sent = engine.send(UNPROTECTED), send_weights(engine, weights)
        return Moments(unprotected, input_products(engine, unprotected, sent), weighted, sent)

    return term


def label_cross_entropy(engine, weights, rows):
    return LabelCrossEntropy(*engine.send(LABELS[rows]), send_weights(engine, weights))


def group_parity(engine, weights, rows):
    sizes = np.bincount(GROUPS[rows], weights, minlength=3).astype(float)
    return GroupParity(*engine.send(GROUPS[rows], sizes), sample_weight=send_weights(engine, weights))


def euclidean(weighted):
    return lambda engine: EuclideanPairs(*engine.send(UNPROTECTED), K, weighted)


def minkowski(engine):
    return MinkowskiPairs(*engine.send(UNPROTECTED), N, 1.5)


TERMS = {
    "reconstruction": reconstruction,
    "all pairs": all_pairs(euclidean(True)),
    "all pairs, unweighted": all_pairs(euclidean(False)),
    "all pairs, p = 1.5": all_pairs(minkowski),
    "landmarks": landmarks(euclidean(True)),
    "landmarks, unweighted": landmarks(euclidean(False)),
    "landmarks, p = 1.5": landmarks(minkowski),
    "moments": moments(True),
    "moments, unweighted": moments(False),
    "label cross-entropy": label_cross_entropy,
    "group parity": group_parity,
}
every_term = pytest.mark.parametrize("name", TERMS)


ENGINES = {"local": lambda X: LocalEngine(X, block_rows=6, tile_rows=5), "torch": lambda X: open_torch(X, 6, 5)}
every_engine = pytest.mark.parametrize("engine", ENGINES)


def draw(rng):
    X = rng.normal(size=(M, N))
    extra = {"log_odds": rng.normal(size=K)}
    return X - X.mean(axis=0), Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N), extra)


def weighted_objective(names, X, weights, reduction="mean", engine="local"):
    opened = ENGINES[engine](X)
    terms = [(0.4 + 0.3 * i, TERMS[name](opened, weights, np.arange(M))) for i, name in enumerate(names)]
    return Objective(opened, Mapping(), tuple(terms), reduction, float(weights.sum()))


def objective_of_copies(names, X, counts, reduction="mean"):
    rows = np.repeat(np.arange(M), counts)
    engine = ENGINES["local"](X[rows])
    terms = [(0.4 + 0.3 * i, TERMS[name](engine, None, rows)) for i, name in enumerate(names)]
    return Objective(engine, Mapping(), tuple(terms), reduction)


def assert_same(actual, expected):
    (losses, gradient), (others, other) = actual, expected
    # Copies of a record are a rounding error apart, where distances are the square roots of it.
    assert losses.terms == pytest.approx(others.terms, rel=1e-9, abs=1e-12)
    assert losses.total == pytest.approx(others.total, rel=1e-9)
    flat, expected = (np.concatenate([g.prototypes.ravel(), g.alpha, *g.extra.values()]) for g in (gradient, other))
    np.testing.assert_allclose(flat, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@every_term
@every_engine
@pytest.mark.parametrize("reduction", ["mean", "sum", "norm"])
def test_whole_weights_are_copies_of_the_records_and_0_is_none(rng, name, engine, reduction):
    X, at = draw(rng)
    counts = rng.permutation(np.arange(M) % 4)
    counts[[0, 1, 2, 3]] = 1  # something is left of every group and of the landmarks
    weighted = weighted_objective([name], X, counts.astype(float), reduction, engine)
    assert_same(weighted.value_and_grad(at), objective_of_copies([name], X, counts, reduction).value_and_grad(at))


@given(st.lists(st.integers(0, 3), min_size=M, max_size=M), st.integers(0, 2**16))
def test_any_whole_weights_are_copies_in_all_terms_together(counts, seed):
    names = [name for name in TERMS if "p = 1.5" not in name]
    counts = np.array(counts)
    counts[[0, 1, 2, 3]] += 1
    X, at = draw(np.random.default_rng(seed))
    weighted = weighted_objective(names, X, counts.astype(float))
    assert_same(weighted.value_and_grad(at), objective_of_copies(names, X, counts).value_and_grad(at))


@pytest.mark.every_seed
@every_term
@pytest.mark.parametrize("reduction", ["mean", "norm"])
def test_the_gradient_with_any_weights_equals_central_differences(rng, name, reduction):
    X, at = draw(rng)
    assert_gradient_is_right(weighted_objective([name], X, rng.exponential(size=M), reduction), at)


@every_term
def test_weights_of_one_are_no_weights(rng, name):
    X, at = draw(rng)
    ones = np.ones(M, dtype=int)
    weighted = weighted_objective([name], X, ones.astype(float))
    assert_same(weighted.value_and_grad(at), objective_of_copies([name], X, ones).value_and_grad(at))


def test_means_do_not_depend_on_the_unit_of_the_weights(rng):
    X, at = draw(rng)
    weights = rng.exponential(size=M)
    one, other = (weighted_objective(list(TERMS), X, unit * weights) for unit in (1.0, 250.0))
    assert_same(one.value_and_grad(at), other.value_and_grad(at))


@every_engine
def test_many_fits_at_once_are_weighted_as_each_alone(rng, engine):
    names = [name for name in TERMS if "p = 1.5" not in name]
    X, _ = draw(rng)
    fits = [draw(rng)[1] for _ in range(3)]
    whole = weighted_objective(names, X, rng.exponential(size=M), "sum", engine)
    arrays = [(at.prototypes, at.alpha, at.extra["log_odds"]) for at in fits]
    shares = [[weight for weight, _ in whole.terms]]

    def sums(V, alpha, log_odds):
        return whole.sums(Parameters(V, alpha, {"log_odds": log_odds}), shares)

    together = whole.engine.evaluate(sums, *map(np.stack, zip(*arrays)))
    for i, at in enumerate(fits):
        losses, gradient = whole.value_and_grad(at)
        np.testing.assert_allclose([array[i] for array in together[: len(names)]], losses.terms, rtol=1e-9)
        assert_same((losses, gradient), (losses, replace(gradient, prototypes=together[len(names)][i])))


def test_mean_memberships_and_first_log_odds_are_those_of_copies(rng):
    X, at = draw(rng)
    counts = rng.integers(0, 4, size=M)
    rows, weights = np.repeat(np.arange(M), counts), counts.astype(float)
    engine, copies = ENGINES["local"](X), ENGINES["local"](X[rows])
    np.testing.assert_allclose(
        mean_memberships(engine, Mapping(), at, weights), mean_memberships(copies, Mapping(), at)
    )
    weighted = first_log_odds(engine, Mapping(), at, LABELS, weights)
    np.testing.assert_allclose(weighted, first_log_odds(copies, Mapping(), at, LABELS[rows]))
