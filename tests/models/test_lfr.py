"""LFR: transformer and classifier, its groups, and what it is for."""

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from quiet import quietly
from refusals import must_raise
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair import LFR, Encoder
from ifair.core.lfr_terms import GroupParity
from ifair.data import load_credit, thirds
from ifair.errors import IfairError
from ifair.models import prototypes

import oracles

pytestmark = quietly

FAST = {"n_restarts": 1, "max_iter": 40, "tol": 0.01, "random_state": 0}


@pytest.fixture
def people(rng):
    """Records, a label that they tell, and a group that some of them tell too."""
    X = rng.normal(size=(90, 4))
    group = (X[:, 1] + 0.5 * rng.normal(size=90) > 0).astype(int)
    y = (X[:, 0] + 0.7 * X[:, 1] > 0).astype(int)
    return X, y, group


@pytest.fixture(scope="module")
def credit():
    """German Credit: records, labels and group of two thirds, then of the last third."""
    dataset = load_credit()
    split = thirds(dataset, 0, stratify=True)
    train = np.concatenate([split.train, split.validation])
    X = Encoder().fit(dataset.frame.iloc[train]).transform(dataset.frame).to_numpy(dtype=float)
    y = dataset.target.to_numpy().astype(int)
    return [(X[rows], y[rows], dataset.group[rows]) for rows in (train, split.test)]


# ---- what is learned ----


def test_the_fitted_losses_and_chances_are_zemels_at_the_fitted_parameters(people):
    X, y, group = people
    model = LFR(3, **FAST).fit(X, y, sensitive_features=group)
    U = oracles.memberships(X, model.prototypes_, model.alpha_, squared=True)
    np.testing.assert_allclose(model.membership(X), U, rtol=1e-6)
    np.testing.assert_allclose(model.transform(X), U @ model.prototypes_, rtol=1e-6)
    chance = U @ model.label_chances_
    entropy = -np.mean(y * np.log(chance) + (1 - y) * np.log(1 - chance))
    assert model.target_loss_ == pytest.approx(entropy, rel=1e-6)
    gap = np.abs(U[group == 1].mean(axis=0) - U[group == 0].mean(axis=0)).sum()
    assert model.fairness_loss_ == pytest.approx(gap, rel=1e-6)
    assert model.reconstruct_loss_ == pytest.approx(np.mean((X - U @ model.prototypes_) ** 2), rel=1e-6)
    np.testing.assert_allclose(model.shares_, U.mean(axis=0), rtol=1e-6)
    assert model.loss_ == model.restarts_.min()
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([1 - chance, chance]), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), (chance > 0.5).astype(int))
    assert 0 <= model.label_chances_.min() <= model.label_chances_.max() <= 1
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("group_of", ["one column", "three groups"])
def test_memberships_differ_less_between_groups_the_more_fairness_weighs(rng, group_of):
    X = rng.normal(size=(150, 4))
    group = np.digitize(X[:, 1] + 0.5 * rng.normal(size=150), [0.0] if group_of == "one column" else [-0.5, 0.5])
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    for seed in range(3):
        losses = [
            LFR(5, fairness_weight=weight, max_iter=50, n_restarts=1, random_state=seed)
            .fit(X, y, sensitive_features=group)
            .fairness_loss_
            for weight in (0.0, 0.3, 10.0)
        ]
        assert losses[0] > losses[1] > losses[2]
        assert losses[2] < 0.1 < losses[0]


# ---- German Credit: the complaint is one label for everybody ----


def test_both_labels_are_given_on_german_credit_with_default_weights(credit):
    (X, y, group), (X_test, y_test, _) = credit
    majority = max(y_test.mean(), 1 - y_test.mean())
    for seed in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)  # and L-BFGS neither stalls nor runs out
            model = LFR(10, random_state=seed, n_restarts=1).fit(X, y, sensitive_features=group)
        hard = model.predict(X_test)
        assert 0.05 < np.mean(hard == 0) < 0.5
        assert model.score(X_test, y_test) > majority - 0.06
        assert model.fairness_loss_ < 0.1
        # Heavy weights of fairness do not take a label away.
        heavy = LFR(10, fairness_weight=20.0, random_state=seed, n_restarts=1, max_iter=150)
        assert 0.05 < heavy.fit(X, y, sensitive_features=group).predict(X).mean() < 0.95


