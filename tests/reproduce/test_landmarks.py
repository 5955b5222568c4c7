"""Landmarks against all pairs, beside what another start changes."""

import json

import pytest

from ifair.report.blocks import markdown
from ifair.reproduce.assemble import empty_results
from ifair.reproduce.case import Case
from ifair.reproduce.experiments.landmarks import EXPERIMENT, compare_pairs, summarise
from ifair.reproduce.runner import Record


@pytest.fixture(scope="module")
def found():
    grid = {"K": [4], "ratios": [[0.5, 0.5]], "landmarks": [20, 5000]}
    solver = {"n_restarts": 1, "max_iter": 20, "tol": 1e-2}
    return compare_pairs(Case("credit", 0, {}, 240, method="ifair-b", grid=grid, solver=solver))


def test_every_kind_of_fit_is_measured_and_too_many_landmarks_are_left_out(found):
    assert json.loads(json.dumps(found)) == found
    assert found["records"] == 80
    assert set(found["rows"][0]["test"]) == {"all_pairs", "another_start", "landmarks_20"}


def test_changes_are_against_all_pairs_with_and_without_their_sign(found):
    records = [Record("", Case("credit", 0), found, 0.1, {})]
    kinds = summarise(records)["credit"]["kinds"]
    test = found["rows"][0]["test"]
    change = test["landmarks_20"]["yNN"] - test["all_pairs"]["yNN"]
    assert kinds["landmarks_20"]["yNN"]["change"]["mean"] == pytest.approx(change)
    assert kinds["landmarks_20"]["yNN"]["size"]["mean"] == pytest.approx(abs(change))
    assert "all_pairs" not in kinds


def changed(mean, size):
    return {"change": {"mean": mean, "sd": 0, "n": 5}, "size": {"mean": size, "sd": 0, "n": 5}}


def results(landmarks, start):
    kinds = {"another_start": {"AUC": start, "yNN": start}, "landmarks_300": {"AUC": landmarks, "yNN": landmarks}}
    return {**empty_results(), "experiments": {"landmarks": {"compas": {"records": 1000, "kinds": kinds}}}}


def test_what_landmarks_change_is_told_beside_what_the_start_changes():
    text = markdown(EXPERIMENT.write_section(results(changed(-0.001, 0.004), changed(0.002, 0.01))))
    assert "| COMPAS | 1,000 | 300 landmarks | -0.001 / 0.004 | -0.001 / 0.004 |" in text
    assert "**COMPAS**: 300 landmarks change no measure more than another start does." in text


def test_landmarks_that_change_more_are_named_with_the_measure():
    text = markdown(EXPERIMENT.write_section(results(changed(0.1, 0.1), changed(0.002, 0.01))))
    assert "300 landmarks change more than another start does in AUC, yNN." in text


def test_few_records_have_no_landmarks_to_judge():
    found = results(changed(0, 0), changed(0, 0))
    del found["experiments"]["landmarks"]["compas"]["kinds"]["landmarks_300"]
    assert "change" not in markdown(EXPERIMENT.write_section(found)[3:])
