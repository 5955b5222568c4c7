"""The measures inside scikit-learn's model selection and fairlearn's MetricFrame."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate

from ifair import metrics


@pytest.fixture
def people(rng):
    X = rng.normal(size=(240, 3))
    group = rng.choice(["a", "b", "c"], 240)
    y = (X[:, 0] + (group == "a") + rng.normal(size=240) > 0).astype(int)
    return X, y, group


def test_utility_measures_are_scorers(people):
    X, y, _ = people
    scoring = {
        "accuracy": make_scorer(metrics.accuracy),
        "hard": make_scorer(metrics.hard_auc),
        "auc": make_scorer(metrics.auc, response_method="predict_proba"),
        "tau": make_scorer(metrics.kendall_tau, response_method="decision_function"),
    }
    model = LogisticRegression()
    ours = cross_validate(model, X, y, cv=3, scoring=scoring)
    theirs = cross_validate(model, X, y, cv=3, scoring=["accuracy", "balanced_accuracy", "roc_auc"])
    np.testing.assert_allclose(ours["test_accuracy"], theirs["test_accuracy"])
    np.testing.assert_allclose(ours["test_hard"], theirs["test_balanced_accuracy"])
    np.testing.assert_allclose(ours["test_auc"], theirs["test_roc_auc"])


def test_group_measures_are_scorers_that_ask_for_the_groups(people):
    X, y, group = people
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(metrics.statistical_parity).set_score_request(sensitive_features=True)
        search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scorer, cv=3)
        search.fit(X, y, sensitive_features=group)
    assert 0 <= search.best_score_ <= 1
    assert search.best_params_ == {"C": 1e-4} or search.cv_results_["mean_test_score"][1] >= search.best_score_


def test_differences_equal_fairlearns_and_those_of_our_rates_in_a_metric_frame(people):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    _, y, group = people
    z = np.roll(y, 7)
    options = {"sensitive_features": group}
    pairs = [
        (metrics.statistical_parity_difference, fairlearn.demographic_parity_difference),
        (metrics.equalised_odds_difference, fairlearn.equalized_odds_difference),
        (metrics.equal_opportunity_difference, fairlearn.equal_opportunity_difference),
    ]
    for ours, theirs in pairs:
        assert ours(y, z, **options) == pytest.approx(theirs(y, z, **options))
    rates = {"rate": metrics.selection_rate, "tpr": metrics.true_positive_rate, "fpr": metrics.false_positive_rate}
    gaps = fairlearn.MetricFrame(metrics=rates, y_true=y, y_pred=z, **options).difference()
    assert gaps["rate"] == pytest.approx(metrics.statistical_parity_difference(y, z, **options))
    assert gaps["tpr"] == pytest.approx(metrics.equal_opportunity_difference(y, z, **options))
    assert max(gaps["tpr"], gaps["fpr"]) == pytest.approx(metrics.equalised_odds_difference(y, z, **options))


def test_a_metric_frame_shows_parity_by_region_and_consistency_by_group(people, rng):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    X, y, group = people
    z, region = np.roll(y, 7), rng.choice(["east", "west"], 240)
    frame = fairlearn.MetricFrame(
        metrics={"parity": metrics.statistical_parity},
        y_true=y,
        y_pred=z,
        sensitive_features=region,
        sample_params={"parity": {"sensitive_features": group}},
    )
    east = region == "east"
    expected = metrics.statistical_parity(None, z[east], sensitive_features=group[east])
    assert frame.by_group["parity"]["east"] == pytest.approx(expected)
    person = metrics.consistency_per_person(z, X)
    means = fairlearn.MetricFrame(metrics=fairlearn.mean_prediction, y_true=y, y_pred=person, sensitive_features=group)
    assert means.overall == pytest.approx(metrics.consistency(z, X))
    assert means.by_group["a"] == pytest.approx(person[group == "a"].mean())
