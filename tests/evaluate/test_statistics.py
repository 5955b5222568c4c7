"""Comparisons over splits, against scipy and by hand; intervals, against plain loops and formulas."""

import itertools

import numpy as np
import pytest
from scipy import stats

from ifair.evaluate.statistics import compare, gap_interval, quantile_interval, share_gap_interval, spread


def test_the_spread_is_the_sample_standard_deviation(rng):
    values = rng.normal(size=5)
    assert spread(values) == {"mean": pytest.approx(values.mean()), "sd": pytest.approx(values.std(ddof=1)), "n": 5}
    assert spread([0.5])["sd"] == 0.0


def test_comparisons_are_corrected_for_overlapping_splits():
    """By hand after Nadeau and Bengio: ten differences of 0.1 and ten of 0.3, as many test as training records.

    Their mean is 0.2, their variance 20 * 0.1^2 / 19, that of the mean, corrected, (1/20 + 1) times that, 0.011053;
    t = 0.2 / 0.105131 = 1.9024 with 19 degrees of freedom, whose 97.5th percentile is 2.0930.
    """
    found = compare([0.5] * 20, {"rival": [0.4, 0.2] * 10})["rival"]
    assert found["difference"] == pytest.approx(0.2)
    assert (found["low"], found["high"]) == pytest.approx((0.2 - 2.0930 * 0.105131, 0.2 + 2.0930 * 0.105131), abs=1e-5)
    assert found["p"] == pytest.approx(2 * stats.t(19).sf(1.90239), rel=1e-4)
    assert found["adjusted"] == found["p"]
    assert compare([0.4, 0.2] * 10, {"rival": [0.5] * 20})["rival"]["p"] == pytest.approx(found["p"])


def test_too_few_splits_are_not_tested_and_differences_without_spread_are_no_clearer_than_their_signs():
    assert compare([0.5, 0.6], {"rival": [0.4, 0.6]})["rival"]["p"] is None
    assert compare([0.5] * 19, {"rival": [0.4, *[0.6] * 18]})["rival"]["adjusted"] is None
    assert compare([0.5], {"rival": [0.4]})["rival"]["low"] is None
    assert compare([0.75] * 20, {"rival": [0.5] * 20})["rival"]["p"] == stats.binomtest(20, 20).pvalue
    assert compare([0.75] * 20, {"twin": [0.75] * 20})["twin"]["p"] == 1.0


def test_a_gap_whose_sign_is_open_may_be_nothing():
    draws = np.random.default_rng(0).normal([0.5, 0.52], 0.1, (2000, 2))
    low, high = gap_interval(draws)
    ends = np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])
    assert low == 0
    assert high == pytest.approx(np.abs(ends).max())
    clear = np.column_stack([draws[:, 0], draws[:, 1] + 2])
    assert gap_interval(clear) == pytest.approx(tuple(np.quantile(clear[:, 1] - clear[:, 0], [0.025, 0.975])))
    three = np.column_stack([draws, draws[:, 0] + 0.1])
    assert gap_interval(three) == pytest.approx(tuple(np.quantile(np.ptp(three, axis=1), [0.025, 0.975])))


def test_draws_without_a_group_are_left_out():
    draws = np.array([[0.1, np.nan], [0.2, 0.5], [0.2, 0.5]])
    assert gap_interval(draws) == pytest.approx((0.3, 0.3))
    assert np.isnan([gap_interval(draws[:1]), gap_interval(draws[:1, [0, 1, 1]])]).all()
    assert quantile_interval(np.array([0.4, np.nan, 0.6])) == pytest.approx((0.405, 0.595))
    assert np.isnan(quantile_interval(np.array([np.nan]))).all()
    # A single group has no gap.
    assert np.isnan(share_gap_interval(np.array([3.0]), np.array([5.0]))).all()


@pytest.mark.parametrize("sizes", [(2, 2), (2, 30), (10, 10), (20, 60)])
def test_intervals_of_a_gap_between_two_shares_cover_for_all_rates_and_sizes(sizes):
    """Exactly: every outcome of both groups, weighted by its chance."""
    n, m = sizes
    outcomes = list(itertools.product(range(n + 1), range(m + 1)))
    ends = np.array([share_gap_interval(np.array(hits), np.array(sizes)) for hits in outcomes])
    a, b = np.array(outcomes).T
    for p, q in itertools.product([0.01, 0.1, 0.35, 0.5, 0.9, 0.99], repeat=2):
        chance = stats.binom.pmf(a, n, p) * stats.binom.pmf(b, m, q)
        kept = (ends[:, 0] <= abs(p - q) + 1e-12) & (abs(p - q) <= ends[:, 1] + 1e-12)
        assert chance[kept].sum() > 0.945, (p, q)


@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.02, 0.02, 0.05, 0.9), (0.99, 0.99, 0.95)])
def test_intervals_of_the_largest_of_several_gaps_cover(rates):
    rng = np.random.default_rng(0)
    sizes = np.array([5, 12, 30, 60])[: len(rates)]
    ends = np.array([share_gap_interval(hits, sizes) for hits in rng.binomial(sizes, rates, (400, len(rates)))])
    kept = (ends[:, 0] <= np.ptp(rates)) & (np.ptp(rates) <= ends[:, 1])
    assert kept.mean() > 0.95 - 2 * np.sqrt(0.05 * 0.95 / 400)
