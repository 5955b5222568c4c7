"""The flip test: blind functions do not move, others move by what the protected attributes weigh."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import must_raise
from sklearn.linear_model import LogisticRegression

from ifair import Similarity
from ifair.metrics import flip_test, minkowski


@pytest.fixture
def X(rng):
    return np.column_stack([rng.normal(size=(40, 2)), np.arange(40) % 2])


def test_what_ignores_the_protected_columns_does_not_move(X):
    first = {name: lambda X: X[:, 0] for name in ("transform", "probability", "decision")}
    result = flip_test(X, protected=[2], **first)
    assert result.representation.worst == result.probability.worst == result.decision.worst == 0
    assert result.share_flipped == 0


def test_every_figure_is_what_trying_by_hand_gives(rng):
    X = np.column_stack([rng.normal(size=30), np.arange(30) % 3])
    weights = np.array([0.0, 0.4, 1.0])

    def score(X):
        return X[:, 0] + weights[X[:, 1].astype(int)]

    result = flip_test(X, protected=[1], transform=score, decision=lambda X: score(X) > 0.5)
    moves, flips = [], []
    for x in X:
        others = [np.array([x[0], v]) for v in range(3) if v != x[1]]
        moves.append([abs(score(o[None]) - score(x[None]))[0] for o in others])
        flips.append([(score(o[None]) > 0.5)[0] != (score(x[None]) > 0.5)[0] for o in others])
    assert result.representation.mean == pytest.approx(np.mean(moves))
    assert result.representation.worst == pytest.approx(np.max(moves))
    assert result.representation.worst_person == np.argmax(np.max(moves, axis=1))
    assert result.decision.mean == pytest.approx(np.mean(flips))
    assert result.share_flipped == pytest.approx(np.any(flips, axis=1).mean())
    assert result.n_alternatives == 3
    # Of many combinations only the most frequent ones are tried.
    many = np.column_stack([rng.normal(size=60), np.arange(60)])
    assert flip_test(many, protected=[1], transform=lambda X: X, max_alternatives=5).n_alternatives == 5


def test_one_hot_columns_change_together_to_combinations_that_occur_or_to_somebody_elses(X, rng):
    table, seen = np.column_stack([rng.normal(size=30), np.eye(3)[np.arange(30) % 3]]), []
    flip_test(table, protected=[1, 2, 3], transform=lambda X: seen.append(X[:, 1:]) or X)
    assert all((block.sum(axis=1) == 1).all() for block in seen)
    seen, before = [], X.copy()
    permuted = flip_test(X, protected=[2], transform=lambda X: seen.append(X) or X, alternatives="permute")
    assert permuted.representation.mean == 1
    np.testing.assert_array_equal(X, before)
    given, changed = seen
    np.testing.assert_array_equal(given, before)
    assert (changed[:, 2] != before[:, 2]).all()
    np.testing.assert_array_equal(changed[:, :2], before[:, :2])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_go_to_the_model_as_frames_of_the_same_types(frame, rng):
    table = frame({"work": rng.normal(size=20), "sex": ["f", "m"] * 10, "age": np.arange(20) % 2})

    def decide(X):
        assert type(X) is type(table)
        assert list(X.columns) == ["work", "sex", "age"]
        assert X["age"].dtype == table["age"].dtype
        return np.asarray(X["sex"] == "f") & np.asarray(X["work"] > 0)

    for protected in (["sex", "age"], "sex"):
        result = flip_test(table, protected=protected, decision=decide)
        assert result.share_flipped == pytest.approx(np.mean(np.asarray(table["work"]) > 0))
    must_raise(ValueError, "did you mean 'sex'", flip_test, table, protected=["sxe"], decision=decide)


def test_a_fitted_classifier_is_tested_by_its_methods(X, rng):
    y = (X[:, 0] + 2 * X[:, 2] + rng.normal(size=40) > 1).astype(int)
    model = LogisticRegression().fit(X, y)
    result = flip_test(X, protected=[2], probability=model.predict_proba, decision=model.predict)
    flipped = X.copy()
    flipped[:, 2] = 1 - X[:, 2]
    moved = np.abs(model.predict_proba(flipped)[:, 1] - model.predict_proba(X)[:, 1])
    np.testing.assert_allclose(result.probability.per_person, moved)
    assert result.share_flipped == (model.predict(flipped) != model.predict(X)).mean()


def test_the_result_can_be_read_and_stored_and_distances_chosen(X):
    result = flip_test(X, protected=[2], transform=lambda X: X, decision=lambda X: X[:, 2])
    assert "flips for 100 % of people" in str(result)
    assert "representation moves by 1 on average" in str(result)
    stored = result.to_dict()
    assert stored["representation"] == {"mean": 1.0, "worst": 1.0, "worst_person": 0}
    assert stored["probability"] is None
    weighted = flip_test(X, protected=[2], transform=lambda X: X, distance=minkowski([1, 1, 0.25]))
    assert weighted.representation.mean == pytest.approx(0.5)


def test_there_must_be_something_to_change_and_something_to_look_at(X):
    must_raise(ValueError, "at least one", flip_test, X, protected=[2])
    must_raise(ValueError, "nothing to change", flip_test, np.ones((5, 2)), protected=[1], transform=lambda X: X)
    must_raise(ValueError, "alternatives", flip_test, X, protected=[2], transform=lambda X: X, alternatives="some")


@pytest.fixture
def people(rng):
    """Thirty people, of whom one is like nobody."""
    frame = pd.DataFrame({"tests": rng.normal(size=30), "years": rng.normal(size=30), "sex": list("fm") * 15})
    frame.loc[4, "tests"] = 40.0
    return frame


def test_with_a_similarity_people_get_the_values_of_the_nearest_who_has_others(people):
    alike = Similarity(protected=["sex"], caliper=None).fit(people)
    apart, sex, given = alike.distances(people), people["sex"].to_numpy(), []
    apart[sex[:, None] == sex[None]] = np.inf
    flip_test(
        people, protected=["sex"], decision=lambda X: given.append(X["sex"].to_numpy()) or X["sex"], similarity=alike
    )
    np.testing.assert_array_equal(given[1], sex[apart.argmin(axis=1)])


def test_who_is_like_nobody_with_other_values_is_not_tested_and_somebody_must_be(people):
    alike = Similarity(protected=["sex"], caliper=3.0).fit(people)
    result = flip_test(people, protected=["sex"], decision=lambda X: X["sex"], similarity=alike)
    assert (result.n_people, result.n_without_peers, result.share_flipped) == (30, 1, 1.0)
    assert np.isnan(result.decision.per_person[4])
    assert "1 of them like nobody" in str(result)
    alone = Similarity(protected=["sex"], caliper=1e-9).fit(people)
    for similarity, message in ((Similarity().fit(people), "counts sex"), (alone, "nobody is like")):
        with pytest.raises(ValueError, match=message):
            flip_test(people, protected=["sex"], decision=lambda X: X["sex"], similarity=similarity)
