"""Outside rivals: planned where installed, measured like the others, chosen on validation."""

import json
import re
from dataclasses import asdict, replace
from itertools import product
from math import prod

import numpy as np
import pytest
from reproduce.made_up import brief, record, results_of, row, spread, write_page

from ifair.reproduce.case import Case, measure_grid
from ifair.reproduce.experiments import rivals
from ifair.reproduce.experiments.rivals import EXPERIMENT, measure_rival
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.rival_models import HINT

ALPHA = {"alpha": [0.0, 1.0]}


def test_the_remover_hides_the_group_from_a_linear_adversary_and_shows_it_to_trees():
    pytest.importorskip("fairlearn.preprocessing")
    found = [measure_rival(Case("credit", seed, method="correlation-remover", grid=ALPHA)) for seed in (0, 1)]
    assert json.loads(json.dumps(found)) == found
    masked, removed = (
        {name: np.mean([rows[i]["adversaries"][name] for rows in found]) for name in ("logistic", "boosting")}
        for i in (0, 1)
    )
    assert removed["logistic"] < masked["logistic"] - 0.05
    # What is left of a column of 0 and 1 is another pair of numbers in each group.
    assert masked["boosting"] < 0.8
    assert removed["boosting"] > 0.99
    assert all(0.5 < rows[1]["test"]["AUC_of_scores"] < 1 for rows in found)


def test_removing_nothing_is_masking(small_case):
    pytest.importorskip("fairlearn.preprocessing")
    nothing, removed = measure_rival(replace(small_case, method="correlation-remover", grid=ALPHA))
    (masked,) = measure_grid(replace(small_case, method="masked"))
    for part in ("validation", "test"):
        assert nothing[part] == pytest.approx(masked[part])
    assert set(removed["adversaries"]) == {"logistic", "boosting"}


def test_what_sensei_scores_is_measured_like_everything_else_at_every_setting(monkeypatch):
    def train_sensei(X, y, protected, setting, solver, seed):
        assert X.shape[0] == len(y) == 80
        assert all(0 <= column < X.shape[1] for column in protected)
        return lambda others: (others[:, 0] > setting["rho"]).astype(float)

    monkeypatch.setattr(rivals.rival_models, "train_sensei", train_sensei)
    sizes = {"rho": [0.0, 1e9], "eps": [0.1], "hidden": [0, 4]}
    rows = measure_rival(brief("credit", "sensei", max_records=240, grid=sizes))
    assert json.loads(json.dumps(rows)) == rows
    assert [(one["setting"]["rho"], one["setting"]["hidden"]) for one in rows] == list(product([0, 1e9], [0, 4]))
    assert all(set(one["test"]) == {"Acc", "AUC", "AUC_of_scores", "EqOpp", "Parity", "yNN"} for one in rows)
    useful, _, constant, _ = rows
    assert useful["test"]["yNN"] < constant["test"]["yNN"] == 1
    assert constant["validation"]["AUC"] == 0.5


def test_a_plan_covers_datasets_splits_and_rivals_with_no_more_settings_than_ifair_has():
    profile = PROFILES["quick"]
    units = rivals.plan(profile, {})
    n_datasets = 2 * len(profile.classification) + len(profile.ranking)
    assert len({unit.key for unit in units}) == len(units) == n_datasets * profile.n_splits_untested
    sensei = next(unit for unit in units if unit.case.method == "sensei")
    n_settings = prod(len(values) for values in sensei.case.grid.values())
    assert 1 < n_settings <= len(profile.grid["K"]) * len(profile.grid["ratios"])
    assert [Case(**json.loads(json.dumps(asdict(unit.case)))) for unit in units] == [unit.case for unit in units]


def test_what_is_not_installed_is_not_planned_and_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr(rivals, "is_installed", lambda rival: rival != "sensei")
    planned = [(unit.case.method, unit.case.grid) for unit in EXPERIMENT.plan_here(PROFILES["quick"], {})]
    assert all(one == ("correlation-remover", {"alpha": [0.5, 1.0]}) for one in planned)
    found = rivals.summarise([record("credit", 0, [row((0.5, 0.5), (0.5, 0.5))], method="correlation-remover")])
    assert found["left_out"] == {"sensei": HINT}
    monkeypatch.setattr(rivals, "is_installed", lambda _: True)
    assert rivals.summarise([]) == {"classification": {}, "ranking": {}, "left_out": {}}
    # A rival with results is not left out, wherever they are summarised.
    monkeypatch.setattr(rivals, "is_installed", lambda _: False)
    found = rivals.summarise([record("credit", 0, [row((0.5, 0.5), (0.5, 0.5))], method="sensei")])
    assert set(found["left_out"]) == {"correlation-remover"}


