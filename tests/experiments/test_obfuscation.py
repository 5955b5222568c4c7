"""Adversaries learn on one third and are tried on another."""

import json

import pytest

from ifair.experiments.obfuscation import attack


@pytest.mark.parametrize("method", ["masked", "lfr", "ifair-b", "ifair-frozen"])
def test_adversaries_try_every_representation_of_credit(method, grid, search):
    small = {**grid, "lfr": [1.0]}
    found = attack("credit", {}, 240, None, 0, method, small, search, adversaries=["logistic"])
    assert json.loads(json.dumps(found)) == found
    assert 0.5 <= found["majority"] < 1
    assert 0 <= found["adversaries"]["logistic"]["AUC"] <= 1


def test_the_group_cannot_be_hidden_in_full_data(grid, search):
    found = attack("credit", {}, None, None, 0, "full", grid, search)
    assert set(found["adversaries"]) == {"logistic", "boosting"}
    for one in found["adversaries"].values():
        assert one["accuracy"] > 0.95
        assert one["AUC"] > 0.98


def test_a_setting_already_chosen_is_not_searched_again(grid, search):
    found = attack("credit", {}, 150, None, 0, "ifair-b", grid, search, adversaries=["logistic"])
    again = attack("credit", {}, 150, None, 0, "ifair-b", {}, search, found["setting"], ["logistic"])
    assert again == found


def test_rankings_are_attacked_too(job_searches, grid, search):
    found = attack("xing", {}, None, None, 0, "ifair-b", grid, search, adversaries=["logistic"])
    assert found["setting"]["K"] == 4
    assert 0 <= found["adversaries"]["logistic"]["accuracy"] <= 1
