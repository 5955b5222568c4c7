"""Training candidates: many at once, models and post-processing by name."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from ifair.data import load_credit
from ifair.encode import Encoder
from ifair.evaluate import training
from ifair.evaluate.candidates import CLASSIFIERS, Candidate, list_settings
from ifair.evaluate.measures import measure_mapped, paper_measures
from ifair.evaluate.splits import split_dataset, split_table
from ifair.evaluate.training import choose_engine, fit_representations, train, train_many
from ifair.models.many import fit_many

from samples import FAST, dataset

GRID = {"K": [4], "ratios": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]}
CONSISTENTLY = {"name": "consistent", "strength": 0.1}
SETTINGS = list(list_settings("ifair-b", GRID))


@pytest.fixture(scope="module")
def credit():
    return split_dataset(load_credit().take(np.arange(300)), 0, encoder=Encoder(missing="ignore"))


def test_candidates_trained_together_are_those_trained_alone(credit):
    solver = {"n_restarts": 2, "max_iter": 8, "engine": "local"}
    candidates = [Candidate("masked"), *(Candidate("ifair-b", setting) for setting in SETTINGS)]
    candidates += [Candidate("lfr", {"K": 3}), Candidate("ifair-a", SETTINGS[1])]
    for candidate, trained in zip(candidates, train_many(candidates, credit, 0, solver)):
        (alone,) = train_many([candidate], credit, 0, solver)
        np.testing.assert_array_equal(trained.represent_part(credit.test), alone.represent_part(credit.test))
        np.testing.assert_array_equal(trained.outcome(credit.test).scores, alone.outcome(credit.test).scores)
    again, alone = train_many(candidates[:1], credit, 0, solver)[0], train(candidates[0], credit, 0, {})
    # With the lowest versions that are declared they differ in the last digits.
    np.testing.assert_allclose(*(one.outcome(credit.test).scores for one in (again, alone)), rtol=1e-12)


def test_what_a_model_is_changed_into_is_fitted_in_its_place(credit):
    solver = {"n_restarts": 1, "max_iter": 4, "engine": "local"}
    candidates = [Candidate("masked"), *(Candidate("ifair-b", setting) for setting in SETTINGS[:2])]
    weights = [0.5, 0.25]

    def change(model):
        return clone(model).set_params(utility_weight=weights[model.fairness_weight > 0.3], fairness_weight=1.0)

    _, *changed = train_many(candidates, credit, 0, solver, change)
    for trained, weight in zip(changed, weights, strict=True):
        model = trained.representation
        assert model.utility_weight == weight
        assert model.loss_ == pytest.approx(weight * model.utility_loss_ + model.fairness_loss_)


class ThreadCounter(DummyClassifier):
    """Counts the threads that OpenMP may use during every fit."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("post", [None, CONSISTENTLY])
@pytest.mark.parametrize(("up_to", "n_jobs", "threads"), [(1000, 2, 1), (10, 1, 1), (10, 2, 2), (10, -1, 3)])
def test_models_are_trained_by_one_thread_or_as_many_as_asked_for(credit, monkeypatch, post, up_to, n_jobs, threads):
    monkeypatch.setitem(CLASSIFIERS, "counter", lambda _: ThreadCounter())
    monkeypatch.setattr(training, "ONE_THREAD_UP_TO", up_to)
    monkeypatch.setattr(ThreadCounter, "seen", [])
    with threadpool_limits(3, user_api="openmp"):
        train(Candidate("masked", {}, "counter", post), credit, 0, {"n_jobs": n_jobs})
    assert set(ThreadCounter.seen) == {threads}


def test_what_is_represented_together_is_what_is_trained_alone():
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    people = dataset()
    parts = split_table(replace(people, weight=pd.Series(np.arange(len(people)) % 3 + 1.0)), 0)
    solver = {**FAST, "n_jobs": -1, "engine": "torch:cpu"}
    candidates = [Candidate("ifair", {"K": K, "share": share}) for K, share in ((3, 0.1), (5, 0.9), (3, 0.0))]
    candidates += [Candidate("masked", {"C": 0.1})]
    seeing = [Candidate("lfr", {"K": 3})]
    seeing += [Candidate("ifair", {"variant": "paper", "K": 3, "share": 0.5}, post=CONSISTENTLY)]
    fitted = fit_representations(candidates, parts.blind, 0, solver)
    fitted += fit_representations(seeing, parts.train, 0, solver)
    for candidate, one in zip([*candidates, *seeing], fitted, strict=True):
        alone = train(candidate, parts, 0, solver)
        trained = train(candidate, parts, 0, solver, fitted=one)
        assert trained.representation is (one[-1] if candidate.is_learned else parts.blind.encoder)
        assert (trained.columns, trained.converged) == (alone.columns, alone.converged)
        for look in (trained.represent, trained.scores):
            expected = getattr(alone, look.__name__)(people.frame)
            np.testing.assert_allclose(look(people.frame), expected, rtol=1e-9)


# Starts along principal components have a sign, which rounding may choose.
@pytest.mark.parametrize("method", ["ifair-a", "ifair-b"])
def test_people_who_are_alike_in_everything_are_fitted_once_and_count_each(monkeypatch, method):
    solver = {"n_restarts": 2, "max_iter": 8, "engine": "local"}
    rows = np.concatenate([np.arange(100)] * 3)
    parts = split_dataset(load_credit().take(rows), 0, encoder=Encoder(missing="ignore"))
    seen, losses = [], []

    def watch(models, X, *others, **beside):
        seen.append(len(X))
        return fit_many(models, X, *others, **beside)

    monkeypatch.setattr(training, "fit_many", watch)
    for share in (training.WORTH_MERGING, 0.0):
        monkeypatch.setattr(training, "WORTH_MERGING", share)
        fitted = [one.representation for one in train_many([Candidate(method, s) for s in SETTINGS], parts, 0, solver)]
        losses.append([(model.loss_, *model.shares_) for model in fitted])
    assert seen == [len(np.unique(parts.train.X, axis=0)), len(parts.train.X)]
    assert seen[0] < seen[1]
    np.testing.assert_allclose(*losses, rtol=1e-6)


def test_people_of_fewer_kinds_than_prototypes_are_fitted_as_they_are():
    solver = {"n_restarts": 1, "max_iter": 2, "engine": "local"}
    parts = split_dataset(load_credit().take(np.repeat(np.arange(9), 30)), 0, encoder=Encoder(missing="ignore"))
    assert len(np.unique(parts.train.X, axis=0)) < 10
    (trained,) = train_many([Candidate("ifair-b", {**SETTINGS[1], "K": 10})], parts, 0, solver)
    assert trained.representation.prototypes_.shape[0] == 10


def test_many_fits_of_a_small_table_are_worth_a_device_too(monkeypatch):
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (choose_engine(300), choose_engine(300, 50), choose_engine(3000)) == ("local", "torch", "torch")


@pytest.mark.parametrize("model", list(CLASSIFIERS))
def test_any_model_may_stand_on_a_representation(credit, model):
    trained = train(Candidate("masked", model=model), credit, 0, {})
    outcome = trained.outcome(credit.test)
    expected = trained.estimator.predict(credit.test.records.masked)
    np.testing.assert_array_equal(outcome.decisions, expected)
    mapped = [part.may_count for part in (credit.train, credit.validation, credit.test)]
    assert measure_mapped(credit, mapped, model=model)[1] == paper_measures(credit.test, outcome)


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
