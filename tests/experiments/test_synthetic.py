"""The synthetic study: panels that can be drawn."""

import json

import numpy as np
import pytest

from ifair.data import make_synthetic
from ifair.experiments.synthetic import panel


@pytest.mark.parametrize("method", ["original", "ifair", "lfr"])
def test_a_panel_can_be_written_and_read(method, grid, search):
    found = panel("x1", method, 0, grid, search, n_records=60)
    assert json.loads(json.dumps(found)) == found
    assert len(found["settings"]) == {"original": 1, "ifair": 2, "lfr": 7}[method]
    for chosen in found["chosen"].values():
        assert np.shape(chosen["positions"]) == (60, 2)
        assert {"Acc", "yNN", "Parity", "EqOpp"} <= set(chosen["measures"])


def test_the_original_panel_shows_the_data_itself(grid, search):
    found = panel("x2", "original", 3, grid, search)
    data = make_synthetic("x2", random_state=3)
    np.testing.assert_allclose(found["chosen"]["optimal"]["positions"], data.frame[["X1", "X2"]], atol=1e-5)
    assert found["labels"] == data.target.tolist()
    assert found["groups"] == data.group.tolist()


@pytest.mark.parametrize("method", ["original", "ifair", "lfr"])
def test_the_line_that_is_drawn_is_the_one_that_decides(method, grid, search):
    found = panel("random", method, 1, grid, search)
    chosen = found["chosen"]["optimal"]
    a, b, c = chosen["boundary"]
    decided = [a * x1 + b * x2 + c > 0 for x1, x2 in chosen["positions"]]
    accuracy = np.mean(np.array(decided) == np.array(found["labels"]))
    assert accuracy == pytest.approx(chosen["measures"]["Acc"])


def test_the_fairest_setting_is_chosen_and_of_equals_the_most_accurate(grid, search):
    found = panel("random", "lfr", 0, grid, search)
    measures = found["chosen"]["max fairness"]["measures"]
    fairest = max(one["measures"]["yNN"] for one in found["settings"])
    assert measures["yNN"] == fairest
    equals = [one["measures"]["Acc"] for one in found["settings"] if one["measures"]["yNN"] == fairest]
    assert measures["Acc"] == max(equals)