def test_rounding_the_kink_of_parity_lets_the_search_get_further(credit, monkeypatch):
    """Compared by the loss without rounding, which is what the search without it minimises."""
    (X, y, group), _ = credit

    def exact_losses():
        models = [
            LFR(10, random_state=seed, n_restarts=1, max_iter=100).fit(X, y, sensitive_features=group)
            for seed in range(2)
        ]
        return np.array([m.reconstruct_loss_ + m.target_loss_ + m.fairness_loss_ for m in models])

    rounded = exact_losses()
    monkeypatch.setattr("ifair.models.lfr.GroupParity", partial(GroupParity, rounding=0.0))
    assert rounded.mean() < 0.95 * exact_losses().mean()


# ---- groups ----


def test_protected_columns_tell_the_groups_apart_where_no_sensitive_features_are_given(people):
    X, y, group = people
    table = np.column_stack([X, group])
    by_column = LFR(3, protected=[4], **FAST).fit(table, y)
    by_argument = LFR(3, protected=[4], **FAST).fit(table, y, sensitive_features=group)
    assert by_column.group_labels_ == [0.0, 1.0]
    assert np.array_equal(by_column.prototypes_, by_argument.prototypes_)
    # Otherwise those given win over columns.
    thirds_of_people = np.column_stack([X, np.arange(90) % 3])
    assert LFR(3, protected=[4], **FAST).fit(thirds_of_people, y, sensitive_features=group).group_labels_ == [0, 1]


@pytest.mark.parametrize(
    "groups",
    [
        lambda g: list(g),
        lambda g: pd.Series(g, index=range(100, 190)),
        lambda g: pd.Series(pd.Categorical(np.array(["x", "y"])[g], categories=["x", "y", "nobody"])),
        lambda g: pd.array(g, dtype="Int64"),
        lambda g: g.astype(bool),
        lambda g: g[:, None],
        lambda g: np.array([7, "y"], dtype=object)[g],
    ],
    ids=["list", "series", "category", "nullable", "bool", "one column", "mixed"],
)
def test_groups_may_come_in_any_container(people, groups):
    X, y, group = people
    model = LFR(3, **FAST).fit(X, y, sensitive_features=groups(group))
    assert len(model.group_labels_) == 2
    assert np.array_equal(model.prototypes_, LFR(3, **FAST).fit(X, y, sensitive_features=group).prototypes_)


def test_several_columns_are_crossed_into_groups(people):
    X, y, _ = people
    table = pd.DataFrame({"sex": ["f", "m"] * 45, "race": ["a", "a", "b"] * 30})
    crossed = LFR(3, **FAST).fit(X, y, sensitive_features=table["sex"] + table["race"])
    for given in (table, table.to_numpy()):
        model = LFR(3, **FAST).fit(X, y, sensitive_features=given)
        assert model.group_labels_ == [("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")]
        np.testing.assert_array_equal(model.prototypes_, crossed.prototypes_)


@pytest.mark.parametrize("groups", [None, np.zeros(90)])
def test_without_two_groups_fairness_is_left_out_with_a_warning(people, groups):
    X, y, _ = people
    with pytest.warns(UserWarning, match="no parity to reach and the fairness loss is left out"):
        model = LFR(3, **FAST).fit(X, y, sensitive_features=groups)
    assert model.fairness_loss_ == 0.0
    unweighted = LFR(3, fairness_weight=0.0, **FAST).fit(X, y)
    assert np.array_equal(model.prototypes_, unweighted.prototypes_)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_record_without_a_group_is_named_and_groups_of_another_length_are_refused(people, missing):
    X, y, _ = people
    groups = np.array(["a", "b"] * 45, dtype=object)
    groups[7] = missing
    with pytest.raises(ValueError, match="sensitive_features has no value for the record at index 7"):
        LFR(3).fit(X, y, sensitive_features=groups)
    must_raise(ValueError, r"\[89\] entries where 90 are expected", LFR(3).fit, X, y, sensitive_features=groups[:-1])


# ---- pipelines, frames, names ----


def test_a_pipeline_routes_sensitive_features_to_it(people):
    X, y, group = people
    alone = LFR(3, **FAST).fit(X, y, sensitive_features=group)
    with sklearn.config_context(enable_metadata_routing=True):
        lfr = LFR(3, **FAST).set_fit_request(sensitive_features=True)
        pipeline = make_pipeline(lfr, LogisticRegression()).fit(X, y, sensitive_features=group)
        assert np.array_equal(pipeline["lfr"].prototypes_, alone.prototypes_)
        as_classifier = make_pipeline(clone(lfr)).fit(X, y, sensitive_features=group)
        np.testing.assert_array_equal(as_classifier.predict(X), alone.predict(X))
    assert pipeline.predict(X).shape == y.shape


