"""The search against the grid: same measures, same splits, fits counted."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ifair.experiments import classification
from ifair.experiments import search as experiment
from ifair.experiments.profiles import PROFILES
from ifair.experiments.protocol import split
from ifair.tune import hypervolume

pytest.importorskip("optuna")


@pytest.fixture
def profile(grid, search):
    return replace(PROFILES["smoke"], grid=grid, search=search, ranking=())


@pytest.fixture
def fits(monkeypatch):
    """Settings that were fitted, in place of fitting them: measures that only depend on the setting."""
    made = []

    def measure(parts, setting, solver, seed):
        made.append(setting)
        point = {"AUC": 0.5 + setting["K"] / 100, "yNN": 0.6 + setting["mu"] / 4}
        return {"validation": point, "test": point}

    monkeypatch.setattr(experiment, "measure", measure)
    return made


def test_there_is_a_search_for_every_dataset_and_split():
    units = experiment.units(PROFILES["quick"], {})
    assert len({unit.key for unit in units}) == len(units) == 25
    assert {unit.arguments["n_trials"] for unit in units} == {8}
    assert {unit.arguments["task"] for unit in units} == {"classification", "ranking"}
    (fits,) = {unit.arguments["n_trials"] for unit in experiment.units(PROFILES["full"], {})}
    assert fits == 13  # a quarter of 51


def test_the_grid_is_taken_from_earlier_results(profile, grid, search, fits):
    rows = classification.evaluate("credit", {}, None, None, 1, "ifair-b", grid, search)
    arguments = {"dataset": "credit", "seed": 1, "method": "ifair-b"}
    others = [{**arguments, "seed": 0, "method": "lfr"}, {**arguments, "method": "svd"}]
    earlier = [
        *({"arguments": other, "result": []} for other in others),
        *({"arguments": arguments, "result": [row]} for row in rows),  # a unit for every K
    ]
    first, second = experiment.units(profile, {"classification": earlier})
    assert first.arguments["known"] == []
    found = second.run()
    assert found["grid"] == [
        {
            "setting": row["setting"],
            **{part: {name: row[part][name] for name in ("AUC", "yNN")} for part in ("validation", "test")},
        }
        for row in rows
    ]
    assert len(fits) == 2


def test_a_trial_measures_what_the_grid_measures_at_the_same_setting(grid, search):
    rows = classification.evaluate("credit", {}, None, None, 0, "ifair-b", grid, search)
    from ifair.data import load

    parts = split(load("credit"), 0)
    measured = experiment.measure(parts, rows[1]["setting"], search, 0)
    assert measured == {part: rows[1][part] for part in ("validation", "test")}


def test_a_search_of_a_ranking_gives_plain_data(job_searches, search):
    found = experiment.explore("ranking", "xing", {}, None, None, 0, 3, [], search)
    assert json.loads(json.dumps(found)) == found
    assert len(found["search"]) == 3
    assert set(found["search"][0]["test"]) == {"MAP", "yNN"}
    assert found == experiment.explore("ranking", "xing", {}, None, None, 0, 3, [], search)


def record(dataset, seed, searched, grid, task="classification"):
    def rows(points):
        utility = experiment.UTILITY[task]
        return [{"setting": {}, **{part: {utility: x, "yNN": y} for part in ("validation", "test")}} for x, y in points]

    arguments = {"dataset": dataset, "seed": seed, "task": task}
    return {"arguments": arguments, "result": {"search": rows(searched), "grid": rows(grid)}}


def test_curves_and_shares_are_those_counted_by_hand():
    grid = [(0.6, 0.6), *[(0.5, 0.5)] * 9, (0.7, 0.7)]
    records = [
        record("credit", 0, [(0.6, 0.7), (0.7, 0.6), (0.8, 0.7)], grid),
        record("credit", 1, [(0.5, 0.9), (0.7, 0.7), (0.5, 0.5)], grid),
    ]
    found = experiment.summarise(records)["credit"]
    assert found["fits"] == {"grid": 11, "tenth": 2, "search": 3}
    part = found["validation"]
    assert part["whole grid"] == {"mean": pytest.approx(0.04), "sd": 0, "n": 2}
    assert [point["mean"] for point in part["curves"]["search"]] == pytest.approx([0.01, 0.035, 0.05])
    assert [point["mean"] for point in part["curves"]["grid in order"]] == pytest.approx([0.01] * 10 + [0.04])
    assert part["at a tenth"]["search"]["mean"] == pytest.approx((0.03 / 0.04 + 1) / 2)
    assert part["at a tenth"]["grid in order"]["mean"] == pytest.approx(0.25)
    assert part["fits to 95 %"] == {"search": 3, "grid in order": 11, "grid at random": 11}
    assert found["test"] == part
    json.dumps(found, allow_nan=False)


def test_a_grid_worth_nothing_has_no_shares():
    found = experiment.summarise([record("xing", 0, [(0.5, 0.4)], [(0.9, 0.2)], "ranking")])["xing"]
    assert found["validation"]["at a tenth"] == dict.fromkeys(found["validation"]["curves"], None)
    assert found["reference"] == {"MAP": 0.0, "yNN": 0.5}


def test_the_average_over_orders_ends_at_the_whole_grid_and_never_falls(rng):
    grid = rng.random((8, 2)).tolist()
    curves = experiment.summarise([record("credit", 0, grid[:4], grid)])["credit"]["validation"]["curves"]
    means = [point["mean"] for point in curves["grid at random"]]
    assert means == sorted(means)
    assert means[-1] == pytest.approx(hypervolume(grid, (0.5, 0.5)))
    singles = np.mean([hypervolume([point], (0.5, 0.5)) for point in grid])
    assert means[0] == pytest.approx(singles, rel=0.5, abs=0.01)


def test_no_records_give_no_summary():
    assert experiment.summarise([]) == {}
