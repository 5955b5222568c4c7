"""Datasets of AIF360, from a stand-in with its attributes and from the package itself."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError, from_table, load_credit
from ifair.interop import from_aif360, to_aif360


class StandIn:
    """What BinaryLabelDataset does with its arguments, as far as an adapter can see."""

    def __init__(self, favorable_label, unfavorable_label, df, label_names, protected_attribute_names, **privileges):
        self.favorable_label, self.unfavorable_label = favorable_label, unfavorable_label
        self.label_names, self.protected_attribute_names = label_names, protected_attribute_names
        weights = privileges.get("instance_weights_name")
        self.feature_names = [c for c in df.columns if c not in (*label_names, weights)]
        self.features = df[self.feature_names].to_numpy()
        self.labels = df[label_names].to_numpy()
        self.protected_attributes = df[protected_attribute_names].to_numpy()
        self.privileged_protected_attributes = privileges["privileged_protected_attributes"]
        self.instance_weights = df[weights].to_numpy() if weights else np.ones(len(df))


@pytest.fixture
def people():
    table = pd.DataFrame(
        {
            "sex": ["f", "m", "m", "f", "m"],
            "job": ["clerk", "nurse", "clerk", "nurse", "clerk"],
            "years": [1.0, 2.0, 3.0, 4.0, 5.0],
            "hired": ["no", "yes", "no", "yes", "yes"],
        }
    )
    return from_table(table, protected="sex", target="hired", positive="yes")


def test_a_dataset_keeps_people_group_and_outcome_there_and_back(people):
    there = to_aif360(people, make=StandIn)
    assert there.feature_names == ["job=clerk", "job=nurse", "years", "privileged"]
    np.testing.assert_array_equal(there.protected_attributes.ravel(), [0, 1, 1, 0, 1])
    back = from_aif360(there)
    assert back.protected == ("privileged",)
    np.testing.assert_array_equal(back.group, people.group)
    np.testing.assert_array_equal(back.target, people.target)
    np.testing.assert_array_equal(back.frame["years"], people.frame["years"])
    # A representation takes the place of the attributes.
    there = to_aif360(people, features=np.arange(10.0).reshape(5, 2), make=StandIn)
    assert there.feature_names == ["x0", "x1", "privileged"]
    np.testing.assert_array_equal(there.features[:, 1], [1, 3, 5, 7, 9])


def test_who_is_unprivileged_in_any_attribute_is_in_the_group(people):
    given = to_aif360(people, make=StandIn)
    given.favorable_label = 0.0
    given.protected_attribute_names = ["privileged", "race"]
    given.protected_attributes = np.column_stack([given.protected_attributes, [2, 2, 1, 1, 2]])
    given.privileged_protected_attributes = [np.array([1.0]), np.array([2.0])]
    data = from_aif360(given)
    assert data.group.tolist() == [True, False, True, True, False]
    # The favourable label is the positive class, whatever its number.
    np.testing.assert_array_equal(data.target, 1 - people.target)
    # AIF360 keeps protected attributes apart from the features; a representation needs them among its columns.
    assert "race" in data.frame


def test_weights_go_there_and_back_and_equal_ones_are_none(people):
    counted = replace(people, weight=pd.Series([1.0, 2.0, 1.0, 1.0, 0.5]))
    there = to_aif360(counted, make=StandIn)
    assert "instance_weights" not in there.feature_names
    np.testing.assert_array_equal(from_aif360(there).weight, counted.weight)
    there.instance_weights = there.instance_weights[:, None]
    np.testing.assert_array_equal(from_aif360(there).weight, counted.weight)
    named = pd.DataFrame({"instance_weights": range(5)})
    must_raise(DataError, "instance_weights", to_aif360, counted, features=named, make=StandIn)
    equal = to_aif360(people, make=StandIn)
    assert from_aif360(equal).weight is None
    equal.instance_weights = np.full(5, 0.2)
    assert from_aif360(equal).weight is None
    del equal.instance_weights
    assert from_aif360(equal).weight is None


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_count_nobody_are_refused(people, bad):
    given = to_aif360(people, make=StandIn)
    given.instance_weights = np.array([1.0, 2.0, bad, 1.0, 1.0])
    must_raise(DataError, "positive numbers: row 3", from_aif360, given)


def test_what_is_no_such_dataset_is_refused_by_what_it_lacks(people):
    must_raise(DataError, "no dataset of AIF360: it has no features", from_aif360, SimpleNamespace())
    must_raise(DataError, "5 records", to_aif360, people, features=np.zeros((4, 2)), make=StandIn)
    two = to_aif360(people, make=StandIn)
    two.label_names = ["a", "b"]
    must_raise(DataError, "choose one", from_aif360, two)
    with pytest.raises(DataError, match="target of 0 and 1"):
        to_aif360(from_table(pd.DataFrame({"sex": ["f", "m"], "a": [1, 2]}), protected="sex"), make=StandIn)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_the_package_itself_agrees_about_people_weights_and_parity(weighted):
    credit = load_credit()
    weight = pd.Series(np.random.default_rng(0).uniform(0.5, 2.0, len(credit))) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = pytest.importorskip("aif360.datasets")
        metrics = pytest.importorskip("aif360.metrics")
        there = to_aif360(replace(credit, weight=weight))
        assert isinstance(there, datasets.BinaryLabelDataset)
        found = metrics.BinaryLabelDatasetMetric(
            there, unprivileged_groups=[{"privileged": 0}], privileged_groups=[{"privileged": 1}]
        ).statistical_parity_difference()
    counts = np.ones(len(credit)) if weight is None else weight
    rates = [np.average(credit.target[who], weights=counts[who]) for who in (credit.group, ~credit.group)]
    assert found == pytest.approx(rates[0] - rates[1])
    back = from_aif360(there)
    np.testing.assert_array_equal(back.group, credit.group)
    np.testing.assert_array_equal(back.target, credit.target)
    if weighted:
        np.testing.assert_allclose(back.weight, weight)
