"""What the pictures of an evaluation show."""

from itertools import product

import numpy as np
import pytest

from ifair.report.pictures import BLACK
from ifair.reproduce.experiments import classification_task, obfuscation, parity, ranking_task, synthetic_panels
from ifair.reproduce.labels import style


def test_the_front_of_a_method_is_what_no_other_of_its_settings_beats_and_the_papers_numbers_are_hollow(committed):
    axes = classification_task.EXPERIMENT.draw_figures(committed)["tradeoff-compas"].axes[0]
    line = next(line for line in axes.lines if line.get_label() == "LFR")
    points = [
        (p["test"]["AUC"], p["test"]["yNN"])
        for p in committed["experiments"]["classification"]["compas"]["points"]["lfr"]
    ]
    front = [p for p in points if not any(q[0] >= p[0] and q[1] >= p[1] and q != p for q in points)]
    assert 1 < len(front) < len(points)
    np.testing.assert_allclose(line.get_xydata(), sorted(front))
    hollow = {tuple(one.get_xydata()[0]) for one in axes.lines if one.get_color() == "none" and len(one.get_xdata())}
    # Full data; LFR, iFair-a and iFair-b under three rules; iFair-a is the same for two of them.
    assert hollow == {
        (0.65, 0.84), (0.59, 0.79), (0.51, 0.97), (0.57, 0.88), (0.58, 0.87), (0.53, 0.95), (0.58, 0.88), (0.52, 0.97),
        (0.58, 0.89),
    }  # fmt: skip


def test_all_p_of_fair_rankings_are_one_series(committed):
    axes = ranking_task.EXPERIMENT.draw_figures(committed)["tradeoff-xing"].axes[0]
    labels = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
    assert labels.count("FA*IR") == 1
    dots = [len(line.get_xdata()) for line in axes.lines if line.get_color() == style("fair")[0]]
    assert max(dots) == 9 + 3  # every p, and those of the paper without correction


def test_nine_panels_show_groups_labels_and_measures(committed):
    drawn = synthetic_panels.EXPERIMENT.draw_figures(committed)
    assert list(drawn) == ["synthetic-fairest", "synthetic-balanced"]
    study = committed["experiments"]["synthetic"]
    shown = [by["panel"] for methods in study.values() for by in methods.values()]
    for axes, panel in zip(drawn["synthetic-fairest"].axes, shown, strict=True):
        chosen = panel["chosen"]["fairest"]
        assert axes.get_title().endswith("Parity {Parity:.2f} EqOpp {EqOpp:.2f}".format(**chosen["measures"]))
        *points, boundary = axes.lines
        for line, (group, label) in zip(points, product((0, 1), repeat=2), strict=True):
            assert line.get_label() == f"Y = {label}, A = {group}"
            own = zip(chosen["positions"], panel["labels"], panel["groups"])
            np.testing.assert_array_equal(line.get_xydata(), [at for at, y, a in own if (y, a) == (label, group)])
        a, b, c = chosen["boundary"]
        for x, y in (boundary.get_xy1(), boundary.get_xy2()):
            assert a * x + b * y == pytest.approx(-c)
    # One label for everybody has no boundary.
    study["random"]["lfr"]["panel"]["chosen"]["fairest"]["boundary"] = [0.0, 0.0, 1.0]
    panel = synthetic_panels.EXPERIMENT.draw_figures(committed)["synthetic-fairest"].axes[2]
    assert "boundary" not in [line.get_label() for line in panel.lines]


def test_bars_and_majority_of_the_adversary(committed):
    found = committed["experiments"]["obfuscation"]
    panels = obfuscation.EXPERIMENT.draw_figures(committed)["adversary"].axes
    for axes, adversary in zip(panels, ("logistic", "boosting"), strict=True):
        bars = [bar.get_height() for group in axes.containers if hasattr(group, "patches") for bar in group.patches]
        methods = ("masked", "lfr", "ifair-b", "ifair-plus")
        reached = [by[m][adversary]["accuracy"]["mean"] for m in methods for by in found.values() if m in by]
        assert bars == reached
        levels = [line.get_ydata()[0] for line in axes.lines if line.get_color() == BLACK]
        assert levels == [by["masked"]["majority"]["mean"] for by in found.values()]


def test_parity_over_p_has_a_panel_a_measure_with_bands(committed):
    panels = parity.EXPERIMENT.draw_figures(committed)["parity"].axes
    assert [axes.get_title(loc="left") for axes in panels] == ["MAP", "% protected", "yNN"]
    rows = committed["experiments"]["parity"]["xing"]["rows"]
    for axes, measure in zip(panels, parity.MEASURES):
        line = next(line for line in axes.lines if line.get_label() == "Xing")
        np.testing.assert_allclose(line.get_xydata(), [[row["p"], row["test"][measure]["mean"]] for row in rows])
    tops = [row["test"]["MAP"]["mean"] + row["test"]["MAP"]["sd"] for row in rows]
    assert panels[0].collections[0].get_datalim(panels[0].transData).y1 == pytest.approx(max(tops))
