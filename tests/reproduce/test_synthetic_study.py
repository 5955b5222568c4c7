"""The synthetic study: panels that can be drawn, and how far the group moves a representation."""

import json

import numpy as np
import pytest
from reproduce.made_up import GRID, brief, spreads

from ifair.data import make_synthetic
from ifair.reproduce.experiments.synthetic_influence import measure_influence
from ifair.reproduce.experiments.synthetic_panels import EXPERIMENT, METHODS, describe_sizes, measure_panel
from ifair.reproduce.profiles import PROFILES


def test_the_original_panel_shows_the_data_itself():
    found = measure_panel(brief("synthetic", "original", 3, options={"variant": "x2"}))
    data = make_synthetic("x2", random_state=3)
    np.testing.assert_allclose(found["chosen"]["balanced"]["positions"], data.frame[["X1", "X2"]], atol=1e-5)
    assert found["labels"] == data.target.tolist()
    assert found["groups"] == data.group.tolist()


@pytest.mark.parametrize("method", ["original", "ifair", "lfr"])
def test_a_panel_is_plain_data_and_the_line_that_is_drawn_is_the_one_that_decides(method):
    found = measure_panel(brief("synthetic", method, 1, options={"variant": "random"}))
    assert json.loads(json.dumps(found)) == found
    assert len(found["settings"]) == {"original": 1, "ifair": 2, "lfr": 7}[method]
    for chosen in found["chosen"].values():
        assert {"Acc", "yNN", "Parity", "EqOpp"} <= set(chosen["measures"])
        a, b, c = chosen["boundary"]
        decided = [a * x1 + b * x2 + c > 0 for x1, x2 in chosen["positions"]]
        assert np.mean(np.array(decided) == np.array(found["labels"])) == pytest.approx(chosen["measures"]["Acc"])


def test_the_fairest_setting_is_chosen_and_of_equals_the_most_accurate():
    found = measure_panel(brief("synthetic", "lfr", options={"variant": "random"}))
    measures = found["chosen"]["fairest"]["measures"]
    fairest = max(one["measures"]["yNN"] for one in found["settings"])
    assert measures["yNN"] == fairest
    equals = [one["measures"]["Acc"] for one in found["settings"] if one["measures"]["yNN"] == fairest]
    assert measures["Acc"] == max(equals)


@pytest.mark.parametrize("method", ["ifair", "lfr"])
def test_the_influence_of_the_group_is_measured_for_every_setting(method):
    rows = measure_influence(brief("synthetic", method, max_records=50, grid={**GRID, "lfr": [1.0]}))
    assert json.loads(json.dumps(rows)) == rows
    assert len(rows) == (2 if method == "ifair" else 1)
    for row in rows:
        assert row["between_variants"] > 0
        assert row["between_starts"] > 0
        assert 0 <= row["flip"] <= row["worst_flip"]


def test_nothing_is_said_of_a_representation_that_is_a_single_point():
    (row,) = measure_influence(brief("synthetic", "ifair", max_records=50, grid={"K": [1], "ratios": [[0.5, 0.5]]}))
    assert row["spread"] == pytest.approx(0, abs=1e-9)
    assert row["flip"] is None
    assert row["between_variants"] is None


def test_other_sizes_are_measured_for_what_has_prototypes_and_told_as_changes():
    units = EXPERIMENT.plan(PROFILES["smoke"], {})
    sizes = {method: {unit.case.grid["K"][0] for unit in units if unit.case.method == method} for method in METHODS}
    assert sizes == {"original": {2}, "ifair": {2, 3, 10}, "lfr": {2, 3, 10}}
    assert len({unit.key for unit in units}) == len(units)

    def reached(acc, parity=0.5):
        measures = spreads(Acc=acc, yNN=0.5, Parity=parity, EqOpp=0.5)
        return {"fairest": measures, "balanced": spreads(Acc=0, yNN=0, Parity=0, EqOpp=0)}

    def drawn(before, after):
        return {"measures": reached(before), "panel": {}, "other_sizes": {"3": reached(after, 0.4)}}

    # iFair is ahead in accuracy with the other K only, and behind in parity in both: it is no different there.
    study = {name: {"ifair": drawn(0.7, 0.9), "lfr": drawn(0.8, 0.8)} for name in ("random", "x1", "x2")}
    study["x1"]["ifair"]["other_sizes"]["3"] = reached(0.96, 0.4)
    assert describe_sizes(study) == (
        "K = 3: iFair, Acc +0.22, yNN 0.00, Parity -0.10, EqOpp 0.00; LFR, Acc 0.00, yNN 0.00, Parity -0.10, "
        "EqOpp 0.00; 2 of 4 parts of the claim hold. With the K drawn, 1 hold"
    )


def test_a_panel_far_from_the_data_has_axes_of_its_own_and_the_others_share_theirs(committed):
    study = committed["experiments"]["synthetic"]
    positions = study["x1"]["lfr"]["panel"]["chosen"]["fairest"]["positions"]
    for point in positions:
        point[0] += 100.0
    figure = EXPERIMENT.draw(study, committed)["synthetic-fairest"]
    limits = {axes.get_xlim() for axes in figure.axes}
    (far,) = [axes for axes in figure.axes if axes.get_xlim()[0] > 50.0]
    assert len(limits) == 2
    assert figure.axes.index(far) == 5
    assert far.get_xlim()[0] < min(x for x, _ in positions) <= max(x for x, _ in positions) < far.get_xlim()[1]
