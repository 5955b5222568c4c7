"""The terms of LFR: against plain loops from Zemel et al.'s formulas, and finite differences."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from ifair.core import lfr_terms
from ifair.core.lfr_terms import GroupMapping, GroupParity, LabelCrossEntropy, cross_entropy, first_log_odds, sigmoid
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Objective, Reconstruction
from ifair.engines.engine import LocalEngine

import oracles
from oracles import assert_gradient_is_right, assert_same, list_numbers

M, N, K = 19, 4, 3
WEIGHTS = (0.3, 1.1, 0.7)
COMBINATIONS = list(itertools.product((1.0, 2.0, 3.0), (True, False), (2, 3)))


def zemel(X, y, groups, V, alpha, w, p=2.0, squared=True):
    """L_x, L_y and L_z of the paper, as means over records; L_z is averaged over pairs of groups."""
    U = oracles.memberships(X, V, alpha, p, squared)
    n_records, n_prototypes = U.shape
    reconstruct = target = 0.0
    for i in range(n_records):
        for n in range(X.shape[1]):
            reconstruct += (X[i, n] - sum(U[i, k] * V[k, n] for k in range(n_prototypes))) ** 2
        chance = sum(U[i, k] * w[k] for k in range(n_prototypes))
        target += -y[i] * math.log(chance) - (1 - y[i]) * math.log(1 - chance)
    gaps = []
    for a, b in itertools.combinations(sorted(set(groups)), 2):
        means = [
            [np.mean([U[i, k] for i in range(n_records) if groups[i] == g]) for g in (a, b)] for k in range(len(V))
        ]
        gaps.append(sum(abs(first - second) for first, second in means))
    return reconstruct / n_records, target / n_records, float(np.mean(gaps)) if gaps else 0.0


def draw(rng, n_groups=2):
    X = rng.normal(size=(M, N))
    y = (rng.random(M) < 0.5).astype(float)
    groups = rng.permutation(np.arange(M) % n_groups)
    V, alpha, log_odds = rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N), rng.normal(size=K)
    return X, y, groups, Parameters(V, alpha, {"log_odds": log_odds})


def objective(X, y, groups, p=2.0, squared=True, weights=WEIGHTS, block_rows=1024, **options):
    engine = LocalEngine(X, block_rows=block_rows)
    parity = GroupParity(groups, np.bincount(groups).astype(float), **options)
    terms = Reconstruction(np.ones(X.shape[1])), LabelCrossEntropy(y), parity
    return Objective(engine, Mapping(p, squared), tuple(zip(weights, terms)))


@pytest.mark.parametrize(("p", "squared", "n_groups"), COMBINATIONS)
@pytest.mark.parametrize("block_rows", [1024, 6])
def test_the_losses_equal_zemels_formulas_in_plain_loops(rng, p, squared, n_groups, block_rows):
    X, y, groups, at = draw(rng, n_groups)
    w = 1 / (1 + np.exp(-at.extra["log_odds"]))
    expected = zemel(X, y, groups, at.prototypes, at.alpha, w, p, squared)
    losses, _ = objective(X, y, groups, p, squared, block_rows=block_rows, rounding=0.0).value_and_grad(at)
    assert losses.terms == pytest.approx(expected, rel=1e-9)
    assert losses.total == pytest.approx(sum(a * loss for a, loss in zip(WEIGHTS, expected)), rel=1e-9)


@pytest.mark.parametrize(("p", "squared", "n_groups"), COMBINATIONS)
@pytest.mark.parametrize("rounding", [0.0, 0.01])
def test_the_gradient_equals_central_differences(rng, p, squared, n_groups, rounding):
    """At random parameters no group mean equals another's, so that the kink is far even without rounding."""
    X, y, groups, at = draw(rng, n_groups)
    assert_gradient_is_right(objective(X, y, groups, p, squared, rounding=rounding), at)


def test_rounding_is_smooth_where_groups_are_exactly_alike(rng):
    """Every record twice, once in either group: all differences are 0, the kink itself."""
    X, y, _, at = draw(rng)
    X, y, groups = np.concatenate([X, X]), np.concatenate([y, y]), np.repeat([0, 1], len(X))
    losses, gradient = objective(X, y, groups, weights=(0.0, 0.0, 1.0)).value_and_grad(at)
    assert losses.terms[2] == pytest.approx(0.0, abs=1e-12)
    assert max(np.abs(part).max() for part in list_numbers(losses, gradient)[4:]) < 1e-12
    sharp, at_the_kink = objective(X, y, groups, weights=(0.0, 0.0, 1.0), rounding=0.0).value_and_grad(at)
    assert all(np.isfinite(part).all() for part in list_numbers(sharp, at_the_kink))
    assert sharp.total == pytest.approx(0.0, abs=1e-12)


