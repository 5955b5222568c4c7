"""What the pictures of an evaluation show."""

import numpy as np
import pytest

from ifair.reproduce.experiments import classification_task, obfuscation, parity, ranking_task, synthetic_panels


def test_the_front_of_a_method_is_what_no_other_of_its_settings_beats_and_the_papers_numbers_are_hollow(results):
    axes = classification_task.EXPERIMENT.draw_figures(results)["tradeoff-compas"].axes[0]
    line = next(line for line in axes.lines if line.get_label() == "LFR")
    points = [
        (p["test"]["AUC"], p["test"]["yNN"])
        for p in results["experiments"]["classification"]["compas"]["points"]["lfr"]
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


def test_all_p_of_fair_rankings_are_one_series(results):
    axes = ranking_task.EXPERIMENT.draw_figures(results)["tradeoff-xing"].axes[0]
    labels = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
    assert labels.count("FA*IR") == 1
    assert sum(len(line.get_xdata()) == 3 for line in axes.lines) == 2  # the dots, and as all are equal, the front


def test_nine_panels_show_groups_labels_and_measures(results):
    drawn = synthetic_panels.EXPERIMENT.draw_figures(results)
    assert list(drawn) == ["synthetic-fairest", "synthetic-balanced"]
    panels = drawn["synthetic-fairest"].axes
    assert len(panels) == 9
    assert panels[2].get_title() == "LFR\nAcc 0.90 yNN 0.95\nParity 0.50 EqOpp 0.60"
    counts = {line.get_label(): len(line.get_xdata()) for line in panels[0].lines}
    assert counts == {"Y = 0, A = 0": 5, "Y = 0, A = 1": 5, "Y = 1, A = 0": 5, "Y = 1, A = 1": 5, "boundary": 2}
    boundary = panels[0].lines[-1]
    assert [sum(point) for point in (boundary.get_xy1(), boundary.get_xy2())] == pytest.approx([6.0, 6.0])
    # One label for everybody has no boundary.
    results["experiments"]["synthetic"]["random"]["lfr"]["panel"]["chosen"]["fairest"]["boundary"] = [0.0, 0.0, 1.0]
    panel = synthetic_panels.EXPERIMENT.draw_figures(results)["synthetic-fairest"].axes[2]
    assert "boundary" not in [line.get_label() for line in panel.lines]


def test_bars_and_majority_of_the_adversary(results):
    logistic, boosting = obfuscation.EXPERIMENT.draw_figures(results)["adversary"].axes
    heights = [bar.get_height() for group in logistic.containers if hasattr(group, "patches") for bar in group.patches]
    # Masked data on both datasets, LFR on one, iFair-b on both.
    assert heights == [0.8, 0.8, 0.7, 0.7, 0.7]
    majority = next(line for line in boosting.lines if line.get_label() == "majority")
    assert list(majority.get_ydata()) == [0.6, 0.6]


def test_parity_over_p_has_a_panel_a_measure_with_bands(results):
    panels = parity.EXPERIMENT.draw_figures(results)["parity"].axes
    assert [axes.get_title(loc="left") for axes in panels] == ["MAP", "% protected", "yNN"]
    line = next(line for line in panels[1].lines if line.get_label() == "Xing")
    np.testing.assert_allclose(line.get_xydata(), [[0.3, 31.0], [0.6, 61.0], [0.9, 91.0]])
    (band,) = panels[0].collections
    assert band.get_datalim(panels[0].transData).y1 == pytest.approx(0.7 - 0.03 + 0.01)
