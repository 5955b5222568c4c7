"""The experiment on consistent decisions: equal terms, planes, and what it says."""

import numpy as np
import pytest
from reproduce.made_up import record
from sklearn.neighbors import KNeighborsClassifier

from ifair.metrics import consistency, hard_auc
from ifair.reproduce import score_families
from ifair.reproduce.experiments import consistent_decisions as experiment
from ifair.reproduce.experiments.consistent_decisions import calibration_error, judge_thresholds
from ifair.reproduce.profiles import PROFILES


def rows(points):
    return [{"setting": {}, "validation": point, "test": point} for point in points]


def point(auc, ynn):
    by_threshold = [{"AUC": auc, "yNN": ynn}, {"AUC": 0.5, "yNN": 1.0}]
    return {"AUC": auc, "yNN": ynn, "score_AUC": auc, "rank_consistency": ynn - 0.5, "thresholds": by_threshold}


@pytest.fixture(scope="module")
def summary():
    """Two splits of which the volumes are plain to see: 0.3 x 0.4 against 0.2 x 0.3 and so on."""
    families = {
        "penalty": rows([point(0.7, 0.8)]),
        "consistent, linear": rows([point(0.8, 0.9)]),
        "glif, linear": rows([point(0.75, 0.9)]),
        "newcomers, linear": rows([point(0.8, 0.85)]),
    }
    effects = {
        "before": {"AUC": 0.7, "calibration_error": 0.05},
        "after": {"AUC": 0.69, "calibration_error": 0.03},
        "changed": {"share": 0.1, "protected": 0.15, "others": 0.05},
    }
    return experiment.summarise([record("credit", seed, {"rows": families, "effects": effects}) for seed in (0, 1)])


def test_hypervolumes_are_areas_above_the_reference_and_a_tuned_threshold_takes_no_point_away(summary):
    volumes = summary["credit"]["volumes"]
    assert volumes["labels"]["penalty"]["mean"] == pytest.approx(100 * 0.2 * 0.3)
    assert volumes["labels"]["consistent-linear"]["mean"] == pytest.approx(100 * 0.3 * 0.4)
    for family, labels in volumes["labels"].items():
        assert volumes["thresholds"][family]["mean"] >= labels["mean"] - 1e-9
    # Ours is compared with the best of every kind.
    ahead = summary["credit"]["ahead"]["labels"]
    assert ahead["rival"] == "penalty"
    assert ahead["ratio"] == pytest.approx(2.0)
    assert ahead["ratio_to_glif"] == pytest.approx(0.12 / 0.1)
    assert ahead["newcomers_to_batch"] == pytest.approx(0.105 / 0.12)


def test_every_family_has_the_same_number_of_settings():
    names = ("STRENGTHS", "SQUARED_STRENGTHS", "PENALTIES", "COMPONENTS", "VOTERS", "LEAVES", "PROTOTYPES")
    assert len({len(getattr(score_families, name)) for name in names}) == 1


def test_a_calibrated_model_has_no_error_and_a_constant_off_by_a_tenth_has_a_tenth():
    rng = np.random.default_rng(0)
    chances = rng.random(40_000)
    y = (rng.random(40_000) < chances).astype(float)
    assert calibration_error(y, chances) < 0.02
    assert calibration_error(np.array([0, 1] * 50), np.full(100, 0.6)) == pytest.approx(0.1)


def test_thresholds_are_judged_as_one_by_one():
    rng = np.random.default_rng(1)
    y, scores, steps = rng.integers(0, 2, 60), rng.random(60).round(1), rng.integers(1, 60, (60, 4))
    near = (np.arange(60)[:, None] + steps) % 60  # others, never oneself
    cuts = np.array([0.2, 0.5, 0.7])
    for cut, found in zip(cuts, judge_thresholds(y, scores, cuts, near)):
        decisions = (scores > cut).astype(int)
        assert found["AUC"] == pytest.approx(hard_auc(y, decisions))
        assert found["yNN"] == pytest.approx(consistency(decisions, neighbours=near, kind="label"))


def test_the_page_says_how_far_ahead_a_batch_is_and_what_changes_for_people_with_intervals(summary):
    said = " ".join(map(str, experiment.section(summary, {})))
    assert "2.00 times the best rival that is no post-processing" in said
    assert "one by one 0.88 times a batch." in said
    assert "-0.010 [-0.010, -0.010]" in said.replace("−", "-")  # of the AUC
    assert "+0.100 [+0.100, +0.100]" in said  # of decisions changed, protected people less others


def test_the_full_profile_measures_whole_tables_on_ten_splits():
    units = experiment.plan(PROFILES["full"], {})
    assert len(units) == 10 * 5
    assert {unit.case.max_records for unit in units} == {None}
    small = experiment.plan(PROFILES["smoke"], {})
    assert all(unit.case.max_records <= 900 for unit in small)


def test_one_fit_serves_all_families_of_a_split():
    """The scores that are smoothed are those of the families' own models."""
    profile = PROFILES["smoke"]
    case = profile.case(profile.classification[0], 0, (profile.most_decided, None))
    parts = experiment.prepare(case)
    families = score_families.ScoreFamilies(parts, case)
    np.testing.assert_array_equal(families.inner_models["boosting"][0], families._trees[-1])
    model = KNeighborsClassifier(20).fit(parts.train.may_count, parts.train.y)
    votes = parts.train.y[families._voters[1][:, :20]].mean(axis=1)
    np.testing.assert_allclose(votes, model.predict_proba(parts.test.may_count)[:, 1])
