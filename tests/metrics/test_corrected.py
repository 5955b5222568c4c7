"""Measures of consistency that nobody wins by deciding about everybody alike."""

from itertools import combinations, permutations

import numpy as np
import pytest
from refusals import must_raise

from ifair.metrics import consistency, consistency_at_rate, corrected_consistency, nearest_neighbours, rank_consistency


@pytest.fixture
def table(rng):
    X = rng.normal(size=(400, 3))
    return X, nearest_neighbours(X, 10)


def test_correction_follows_its_formula_and_two_classes_by_name_are_decisions(table, rng):
    X, near = table
    y = (rng.random(400) < 0.3).astype(int)
    r = y.mean()
    expected = 1 - (1 - consistency(y, neighbours=near)) / (2 * r * (1 - r))
    assert corrected_consistency(y, neighbours=near) == pytest.approx(expected)
    assert corrected_consistency(y, X) == pytest.approx(expected)
    query = np.arange(400) % 4
    options = {"neighbours": nearest_neighbours(X, 5, query=query), "query": query}
    named = np.where(y == 1, "yes", "no")
    assert corrected_consistency(named, **options) == pytest.approx(corrected_consistency(y, **options))
    scores = np.linspace(0, 1, 400)
    message = "y must hold decisions, 0 or 1, or classes; rank_consistency is for scores"
    must_raise(ValueError, message, corrected_consistency, scores, neighbours=near)
    must_raise(ValueError, "rate must lie between 0 and 1", consistency_at_rate, scores, neighbours=near, rate=1.0)


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_decisions_at_random_have_zero_whatever_their_rate(rate, table):
    near = table[1]
    draws = [
        corrected_consistency((np.random.default_rng(i).random(400) < rate).astype(int), neighbours=near)
        for i in range(40)
    ]
    assert abs(np.mean(draws)) < 0.05


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_decision_never_counts_as_fair(value, table):
    constant = np.full(400, value)
    assert consistency(constant, neighbours=table[1]) == 1
    assert corrected_consistency(constant, neighbours=table[1]) == 0
    assert rank_consistency(constant, neighbours=table[1]) == pytest.approx(0)
    assert consistency_at_rate(constant, neighbours=table[1], rate=0.3) == pytest.approx(0, abs=0.01)


def test_shrinking_scores_changes_neither_ranks_nor_the_matched_rate_at_which_the_highest_are_selected(table, rng):
    scores, near = rng.normal(size=400), table[1]
    chosen = (scores > np.sort(scores)[-81]).astype(int)
    for given in (scores, 0.5 + 1e-3 * np.tanh(scores)):
        assert rank_consistency(given, neighbours=near) == pytest.approx(rank_consistency(scores, neighbours=near))
        found = consistency_at_rate(given, neighbours=near, rate=0.2)
        assert found == pytest.approx(corrected_consistency(chosen, neighbours=near))


def test_ties_at_the_cut_are_averaged_over_all_ways_to_break_them(rng):
    near = nearest_neighbours(rng.normal(size=(7, 2)), 2)
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.0])
    ways = []
    for two in combinations([1, 2, 3, 4], 2):
        chosen = np.zeros(7)
        chosen[[0, *two]] = 1
        ways.append(np.abs(chosen[:, None] - chosen[near]).mean())
    expected = 1 - np.mean(ways) / (2 * 3 / 7 * 4 / 7)
    assert consistency_at_rate(scores, neighbours=near, rate=3 / 7) == pytest.approx(expected)


def test_tied_ranks_are_averaged_over_all_orders_and_queries_count_alike(rng):
    near = nearest_neighbours(rng.normal(size=(6, 2)), 2)
    scores = np.array([0.2, 0.7, 0.7, 0.7, 0.1, 0.1])
    found = []
    for high in permutations([4, 5, 6]):
        for low in permutations([1, 2]):
            ranks = np.array([3, *high, *low]) / 7
            found.append(1 - 3 * np.abs(ranks[:, None] - ranks[near]).mean())
    assert rank_consistency(scores, neighbours=near) == pytest.approx(np.mean(found))
    X, query, scores = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], 20), rng.normal(size=60)
    expected = np.mean([rank_consistency(scores[query == q], X[query == q], k=5) for q in range(3)])
    assert rank_consistency(scores, X, k=5, query=query) == pytest.approx(expected)


@pytest.mark.parametrize("most", [1, 3], ids=["everybody once", "a weight says how many people one stands for"])
def test_several_classes_are_corrected_for_the_chance_that_two_of_them_differ(table, rng, most):
    """Of people who stand for at most so many."""
    near, classes = table[1], rng.choice(["A", "B", "C"], 400, p=[0.6, 0.3, 0.1])
    weights = rng.integers(1, most + 1, 400)
    differ = np.average([np.mean(classes[near[i]] != classes[i]) for i in range(400)], weights=weights)
    everybody = np.repeat(classes, weights)
    by_chance = np.mean([[a != b for b in everybody] for a in everybody])
    options = {"neighbours": near, "sample_weight": None if most == 1 else weights}
    found = corrected_consistency(classes, **options)
    assert found == pytest.approx(1 - differ / by_chance)
    assert corrected_consistency(np.unique(classes, return_inverse=True)[1], **options) == pytest.approx(found)
    assert abs(found) < 0.2
