"""The search against the grid: same measures, same splits, fits counted."""

import json
import re
from itertools import product

import numpy as np
import pytest
from reproduce.made_up import brief, record, results_of, write_page

from ifair.evaluate.fronts import hypervolume
from ifair.report.blocks import Picture
from ifair.reproduce.case import measure_fit, measure_grid, prepare, train_setting
from ifair.reproduce.experiments import search_cost
from ifair.reproduce.experiments.search_cost import EXPERIMENT, STYLES, explore
from ifair.reproduce.profiles import PROFILES

pytest.importorskip("optuna")


def test_there_is_a_search_for_every_dataset_and_split():
    units = search_cost.plan(PROFILES["quick"], {})
    assert len({unit.key for unit in units}) == len(units) == 15
    assert {unit.case.grid["n_trials"] for unit in units} == {8}
    assert {unit.case.dataset for unit in units} == set(PROFILES["quick"].datasets)
    (fits,) = {unit.case.grid["n_trials"] for unit in search_cost.plan(PROFILES["full"], {})}
    assert fits == 13  # a quarter of 51


def test_a_trial_measures_what_the_grid_measures_at_the_same_setting():
    case = brief("credit", "ifair-b")
    rows, parts = measure_grid(case), prepare(case)
    setting = rows[1]["setting"]
    assert {"setting": setting, **measure_fit(train_setting(case, parts, setting), parts)} == rows[1]


def test_a_search_of_a_ranking_gives_plain_data(job_searches):
    case = brief("xing", "ifair-b", grid={"n_trials": 3})
    found = explore(case)
    assert json.loads(json.dumps(found)) == found
    assert len(found) == 3
    assert set(found[0]["test"]) == {"MAP", "yNN"}
    assert found == explore(case)


def summarise(*splits, utility="AUC"):
    """Of splits, each the points of the search and those of the grid; the same on validation and test."""

    def rows(points):
        return [{"setting": {}, **{part: {utility: x, "yNN": y} for part in ("validation", "test")}} for x, y in points]

    searches, grids = (
        [record("credit", seed, rows(split[i]), method="ifair-b", grid=grid) for seed, split in enumerate(splits)]
        for i, grid in enumerate([{"n_trials": 3}, {}])
    )
    # Of each split its own grid, of no other method, and of datasets without a search nothing.
    others = [record("credit", 0, rows([(0.9, 0.9)]), method="lfr"), record("xing", 0, [], method="ifair-b")]
    (found,) = search_cost.summarise([*searches, *reversed(grids), *others]).values()
    return found


def test_curves_and_shares_are_those_counted_by_hand():
    grid = [(0.6, 0.6), *[(0.5, 0.5)] * 9, (0.7, 0.7)]
    found = summarise(
        ([(0.6, 0.7), (0.7, 0.6), (0.8, 0.7)], grid),
        ([(0.5, 0.9), (0.7, 0.7), (0.5, 0.5)], grid),
    )
    assert found["fits"] == {"grid": 11, "tenth": 2, "search": 3}
    part = found["validation"]
    assert part["whole_grid"] == {"mean": pytest.approx(0.04), "sd": 0, "n": 2}
    assert [point["mean"] for point in part["curves"]["search"]] == pytest.approx([0.01, 0.035, 0.05])
    assert [point["mean"] for point in part["curves"]["grid_in_order"]] == pytest.approx([0.01] * 10 + [0.04])
    assert part["at_a_tenth"]["search"]["mean"] == pytest.approx((0.03 / 0.04 + 1) / 2)
    assert part["at_a_tenth"]["grid_in_order"]["mean"] == pytest.approx(0.25)
    assert part["fits_to_95_percent"] == {"search": 3, "grid_in_order": 11, "grid_at_random": 11}
    assert found["test"] == part
    json.dumps(found, allow_nan=False)


def test_a_grid_worth_nothing_has_no_shares():
    found = summarise(([(0.5, 0.4)], [(0.9, 0.2)]), utility="MAP")
    assert found["validation"]["at_a_tenth"] == dict.fromkeys(found["validation"]["curves"], None)
    assert found["reference"] == {"MAP": 0.0, "yNN": 0.5}


def test_the_average_over_orders_ends_at_the_whole_grid_and_never_falls(rng):
    grid = rng.random((8, 2)).tolist()
    curves = summarise((grid[:4], grid))["validation"]["curves"]
    means = [point["mean"] for point in curves["grid_at_random"]]
    assert means == sorted(means)
    assert means[-1] == pytest.approx(hypervolume(grid, (0.5, 0.5)))
    singles = np.mean([hypervolume([point], (0.5, 0.5)) for point in grid])
    assert means[0] == pytest.approx(singles, rel=0.5, abs=0.01)


def test_the_page_calls_a_lead_one_and_says_what_is_never_reached(committed):
    volumes = committed["experiments"]["classification"]["credit"]["hypervolume"]["coin"]
    volumes["by_settings"]["ifair-b"]["51"]["mean"], volumes["comparisons"]["lfr"]["difference"] = 0.5, 0.1
    credit = committed["experiments"]["search"]["credit"]
    credit["validation"] |= {"at_a_tenth": dict.fromkeys(STYLES), "fits_to_95_percent": dict.fromkeys(STYLES)}
    text = write_page(EXPERIMENT, committed)
    lead = "above a coin (yNN 0.5) all 51 settings of iFair-b cover 50.00, more than LFR with 51 settings does, 40.00"
    assert f"**Credit**: {lead}; above" in text
    assert re.search(r"\| Credit \| 6 of 51 \|  \|  \|  \| \d", text)
    never = "on validation data the search needs more than its 13 fits, the grid in random order more than 51"
    assert re.search(rf"\*\*Credit\*\*, .*: {never}; on test", text)


def test_one_of_the_two_parts_is_enough_and_nothing_measured_gives_nothing(committed):
    assert EXPERIMENT.write_section(results_of(classification={}, ranking={}, search={})) == []
    known = committed["experiments"]
    fronts = EXPERIMENT.write_section(results_of(classification=known["classification"]))
    searched = EXPERIMENT.write_section(results_of(search=known["search"]))
    assert not any(isinstance(block, Picture) for block in fronts)
    assert [block.stem for block in searched if isinstance(block, Picture)] == ["search"]


def test_the_picture_has_two_panels_a_dataset_and_the_curves_of_the_results(committed):
    (figure,) = EXPERIMENT.draw_figures(committed).values()
    found = committed["experiments"]["search"]
    for axes, (dataset, part) in zip(figure.axes, product(found, ("validation", "test")), strict=True):
        lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
        for name, (_, _, label) in STYLES.items():
            assert lines[label] == [point["mean"] for point in found[dataset][part]["curves"][name]]
