"""Other models on representations that were tuned with the paper's."""

import json
from dataclasses import replace

import pytest
from reproduce.made_up import record

from ifair.evaluate.rules import choose_row
from ifair.reproduce.case import Case, measure_grid
from ifair.reproduce.experiments import downstream
from ifair.reproduce.profiles import PROFILES

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.mark.parametrize("method", downstream.METHODS)
def test_every_model_is_measured_and_the_first_is_the_papers(small_case, method):
    utility, third = ("AUC", "neighbours") if small_case.dataset == "credit" else ("MAP", "pairwise")
    case = replace(small_case, method=method)
    chosen = choose_row(measure_grid(case), "balanced", utility=utility)
    found = downstream.measure_models(replace(case, setting=chosen["setting"]))
    assert json.loads(json.dumps(found)) == found
    assert found["linear"] == chosen["test"]
    assert set(found) == {"linear", "boosting", third}
    assert len({str(measures) for measures in found.values()}) == 3 or case.dataset == "xing"


def test_the_pairwise_model_finds_a_score_that_is_linear_in_masked_data(job_searches):
    found = downstream.measure_models(Case("xing", 0, method="masked", setting={}))
    assert found["pairwise"]["KT"] > 0.9


def test_every_dataset_and_representation_is_planned():
    units = downstream.plan(PROFILES["smoke"].limit_splits(1), {})
    planned = [(unit.case.dataset, unit.case.method) for unit in units]
    assert sorted(planned) == sorted((name, method) for name in ("credit", "xing") for method in downstream.METHODS)


def test_a_summary_has_means_and_spreads_of_every_model_and_representation():
    found = downstream.summarise(
        [
            record("some", 0, {"linear": {"AUC": 0.6, "yNN": 0.5}}, method="full"),
            record("some", 1, {"linear": {"AUC": 0.8, "yNN": 0.5}}, method="full"),
            record("some", 0, {"linear": {"AUC": 0.7, "yNN": 0.9}}, method="masked"),
            record("other", 0, {"linear": {"MAP": 0.3}, "pairwise": {"MAP": 0.4}}, method="full"),
        ]
    )
    by_method = found["classification"]["some"]["linear"]
    assert set(by_method) == {"full", "masked"}
    assert by_method["full"]["AUC"] == {"mean": pytest.approx(0.7), "sd": pytest.approx(0.02**0.5), "n": 2}
    assert found["ranking"]["other"]["pairwise"]["full"]["MAP"]["mean"] == pytest.approx(0.4)
