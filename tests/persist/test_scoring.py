"""The score of one record."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from refusals import must_raise
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline

import ifair


@pytest.fixture
def record(people):
    return {name: people[name].iloc[3] for name in people}


@pytest.mark.parametrize("i", [0, 3, 9])
def test_every_form_of_a_record_has_the_score_of_its_row_and_none_is_a_missing_value(pipeline, people, i):
    row = people.iloc[i]
    expected = ifair.score(pipeline, row.to_dict())
    assert isinstance(expected, float)
    assert expected == pytest.approx(pipeline.predict_proba(people)[i, 1], rel=0, abs=1e-12)
    representation = np.asarray(pipeline[:-1].transform(people))[i]
    np.testing.assert_allclose(ifair.score(pipeline[:-1], row.to_dict()), representation, rtol=0, atol=1e-12)
    backwards = dict(reversed(row.to_dict().items()))
    one_row = people.iloc[[i]]
    cells = {name: [None if value != value else value] for name, value in row.items()}
    with_none = {name: cell for name, [cell] in cells.items()}
    for form in (row, backwards, with_none, one_row, one_row[one_row.columns[::-1]], pl.DataFrame(cells)):
        assert ifair.score(pipeline, form) == expected


@pytest.mark.parametrize(
    ("end", "method"),
    [
        (LogisticRegression(), "predict_proba"),
        (RidgeClassifier(), "decision_function"),
        (LinearRegression(), "predict"),
    ],
)
def test_without_probabilities_the_decision_function_or_the_prediction_is_the_score_also_on_polars(
    people, record, end, method
):
    table = pl.DataFrame(people.astype(object).where(people.notna(), None).to_dict("list"))
    model = make_pipeline(ifair.Encoder(), end).fit(table, (people["height"] > 170).astype(int))
    assert ifair.score(model, record) == pytest.approx(np.ravel(getattr(model, method)(table)[3])[-1], abs=1e-12)


def test_a_model_fitted_on_an_array_takes_numbers(rng):
    X = rng.normal(size=(40, 3))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    expected = model.predict_proba(X)[5, 1]
    assert ifair.score(model, X[5]) == ifair.score(model, list(X[5])) == pytest.approx(expected)
    for other in (X[:2], [1.0]):
        must_raise(ValueError, "one record of 3 numbers", ifair.score, model, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sex": ..., "Sex": "f"}, r"has 'Sex', which the model does not know; did you mean 'sex'\?"),
        ({"zzz": 1}, r"'zzz', .* its attributes are 'experience', 'height', 'job', 'owns home', 'sex'"),
        ({"height": ..., "job": ...}, "lacks 'height', 'job'; pass every attribute, with None"),
        ({"height": "tall"}, "column 'height' held numbers in fit and now holds text"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_the_attribute(pipeline, record, change, message):
    changed = {name: value for name, value in (record | change).items() if value is not ...}
    must_raise(ValueError, message, ifair.score, pipeline, changed)


def test_what_is_no_record_or_no_fitted_model_of_two_classes_says_so(pipeline, people, record):
    must_raise(ValueError, "one record, the table has 2", ifair.score, pipeline, people.iloc[:2])
    must_raise(TypeError, "pass a mapping of names to values", ifair.score, pipeline, [1, 2, 3])
    for model in (ifair.IFair(), ifair.FAStarIR()):
        must_raise(ValueError, "not fitted", ifair.score, model, record)
    four = make_pipeline(ifair.Encoder(), LogisticRegression()).fit(people, people["job"].fillna("none"))
    must_raise(ValueError, "two classes, the model has 4: use its predict_proba", ifair.score, four, record)
    for name in ("model.ifair", Path("model.ifair")):
        must_raise(TypeError, r"model = ifair\.load\('model\.ifair'\) first", ifair.score, name, record)
