"""Intervals of groups: compared with plain loops and with formulas."""

import numpy as np
import pytest
from scipy.stats import binomtest

from ifair.audit.intervals import between, drawn_counts, gap_between, mean_between, rates


def test_everybody_drawn_once_gives_the_plain_rates():
    outcome, codes = np.array([1, 0, 1, 1, 0]), np.array([0, 0, 1, 1, -1])
    np.testing.assert_allclose(rates(outcome, codes, 3, np.ones((1, 5))), [[0.5, 1.0, np.nan]])


def test_rates_follow_how_often_people_are_drawn():
    rng = np.random.default_rng(0)
    outcome, codes = rng.normal(size=30), rng.integers(0, 3, 30)
    counts = drawn_counts(30, None, 4)
    assert (counts.sum(axis=1) == 30).all()
    found = rates(outcome, codes, 3, counts)
    for b in range(4):
        people = np.repeat(np.arange(30), counts[b].astype(int))
        expected = [outcome[people[codes[people] == g]].mean() for g in range(3)]
        np.testing.assert_allclose(found[b], expected)


def test_whole_queries_are_drawn():
    query = np.array(["a", "b", "a", "c", "b"])
    counts = drawn_counts(5, query, 20)
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, 1] == counts[:, 4]).all()
    assert ((counts[:, 0] + counts[:, 1] + counts[:, 3]) == 3).all()


def test_an_interval_of_a_rate_is_near_that_of_the_normal_distribution():
    outcome = np.repeat([1, 0], [300, 700])
    low, high = between(rates(outcome, np.zeros(1000, dtype=int), 1, drawn_counts(1000, None, 4000))[:, 0])
    half = 1.96 * np.sqrt(0.3 * 0.7 / 1000)
    assert (low, high) == pytest.approx((0.3 - half, 0.3 + half), abs=0.003)


def test_a_gap_whose_sign_is_open_may_be_nothing():
    draws = np.random.default_rng(0).normal([0.5, 0.52], 0.1, (2000, 2))
    low, high = gap_between(draws)
    ends = np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])
    assert low == 0
    assert high == pytest.approx(np.abs(ends).max())
    clear = np.column_stack([draws[:, 0], draws[:, 1] + 2])
    assert gap_between(clear) == pytest.approx(tuple(np.quantile(clear[:, 1] - clear[:, 0], [0.025, 0.975])))


def test_draws_without_a_group_are_left_out():
    draws = np.array([[0.1, np.nan], [0.2, 0.5], [0.2, 0.5]])
    assert gap_between(draws) == pytest.approx((0.3, 0.3))
    assert np.isnan(gap_between(draws[:1])).all()
    assert np.isnan(between(np.array([np.nan]))).all()


def test_what_was_never_met_may_still_happen():
    expected = binomtest(0, 50).proportion_ci(0.95, method="exact")
    assert mean_between(np.zeros(50), None, 10) == pytest.approx((expected.low, expected.high))
    low, high = mean_between(np.repeat([1, 0], 50), None, 500)
    assert 0.38 < low < 0.45
    assert 0.55 < high < 0.62
