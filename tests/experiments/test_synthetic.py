"""The synthetic study: panels that can be drawn, and how far the group moves a representation."""

import json

import numpy as np
import pytest

from ifair.data import make_synthetic
from ifair.experiments.synthetic import influence, panel


@pytest.mark.parametrize("method", ["original", "ifair", "lfr"])
def test_a_panel_can_be_written_and_read(method, grid, search):
    found = panel("x1", method, 0, grid, search, n_records=60)
    assert json.loads(json.dumps(found)) == found
    assert len(found["settings"]) == {"original": 1, "ifair": 2, "lfr": 8}[method]
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


@pytest.mark.parametrize("method", ["ifair", "lfr"])
def test_the_influence_of_the_group_is_measured_for_every_setting(method, grid, search):
    rows = influence(method, 0, {**grid, "lfr": [1.0]}, search, n_records=50)
    assert json.loads(json.dumps(rows)) == rows
    assert len(rows) == (2 if method == "ifair" else 1)
    for row in rows:
        assert row["between variants"] > 0
        assert row["between starts"] > 0
        assert 0 <= row["flip"] <= row["worst flip"]


def test_nothing_is_said_of_a_representation_that_is_a_single_point(grid, search):
    (row,) = influence("ifair", 0, {"K": [1], "ratios": [[0.5, 0.5]]}, search, n_records=50)
    assert row["spread"] == pytest.approx(0, abs=1e-9)
    assert row["flip"] is None
    assert row["between variants"] is None
