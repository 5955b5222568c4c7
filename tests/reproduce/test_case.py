"""A unit's work: splits with all categories, whole grids at once, and what fits ended at."""

from types import SimpleNamespace

import numpy as np
import pytest

from ifair.data import load_credit
from ifair.encode import Encoder
from ifair.reproduce.case import Case, describe_fit, measure_grid, prepare

GRID = {"K": [3], "ratios": [[1.0, 0.0], [0.5, 0.5]], "lfr": [1.0]}
CREDIT = Case("credit", 0, max_records=240, method="ifair-b", grid=GRID, solver={"n_restarts": 2, "max_iter": 8})


@pytest.fixture(scope="module")
def rows():
    return measure_grid(CREDIT)


def test_every_setting_is_measured_on_validation_and_test(rows):
    assert [row["setting"]["mu"] for row in rows] == [0.0, 0.5]
    for row in rows:
        assert all(0 <= row[part][name] <= 1 for part in ("validation", "test") for name in ("Acc", "AUC", "yNN"))
        assert row["learned"]["protected_weight"] > 0


def test_all_categories_have_a_column_and_scales_are_those_of_the_training_part():
    parts, everybody = prepare(CREDIT), load_credit().frame
    assert list(parts.train.X.columns) == list(Encoder(missing="ignore").fit(everybody).get_feature_names_out())
    X = parts.train.X.to_numpy()
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    varied = np.ptp(X, axis=0) > 0
    np.testing.assert_allclose(X[:, varied].std(axis=0), 1.0)
    assert not varied.all()  # some categories nobody in these 80 people has


@pytest.mark.parametrize(("outcomes", "constant"), [([0] * 199 + [1], True), ([0] * 190 + [1] * 10, False)])
def test_one_answer_for_all_but_one_in_a_hundred_is_a_constant(outcomes, constant):
    model = SimpleNamespace(alpha_=np.array([2.0, 1.0, 3.0]), protected_mask_=np.array([True, False, False]))
    found = describe_fit(SimpleNamespace(representation=model), np.array(outcomes), 1.0)
    assert found == {"constant": constant, "protected_weight": 1.0}
