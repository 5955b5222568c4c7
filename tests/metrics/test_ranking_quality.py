"""Measures of rankings against scikit-learn, scipy and all orders of tied candidates."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import ndcg_score

from ifair.metrics import (
    average_precision_at_k,
    kendall_tau,
    mean_average_precision,
    mean_over_queries,
    ndcg,
    per_query,
    share_at_k,
)


def precision_by_enumeration(y_true, y_score, k):
    """Mean of AP@k over all orders that sort the scores."""
    k = min(k, len(y_true))
    relevant = y_true >= np.sort(y_true)[-k]
    values = []
    for order in itertools.permutations(range(len(y_true))):
        if (np.diff(y_score[list(order)]) <= 0).all():
            hits = relevant[list(order)]
            values.append(sum(hits[i] * hits[: i + 1].sum() / (i + 1) for i in range(k)) / k)
    return np.mean(values)


scored = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6)


@given(rows=scored, k=st.integers(1, 7))
def test_average_precision_is_the_mean_over_orders_of_tied_candidates(rows, k):
    y, s = np.array(rows, dtype=float).T
    assert average_precision_at_k(y, s, k=k) == pytest.approx(precision_by_enumeration(y, s, k))


def test_the_right_top_k_gets_one_and_a_model_that_scores_everybody_alike_what_chance_gets(rng):
    y = rng.permutation(40).astype(float)
    shuffled = np.where(y >= np.sort(y)[-10], 10 + rng.uniform(size=40), rng.uniform(size=40))
    assert average_precision_at_k(y, y) == average_precision_at_k(y, shuffled) == 1
    assert average_precision_at_k(y, -y) == 0
    random = [average_precision_at_k(y, rng.permutation(40)) for _ in range(2000)]
    assert average_precision_at_k(y, np.zeros(40)) == pytest.approx(np.mean(random), abs=0.01)
    with pytest.raises(ValueError, match="at least 1"):
        average_precision_at_k([1], [1], k=0)


def test_kendall_tau_is_one_minus_twice_the_swapped_pairs(rng):
    y, s = rng.permutation(12).astype(float), rng.permutation(12).astype(float)
    swapped = sum((y[i] - y[j]) * (s[i] - s[j]) < 0 for i, j in itertools.combinations(range(12), 2))
    assert kendall_tau(y, s) == pytest.approx(1 - 2 * swapped / 66)


def test_ndcg_is_scikit_learns(rng):
    y, s = rng.integers(0, 5, 20), rng.normal(size=20)
    assert ndcg(y, s) == pytest.approx(ndcg_score([y], [s]))
    assert ndcg(y, s, k=5) == pytest.approx(ndcg_score([y], [s], k=5))
    assert ndcg([2.0], [1.0]) == 1
    with pytest.raises(ValueError, match="at least 0"):
        ndcg([-1, 1], [0, 1])


@pytest.mark.parametrize("metric", [kendall_tau, ndcg])
def test_a_ranking_that_tells_nobody_apart_is_undefined(metric):
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(metric([0, 0, 0], [1, 2, 3]))


def test_the_share_in_the_top_k_counts_ties_in_part_and_is_averaged_over_queries(rng):
    share = share_at_k(None, [3, 2, 2, 1], sensitive_features=["m", "f", "m", "f"], protected="f", k=2)
    assert share == pytest.approx(0.25)  # one of two tied candidates, one of two places
    assert share_at_k(None, [3, 2, 2, 1], sensitive_features=[0, 1, 1, 0], k=10) == 0.5
    s, flags, query = rng.normal(size=40), rng.uniform(size=40) < 0.4, np.repeat([3, 1], 20)
    alone = [flags[query == q][np.argsort(-s[query == q])[:10]].mean() for q in (1, 3)]
    assert share_at_k(None, s, sensitive_features=flags, query=query) == pytest.approx(np.mean(alone))


def test_means_over_queries_count_every_query_alike_and_leave_out_undefined_ones_with_a_warning(rng):
    frame = pd.DataFrame({"y": rng.normal(size=50), "s": rng.normal(size=50), "q": rng.choice(list("abc"), 50)})
    by_hand = [average_precision_at_k(g.y, g.s) for _, g in frame.groupby("q")]
    assert mean_average_precision(frame.y, frame.s, query=frame.q) == pytest.approx(np.mean(by_hand))
    assert list(per_query(kendall_tau, frame.y, frame.s, query=frame.q)) == list(frame.q.unique())
    with pytest.warns(UndefinedMetricWarning, match="1 of 2"):
        assert mean_over_queries(kendall_tau, [1, 2, 1, 2], [1, 2, 5, 5], query=[0, 0, 1, 1]) == 1
