"""The experiment on consistent decisions: equal terms, planes, and what it says."""

import numpy as np
import pytest

from ifair.reproduce.experiments import consistent_decisions as experiment
from ifair.reproduce.experiments.consistent_decisions import calibration_error
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.runner import Record


def rows(points):
    return [{"setting": {}, "validation": point, "test": point} for point in points]


def point(auc, ynn):
    return {"AUC": auc, "yNN": ynn, "score_AUC": auc, "rank_consistency": ynn - 0.5}


@pytest.fixture(scope="module")
def summary():
    """Two splits of which the volumes are plain to see: 0.3 x 0.4 against 0.2 x 0.3 and so on."""
    families = {
        "penalty": rows([point(0.7, 0.8)]),
        "consistent, linear": rows([point(0.8, 0.9)]),
        "glif, linear": rows([point(0.75, 0.9)]),
        "newcomers, linear": rows([point(0.8, 0.85)]),
    }
    case = PROFILES["smoke"].case(PROFILES["smoke"].classification[0], 0, method="all")
    record = Record("credit, split 1", case, {"rows": families, "effects": {}}, 1.0, {})
    return experiment.summarise([record, record])


def test_hypervolumes_are_areas_above_the_reference(summary):
    labels = summary["credit"]["volumes"]["labels"]
    assert labels["penalty"]["mean"] == pytest.approx(100 * 0.2 * 0.3)
    assert labels["consistent, linear"]["mean"] == pytest.approx(100 * 0.3 * 0.4)


def test_ours_is_compared_with_the_best_of_every_kind(summary):
    ahead = summary["credit"]["ahead"]["labels"]
    assert ahead["rival"] == "penalty"
    assert ahead["ratio"] == pytest.approx(2.0)
    assert ahead["ratio_to_glif"] == pytest.approx(0.12 / 0.1)
    assert ahead["newcomers_to_batch"] == pytest.approx(0.105 / 0.12)


def test_every_family_has_the_same_number_of_settings():
    sizes = {
        len(settings)
        for settings in (
            experiment.STRENGTHS,
            experiment.SQUARED_STRENGTHS,
            experiment.PENALTIES,
            experiment.COMPONENTS,
            experiment.VOTERS,
            experiment.LEAVES,
            experiment.PROTOTYPES,
        )
    }
    assert len(sizes) == 1


def test_a_calibrated_model_has_no_error_and_a_constant_off_by_a_tenth_has_a_tenth():
    rng = np.random.default_rng(0)
    chances = rng.random(40_000)
    y = (rng.random(40_000) < chances).astype(float)
    assert calibration_error(y, chances) < 0.02
    assert calibration_error(np.array([0, 1] * 50), np.full(100, 0.6)) == pytest.approx(0.1)
