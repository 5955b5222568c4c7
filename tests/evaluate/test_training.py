"""Training candidates: starts that go on from the setting before, models and post-processing by name."""

import numpy as np
import pytest

from ifair.data import load_credit
from ifair.encode import Encoder
from ifair.evaluate.candidates import CLASSIFIERS, Candidate, list_settings
from ifair.evaluate.measures import measure_mapped, paper_measures
from ifair.evaluate.splits import split_dataset, split_table
from ifair.evaluate.training import train, train_along, train_on_path

from samples import FAST, dataset

GRID = {"K": [4], "ratios": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]}
SETTINGS = list(list_settings("ifair-b", GRID))


@pytest.fixture(scope="module")
def credit():
    return split_dataset(load_credit().take(np.arange(300)), 0, encoder=Encoder(missing="ignore"))


def test_the_solution_before_is_one_of_the_starts_and_stays_as_it_was(credit):
    solver = {"n_restarts": 2, "max_iter": 40, "tol": 1e-3}
    near = train(Candidate("ifair-b", SETTINGS[0]), credit, 0, solver)
    before = near.representation.prototypes_.copy()
    fresh = train(Candidate("ifair-b", SETTINGS[1]), credit, 0, {**solver, "n_restarts": 1}).representation
    best = train(Candidate("ifair-b", SETTINGS[1]), credit, 0, solver, near=near).representation
    assert best.loss_ <= fresh.loss_
    warm = fresh.__class__(**{**fresh.get_params(), "init": before, "alpha_init": near.representation.alpha_})
    with pytest.warns() if not best.converged_ else np.errstate():
        warm.fit(credit.train.X)
    assert best.loss_ == min(fresh.loss_, warm.loss_)
    np.testing.assert_array_equal(near.representation.prototypes_, before)


@pytest.mark.parametrize("n_restarts", [1, 2])
def test_what_was_learned_on_the_way_along_a_path_can_be_learned_again(credit, n_restarts):
    solver = {"n_restarts": n_restarts, "max_iter": 15}
    path = [Candidate("ifair-b", setting) for setting in SETTINGS]
    for candidate, trained in zip(path, train_along(path, credit, 0, solver)):
        again = train_on_path(candidate, SETTINGS, credit, 0, solver)
        np.testing.assert_array_equal(
            trained.represent(credit.test.records.frame), again.represent(credit.test.records.frame)
        )


@pytest.mark.parametrize("model", list(CLASSIFIERS))
def test_any_model_may_stand_on_a_representation(credit, model):
    trained = train(Candidate("masked", model=model), credit, 0, {})
    outcome = trained.outcome(credit.test)
    expected = trained.estimator.predict(credit.test.records.masked)
    np.testing.assert_array_equal(outcome.decisions, expected)
    mapped = [part.may_count for part in (credit.train, credit.validation, credit.test)]
    assert measure_mapped(credit, mapped, model=model)[1] == paper_measures(credit.test, outcome)


def test_a_model_that_a_task_does_not_have_is_named(credit):
    with pytest.raises(ValueError, match="model must be one of linear, boosting, neighbours for classification"):
        train(Candidate("masked", model="pairwise"), credit, 0, {})


def test_post_processing_changes_the_order_and_keeps_the_model():
    parts = split_table(dataset("ranking"), 0)
    plain = train(Candidate("masked", post=None), parts, 0, FAST)
    fair = train(Candidate("masked", post={"name": "fa-star-ir", "p": 0.8}), parts, 0, FAST)
    outcome = fair.outcome(parts.test)
    np.testing.assert_array_equal(plain.scores(parts.test.records.frame), fair.scores(parts.test.records.frame))
    np.testing.assert_array_equal(plain.with_post(name="fa-star-ir", p=0.8).outcome(parts.test).order, outcome.order)
    before, after = (paper_measures(parts.test, one.outcome(parts.test)) for one in (plain, fair))
    assert after["percent_protected"] >= before["percent_protected"]
    assert "percent_held" in after
    assert "percent_held" not in before