def test_rounding_lowers_the_total_by_at_most_its_width_for_every_prototype(rng):
    X, y, groups, at = draw(rng)
    exact, _ = objective(X, y, groups, rounding=0.0).value_and_grad(at)
    rounded, _ = objective(X, y, groups, rounding=0.01).value_and_grad(at)
    assert rounded.terms[:2] == exact.terms[:2]
    assert 0 < exact.total - rounded.total <= WEIGHTS[2] * 0.01 * K


def test_one_group_has_no_parity_to_reach(rng):
    X, y, _, at = draw(rng)
    one_group = objective(X, y, np.zeros(M, dtype=np.intp))
    assert one_group.value_and_grad(at)[0].terms[2] == 0.0
    assert_same(one_group.value_and_grad(at), one_group.with_weights(*WEIGHTS[:2], 0.0).value_and_grad(at), 0.0)


def test_parity_is_reported_even_where_it_has_no_weight(rng):
    X, y, groups, at = draw(rng)
    with_weight, _ = objective(X, y, groups).value_and_grad(at)
    for block_rows in (1024, 6):
        without, _ = objective(X, y, groups, weights=(*WEIGHTS[:2], 0.0), block_rows=block_rows).value_and_grad(at)
        assert without.terms[2] == pytest.approx(with_weight.terms[2], rel=1e-12)


def test_certain_predictions_have_a_finite_cross_entropy():
    value, slope = cross_entropy(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0]))
    assert np.isfinite(value)
    assert np.all(np.isfinite(slope))
    assert value == pytest.approx(-2 * math.log(1e-12), rel=1e-3)


def test_chances_are_exact_and_do_not_overflow_at_large_log_odds():
    log_odds = np.array([-800.0, -30.0, 0.0, 30.0, 800.0])
    np.testing.assert_allclose(sigmoid(log_odds), expit(log_odds), rtol=1e-15)


def test_the_first_log_odds_are_those_of_the_labels_around_each_prototype():
    X, y = np.array([[0.0], [0.0], [9.0], [9.0], [9.0]]), np.array([1.0, 1.0, 0.0, 0.0, 1.0])
    far_apart = Parameters(np.array([[0.0], [9.0]]), np.ones(1))
    log_odds = first_log_odds(LocalEngine(X, block_rows=2), Mapping(squared=True), far_apart, y)
    chances = 1 / (1 + np.exp(-log_odds))
    np.testing.assert_allclose(chances, [2.5 / 3, 1.5 / 4])


@pytest.mark.parametrize(("p", "squared", "n_groups"), [(2.0, True, 2), (2.0, False, 3), (1.5, True, 2)])
def test_weights_per_group_are_those_of_plain_loops_and_their_gradient_is_right(rng, p, squared, n_groups, monkeypatch):
    X, y, groups, start = draw(rng, n_groups)
    X[:, 1] = groups
    logs = rng.normal(size=(n_groups - 1) * N)
    parameters = Parameters(start.prototypes, start.alpha, {**start.extra, "log_ratios": logs})
    shared = objective(X, y, groups, p, squared, block_rows=7)
    told = {"columns": np.array([1]), "values": np.arange(float(n_groups))[:, None]}
    grouped = replace(shared, mapping=GroupMapping(p, squared, **told))
    assert_gradient_is_right(grouped, parameters)
    U = grouped.mapping.memberships(X, parameters)
    for i, group in enumerate(groups):
        own = start.alpha * (np.exp(logs[(group - 1) * N : group * N]) if group else 1.0)
        np.testing.assert_allclose(U[i], oracles.memberships(X[i : i + 1], start.prototypes, own, p, squared)[0])
    equal = replace(parameters, extra={**start.extra, "log_ratios": np.zeros_like(logs)})
    assert grouped.value_and_grad(equal)[0].total == pytest.approx(shared.value_and_grad(start)[0].total)
    with monkeypatch.context() as patched:  # where logarithms no longer count, they have no slope
        patched.setattr(lfr_terms, "LARGEST_LOG_RATIO", float(np.median(logs)) - 0.01)
        assert_gradient_is_right(grouped, parameters)
    # What a line search may try neither overflows nor has a slope where it changes nothing.
    absurd = replace(parameters, extra={**start.extra, "log_ratios": np.where(logs > 0.0, 1e4, logs)})
    loss, gradient = grouped.value_and_grad(absurd)
    assert np.isfinite(loss.total)
    assert not gradient.extra["log_ratios"][logs > 0.0].any()
