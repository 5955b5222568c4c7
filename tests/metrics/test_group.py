"""Group measures: by hand, any number of groups, and what is undefined."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import recall_score

from ifair.metrics import (
    equal_opportunity,
    equal_opportunity_difference,
    equalised_odds,
    equalised_odds_difference,
    false_positive_rate,
    selection_rate,
    statistical_parity,
    statistical_parity_difference,
    true_positive_rate,
)

MEASURES = [statistical_parity, equal_opportunity, equalised_odds]
DIFFERENCES = [statistical_parity_difference, equal_opportunity_difference, equalised_odds_difference]


@pytest.fixture
def people(rng):
    y, z = rng.integers(0, 2, (2, 200))
    return y, z, rng.choice(["a", "b", "c"], 200)


def test_differences_are_the_largest_gap_between_any_two_groups(people):
    y, z, group = people
    names = np.unique(group)
    rates = [z[group == g].mean() for g in names]
    hits = [recall_score(y[group == g], z[group == g]) for g in names]
    alarms = [1 - recall_score(1 - y[group == g], 1 - z[group == g]) for g in names]
    options = {"sensitive_features": group}
    assert statistical_parity_difference(y, z, **options) == pytest.approx(max(rates) - min(rates))
    assert equal_opportunity_difference(y, z, **options) == pytest.approx(max(hits) - min(hits))
    odds = max(max(hits) - min(hits), max(alarms) - min(alarms))
    assert equalised_odds_difference(y, z, **options) == pytest.approx(odds)
    for measure, difference in zip(MEASURES, DIFFERENCES):  # the paper's form is one minus the difference
        assert measure(y, z, **options) == pytest.approx(1 - abs(difference(y, z, **options)))


def test_a_protected_group_is_compared_with_everybody_else_with_a_sign(people):
    _, z, group = people
    mine = np.isin(group, ["a", "b"])
    expected = z[mine].mean() - z[~mine].mean()
    for protected in (["a", "b"], {"a", "b"}, ("a", "b")):
        value = statistical_parity_difference(None, z, sensitive_features=group, protected=protected)
        assert value == pytest.approx(expected)
    assert statistical_parity(None, z, sensitive_features=group, protected="c") == pytest.approx(1 - abs(expected))


@given(seed=st.integers(0, 999))
def test_the_order_of_people_and_the_names_of_groups_change_nothing(seed):
    rng = np.random.default_rng(seed)
    y, z, group = np.tile([0, 1], 20), rng.uniform(size=40), np.repeat([0, 1, 2, 3], 10)
    order = rng.permutation(40)
    names = rng.permutation(["x", "y", "z", "w"])
    for measure in MEASURES:
        expected = measure(y, z, sensitive_features=group)
        assert measure(y[order], z[order], sensitive_features=group[order]) == pytest.approx(expected)
        assert measure(y, z, sensitive_features=names[group]) == pytest.approx(expected)
        assert measure(y, 1 - z, sensitive_features=group) == pytest.approx(expected)


def test_two_columns_make_crossed_groups():
    frame = pd.DataFrame({"sex": list("ffmm"), "old": [True, False, True, False]})
    z = np.array([1, 0, 0, 1])
    assert statistical_parity_difference(None, z, sensitive_features=frame) == 1
    assert statistical_parity_difference(None, z, sensitive_features=frame["sex"]) == 0
    young_women = ("f", False)
    value = statistical_parity_difference(None, z, sensitive_features=frame, protected=young_women)
    assert value == pytest.approx(-2 / 3)


def test_polars_and_lists_mean_the_same_as_arrays(people):
    y, z, group = people
    expected = equal_opportunity(y, z, sensitive_features=group)
    assert equal_opportunity(list(y), list(z), sensitive_features=list(group)) == expected
    frame = pl.DataFrame({"y": y, "z": z, "g": group})
    assert equal_opportunity(frame["y"], frame["z"], sensitive_features=frame["g"]) == expected
    assert equal_opportunity(frame["y"], frame["z"], sensitive_features=frame[["g"]]) == expected


def test_labels_need_to_say_which_is_favourable():
    y, z = ["good", "bad", "good"], ["good", "bad", "bad"]
    options = {"sensitive_features": [0, 0, 1], "pos_label": "good"}
    assert equal_opportunity_difference(y, z, **options) == 1
    for outcome in (z, [1, 2, 2]):
        with pytest.raises(ValueError, match="pos_label"):
            statistical_parity(None, outcome, sensitive_features=[0, 0, 1])


def undefined(message):
    return pytest.warns(UndefinedMetricWarning, match=message)


def test_a_group_without_members_is_undefined_not_fair():
    category = pd.Categorical(["a", "b"], categories=["a", "b", "c"])
    with undefined("'c' has no member"):
        assert np.isnan(statistical_parity([0, 1], [0, 1], sensitive_features=category))
    with undefined("protected group' has no member"):
        assert np.isnan(statistical_parity([0, 1], [0, 1], sensitive_features=["a", "b"], protected="d"))
    with undefined("one group only"):
        assert np.isnan(statistical_parity([0, 1], [0, 1], sensitive_features=["a", "a"]))


def test_a_group_without_positives_has_no_true_positive_rate():
    y, z, group = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    with undefined("'b' has no positive"):
        assert np.isnan(equal_opportunity_difference(y, z, sensitive_features=group))
    with undefined("'b' has no positive"):
        assert np.isnan(equalised_odds(y, z, sensitive_features=group))
    with undefined("no positive"):
        assert np.isnan(true_positive_rate([0, 0], [0, 1]))
    with undefined("no negative"):
        assert np.isnan(false_positive_rate([1, 1], [0, 1]))


def test_rates_are_means_of_outcomes():
    y, z = [1, 1, 0, 0], [0.5, 1, 0, 0.2]
    assert selection_rate(None, z) == pytest.approx(0.425)
    assert true_positive_rate(y, z) == pytest.approx(0.75)
    assert false_positive_rate(y, z) == pytest.approx(0.1)


@pytest.mark.parametrize("features", [["a"], ["a", None], np.zeros((2, 0)), np.zeros((2, 1, 1))])
def test_wrong_groups_are_refused(features):
    with pytest.raises(ValueError, match="sensitive_features"):
        statistical_parity(None, [0, 1], sensitive_features=features)
