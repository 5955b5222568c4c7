"""Other models on representations that were tuned with the paper's."""

import json
from dataclasses import replace

import pytest
from reproduce.made_up import record, results_of, spreads, write_page

from ifair.evaluate.rules import choose_row
from ifair.report.blocks import Heading, Table
from ifair.reproduce.case import Case, measure_grid
from ifair.reproduce.experiments import downstream
from ifair.reproduce.experiments.downstream import EXPERIMENT
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


def reached(**values):
    names = ("AUC", "AUC_of_scores", "yNN", "EqOpp", "Parity", "MAP", "KT", "percent_protected")
    return spreads(**{**dict.fromkeys(names, 0.5), **values})


@pytest.fixture
def results():
    boosted = {"full": reached(AUC=0.7, yNN=0.6), "ifair-b": reached(AUC=0.65, yNN=0.9)}
    voted = {"full": reached(AUC=0.7, yNN=0.8), "ifair-b": reached(AUC=0.7, yNN=0.75)}
    ranked = {"full": reached(MAP=0.9, yNN=0.6), "ifair-b": reached(MAP=0.4, yNN=0.95)}
    classified = {"credit": {"boosting": boosted, "neighbours": voted}}
    return results_of(downstream={"classification": classified, "ranking": {"xing": {"pairwise": ranked}}})


def test_one_table_has_every_model_and_representation_and_others_have_spreads(results):
    blocks = EXPERIMENT.write_section(results)
    assert isinstance(blocks[0], Heading)
    first = next(block for block in blocks if isinstance(block, Table))
    assert first.rows[0] == ["dataset", "model", "full data", "iFair-b"]
    assert first.rows[1] == ["Credit", "gradient boosting", "0.70 / 0.60", "0.65 / 0.90"]
    text = write_page(EXPERIMENT, results)
    assert "| Xing | pairwise ranking | 0.90 / 0.60 | 0.40 / 0.95 |" in text
    assert "| gradient boosting | iFair-b | 0.65 ± 0.01 |" in text


def test_words_count_the_models_for_which_the_claim_holds_and_what_rounds_to_nothing_is_no_rise(results):
    text = write_page(EXPERIMENT, results)
    assert "**Credit**: iFair-b raises yNN above that of the full data for 1 of 2 models" in text
    assert "gradient boosting +0.30 (at -0.05 AUC), nearest neighbours -0.05 (at 0.00 AUC)" in text
    assert "pairwise ranking +0.35 (at -0.50 MAP)" in text
    boosted = results["experiments"]["downstream"]["classification"]["credit"]["boosting"]
    boosted["ifair-b"]["yNN"]["mean"] = boosted["full"]["yNN"]["mean"] + 0.004
    assert "for 0 of 2 models: gradient boosting 0.00 (at -0.05 AUC)" in write_page(EXPERIMENT, results)
