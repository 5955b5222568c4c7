"""German Credit: embedded, readable, and with the paper's counts."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError, Dataset, encoded_width, load_credit
from ifair.datasets.catalogue.credit import EMBEDDED


def test_the_embedded_file_is_the_published_one():
    found = hashlib.sha256(EMBEDDED.read_bytes()).hexdigest()
    assert found == "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"


@pytest.mark.parametrize(("recipe", "columns"), [("age-bins", 67), ("rate-codes", 67), ("plain", 61)])
def test_each_recipe_reaches_its_number_of_columns_and_has_the_same_group(recipe, columns):
    credit = load_credit(recipe=recipe)
    assert credit.frame.loc[0, ["purpose", "checking_account"]].tolist() == ["radio or television", "below 0 DM"]
    assert credit.frame.shape == (1000, 20)
    assert encoded_width(credit.frame) == columns
    assert credit.protected == ("age",)
    assert set(load_credit().frame["age"][credit.group]) == {"25-34"}  # its base rates are in test_paper_counts


@pytest.mark.parametrize(
    ("options", "rates"),
    [
        ({"age_rule": (0, 25)}, (0.579, 0.728)),
        ({"age_rule": (0, 30)}, (0.640, 0.742)),
        ({"age_rule": (0, 35)}, (0.663, 0.752)),
        ({"group": lambda f: f["sex_and_status"].str.startswith("female")}, (0.648, 0.723)),
    ],
)
def test_the_group_is_a_rule_of_ages_or_a_function_of_the_frame(options, rates):
    credit = load_credit(**options)
    reached = credit.target[credit.group].mean(), credit.target[~credit.group].mean()
    assert reached == pytest.approx(rates, abs=5e-4)


def test_another_group_by_column_protects_that_column():
    credit = load_credit(group={"foreign_worker": "yes"})
    assert credit.protected == ("foreign_worker",)
    assert credit.group.sum() == 963
    assert load_credit(group={"housing": ["rent", "for free"]}).group.sum() == 179 + 108
    assert load_credit(group=credit.group, protected="sex_and_status").protected == ("sex_and_status",)


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
    assert (bunch.target_names, bunch.protected, bunch.group.sum(), bunch.query) == (["good_risk"], ("age",), 399, None)
    np.testing.assert_array_equal(bunch.target, y)
    assert "Licence: CC BY 4.0" in bunch.DESCR
    assert isinstance(load_credit(), Dataset)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipe": "age_bins"}, "did you mean 'age-bins'"),
        ({"group": {"foreign_workers": "yes"}}, "did you mean 'foreign_worker'"),
        ({"group": {"housing": "owned"}}, "no value 'owned' in column 'housing', did you mean 'own'"),
        ({"group": {}}, "at least one column"),
        ({"protected": "agee"}, "did you mean 'age'"),
        ({"age_rule": (35, 25)}, "low <= high"),
    ],
)
def test_a_wrong_option_suggests_the_right_one(options, message):
    must_raise(DataError, message, load_credit, **options)
