"""Landmarks against all pairs, beside what another start changes."""

import json

import pytest
from reproduce.made_up import brief, record, write_page

from ifair.reproduce.experiments.landmarks import EXPERIMENT, compare_pairs


@pytest.fixture(scope="module")
def found():
    grid = {"K": [4], "ratios": [[0.5, 0.5]], "landmarks": [20, 5000]}
    return compare_pairs(brief("credit", "ifair-b", max_records=240, grid=grid))


def test_every_kind_of_fit_is_measured_and_too_many_landmarks_are_left_out(found):
    assert json.loads(json.dumps(found)) == found
    assert found["records"] == 80
    assert set(found["rows"][0]["test"]) == {"all_pairs", "another_start", "landmarks_20"}


def test_changes_are_against_all_pairs_with_and_without_their_sign(found):
    kinds = EXPERIMENT.summarise([record("credit", 0, found)])["credit"]["kinds"]
    test = found["rows"][0]["test"]
    change = test["landmarks_20"]["yNN"] - test["all_pairs"]["yNN"]
    assert kinds["landmarks_20"]["yNN"]["change"]["mean"] == pytest.approx(change)
    assert kinds["landmarks_20"]["yNN"]["size"]["mean"] == pytest.approx(abs(change))
    assert "all_pairs" not in kinds


def test_what_landmarks_change_is_told_beside_what_the_start_changes(committed):
    kinds = committed["experiments"]["landmarks"]["credit"]["kinds"]
    for name in ("AUC", "yNN"):
        kinds["landmarks_300"][name]["size"]["mean"] = 1.0
    told = "**Credit**: 300 landmarks change more than another start does in AUC, yNN."
    assert told in write_page(EXPERIMENT, committed)
    # Of few records there are no landmarks to judge.
    committed["experiments"]["landmarks"]["credit"]["kinds"] = {"another_start": kinds["another_start"]}
    assert "**Credit**" not in write_page(EXPERIMENT, committed)
