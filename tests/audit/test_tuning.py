"""Tuning on a table of one's own."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.audit import evidence, tune, tuning
from ifair.audit.tuning import (
    choose_penalised,
    doubt_choices,
    explain_passed_over,
    find_role,
    fingerprint_dataset,
    name_choices,
)
from ifair.evaluate.arms import list_arms
from ifair.evaluate.candidates import Candidate
from ifair.evaluate.fronts import pareto_front
from ifair.evaluate.judgement import brief_measures
from ifair.evaluate.splits import split_table
from ifair.evaluate.training import fit_representations, train
from ifair.report.terminal import tuning_text
from ifair.results import TUNING, ResultsError, check_results

from samples import FAST, dataset

pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def found(few_trees):
    return tune(dataset(), n_trials=14, solver=FAST)


def test_the_front_is_what_no_trial_beats_and_choices_are_its_ends_and_a_middle(found):
    points = [[t["validation"]["utility"], t["validation"]["ranks"]] for t in found["trials"]]
    expected = {t["id"] for t, on in zip(found["trials"], pareto_front(points)) if on}
    assert {p["id"] for p in found["front"]} == expected
    assert len(found["trials"]) == 14
    assert json.loads(json.dumps(found)) == found
    ours = {p["id"]: p["validation"] for p in found["trials"] if p["role"] == "ours"}
    assert all(0 <= reached["positive"] <= 1 for reached in ours.values())
    assert ours[found["choices"]["most_useful"]]["utility"] == max(v["utility"] for v in ours.values())
    assert ours[found["choices"]["fairest"]]["ranks"] == max(v["ranks"] for v in ours.values())
    assert found["choices"]["balanced"] in ours


def test_every_model_on_every_representation_has_the_same_number_of_trials(found):
    tried = Counter((p["candidate"]["method"], p["candidate"]["model"]) for p in found["trials"])
    assert tried[("ifair", "linear")] == tried[("ifair", "boosting")] == tried[("masked", "boosting")] == 2
    # With a penalty alone, and with consistent decisions.
    assert tried[("masked", "linear")] == 4
    assert [p["role"] for p in found["baselines"]] == ["full", "deleted", "penalised"]


def test_an_audit_finds_the_same_validation_measures_as_the_tuning(found):
    judged = {p["id"]: p for p in evidence(dataset(), tuning=found, resamples=10)["points"]}
    shown = [one for one in found["trials"] if one["id"] in judged]
    assert {*found["choices"].values()} <= {one["id"] for one in shown}
    for one in shown:
        assert judged[one["id"]]["validation"] == one["validation"]


def test_a_tuning_that_asks_for_endless_work_is_refused(found):
    check_results(found, TUNING)
    for name in ("n_restarts", "max_iter"):
        endless = {**found, "solver": {**found["solver"], name: 2**62}}
        must_raise(ResultsError, f"solver.{name} must be at most", check_results, endless, TUNING)
    forged = json.loads(json.dumps(found))
    forged["baselines"][-1]["candidate"]["setting"]["C"] = "x"
    must_raise(ResultsError, r"setting\.C must be float", check_results, forged, TUNING)


def test_a_stopped_search_goes_on_from_its_journal(tmp_path):
    told, options = [], {"models": ("linear",), "solver": FAST}
    journal = tmp_path / "journal"
    tune(dataset(), n_trials=2, **options, journal=journal)
    whole = tune(dataset(), n_trials=4, **options, journal=journal, observer=told.append)
    assert whole == tune(dataset(), n_trials=4, **options)
    assert told[-1].reused == 2
    assert told[-1].seconds_left == 0
    assert told[0].dearest > 0


def test_on_a_device_settings_of_ifair_are_fitted_two_at_once(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    portions, told = [], []

    def watch(candidates, *others):
        portions.append(candidates)
        return fit_representations(candidates, *others)

    def stop_within_a_portion(step):
        if step.done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "fit_representations", watch)
    # Of iFair, and of the masked columns.
    monkeypatch.setattr(tuning, "list_arms", lambda *how, **others: list_arms(*how, **others)[:2])
    how = {"n_trials": 10, "models": ("linear",), "solver": {**FAST, "max_iter": 8, "engine": "torch:cpu"}}
    found = tune(dataset(), **how, observer=told.append)
    assert [len(some) for some in portions] == [2, 2, 1]
    assert [step.done for step in told] == list(range(1, 11))
    assert [step.name for step in told[:5]] == [one.name for some in portions for one in some]
    parts = split_table(dataset(), 0)
    by_id = {point["id"]: point for point in found["trials"]}
    for candidate in (one for some in portions for one in some):
        alone = train(candidate, parts, 0, how["solver"]).outcome(parts.validation)
        measured = brief_measures(parts.validation, alone, parts)
        assert by_id[candidate.id]["validation"] == pytest.approx(measured, rel=1e-6)
    journal = tmp_path / "journal"
    with pytest.raises(KeyboardInterrupt):
        tune(dataset(), **how, journal=journal, observer=stop_within_a_portion)
    portions.clear()
    again = tune(dataset(), **how, journal=journal)
    assert [len(some) for some in portions] == [1, 2, 1]
    assert again == found


def test_who_cannot_be_fitted_among_others_is_named(monkeypatch):
    def refuse(candidates, *_):
        raise ValueError("too many prototypes")

    monkeypatch.setattr(tuning, "fit_representations", refuse)
    monkeypatch.setattr(tuning, "train", lambda one, *_, **__: refuse(one) if one.is_learned else train(one, *_, **__))
    how = {"n_trials": 1, "models": ("linear",), "solver": {**FAST, "engine": "torch"}}
    must_raise(ValueError, "iFair.*K = 20.* cannot be trained: too many prototypes", tune, dataset(), **how)


def measured(name, *validation):
    return {"id": name, "validation": dict(zip(("utility", "ranks", "corrected", "positive"), validation))}


def list_chosen(*points):
    return set(name_choices(points, "classification").values())


def test_the_balance_counts_utility_from_chance():
    """Of an AUC of 0.84 and ranks of 0.89, or 0.9 and 0.8, the second: far more of what is above chance."""
    points = [measured("a", 0.84, 0.89, 0.9), measured("b", 0.9, 0.8, 0.7)]
    assert name_choices(points, "classification") == {"most_useful": "b", "fairest": "a", "balanced": "b"}


def test_no_rule_chooses_what_distinguishes_nobody_or_was_not_measured():
    """One decision for all, a score for all, and what hardly says more than chance."""
    unknown = measured("unknown", None, 0.9)
    assert list_chosen(unknown) == set()
    constant, one_score = measured("b", 0.85, 0.99, 0.0), measured("c", 0.5, 0.0, 0.0)
    vague = measured("vague", 0.55, 0.99, 0.9)
    assert list_chosen(unknown, constant, one_score, vague, measured("a", 0.8, 0.6, 0.5)) == {"a"}
    assert list_chosen(constant, one_score) == set()


@pytest.mark.parametrize("share", [0.96, 0.04])
def test_no_rule_chooses_what_decides_nearly_the_same_where_there_is_another(share):
    """Its verdict would be not to use it; if all are such, the best of them is chosen all the same."""
    better, usable = measured("a", 0.85, 0.7, 0.5, share), measured("b", 0.8, 0.6, 0.5, 0.9)
    assert list_chosen(better, usable) == {"b"}
    assert list_chosen(better, measured("hardly", 0.55, 0.6, 0.5, 0.9)) == {"a"}
    # Whose share is not known is not suspected.
    assert list_chosen(measured("d", 0.85, 0.7, 0.5), usable) == {"d"}


def test_the_tuned_penalty_is_chosen_by_its_scores_alone():
    """It is what choices are measured by: leaving out the strongest would praise them."""
    points = []
    for C, share in ((0.01, 0.97), (0.1, 0.8)):
        one = Candidate("masked", {"C": C})
        points.append({**measured(one.id, 0.8 - C, 0.6 - C, 0.5, share), "candidate": one.to_data()})
    assert choose_penalised(points, "classification") == points[0]["id"]


def searched(deleted, penalised, chosen):
    """A search by what deleting, with a tuned penalty, and the balanced choice reached."""
    baselines = [
        {**measured(role, *one), "role": role} for role, one in (("deleted", deleted), ("penalised", penalised))
    ]
    return {"baselines": baselines, "trials": [measured("ours", *chosen)], "choices": {"balanced": "ours"}}


@pytest.mark.parametrize(
    ("deleted", "penalised", "said"),
    [
        ((0.764, 0.532), (0.6, 0.5), "columns (B: 0.764, 0.532) does better than the balanced choice; `ifair report`"),
        ((0.7, 0.5), (0.71, 0.51), "with a tuned penalty (C: 0.710, 0.510) does better"),
        ((0.71, 0.5), (0.6, 0.5), "(B: 0.710, 0.500)"),
        ((0.71, 0.49), (0.69, 0.9), None),
        ((0.7, 0.6), (0.7004, 0.6), "(B: 0.700, 0.600)"),
        ((0.7004, 0.5004), (0.7, 0.5), None),
        ((0.71, None), (None, 0.6), None),
    ],
)
def test_that_deleting_does_better_is_told(deleted, penalised, said):
    told = doubt_choices(searched(deleted, penalised, (0.7, 0.5)))
    assert told is None if said is None else said in told


def test_every_choice_that_deleting_beats_is_named():
    tuning = searched((0.6, 0.5), (0.71, 0.55), (0.7, 0.5))
    tuning["trials"] += [measured("fair", 0.69, 0.54), measured("useful", 0.73, 0.52)]
    tuning["choices"] = {"most_useful": "useful", "fairest": "fair", "balanced": "ours"}
    told = doubt_choices(tuning)
    assert told == (
        "By these numbers deleting the protected columns with a tuned penalty (C: 0.710, 0.550) does better than the "
        "fairest choice and the balanced choice; `ifair report` judges."
    )


def test_why_a_setting_was_passed_over_is_found_by_the_rules_themselves():
    frozen, paper = ({"variant": variant, "K": 3} for variant in ("frozen", "paper"))
    settings = {
        "usable": (Candidate("ifair", frozen), (0.8, 0.6, 0.5, 0.5), None),
        "constant": (Candidate("ifair", {**frozen, "K": 4}), (0.79, 0.7, 0.1, 0.97), "nearly one decision"),
        "vague": (Candidate("ifair", {**frozen, "K": 5}), (0.6, 0.9, 0.5, 0.5), "too little utility"),
        "seeing": (Candidate("ifair", paper), (0.82, 0.65, 0.5, 0.5), "sees the protected columns"),
        "deleting": (Candidate("masked", {"C": 0.1}), (0.81, 0.5, 0.5, 0.5), "deletes, and no more"),
    }
    points = [
        {**measured(name, *reached), "role": find_role(one), "candidate": one.to_data()}
        for name, (one, reached, _) in settings.items()
    ]
    found = explain_passed_over(points, "classification")
    assert found == {name: why for name, (_, _, why) in settings.items() if why is not None}
    # Where all decide nearly the same, the best of them is chosen all the same.
    alone = [point for point in points if point["id"] == "constant"]
    assert explain_passed_over(alone, "classification") == {}


def test_the_table_of_a_tuning_says_why_a_row_is_no_choice(found):
    lines = tuning_text(found).splitlines()
    assert lines[0].startswith("What the choices are compared with, and the front of 14 settings, on validation people")
    assert lines[2].endswith("choice, or why none")
    expected = explain_passed_over(found["trials"], found["task"])
    assert {point["id"]: point["passed_over"] for point in found["trials"] if "passed_over" in point} == expected
    shown = [point for point in found["front"] if point["role"] != "penalised" and point["id"] in expected]
    assert shown
    for point in shown:
        assert any(line.startswith(point["name"]) and line.endswith(point["passed_over"]) for line in lines)


def test_why_nothing_was_chosen_is_told_where_all_decide_the_same():
    blind = {"role": "ours", "candidate": Candidate("ifair", {"variant": "frozen"}).to_data()}
    for share, told in ((0.99, True), (0.5, False), (None, False)):
        trials = [{**measured("a", 0.8, 0.6, 0.0, 0.99), **blind}, {**measured("b", 0.8, 0.6, 0.0, share), **blind}]
        said = doubt_choices({"baselines": [], "trials": trials, "choices": {}})
        assert (said is not None and "decides nearly the same about everybody" in said) == told


def test_an_unknown_variant_is_refused():
    must_raise(ValueError, "variant must be one of", tune, dataset(), variant="cold")


def test_a_search_of_people_in_several_rows_is_of_this_table_only_with_their_ids():
    people = dataset()
    named = replace(people, ids=pd.Series(np.arange(len(people)), name="person"))
    repeated = replace(people, ids=pd.Series(np.arange(len(people)) // 2, name="person"))
    assert fingerprint_dataset(named) == fingerprint_dataset(people)
    assert fingerprint_dataset(repeated) != fingerprint_dataset(people)
