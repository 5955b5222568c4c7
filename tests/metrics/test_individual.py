"""Consistency against its formula, AIF360's definition, and what must not change it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from ifair.metrics import (
    ConsistencyScorer,
    consistency,
    consistency_interval,
    consistency_per_person,
    nearest_neighbours,
)


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 3))


def by_formula(y, X, k):
    total = 0.0
    for i in range(len(X)):
        distances = [(np.linalg.norm(X[i] - X[j]), j) for j in range(len(X)) if j != i]
        total += sum(abs(y[i] - y[j]) for _, j in sorted(distances)[:k])
    return 1 - total / (len(X) * k)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_consistency_is_the_papers_formula_also_of_frames(X, k, rng):
    for y in (rng.integers(0, 2, 60), rng.uniform(size=60), rng.uniform(size=60) < 0.3):
        assert consistency(y, X, k=k) == pytest.approx(by_formula(y.astype(float), X, k))
        for frame in (pd.DataFrame, pl.DataFrame):
            table = frame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
            assert consistency(table["y"], table[["a", "b", "c"]], k=k) == consistency(y, X, k=k)


def test_aif360s_consistency_differs_only_by_counting_the_person_and_comparing_with_a_mean(X, rng):
    # AIF360 averages over k neighbours that include the person, and takes |y_i - mean of y_j|. For labels
    # the mean of absolute differences is that difference, so k neighbours there are k - 1 here.
    y = rng.integers(0, 2, 60)
    with_self = np.argsort(((X[:, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, :5]
    aif360 = 1 - np.abs(y - y[with_self].mean(axis=1)).mean()
    assert 1 - consistency(y, X, k=4) == pytest.approx((1 - aif360) * 5 / 4)


@given(seed=st.integers(0, 999))
def test_the_order_of_people_and_the_names_of_labels_change_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    order = rng.permutation(30)
    expected = consistency(y, X, k=4)
    assert consistency(y[order], X[order], k=4) == pytest.approx(expected)
    assert consistency(1 - y, X, k=4) == pytest.approx(expected)
    assert consistency(np.array(["no", "yes"])[y], X, k=4) == pytest.approx(expected)
    assert consistency(np.array([-1, 1])[y], X, k=4) == pytest.approx(expected)
    assert consistency(y.astype(float), 3 * X + 7, k=4) == pytest.approx(expected)


def test_rankings_are_consistent_within_queries_and_queries_count_alike(rng):
    X, s = rng.normal(size=(50, 2)), rng.uniform(size=50)
    query = np.array(["b"] * 20 + ["a"] * 30)[rng.permutation(50)]
    alone = [consistency(s[query == q], X[query == q], k=4) for q in "ab"]
    assert consistency(s, X, k=4, query=query) == pytest.approx(np.mean(alone))
    near = nearest_neighbours(X, 4, query=query)
    assert (query[near] == query[:, None]).all()
    assert consistency(s, neighbours=near, query=query) == pytest.approx(np.mean(alone))


def test_probabilities_of_all_classes_are_compared_in_total_variation_and_scores_may_have_a_range(X, rng):
    p = rng.uniform(size=60)
    assert consistency(np.column_stack([1 - p, p]), X) == pytest.approx(consistency(p, X))
    assert consistency(1 + 4 * p, X, score_range=(1, 5)) == pytest.approx(consistency(p, X))
    three = rng.dirichlet(np.ones(3), 60)
    near = nearest_neighbours(X)
    expected = 1 - np.mean([np.abs(three[i] - three[j]).sum() / 2 for i in range(60) for j in near[i]])
    assert consistency(three, X) == pytest.approx(expected)
    y = np.arange(60) % 3
    with pytest.raises(ValueError, match="whole numbers with more than two values: say kind"):
        consistency(y, X)
    assert consistency(y, X, kind="label") == consistency(np.array(list("abc"))[y], X)
    assert consistency(y, X, kind="score") == consistency(y.astype(float), X)


def test_it_scores_models_in_cross_validation(rng):
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    scorer = ConsistencyScorer(columns=[0, 1], k=5)
    scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    assert ((scores > 0.5) & (scores <= 1)).all()
    model = LogisticRegression().fit(X, y)
    assert scorer(model, X, y) == consistency(model.predict(X), X[:, :2], k=5)
    named = pd.DataFrame(X, columns=list("abc"))
    soft = ConsistencyScorer(columns=["a", "b"], response_method="predict_proba")
    expected = consistency(model.fit(named, y).predict_proba(named)[:, 1], X[:, :2])
    assert soft(model, named) == pytest.approx(expected)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"X": [[0.0], [1.0], [2.0]], "neighbours": [[1], [0], [0]]},
        {"neighbours": [[1], [0]]},
        {"neighbours": [[1], [0], [3]]},
        {"neighbours": [[1], [0], [-2]]},
        {"neighbours": [[0.5], [0], [1]]},
        {"X": [[0.0], [1.0], [2.0]], "k": 1, "kind": "rank"},
        {"X": [[0.0], [1.0], [2.0]], "k": 1, "kind": "score", "score_range": (1, 1)},
        {"X": [[0.0], [1.0]], "k": 1, "y": [0.5, np.nan]},
        {"X": [[0.0], [1.0]], "k": 1, "y": [[0.5, 0.6], [0.5, 0.5]]},
        {"X": [[0.0], [1.0]], "k": 1, "y": np.zeros((2, 1, 1))},
    ],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ValueError):
        consistency(**{"y": [0, 1, 0], **arguments})


def test_people_without_neighbours_within_reach_are_left_out():
    y = np.array([1.0, 0.0, 1.0, 0.0])
    near = np.array([[1, 2], [0, -1], [-1, -1], [2, -1]])
    np.testing.assert_array_equal(consistency_per_person(y, neighbours=near), [0.5, 0.0, np.nan, 0.0])
    assert consistency(y, neighbours=near) == pytest.approx(1 / 6)
    assert consistency(y, neighbours=near, query=list("aaab")) == pytest.approx((0.25 + 0.0) / 2)
    interval = consistency_interval(y, neighbours=near, n_resamples=50)
    assert interval.estimate == pytest.approx(1 / 6)
    assert 0 <= interval.low <= 1 / 6 <= interval.high <= 1
    with pytest.warns(UndefinedMetricWarning, match="nobody has a neighbour"):
        assert np.isnan(consistency(y, neighbours=np.full((4, 2), -1)))
