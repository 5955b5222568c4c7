"""The part of the page about outside rivals says what the results say."""

import pytest

from ifair.report.blocks import Heading, markdown
from ifair.report.evaluation.rivals import section

MEASURES = ("AUC", "AUC of scores", "yNN", "EqOpp", "Parity")


def page(results):
    return markdown(section(results)).replace("\N{NO-BREAK SPACE}", " ")


def reached(utility, fairness, **more):
    values = dict.fromkeys(MEASURES, 0.5) | {"AUC": utility, "yNN": fairness}
    return {"test": {name: {"mean": value, "sd": 0.01, "n": 5} for name, value in values.items()}, **more}


@pytest.fixture
def results():
    told = {name: {"mean": mean, "sd": 0, "n": 5} for name, mean in (("logistic", 0.52), ("boosting", 0.71))}
    theirs = {"sensei": reached(0.65, 0.82), "correlation-remover": reached(0.66, 0.70, adversaries=told)}
    ours = {"ifair-b": reached(0.60, 0.90), "lfr": reached(0.5, 0.5)}
    rules = ("max utility", "optimal")
    return {
        "rivals": {"classification": {"credit": {"rules": dict.fromkeys(rules, theirs)}}, "left out": {}},
        "classification": {"credit": {"rules": dict.fromkeys(rules, ours)}},
        "obfuscation": {"credit": {"ifair-b": {"majority": {}, "logistic": {"AUC": {"mean": 0.93}}}}},
    }


def test_rivals_stand_beside_ours_with_what_an_adversary_finds(results):
    assert section(results)[0] == Heading("Outside rivals")
    lines = page(results).splitlines()
    assert "| optimal | SenSeI | 0.65 ± 0.01 | 0.50 ± 0.01 | 0.82 ± 0.01 | 0.50 ± 0.01 | 0.50 ± 0.01 |  |" in lines
    assert any(line.startswith("| optimal | CorrelationRemover | 0.66") and "| 0.52 / 0.71 |" in line for line in lines)
    # Ours were attacked at the setting of one rule only.
    assert [line.split("|")[-2].strip() for line in lines if "| iFair-b |" in line] == ["", "0.93"]
    assert "LFR" not in page(results)


def test_words_follow_from_the_numbers(results):
    text = page(results)
    assert "iFair-b less SenSeI is -0.05 in AUC and +0.08 in yNN; a trade." in text
    behind = {"ifair-b": reached(0.60, 0.82)}
    results["classification"]["credit"]["rules"]["optimal"] = behind
    text = page(results)
    assert "iFair-b less SenSeI is -0.05 in AUC and 0.00 in yNN; the rival is ahead." in text
    results["classification"]["credit"]["rules"]["optimal"] = {"ifair-b": reached(0.65, 0.82)}
    assert "they are level" in page(results)
    results["classification"]["credit"]["rules"]["optimal"] = {"ifair-b": reached(0.67, 0.82)}
    assert "iFair-b less CorrelationRemover is +0.01 in AUC and +0.12 in yNN; iFair-b is ahead." in page(results)


def test_rivals_alone_make_a_page_too(results):
    alone = {"rivals": results["rivals"]}
    assert "| optimal | SenSeI |" in page(alone)


def test_what_was_left_out_is_said():
    nothing = {"rivals": {"classification": {}, "ranking": {}, "left out": {"sensei": "pip install ifair[rivals]"}}}
    assert "SenSeI was left out: `pip install ifair[rivals]`." in page(nothing)


def test_without_results_there_is_nothing():
    assert section({}) == []
    assert section({"rivals": {}}) == []
    assert section({"rivals": {"classification": {}, "ranking": {}, "left out": {}}}) == []