def test_rivals_stand_beside_what_was_measured_on_the_same_splits_of_the_same_tables(committed):
    profile = replace(PROFILES["full"].only(["credit"]), n_splits_untested=2)
    units = rivals.plan(profile, {})
    assert {(unit.case.max_records, unit.case.max_training) for unit in units} == {(None, None)}
    records = [
        replace(record("credit", u.case.seed, [row((0.6, 0.5), (0.6, 0.5, 0.7), adversaries={})]), case=u.case)
        for u in units
    ]
    assert len(records) == 4
    found = rivals.summarise(records)
    # Of four splits that our methods were measured on, the rivals have the first two.
    test = {"AUC": 0.6, "yNN": 0.5, "AUC_of_scores": 0.7, "EqOpp": 0.8, "Parity": 0.9}
    masked = committed["experiments"]["classification"]["credit"]["rules"]["balanced"]["masked"]
    masked["by_split"] = [{**test, "AUC": 0.6 + seed / 10} for seed in range(4)]
    for kept in found["classification"]["credit"]["rules"].values():
        for choice in kept.values():
            choice["test"] |= {name: spread(0.5) for name in ("EqOpp", "Parity")}
    committed["experiments"]["rivals"] = found
    assert "| balanced | masked data | 0.65 ± 0.07 |" in write_page(EXPERIMENT, committed)
    # What was measured on fewer splits than they stands nowhere beside them.
    del masked["by_split"][1:]
    page = write_page(EXPERIMENT, committed)
    assert "| balanced | masked data |" not in page
    assert "| balanced | iFair-b |" in page


def test_settings_are_chosen_on_validation_and_adversaries_are_those_of_the_setting_chosen():
    useful, fair = ((0.9, 0.5), (0.6, 0.7)), ((0.6, 0.9), (0.5, 0.8))
    splits = [
        [row(*useful, adversaries={"logistic": told}), row(*fair, adversaries={"logistic": hidden})]
        for told, hidden in ((0.8, 0.4), (0.9, 0.6))
    ]
    records = [record("credit", seed, rows, method="correlation-remover") for seed, rows in enumerate(splits)]
    records += [record("credit", seed, [row(*useful)], method="sensei") for seed in (0, 1)]
    rules = rivals.summarise(records)["classification"]["credit"]["rules"]
    assert rules["most_useful"]["correlation-remover"]["adversaries"]["logistic"]["mean"] == pytest.approx(0.85)
    chosen = rules["fairest"]["correlation-remover"]
    assert chosen["test"]["yNN"]["mean"] == pytest.approx(0.8)
    assert chosen["adversaries"]["logistic"] == {"mean": pytest.approx(0.5), "sd": pytest.approx(0.02**0.5), "n": 2}
    assert "adversaries" not in rules["balanced"]["sensei"]


@pytest.mark.parametrize(
    ("useful", "fair", "said"),
    [
        (-0.05, 0.08, "is -0.05 in AUC and +0.08 in yNN; a trade, untested."),
        (-0.05, 0.004, "is -0.05 in AUC and 0.00 in yNN; the rival is ahead, untested."),
        (0.004, -0.004, "they are level"),
        (0.01, 0.12, "is +0.01 in AUC and +0.12 in yNN; iFair-b is ahead, untested."),
    ],
)
def test_words_follow_from_the_numbers(committed, useful, fair, said):
    ours = committed["experiments"]["classification"]["credit"]["rules"]["balanced"]["ifair-b"]
    theirs = committed["experiments"]["rivals"]["classification"]["credit"]["rules"]["balanced"]["sensei"]["test"]
    for name, difference in (("AUC", useful), ("yNN", fair)):
        for reached in ours["by_split"]:
            reached[name] = theirs[name]["mean"] + difference
    (line,) = re.findall(r"\*\*Credit\*\*, .*iFair-b less SenSeI .*", write_page(EXPERIMENT, committed))
    assert line.endswith(said) or f"; {said}, untested." in line


def test_rivals_alone_make_a_page_what_was_left_out_is_said_and_without_results_there_is_nothing(committed):
    alone = results_of(rivals=committed["experiments"]["rivals"])
    assert "| balanced | SenSeI |" in write_page(EXPERIMENT, alone)
    nothing = {"classification": {}, "ranking": {}, "left_out": {}}
    assert EXPERIMENT.write_section(results_of(rivals=nothing)) == []
    told = write_page(EXPERIMENT, results_of(rivals={**nothing, "left_out": {"sensei": "pip install 'ifair[rivals]'"}}))
    assert "SenSeI was left out, for its package was not installed: pip install 'ifair\\[rivals\\]'." in told
