"""Summaries: choices are made on validation data alone."""

from unittest.mock import ANY

import pytest
from reproduce.made_up import row

from ifair.reproduce.tradeoff import OURS, summarise_splits


@pytest.fixture
def summary():
    useful = row((0.9, 0.5), (0.1, 0.2), setting={"name": "useful"})
    fair = row((0.6, 0.9), (0.3, 0.4), setting={"name": "fair"})
    ours, theirs = [[useful, fair]] * 2, [[row((0.5, 0.5), (0.7, 0.1))], [row((0.5, 0.5), (0.7, 0.3))]]
    return summarise_splits({"ifair-b": ours, "full": theirs, OURS: ours}, utility="AUC")


def test_a_setting_is_chosen_on_validation_and_reported_on_test(summary):
    rules = summary["rules"]
    assert rules["most_useful"]["ifair-b"]["settings"] == [{"name": "useful"}] * 2
    assert rules["most_useful"]["ifair-b"]["test"]["AUC"]["mean"] == pytest.approx(0.1)
    assert rules["fairest"]["ifair-b"]["test"]["yNN"]["mean"] == pytest.approx(0.4)
    assert rules["balanced"]["ifair-b"]["settings"] == [{"name": "fair"}] * 2
    expected = {"mean": pytest.approx(0.2), "sd": pytest.approx(0.1414, abs=1e-4), "n": 2}
    assert rules["balanced"]["full"]["test"]["yNN"] == expected


def test_ours_is_compared_with_every_rival_split_by_split_and_points_are_means_over_splits(summary):
    comparison = summary["comparisons"]["balanced"]["yNN"]["full"]
    assert comparison["difference"] == pytest.approx(0.2)
    assert comparison["low"] < 0.2 < comparison["high"]
    assert comparison["p"] is None  # two splits are too few
    # Our own variant is made up of the same rows.
    assert summary["comparisons_of_ours"]["yNN"] == {"full": comparison, "ifair-b": ANY}
    assert set(summary["comparisons"]["balanced"]) == {"AUC", "yNN"}  # every measure on test
    assert [point["setting"]["name"] for point in summary["points"]["ifair-b"]] == ["useful", "fair"]
    assert summary["points"]["full"][0]["test"] == {"AUC": pytest.approx(0.7), "yNN": pytest.approx(0.2)}


def test_every_p_of_fa_star_ir_is_a_choice_of_its_own_and_a_setting_of_one_front():
    by_split = {f"fair-{p}": [[row((0.6, p), (0.6, p))]] * 2 for p in (0.6, 0.9)}
    ours = dict.fromkeys(("ifair-b", OURS), [[row((0.7, 0.7), (0.7, 0.7))]] * 2)
    found = summarise_splits({**by_split, **ours}, utility="AUC")
    assert list(found["rules"]["balanced"]) == ["fair-0.6", "fair-0.9", "ifair-b", OURS]
    coin = found["hypervolume"]["coin"]
    assert coin["settings"] == {"fair": 2, "ifair-b": 1, OURS: 1}
    assert coin["methods"]["fair"]["mean"] == pytest.approx(0.1 * 0.4)