# ---- refusals ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_prototypes": 91}, "n_prototypes=91 needs at least 91 records, the table has n_samples=90"),
        ({"reconstruct_weight": -1}, "reconstruct_weight must be a finite number of at least 0, got -1"),
        ({"target_weight": np.inf}, "target_weight must be a finite number of at least 0, got inf"),
        ({"fairness_weight": "1"}, "fairness_weight must be a finite number of at least 0, got '1'"),
        (
            {"reconstruct_weight": 0, "target_weight": 0, "fairness_weight": 0},
            "reconstruct_weight, target_weight and fairness_weight are all 0: there is nothing to learn",
        ),
        ({"init": np.zeros((2, 4))}, "init must have shape (3, 4), got (2, 4)"),
        ({"init": "principal"}, "init must be one of 'k-means++', 'k-means', 'uniform', got 'principal'"),
        ({"protected": [9]}, "protected column index 9 is out of range"),
    ],
)
def test_a_bad_parameter_is_named_before_any_work(people, monkeypatch, options, message):
    X, y, group = people
    monkeypatch.setattr(prototypes, "solve", None)
    model = LFR(**{"n_prototypes": 3, **options})
    must_raise(ValueError, re.escape(message), model.fit, X, y, sensitive_features=group)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(90, dtype=int), "y holds only one class"),
        (np.arange(90) % 3, "Only binary classification is supported. The type of the target is multiclass"),
        (np.linspace(0.1, 0.9, 90), "Unknown label type: continuous"),
    ],
)
def test_labels_of_one_class_or_three_or_none_are_refused(people, labels, message):
    X, _, group = people
    must_raise(ValueError, message, LFR(3).fit, X, labels, sensitive_features=group)


@pytest.fixture(scope="module")
def two_worlds():
    """What counts for the label of one group is noise to the other: the last column tells them apart."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    X[:, 2] = np.arange(120) % 2
    y = (np.where(X[:, 2] == 0, X[:, 0], X[:, 1]) > 0).astype(int)
    return X, y


def test_weights_per_group_learn_what_counts_for_each(two_worlds):
    X, y = two_worlds
    # Two prototypes divide everybody along one direction, unless each group has weights of its own.
    options = {"protected": [2], "fairness_weight": 0.0, "reconstruct_weight": 0.01, "random_state": 0, "tol": 1e-2}
    shared = LFR(2, **options).fit(X, y)
    apart = LFR(2, attribute_weights="per group", **options).fit(X, y)
    assert apart.group_alpha_.shape == (2, 3)
    np.testing.assert_allclose(apart.alpha_, apart.group_alpha_.mean(axis=0))
    assert apart.group_alpha_[0, 0] > apart.group_alpha_[0, 1]
    assert apart.group_alpha_[1, 1] > apart.group_alpha_[1, 0]
    assert apart.target_loss_ < shared.target_loss_
    assert apart.score(X, y) >= shared.score(X, y)
    # Every record is represented with the weights of its own group, in whatever blocks.
    for group in (0, 1):
        own = apart.membership(X)[X[:, 2] == group]
        plain = oracles.memberships(X[X[:, 2] == group], apart.prototypes_, apart.group_alpha_[group], 2.0, True)
        np.testing.assert_allclose(own, plain, atol=1e-9)
    np.testing.assert_allclose(np.concatenate(list(apart.transform_blocks(X, rows=50))), apart.transform(X), rtol=1e-6)


def test_weights_per_group_need_groups_that_the_columns_tell(two_worlds):
    X, y = two_worlds
    model = LFR(3, attribute_weights="per group", protected=[2], max_iter=2, random_state=0)
    must_raise(IfairError, "pass no sensitive_features", model.fit, X, y, sensitive_features=X[:, 2])
    must_raise(IfairError, "name them with protected", LFR(3, attribute_weights="per group").fit, X, y)
    must_raise(IfairError, "tell 120 groups apart", LFR(3, attribute_weights="per group", protected=[0]).fit, X, y)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    must_raise(IfairError, "a group that was not there in fit", model.transform, np.array([[0.0, 0.0, 2.0]]))
    must_raise(IfairError, "attribute_weights", LFR(3, attribute_weights="own").fit, X, y)
