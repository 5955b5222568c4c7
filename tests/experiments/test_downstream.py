"""Other models on representations that were tuned with the paper's."""

import json
from dataclasses import replace

import pytest

from ifair.experiments import classification, downstream, ranking
from ifair.experiments.profiles import PROFILES, Source
from ifair.experiments.protocol import best

CREDIT = ("credit", {}, 240, None, 0)
XING = ("xing", {}, None, None, 0)


@pytest.fixture
def profile(grid, search):
    return replace(
        PROFILES["smoke"],
        n_splits=1,
        classification=(Source("credit", most=240),),
        ranking=(Source("xing"),),
        grid=grid,
        search=search,
    )


@pytest.mark.parametrize("method", downstream.METHODS)
def test_every_classifier_is_measured_and_the_first_is_the_papers(method, grid, search):
    chosen = best(classification.evaluate(*CREDIT, method, grid, search), "optimal", utility="AUC")
    found = downstream.classify(*CREDIT, method, chosen["setting"], grid, search)
    assert json.loads(json.dumps(found)) == found
    assert found["models"]["logistic regression"] == chosen["test"]
    assert set(found["models"]) == {"logistic regression", "gradient boosting", "nearest neighbours"}
    assert len({str(measures) for measures in found["models"].values()}) == 3


@pytest.mark.parametrize("method", downstream.METHODS)
def test_every_ranking_model_is_measured_and_the_first_is_the_papers(job_searches, method, grid, search):
    chosen = best(ranking.evaluate(*XING, method, grid, search), "optimal", utility="MAP")
    found = downstream.rank(*XING, method, chosen["setting"], grid, search)
    assert json.loads(json.dumps(found)) == found
    assert found["models"]["linear regression"] == chosen["test"]
    assert set(found["models"]) == {"linear regression", "gradient boosting", "pairwise ranking"}


def test_the_pairwise_model_finds_a_score_that_is_linear_in_masked_data(job_searches, grid, search):
    found = downstream.rank(*XING, "masked", {}, grid, search)
    assert found["models"]["pairwise ranking"]["KT"] > 0.9


def test_every_dataset_and_representation_is_planned(profile):
    planned = [(unit.arguments["dataset"], unit.arguments["method"]) for unit in downstream.units(profile, {})]
    assert sorted(planned) == sorted((name, method) for name in ("credit", "xing") for method in downstream.METHODS)


def test_a_summary_has_means_and_spreads_of_every_model_and_representation():
    def record(method, model, **measures):
        return {"arguments": {"dataset": "some", "method": method}, "result": {"models": {model: measures}}}

    found = downstream.summarise(
        [
            record("full", "boosting", AUC=0.6, yNN=0.5),
            record("full", "boosting", AUC=0.8, yNN=0.5),
            record("masked", "boosting", AUC=0.7, yNN=0.9),
            record("full", "pairwise", MAP=0.3, yNN=0.5),
        ]
    )
    assert found["classification"]["some"]["boosting"]["full"]["AUC"] == {
        "mean": pytest.approx(0.7),
        "sd": pytest.approx(0.02**0.5),
        "n": 2,
    }
    assert set(found["classification"]["some"]["boosting"]) == {"full", "masked"}
    assert found["ranking"]["some"]["pairwise"]["full"]["MAP"]["mean"] == pytest.approx(0.3)
    assert downstream.summarise([]) == {}
