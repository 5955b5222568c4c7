"""Bad input: a clear error that names the culprit, before any work is done."""

import re

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair import IFair
from ifair.models import prototypes


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(20, 3)), columns=["work", "education", "sex"])


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Any evaluation of the objective fails the test: the error must come first."""

    def fail(*args, **kwargs):
        raise AssertionError("work was done before the input was checked")

    monkeypatch.setattr(prototypes, "solve", fail)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_prototypes": 0}, "n_prototypes must be an integer of at least 1, got 0"),
        ({"n_prototypes": 2.5}, "n_prototypes must be an integer of at least 1, got 2.5"),
        ({"n_prototypes": True}, "n_prototypes must be an integer of at least 1, got True"),
        ({"n_prototypes": 21}, "n_prototypes=21 needs at least 21 records, the table has n_samples=20"),
        ({"n_restarts": 0}, "n_restarts must be an integer of at least 1, got 0"),
        ({"max_iter": -1}, "max_iter must be an integer of at least 1, got -1"),
        ({"utility_weight": -1.0}, "utility_weight must be a finite number of at least 0, got -1.0"),
        ({"fairness_weight": np.nan}, "fairness_weight must be a finite number of at least 0, got nan"),
        ({"fairness_weight": "1"}, "fairness_weight must be a finite number of at least 0, got '1'"),
        ({"utility_weight": 0, "fairness_weight": 0}, "both 0: there is nothing to learn"),
        ({"tol": -1e-3}, "tol must be a finite number of at least 0"),
        ({"p": 0.5}, "p must be a finite number of at least 1 for d to be a distance, got 0.5"),
        ({"p": np.inf}, "p must be finite, got inf: as p grows the distance tends to the largest difference"),
        ({"p": None}, "p must be a finite number of at least 1 for d to be a distance, got None"),
        ({"p": 3, "pairs": "moments"}, "pairs='moments' has a closed form for p=2 only, got p=3"),
        ({"pairs": "some"}, "pairs must be one of 'auto', 'all', 'moments', got 'some'"),
        ({"pairs": 0}, "pairs (a number of landmarks) must be an integer of at least 1, got 0"),
        ({"reduction": "median"}, "reduction must be one of 'mean', 'sum', 'norm', got 'median'"),
        ({"fairness_distance": "l1"}, "fairness_distance must be one of 'weighted', 'euclidean', got 'l1'"),
        ({"output": "both"}, "output must be one of 'representation', 'membership', 'nearest', got 'both'"),
        ({"utility_columns": "none"}, "utility_columns must be one of 'all', 'unprotected', got 'none'"),
        ({"precision": "half"}, "precision must be one of 'auto', 'single', 'double', got 'half'"),
        (
            {"init": "random"},
            "init must be one of 'auto', 'principal', 'k-means++', 'k-means', 'uniform', got 'random'",
        ),
        ({"init": "principal", "alpha_init": [1.0, 1.0, 1.0]}, "init='principal' chooses the first weights itself"),
        ({"n_prototypes": 2, "init": np.zeros((3, 3))}, "init must have shape (2, 3), got (3, 3)"),
        ({"n_prototypes": 1, "init": [[0, np.nan, 0]]}, "init must be finite, got nan"),
        ({"alpha_init": "zeros"}, "alpha_init must be one of 'masked', 'random', got 'zeros'"),
        ({"alpha_init": [1.0, 2.0]}, "alpha_init must have shape (3,), got (2,)"),
        ({"alpha_init": [1.0, -2.0, 1.0]}, "alpha_init must not be negative, got -2 in column 1"),
        ({"protected": ["sexe"]}, "protected column 'sexe' is not in the table; did you mean 'sex'?"),
        ({"protected": ["zzz"]}, "protected column 'zzz' is not in the table; the columns are 'work', 'education'"),
        ({"protected": ["sex", "sex"]}, "protected names ['sex'] more than once"),
        ({"protected": [2, -1]}, "protected names [2] more than once"),
        ({"protected": [3]}, "protected column index 3 is out of range: the table has 3 columns"),
        ({"protected": [True, False]}, "protected is a mask of length 2, but the table has 3 columns"),
        ({"protected": np.zeros((2, 2), dtype=bool)}, "protected must be one-dimensional"),
    ],
)
def test_a_bad_parameter_is_named_with_its_value(frame, options, message):
    must_raise(ValueError, re.escape(message), IFair(**{"n_prototypes": 3, **options}).fit, frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protected": [1.5]}, "protected must hold column names, column indices or a boolean mask"),
        ({"protected": ["sex", 1]}, "protected must hold column names, column indices or a boolean mask"),
        ({"protected": lambda X: lambda X: None}, "the callable returned another callable"),
        ({"callback": 3}, "callback must be callable, got 3"),
    ],
)
def test_a_parameter_of_the_wrong_type_is_named(frame, options, message):
    must_raise(TypeError, re.escape(message), IFair(**{"n_prototypes": 3, **options}).fit, frame)


def test_names_without_a_frame_and_a_table_of_one_row_are_refused(frame):
    must_raise(
        ValueError, "the table has no column names; pass a DataFrame", IFair(3, protected=["sex"]).fit, [[0.0]] * 9
    )
    must_raise(ValueError, "1 sample", IFair(1).fit, frame.iloc[:1])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "NaN"),
        (np.inf, "infinity"),
        ("old", "could not convert string to float: 'old'"),
        (1e200, r"column 'education' holds values as large as 1e\+200"),
    ],
)
def test_values_that_are_no_finite_numbers_or_would_overflow_are_refused(frame, value, message):
    frame = frame.astype(object)
    frame.iloc[3, 1] = value
    must_raise(ValueError, message, IFair(3).fit, frame)


def test_a_warm_start_of_another_shape_is_refused(frame):
    model = IFair(3, warm_start=True)
    model.prototypes_, model.alpha_ = np.zeros((2, 3)), np.ones(3)
    must_raise(ValueError, re.escape("prototypes of shape (2, 3), this one needs (3, 3)"), model.fit, frame)
