"""The test of a given ranking, and its p-value."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ifair.ranking import is_fair, minimum_counts, ranking_test


def test_a_ranking_is_fair_when_every_prefix_holds_its_minimum():
    minima = minimum_counts(5, 0.6, 0.2)
    for ranking in itertools.product([False, True], repeat=5):
        expected = (np.cumsum(ranking) >= minima).all()
        assert is_fair(ranking, p=0.6, alpha=0.2) == expected


def test_the_p_value_is_the_chance_of_a_ranking_as_surprising(seed):
    k, p = 7, 0.4
    rankings = list(itertools.product([False, True], repeat=k))
    worst = [binom.cdf(np.cumsum(r), np.arange(1, k + 1), p).min() for r in rankings]
    chance = [np.prod(np.where(r, p, 1 - p)) for r in rankings]
    for ranking, surprise in zip(rankings[:: 1 + seed % 3], worst[:: 1 + seed % 3]):
        expected = sum(c for c, w in zip(chance, worst) if w <= surprise * (1 + 1e-9))
        assert ranking_test(ranking, p).p_value == pytest.approx(expected, abs=1e-12)


@given(ranking=st.lists(st.booleans(), min_size=1, max_size=40), p=st.floats(0.05, 0.95), alpha=st.floats(0.02, 0.5))
def test_a_ranking_is_fair_exactly_when_its_p_value_exceeds_the_level(ranking, p, alpha):
    result = ranking_test(ranking, p, alpha)
    assert result.fair == (result.p_value > alpha * (1 + 1e-8)) or result.p_value == pytest.approx(alpha)


def test_the_first_violation_is_named_and_of_other_labels_who_is_protected_must_be_said():
    result = ranking_test([0, 0, 0, 0, 0, 1, 1, 1], p=0.5, alpha=0.1)
    assert not result.fair
    assert result.first_violation == 4
    assert "unfair from position 4" in str(result)
    assert result.to_dict()["held"] == [[0, 0, 0, 0, 0, 1, 2, 3]]
    ranking = ["m", "f", "m", "f", "m"]
    assert is_fair(ranking, 0.5, protected="f")
    assert not is_fair(ranking, 0.99, protected=["f"])
    # A proportion of one tolerates nobody else.
    assert ranking_test([True, True], p=1.0).p_value == 1
    assert ranking_test([True, False], p=1.0).p_value == 0
    assert ranking_test([False, False], p=0.0).fair


def test_several_groups_are_tested_together():
    result = ranking_test(["a", "b", "c", "a", "b"] * 4, p={"a": 0.3, "b": 0.3}, alpha=0.1)
    assert result.fair
    assert result.held.shape == (2, 20)
    unfair = ranking_test(["a", "c"] * 10, p={"a": 0.3, "b": 0.3}, alpha=0.1)
    assert not unfair.fair
    assert unfair.p_value <= 0.1
