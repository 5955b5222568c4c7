"""The pairwise ranker learns from who comes before whom within a query, and from nothing else."""

import numpy as np
import pytest
from refusals import must_raise
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from ifair.ranking import PairwiseRanker


@pytest.fixture
def searches(rng):
    """Ten searches of 8 to 17 candidates."""
    query = np.repeat([f"q{i}" for i in range(10)], np.arange(8, 18))
    X = rng.normal(size=(len(query), 3))
    return X, X @ [2.0, -1.0, 0.0], query


def test_it_equals_a_logistic_regression_on_all_pairs_both_ways(searches, rng):
    X, y, query = searches
    y = np.round(y + rng.normal(size=len(y)))
    cases, classes = [], []
    for i in range(len(y)):
        for j in range(len(y)):
            if query[i] == query[j] and y[i] != y[j]:
                cases.append(X[i] - X[j])
                classes.append(y[i] > y[j])
    # Every pair is there twice: half the weight of each is the same problem.
    expected = LogisticRegression(C=0.5, fit_intercept=False, max_iter=2000).fit(cases, classes).coef_[0]
    ranker = PairwiseRanker().fit(X, y, query=query)
    np.testing.assert_allclose(ranker.coef_, expected, rtol=2e-3, atol=2e-3)
    assert ranker.n_pairs_ == len(cases) // 2


@pytest.mark.parametrize("max_pairs", [None, 300])
def test_what_all_candidates_of_a_query_share_plays_no_part(searches, rng, max_pairs):
    X, y, query = searches
    code = np.unique(query, return_inverse=True)[1]
    moved, plain = (
        PairwiseRanker(max_pairs=max_pairs, random_state=0).fit(X + dX[code], y + dy[code], query=query)
        for dX, dy in ((rng.normal(size=(10, 3)), rng.normal(size=10)), (np.zeros((10, 3)), np.zeros(10)))
    )
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-3, atol=1e-3)


def test_a_draw_of_pairs_is_about_as_large_as_asked_and_reproducible(searches):
    X, y, query = searches
    first, again, other = (PairwiseRanker(max_pairs=200, random_state=s).fit(X, y, query=query) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    assert abs(first.n_pairs_ - 200) <= 10
    assert np.corrcoef(first.predict(X), y)[0, 1] > 0.95


def test_without_queries_all_are_candidates_of_one_and_those_in_none_of_some_are_left_out(searches):
    X, y, query = searches
    assert PairwiseRanker().fit(X, y).n_pairs_ == len(y) * (len(y) - 1) // 2
    one_pair = PairwiseRanker().fit([[0.0], [1.0]], [2.0, 1.0])
    assert one_pair.n_pairs_ == 1
    assert one_pair.coef_[0] < 0
    records, target = np.vstack([X, 9 * np.ones((2, 3))]), np.append(y, [-99, 99])
    more = PairwiseRanker().fit(records, target, query=np.append(query.astype(object), [None, np.nan]))
    np.testing.assert_array_equal(more.coef_, PairwiseRanker().fit(X, y, query=query).coef_)


def test_bad_input_is_refused_in_words():
    X = [[0.0], [1.0]]
    must_raise(ValueError, "max_pairs must be at least 1", PairwiseRanker(max_pairs=0).fit, X, [0, 1])
    must_raise(ValueError, "3 labels for 2 records", PairwiseRanker().fit, X, [0, 1], query=["a", "a", "b"])
    for y, query in (([1, 1], ["a", "a"]), ([0, 1], ["a", "b"]), ([0, 1], [None, None])):
        must_raise(ValueError, "nothing to learn from", PairwiseRanker().fit, X, y, query=query)
    with pytest.raises(NotFittedError):
        PairwiseRanker().predict(X)
