"""Outside rivals: planned where installed, measured like the others, chosen on validation."""

import json

import numpy as np
import pytest

from ifair.experiments import rivals
from ifair.experiments.profiles import PROFILES

SEARCH = {"updates": 10, "batch": 50, "lr": 0.02, "steps": 3, "step": 0.05}
ALPHA = {"alpha": [0.0, 1.0]}


def record(rival, dataset, seed, rows):
    return {"arguments": {"rival": rival, "dataset": dataset, "seed": seed}, "result": rows}


def row(name, validation, test, told=None):
    keys = ("AUC", "yNN")
    found = {"setting": {"name": name}, "validation": dict(zip(keys, validation)), "test": dict(zip(keys, test))}
    return found if told is None else {**found, "adversaries": {"logistic": told}}


def test_the_remover_hides_the_group_from_a_linear_adversary_and_shows_it_to_trees():
    pytest.importorskip("fairlearn.preprocessing")
    found = [rivals.evaluate("credit", {}, None, None, seed, "correlation-remover", ALPHA, {}) for seed in (0, 1)]
    assert json.loads(json.dumps(found)) == found
    masked, removed = (
        {name: np.mean([rows[i]["adversaries"][name] for rows in found]) for name in ("logistic", "boosting")}
        for i in (0, 1)
    )
    assert removed["logistic"] < masked["logistic"] - 0.05
    # What is left of a column of 0 and 1 is another pair of numbers in each group.
    assert masked["boosting"] < 0.8
    assert removed["boosting"] > 0.99
    assert all(0.5 < rows[1]["test"]["AUC of scores"] < 1 for rows in found)


def test_removing_nothing_is_masking(grid, search):
    pytest.importorskip("fairlearn.preprocessing")
    from ifair.experiments import classification

    (nothing, _) = rivals.evaluate("credit", {}, 300, None, 0, "correlation-remover", ALPHA, {})
    (masked,) = classification.evaluate("credit", {}, 300, None, 0, "masked", grid, search)
    assert (nothing["validation"], nothing["test"]) == (masked["validation"], masked["test"])


def test_rankings_with_nothing_removed_are_those_of_masked_data(job_searches, grid, search):
    pytest.importorskip("fairlearn.preprocessing")
    from ifair.experiments import ranking

    nothing, removed = rivals.rank("xing", {}, None, None, 0, "correlation-remover", ALPHA)
    (masked,) = ranking.evaluate("xing", {}, None, None, 0, "masked", grid, search)
    assert nothing["test"] == pytest.approx(masked["test"])
    assert set(removed["adversaries"]) == {"logistic", "boosting"}


def test_sensei_does_not_rank():
    with pytest.raises(ValueError, match="only the correlation-remover ranks"):
        rivals.rank("xing", {}, None, None, 0, "sensei", {})


def test_sensei_is_measured_at_every_setting():
    pytest.importorskip("inFairness", reason="SenSeI is optional: pip install ifair[rivals]")
    sizes = {"rho": [0.0, 5.0], "eps": [0.1], "hidden": [0, 4]}
    rows = rivals.evaluate("credit", {}, 240, None, 0, "sensei", sizes, SEARCH)
    assert json.loads(json.dumps(rows)) == rows
    assert [(one["setting"]["rho"], one["setting"]["hidden"]) for one in rows] == [(0, 0), (0, 4), (5, 0), (5, 4)]
    for one in rows:
        assert {"Acc", "AUC", "AUC of scores", "EqOpp", "Parity", "yNN"} == set(one["test"])
    assert rivals.evaluate("credit", {}, 240, None, 0, "sensei", sizes, SEARCH) == rows


def test_a_plan_covers_datasets_splits_and_rivals_with_no_more_settings_than_ifair_has(monkeypatch):
    monkeypatch.setattr(rivals, "installed", lambda _: True)
    profile = PROFILES["quick"]
    units = rivals.units(profile, {})
    n_datasets = 2 * len(profile.classification) + len(profile.ranking)
    assert len({unit.key for unit in units}) == len(units) == n_datasets * profile.n_splits
    sensei = next(unit for unit in units if unit.arguments["rival"] == "sensei")
    n_settings = len(list(rivals._combinations(sensei.arguments["grid"])))
    assert 1 < n_settings <= len(profile.grid["K"]) * len(profile.grid["ratios"])
    assert json.loads(json.dumps([unit.arguments for unit in units])) == [unit.arguments for unit in units]


def test_planned_units_can_be_run(monkeypatch):
    pytest.importorskip("fairlearn.preprocessing")
    monkeypatch.setattr(rivals, "installed", lambda rival: rival != "sensei")
    unit = rivals.units(PROFILES["smoke"], {})[0]
    assert [one["setting"] for one in unit.run()] == [{"alpha": 0.5}, {"alpha": 1.0}]


def test_what_is_not_installed_is_not_planned_and_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr(rivals, "installed", lambda rival: rival != "sensei")
    assert {unit.arguments["rival"] for unit in rivals.units(PROFILES["quick"], {})} == {"correlation-remover"}
    found = rivals.summarise([record("correlation-remover", "credit", 0, [row("a", (0.5, 0.5), (0.5, 0.5), 0.5)])])
    assert found["left out"] == {"sensei": "pip install ifair[rivals]"}
    monkeypatch.setattr(rivals, "installed", lambda _: True)
    assert rivals.summarise([]) == {"classification": {}, "ranking": {}, "left out": {}}


def test_a_rival_with_results_is_not_left_out_wherever_they_are_summarised(monkeypatch):
    monkeypatch.setattr(rivals, "installed", lambda _: False)
    found = rivals.summarise([record("sensei", "credit", 0, [row("a", (0.5, 0.5), (0.5, 0.5))])])
    assert set(found["left out"]) == {"correlation-remover"}


def test_settings_are_chosen_on_validation_and_adversaries_are_those_of_the_setting_chosen():
    useful, fair = ("useful", (0.9, 0.5), (0.6, 0.7)), ("fair", (0.6, 0.9), (0.5, 0.8))
    splits = [[row(*useful, 0.8), row(*fair, 0.4)], [row(*useful, 0.9), row(*fair, 0.6)]]
    records = [record("correlation-remover", "credit", seed, rows) for seed, rows in enumerate(splits)]
    records += [record("sensei", "credit", seed, [row(*useful)]) for seed in (0, 1)]
    rules = rivals.summarise(records)["classification"]["credit"]["rules"]
    assert rules["max utility"]["correlation-remover"]["adversaries"]["logistic"]["mean"] == pytest.approx(0.85)
    chosen = rules["max fairness"]["correlation-remover"]
    assert chosen["test"]["yNN"]["mean"] == pytest.approx(0.8)
    assert chosen["adversaries"]["logistic"] == {
        "mean": pytest.approx(0.5),
        "sd": pytest.approx(0.02**0.5),
        "n": 2,
    }
    assert "adversaries" not in rules["optimal"]["sensei"]
