"""Adversaries learn on one third and are tried on another."""

import json
from dataclasses import replace

import pytest
from reproduce.made_up import brief

from ifair.reproduce.experiments.obfuscation import attack

pytestmark = pytest.mark.usefixtures("few_trees")

SETTINGS = {
    "masked": {},
    "lfr": {"K": 4, "A_x": 0.1, "A_y": 1.0, "A_z": 1.0},
    "ifair-b": {"K": 4, "lambda": 0.9, "mu": 0.1},
    "ifair-frozen": {"K": 4, "lambda": 0.5, "mu": 0.5},
}


@pytest.mark.parametrize("method", SETTINGS)
def test_adversaries_try_every_representation(method, small_case):
    if (method, small_case.dataset) == ("lfr", "xing"):
        pytest.skip("LFR does not rank")
    found = attack(replace(small_case, method=method, setting=SETTINGS[method]))
    assert json.loads(json.dumps(found)) == found
    assert 0.5 <= found["majority"] < 1
    assert set(found["adversaries"]) == {"logistic", "boosting"}
    assert all(0 <= one["AUC"] <= 1 for one in found["adversaries"].values())


def test_the_group_cannot_be_hidden_in_full_data():
    found = attack(brief("credit", "full", setting={}))
    for one in found["adversaries"].values():
        assert one["accuracy"] > 0.95
        assert one["AUC"] > 0.98
