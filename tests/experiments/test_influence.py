"""How far the group moves a representation of the synthetic points."""

import json

import pytest

from ifair.experiments.influence import influence


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
