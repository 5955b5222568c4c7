"""What every term must do: the right gradient, whatever the engine, the blocks and the reduction, alone and in a batch.

With weights of records, a whole number is so many copies of the record, and 0 is none. Copies are the independent
oracle: the same terms, without weights, of a table in which the records are repeated.

A new term joins by one line in ``TERMS``.
"""

import inspect
import pickle
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair import IFair, fit_many
from ifair.core.arrays import at_least, namespace
from ifair.core.batch import Batch
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lfr_terms import GroupParity, LabelCrossEntropy, first_log_odds
from ifair.core.mapping import Mapping, Packing, Parameters, mean_memberships
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction, Term
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine

from devices import open_torch
from oracles import assert_gradient_is_right, assert_same

M, N, K, B = 17, 4, 3, 5
UNPROTECTED = np.array([0, 1, 3])
DRAWN = np.array([2, 3, 5, 7, 11, 13])
LABELS = np.tile([0.0, 1.0, 1.0], 6)[:M]
GROUPS = np.arange(M) % 3


@dataclass(frozen=True, slots=True)
class MembershipEntropy(Term):
    """Entropy of memberships; the example of CONTRIBUTING for a term of one's own."""

    def block(self, known, X, U, rows, parameters):
        xp = namespace(U)
        log_U = xp.log(at_least(U, 1e-300))
        return -(log_U + 1.0), (-xp.sum(U * log_U, axis=(-2, -1)),)


# From an engine, the weights of its records or None, and which of the M records these are, to a term.


def send(engine, weights):
    return None if weights is None else engine.send(weights)[0]


def reconstruction(engine, weights, rows):
    return Reconstruction(*engine.send(np.array([1.0, 1.0, 0.0, 1.0])), send(engine, weights))


def all_pairs(kernel):
    return lambda engine, weights, rows: AllPairs(kernel(engine), send(engine, weights))


def landmarks(kernel):
    """The landmarks are certain records; of a table of copies, their copies."""

    def term(engine, weights, rows):
        if weights is None:
            return Landmarks(kernel(engine), engine.take(np.flatnonzero(np.isin(rows, DRAWN))), engine.n_records)
        sent = engine.send(weights, weights[DRAWN] / weights[DRAWN].mean())
        return Landmarks(kernel(engine), engine.take(DRAWN), float(weights.sum()), *sent)

    return term


def moments(weighted):
    def term(engine, weights, rows):
        (unprotected,), sent = engine.send(UNPROTECTED), send(engine, weights)
        return Moments(unprotected, input_products(engine, unprotected, sent), weighted, sent)

    return term


def label_cross_entropy(engine, weights, rows):
    return LabelCrossEntropy(*engine.send(LABELS[rows]), send(engine, weights))


def group_parity(engine, weights, rows):
    sizes = np.bincount(GROUPS[rows], weights, minlength=3).astype(float)
    return GroupParity(*engine.send(GROUPS[rows], sizes), sample_weight=send(engine, weights))


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
    "membership entropy": lambda engine, weights, rows: MembershipEntropy(),
}
WEIGHED = [name for name in TERMS if name != "membership entropy"]
AT_ONCE = [name for name in TERMS if "p = 1.5" not in name]


def local(X, block_rows):
    return LocalEngine(X, block_rows=block_rows, tile_rows=5)


ENGINES = {"local": local, "torch": partial(open_torch, tile_rows=5)}

every_term = pytest.mark.parametrize("name", TERMS)
every_weighed_term = pytest.mark.parametrize("name", WEIGHED)
every_engine = pytest.mark.parametrize("engine", ENGINES)
every_reduction = pytest.mark.parametrize("reduction", ["mean", "sum", "norm"])


def draw(rng):
    X = rng.normal(size=(M, N))
    extra = {"log_odds": rng.normal(size=K)}
    return X - X.mean(axis=0), Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N), extra)


def objective(names, engine, reduction="mean", weights=None, rows=slice(None), squared=False):
    """A term by its name, or several, with weights of their own."""
    names = [names] if isinstance(names, str) else names
    rows = np.arange(M)[rows]
    terms = [(0.3 + 0.2 * i, TERMS[name](engine, weights, rows)) for i, name in enumerate(names)]
    total = None if weights is None else float(weights.sum())
    return Objective(engine, Mapping(squared=squared), tuple(terms), reduction, total)


@pytest.mark.every_seed
@every_term
@every_reduction
@pytest.mark.parametrize("weighed", [False, True], ids=["people", "weighted people"])
def test_the_gradient_of_a_term_equals_central_differences(rng, name, reduction, weighed):
    X, at = draw(rng)
    weights = rng.exponential(size=M) if weighed else None
    assert_gradient_is_right(objective(name, local(X, 6), reduction, weights), at)


@pytest.mark.every_seed
@every_engine
@every_reduction
def test_the_gradient_of_all_terms_together_equals_central_differences(rng, engine, reduction):
    X, at = draw(rng)
    opened, whole = (objective(AT_ONCE, one, reduction) for one in (ENGINES[engine](X, 6), local(X, M)))
    assert_gradient_is_right(opened, at, whole=whole)


