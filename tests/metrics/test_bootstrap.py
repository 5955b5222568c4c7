"""Intervals: against scipy, by coverage, and over queries."""

from functools import partial

import numpy as np
import pytest
import scipy.stats
from refusals import must_raise
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from ifair.metrics import (
    accuracy,
    auc,
    bootstrap,
    consistency,
    consistency_interval,
    kendall_tau,
    mean_average_precision,
    mean_over_queries,
    nearest_neighbours,
    share_at_k,
    share_interval,
    statistical_parity,
)
from ifair.metrics.bootstrap import auc_interval, share_bounds, weighted_auc


def test_intervals_agree_with_scipys_percentile_bootstrap_and_groups_are_resampled_with_their_people(rng):
    y, z = rng.integers(0, 2, (2, 300))
    ours = bootstrap(accuracy, y, z, n_resamples=1000)
    theirs = scipy.stats.bootstrap(((y == z).astype(float),), np.mean, method="percentile", n_resamples=2000)
    assert ours.estimate == accuracy(y, z)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)
    named, options = np.where(z, "yes", "no"), {"sensitive_features": rng.choice(["a", "b"], 300), "pos_label": "yes"}
    result = bootstrap(statistical_parity, None, named, n_resamples=200, **options)
    assert result.low <= result.estimate == statistical_parity(None, named, **options)
    assert result.resampled == "individuals"


def test_queries_are_resampled_as_a_whole_for_any_measure_of_rankings(rng):
    quality = np.repeat(rng.uniform(0, 2, 20), 15)
    y = rng.normal(size=300)
    s = quality * y + rng.normal(size=300)
    query = np.repeat(np.arange(20), 15)
    result = bootstrap(mean_average_precision, y, s, query=query, n_resamples=200)
    assert result.estimate == pytest.approx(mean_average_precision(y, s, query=query))
    assert result.resampled == "queries"
    each = [mean_average_precision(y[query == q], s[query == q], query=query[query == q]) for q in range(20)]
    by_mean = scipy.stats.bootstrap((each,), np.mean, method="percentile", n_resamples=2000).confidence_interval
    assert result.low == pytest.approx(by_mean.low, abs=0.03)
    assert result.high == pytest.approx(by_mean.high, abs=0.03)
    tau = partial(mean_over_queries, kendall_tau)
    assert bootstrap(tau, y, s, query=query, n_resamples=20).estimate == pytest.approx(tau(y, s, query=query))
    shares = bootstrap(share_at_k, None, s, sensitive_features=y > 0, query=query, n_resamples=20)
    assert 0 <= shares.low <= shares.high <= 1


def test_resamples_without_a_group_or_a_class_are_counted_not_guessed():
    z, group = [1, 0, 1, 0, 1], ["a", "b", "b", "b", "b"]
    result = bootstrap(statistical_parity, None, z, sensitive_features=group, n_resamples=300)
    assert 50 < result.n_undefined < 150
    assert np.isfinite(result.low)
    found = auc_interval(np.array([0, 0, 1]), np.array([0.1, 0.4, 0.3]), n_resamples=50)
    assert 0 < found.n_undefined < 50
    assert found.estimate == 0.5
    with pytest.warns(UndefinedMetricWarning):
        never = bootstrap(statistical_parity, None, [0, 1], sensitive_features=["a", "a"], n_resamples=5)
    assert np.isnan([never.estimate, never.low, never.high]).all()


def noisy_people(rng, n=150):
    X = rng.normal(size=(n, 2))
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)


def test_intervals_of_consistency_cover_at_least_as_often_as_promised(rng):
    truth = np.mean([consistency(y, X) for X, y in (noisy_people(rng) for _ in range(400))])
    kept = 0
    for seed in range(60):
        X, y = noisy_people(rng)
        interval = consistency_interval(y, X, n_resamples=100, random_state=seed)
        kept += interval.low <= truth <= interval.high
    assert kept / 60 > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)


def test_the_interval_of_consistency_is_around_it_also_over_queries(rng):
    X, y = noisy_people(rng)
    result = consistency_interval(y, neighbours=nearest_neighbours(X), n_resamples=100, confidence=0.9)
    assert result.low < result.estimate < result.high
    assert result.estimate == pytest.approx(consistency(y, X))
    assert "(90 %, over individuals)" in str(result)
    assert result.to_dict()["n_resamples"] == 100
    X, s, query = rng.normal(size=(120, 2)), rng.uniform(size=120), np.repeat(np.arange(8), 15)
    result = consistency_interval(s, X, k=5, query=query, n_resamples=100)
    assert result.resampled == "queries"
    assert result.estimate == pytest.approx(consistency(s, X, k=5, query=query))
    assert result.low < result.estimate < result.high


def test_wrong_arguments_are_refused():
    must_raise(ValueError, "one length", bootstrap, accuracy, [1, 0], [1])
    must_raise(ValueError, "confidence", bootstrap, accuracy, [1, 0], [1, 0], confidence=1.0, n_resamples=2)
    must_raise(ValueError, "confidence", share_interval, [1, 0], confidence=0.0)
    for hits in ([0.5, 1], [[1, 0]], [np.nan]):
        must_raise(ValueError, "0 and 1", share_interval, hits)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_intervals_of_shares_cover_for_all_rates_and_sizes(n, confidence):
    """Exactly: every number of hits, weighted by its chance."""
    hits = np.arange(n + 1)
    low, high = share_bounds(hits, n, confidence)
    for rate in [0.001, 0.01, 0.05, 0.2, 0.5, 0.77, 0.95, 0.99, 0.999]:
        chance = scipy.stats.binom.pmf(hits, n, rate)
        assert chance[(low <= rate) & (rate <= high)].sum() >= confidence


def test_the_interval_of_a_share_is_that_of_scipy_and_has_a_width_at_the_edges():
    for hits, n in [(0, 2), (2, 2), (59, 60), (60, 60), (7, 31)]:
        found = share_interval(np.arange(n) < hits)
        expected = scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="exact")
        assert (found.estimate, found.low, found.high) == pytest.approx((hits / n, expected.low, expected.high))
        assert found.low < found.high
        assert found.n_resamples == 0
    assert np.isnan([share_interval([]).estimate, share_interval([]).low, share_interval([]).high]).all()


def test_the_bootstrap_of_a_share_near_one_covers_too_seldom_which_is_why_there_is_another():
    rng = np.random.default_rng(0)
    right = rng.random((200, 60)) < 0.99
    by_bootstrap = [bootstrap(np.mean, row, n_resamples=40) for row in right[:60]]
    exact = [share_interval(row) for row in right]
    assert np.mean([one.low <= 0.99 <= one.high for one in by_bootstrap]) < 0.7
    assert np.mean([one.low <= 0.99 <= one.high for one in exact]) >= 0.95


def test_the_auc_of_weighted_people_is_scikit_learns_and_its_interval_that_of_the_bootstrap(rng, monkeypatch):
    y, scores = rng.integers(0, 2, 60), rng.random(60).round(1)
    weights = rng.integers(0, 4, (5, 60)).astype(float)
    expected = [roc_auc_score(y, scores, sample_weight=row) for row in weights]
    np.testing.assert_allclose(weighted_auc(y, scores, weights), expected)
    expected = bootstrap(auc, y, scores, n_resamples=40, random_state=3)
    # Resamples that are taken in several blocks are the same.
    monkeypatch.setitem(auc_interval.__globals__, "WEIGHTS_AT_ONCE", 60 * 7)
    found = auc_interval(y, scores, n_resamples=40, random_state=3)
    assert found.to_dict() == pytest.approx(expected.to_dict())
