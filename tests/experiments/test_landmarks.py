"""Landmarks against all pairs, beside what another start changes."""

import json

import pytest

from ifair.experiments.landmarks import compare_pairs, summarise


@pytest.fixture(scope="module")
def found():
    search = {"n_restarts": 1, "max_iter": 20, "tol": 1e-2}
    return compare_pairs("credit", {}, 240, None, 0, {"K": [4], "ratios": [[0.5, 0.5]]}, search, [20, 5000])


def test_every_kind_of_fit_is_measured_and_too_many_landmarks_are_left_out(found):
    assert json.loads(json.dumps(found)) == found
    assert found["records"] == 80
    assert set(found["rows"][0]["test"]) == {"all pairs", "another start", "20 landmarks"}


def test_changes_are_against_all_pairs_with_and_without_their_sign(found):
    records = [{"arguments": {"dataset": "credit", "seed": 0}, "result": found}]
    kinds = summarise(records)["credit"]["kinds"]
    test = found["rows"][0]["test"]
    change = test["20 landmarks"]["yNN"] - test["all pairs"]["yNN"]
    assert kinds["20 landmarks"]["yNN"]["change"]["mean"] == pytest.approx(change)
    assert kinds["20 landmarks"]["yNN"]["size"]["mean"] == pytest.approx(abs(change))
    assert "all pairs" not in kinds
