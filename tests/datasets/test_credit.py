"""German Credit: embedded, readable, and with the paper's counts."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from ifair.data import DataError, Dataset, encoded_width, load_credit
from ifair.datasets.catalogue.credit import ATTRIBUTES, EMBEDDED, parse_credit


def test_the_embedded_file_is_the_published_one():
    content = EMBEDDED.read_bytes()
    assert hashlib.sha256(content).hexdigest() == ("b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871")


@pytest.mark.parametrize(("recipe", "columns"), [("age-bins", 67), ("rate-codes", 67), ("plain", 61)])
def test_each_recipe_reaches_its_number_of_columns(recipe, columns):
    credit = load_credit(recipe=recipe)
    assert credit.frame.shape == (1000, 20)
    assert encoded_width(credit.frame) == columns


def test_the_default_group_is_of_one_band_of_ages():
    credit = load_credit()  # its size and base rates are in test_paper_counts
    assert credit.protected == ("age",)
    assert set(credit.frame["age"][credit.group]) == {"25-34"}


@pytest.mark.parametrize(
    ("age_rule", "rates"), [((0, 25), (0.579, 0.728)), ((0, 30), (0.640, 0.742)), ((0, 35), (0.663, 0.752))]
)
def test_the_age_rule_is_a_parameter(age_rule, rates):
    credit = load_credit(age_rule=age_rule)
    reached = credit.target[credit.group].mean(), credit.target[~credit.group].mean()
    assert reached == pytest.approx(rates, abs=5e-4)


def test_no_code_of_the_file_reaches_the_frame():
    frame = load_credit().frame
    coded = [name for name, known in ATTRIBUTES.items() if isinstance(known, dict)]
    texts = {str(value) for name in coded for value in frame[name].unique()}
    assert not [t for t in texts if t.startswith("A") and t[1:].isdigit()]
    assert frame["purpose"].iloc[0] == "radio or television"
    assert frame["checking_account"].iloc[0] == "below 0 DM"


def test_another_group_by_column_protects_that_column_and_it_may_be_a_function_of_the_frame():
    credit = load_credit(group={"foreign_worker": "yes"})
    assert credit.protected == ("foreign_worker",)
    assert credit.group.sum() == 963
    women = load_credit(group=lambda f: f["sex_and_status"].str.startswith("female"), protected="sex_and_status")
    rates = women.target[women.group].mean(), women.target[~women.group].mean()
    assert rates == pytest.approx((0.648, 0.723), abs=5e-4)


def test_the_pair_and_the_arrays_are_as_in_scikit_learn():
    X, y = load_credit(return_X_y=True)
    assert isinstance(X, pd.DataFrame)
    assert isinstance(y, pd.Series)
    data, target = load_credit(return_X_y=True, as_frame=False)
    assert isinstance(data, np.ndarray)
    np.testing.assert_array_equal(target, y)
    bunch = load_credit(as_frame=False)
    assert bunch.data.shape == (1000, 20)
    assert bunch.feature_names == list(X.columns)
    assert isinstance(load_credit(), Dataset)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipe": "age_bins"}, "did you mean 'age-bins'"),
        ({"group": {"foreign_workers": "yes"}}, "did you mean 'foreign_worker'"),
        ({"group": {"housing": "owned"}}, "no value 'owned' in column 'housing', did you mean 'own'"),
        ({"protected": "agee"}, "did you mean 'age'"),
        ({"age_rule": (35, 25)}, "low <= high"),
    ],
)
def test_a_wrong_option_suggests_the_right_one(options, message):
    with pytest.raises(DataError, match=message):
        load_credit(**options)


def test_a_line_with_a_field_too_few_is_named():
    good = EMBEDDED.read_bytes().split(b"\n")[0]
    with pytest.raises(DataError, match=r"german\.data, record 2: 2 fields instead of 21"):
        parse_credit(good + b"\nA11 6\n", "german.data")
