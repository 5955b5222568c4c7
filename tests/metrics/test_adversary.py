"""The adversary finds what is there and nothing else."""

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ifair.metrics import adversary


@pytest.fixture
def group(rng):
    return np.where(rng.uniform(size=300) < 0.3, "f", "m")


@pytest.mark.parametrize("model", ["logistic", "boosting"])
def test_noise_gives_nothing_away_and_the_group_itself_everything(model, group, rng):
    noise = rng.normal(size=(300, 3))
    blind = adversary(noise, sensitive_features=group, model=model, folds=3)
    assert abs(blind.auc - 0.5) < 0.15
    assert blind.accuracy < blind.majority + 0.05
    told = adversary(np.column_stack([noise, group == "f"]), sensitive_features=group, model=model, folds=3)
    assert told.auc > 0.99
    assert told.accuracy > 0.97
    assert told.majority == max((group == "f").mean(), (group == "m").mean())


def test_boosting_finds_what_logistic_regression_cannot(group, rng):
    hidden = rng.choice([-1, 1], 300)
    Z = np.column_stack([hidden, np.where(group == "f", hidden, -hidden)])
    assert adversary(Z, sensitive_features=group, folds=3).auc < 0.7
    assert adversary(Z, sensitive_features=group, model="boosting", folds=3).auc > 0.95


def test_the_figures_are_those_of_scikit_learns_cross_validation(group, rng):
    Z = rng.normal(size=(300, 2)) + (group == "f")[:, None]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    result = adversary(Z, sensitive_features=group)
    for name, value in (("accuracy", result.accuracy), ("roc_auc", result.auc)):
        assert value == pytest.approx(cross_val_score(model, Z, group == "m", cv=folds, scoring=name).mean())


def test_more_than_two_groups_and_other_classifiers(rng):
    frame = pd.DataFrame({"race": rng.choice(["a", "b", "c"], 120), "sex": "f"})
    result = adversary(rng.normal(size=(120, 2)), sensitive_features=frame, model=DummyClassifier())
    assert result.auc == 0.5
    assert result.accuracy == pytest.approx(result.majority, abs=0.02)
    assert result.to_dict()["model"] == "DummyClassifier"
    assert result.chances.shape == (120, 3)
    np.testing.assert_allclose(result.chances.sum(axis=1), 1.0)
    must_raise(ValueError, "between two groups", result.interval, "auc")


def test_groups_too_small_for_the_folds_are_left_out_with_a_warning_and_two_others_are_needed(rng):
    Z, group = rng.normal(size=(33, 1)), np.array(["a"] * 20 + ["b"] * 10 + ["c"] * 3)
    with pytest.warns(UserWarning, match="'c'"):
        result = adversary(Z, sensitive_features=group)
    assert result == adversary(Z[:30], sensitive_features=group[:30])
    assert result.majority == pytest.approx(2 / 3)
    Z = rng.normal(size=(23, 1))
    for lonely in (["a"] * 22 + ["b"], ["a"] * 23, ["a"] * 20 + ["b"] * 3):
        must_raise(ValueError, "fewer folds", adversary, Z, sensitive_features=lonely)
    assert adversary(Z, sensitive_features=lonely, folds=3).folds == 3
    must_raise(ValueError, "model", adversary, Z, sensitive_features=lonely, folds=3, model="oracle")


def test_intervals_resample_the_people_that_were_predicted(rng):
    sex = rng.integers(0, 2, 300)
    Z = np.column_stack([sex + rng.normal(size=300), rng.normal(size=300)])
    result = adversary(Z, sensitive_features=sex)
    for measure, estimate in (("accuracy", result.accuracy), ("auc", result.auc)):
        interval = result.interval(measure, n_resamples=200)
        assert interval.estimate == pytest.approx(estimate, abs=0.02)
        assert interval.low < interval.estimate < interval.high
    pooled = (result.chances.argmax(axis=1) == sex).mean()
    assert result.interval("accuracy", n_resamples=10).estimate == pytest.approx(pooled)
