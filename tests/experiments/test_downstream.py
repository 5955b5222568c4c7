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
    found = downstream.classify(*CREDIT, method, grid, search)
    assert json.loads(json.dumps(found)) == found
    chosen = best(classification.evaluate(*CREDIT, method, grid, search), "optimal", utility="AUC")
    assert found["setting"] == chosen["setting"]
    assert found["models"]["logistic regression"] == chosen["test"]
    assert set(found["models"]) == {"logistic regression", "gradient boosting", "nearest neighbours"}
    assert len({str(measures) for measures in found["models"].values()}) == 3


@pytest.mark.parametrize("method", downstream.METHODS)
def test_every_ranking_model_is_measured_and_the_first_is_the_papers(job_searches, method, grid, search):
    found = downstream.rank(*XING, method, grid, search)
    assert json.loads(json.dumps(found)) == found
    chosen = best(ranking.evaluate(*XING, method, grid, search), "optimal", utility="MAP")
    assert found["models"]["linear regression"] == chosen["test"]
    assert set(found["models"]) == {"linear regression", "gradient boosting", "pairwise ranking"}


def test_the_pairwise_model_finds_a_score_that_is_linear_in_masked_data(job_searches, grid, search):
    found = downstream.rank(*XING, "masked", grid, search)
    assert found["models"]["pairwise ranking"]["KT"] > 0.9


def unit_of(units, dataset, method):
    (found,) = [u for u in units if (u.arguments["dataset"], u.arguments["method"]) == (dataset, method)]
    return found


def remembered(arguments, method, rows):
    dataset, _, _, _, seed = arguments
    return {"arguments": {"dataset": dataset, "seed": seed, "method": method}, "result": rows}


def test_every_dataset_and_representation_is_planned(profile):
    planned = [(unit.arguments["dataset"], unit.arguments["method"]) for unit in downstream.units(profile, {})]
    assert sorted(planned) == sorted((name, method) for name in ("credit", "xing") for method in downstream.METHODS)


def test_classification_takes_the_setting_that_was_chosen_earlier(profile, grid, search):
    rows = {name: classification.evaluate(*CREDIT, name, grid, search) for name in ("ifair-b", "lfr")}
    earlier = {"classification": [remembered(CREDIT, name, found) for name, found in rows.items()]}
    units = downstream.units(profile, earlier)
    unit, alone = (unit_of(planned, "credit", "ifair-b") for planned in (units, downstream.units(profile, {})))
    assert unit.arguments["setting"] == best(rows["ifair-b"], "optimal", utility="AUC")["setting"]
    assert alone.arguments["setting"] is None
    assert alone.run() == unit.run()
    assert unit_of(units, "credit", "ifair-frozen").arguments["setting"] is None


def test_ranking_takes_the_setting_that_was_chosen_earlier(job_searches, profile, grid, search):
    rows = ranking.evaluate(*XING, "ifair-b", grid, search)
    earlier = {"ranking": [remembered(XING, "ifair-b", rows)]}
    unit, alone = (unit_of(downstream.units(profile, one), "xing", "ifair-b") for one in (earlier, {}))
    assert unit.arguments["setting"] == best(rows, "optimal", utility="MAP")["setting"]
    assert alone.run() == unit.run()


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