@every_engine
def test_the_total_is_the_weighted_sum_of_what_every_term_says_alone(rng, engine):
    X, at = draw(rng)
    together = objective(AT_ONCE, ENGINES[engine](X, 6))
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
@pytest.mark.parametrize("name", AT_ONCE)
@pytest.mark.parametrize(("block_rows", "weighed"), [(6, False), (1024, False), (6, True)])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "norm"])
def test_many_fits_at_once_have_the_losses_and_gradients_that_they_have_alone(
    rng, name, engine, block_rows, weighed, squared, reduction
):
    X, _ = draw(rng)
    weights = rng.exponential(size=M) if weighed else None
    whole = objective([name, "reconstruction"], ENGINES[engine](X, block_rows), reduction, weights, squared=squared)
    fits = [whole.with_weights(*weights) for weights in (*rng.uniform(0.1, 2.0, size=(B - 1, 2)), (0.0, 1.0))]
    packing = Packing(K, N, np.zeros(N, dtype=bool), dict.fromkeys(whole.extra, K))
    points = [draw(rng)[1] for _ in fits]
    thetas = np.stack([packing.pack(at) for at in points])
    whole.engine.batch_bytes = 2**30
    batch = Batch(fits, [packing] * B, [0] * B)
    losses, gradients = batch.engine.evaluate(batch.values_and_grads, thetas)
    for fit, at, theta, values, gradient in zip(fits, points, thetas, losses, gradients, strict=True):
        expected_losses, expected = fit.value_and_grad(at)
        assert_same((batch.name_losses(values), gradient), (expected_losses, packing.pack_gradient(expected, theta)))


def test_parameters_that_no_term_learns_have_no_slope(rng):
    X, at = draw(rng)
    assert objective("reconstruction", local(X, 6)).value_and_grad(at)[1].extra == {}


# ---- weights of records ----


def assert_copies(names, X, at, counts, reduction="mean", engine="local"):
    """Whether weights give what as many copies give."""
    rows = np.repeat(np.arange(M), counts)
    weighted = objective(names, ENGINES[engine](X, 6), reduction, counts.astype(float)).value_and_grad(at)
    copies = objective(names, local(X[rows], 6), reduction, rows=rows).value_and_grad(at)
    # Copies of a record are a rounding error apart, where distances are the square roots of it.
    assert_same(weighted, copies, 1e-6)
    assert weighted[0].terms == pytest.approx(copies[0].terms, rel=1e-9, abs=1e-12)


@every_weighed_term
@every_engine
@every_reduction
def test_whole_weights_are_copies_of_the_records_and_0_is_none_and_1_no_weight(rng, name, engine, reduction):
    X, at = draw(rng)
    counts = rng.permutation(np.arange(M) % 4)
    counts[[0, 1, 2, 3]] = 1  # something is left of every group and of the landmarks
    for some in (counts, np.ones(M, dtype=int)):
        assert_copies(name, X, at, some, reduction, engine)


@given(st.lists(st.integers(0, 3), min_size=M, max_size=M), st.integers(0, 2**16))
def test_any_whole_weights_are_copies_in_all_terms_together(counts, seed):
    counts = np.array(counts)
    counts[[0, 1, 2, 3]] += 1
    assert_copies([name for name in AT_ONCE if name in WEIGHED], *draw(np.random.default_rng(seed)), counts)


def test_means_do_not_depend_on_the_unit_of_the_weights(rng):
    X, at = draw(rng)
    weights = rng.exponential(size=M)
    one, other = (objective(WEIGHED, local(X, 6), weights=unit * weights).value_and_grad(at) for unit in (1.0, 250.0))
    assert_same(one, other, 1e-9)


def test_mean_memberships_and_first_log_odds_are_those_of_copies(rng):
    X, at = draw(rng)
    counts = rng.integers(0, 4, size=M)
    rows, weights = np.repeat(np.arange(M), counts), counts.astype(float)
    engine, copies = local(X, 6), local(X[rows], 6)
    shares = mean_memberships(engine, Mapping(), at, weights)
    np.testing.assert_allclose(shares, mean_memberships(copies, Mapping(), at))
    weighted = first_log_odds(engine, Mapping(), at, LABELS, weights)
    np.testing.assert_allclose(weighted, first_log_odds(copies, Mapping(), at, LABELS[rows]))


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
@pytest.mark.parametrize("batch_bytes", [0, 10**9])
def test_a_term_of_ones_own_shapes_what_is_learned_by_its_weight_alone_and_among_many(
    rng, monkeypatch, fairness_weight, batch_bytes
):
    X, _ = draw(rng)
    alone = [decide(weight, fairness_weight=fairness_weight).fit(X) for weight in (0.0, 0.3, 5.0)]
    assert mean_entropy(alone[2], X) < 0.5 * mean_entropy(alone[0], X)
    monkeypatch.setattr(LocalEngine, "batch_bytes", batch_bytes)
    together = fit_many([decide(weight, fairness_weight=fairness_weight) for weight in (0.0, 0.3, 5.0)], X)
    for one, other in zip(alone, together, strict=True):
        own = one.entropy_weight * mean_entropy(one, X)
        assert one.loss_ == pytest.approx(one.utility_loss_ + fairness_weight * one.fairness_loss_ + own)
        assert other.loss_ == pytest.approx(one.loss_, rel=1e-6)
