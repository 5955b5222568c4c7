"""One path from a table to a shipped model: tune, report, fit, decide; what is shipped is what was audited."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from measured_again import check_measures
from sklearn.metrics import roc_auc_score

import ifair
from ifair.audit.people_view import round_scores
from ifair.cli.report import check_tuned_choice
from ifair.report.comparison import find_point

from samples import few_candidates, named_applicants
from scripts import ask, do, refuse

pytest.importorskip("optuna")
pytest.importorskip("skops")
pytest.importorskip("jinja2")

ROLES = ["--protected", "sex", "--target", "hired", "--ignore", "rating", "--ignore", "team", "--id", "person"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, its tuning, its report and its evidence."""
    folder = tmp_path_factory.mktemp("path")
    frame = named_applicants()
    frame.to_csv(folder / "people.csv", index=False)
    frame.drop(columns=["sex", "hired", "rating"]).to_csv(folder / "newcomers.csv", index=False)
    searched = ["--trials", 4, "--estimator", "linear", "-o", folder / "tuning.json"]
    with few_candidates():
        tuned = do("tune", folder / "people.csv", *ROLES, *searched)
    assert "4 settings: at most" in tuned.stderr
    assert "0 s left" in tuned.stderr
    assert "protected columns deleted" in tuned.stdout
    arguments = ["--tuning", folder / "tuning.json", "--resamples", 10, "--jobs", 1, "-o", folder / "report.html"]
    do("report", folder / "people.csv", *ROLES, *arguments)
    assert sorted(path.name for path in folder.glob("*.json")) == ["evidence.json", "tuning.json"]
    return folder


@pytest.fixture(scope="module")
def evidence(place):
    return json.loads((place / "evidence.json").read_text())


def fit(place, output, *arguments):
    do("fit", place / "people.csv", *ROLES, "--tuning", place / "tuning.json", *arguments, "-o", output)
    return ifair.load(output), ifair.inspect(output)["about"]


def test_the_numbers_of_the_report_follow_from_its_scores(evidence):
    check_measures(evidence)


@pytest.mark.parametrize("choice", ["fairest", "A", "C", "D"])
def test_the_shipped_scores_are_those_of_the_evidence_to_the_last_digit(place, evidence, tmp_path, choice):
    model, about = fit(place, tmp_path / "model.ifair", "--choice", choice, "--as-audited")
    point = find_point(evidence, choice)
    assert {key: about["candidate"][key] for key in point["candidate"]} == point["candidate"]
    assert about["candidate"]["name"] == point["name"]
    assert about["decision"]["threshold"] == point["threshold"]
    people = pd.read_csv(place / "people.csv").set_index("person").loc[evidence["people"]["ids"]]
    scores = model.predict_proba(people[list(model.feature_names_in_)])[:, 1]
    assert round_scores(scores, point["threshold"]) == point["people"]["score"]
    assert point["test"]["utility"]["estimate"] == pytest.approx(roc_auc_score(people["hired"], scores), abs=1e-6)
    assert about["data"]["records"] == evidence["data"]["parts"]["train"]


def test_all_people_are_learned_from_and_newcomers_need_no_protected_column(place, evidence, tmp_path):
    _, about = fit(place, tmp_path / "model.ifair")
    assert about["candidate"]["name"] == find_point(evidence, "balanced")["name"]
    assert about["data"]["records"] == 240
    assert about["flips"]["share"] == 0
    assert about["settings"]["choice"] == "balanced"
    do("decide", place / "newcomers.csv", "--model", tmp_path / "model.ifair", "-o", tmp_path / "decisions.csv")
    decided = pd.read_csv(tmp_path / "decisions.csv")
    assert set(decided["decision"]) == {0, 1}
    do("transform", tmp_path / "model.ifair", place / "newcomers.csv", "--decide", "-o", tmp_path / "one.csv")
    one_at_a_time = pd.read_csv(tmp_path / "one.csv")
    np.testing.assert_array_equal(one_at_a_time["decision"], one_at_a_time["score"] > about["decision"]["threshold"])
    assert np.mean(one_at_a_time["decision"] == decided["decision"]) > 0.9


def test_of_a_number_a_strength_that_was_tuned_is_taken_as_it_is(place, tmp_path, monkeypatch):
    tuning = json.loads((place / "tuning.json").read_text())
    monkeypatch.setattr("ifair.audit.tuning.fingerprint_dataset", lambda _: tuning["data"]["fingerprint"])
    [point] = [one for one in tuning["trials"] if one["candidate"]["method"] == "masked" and one["candidate"]["post"]]
    roles = ["-p", "sex", "--target", "rating", "--ignore", "hired", "--choice", point["id"]]
    files = ["--tuning", place / "tuning.json", "-o", tmp_path / "model.ifair"]
    learned = ask("fit", place / "people.csv", *roles, *files)
    assert learned["candidate"]["post"] == point["candidate"]["post"]


def test_a_tuning_of_another_table_or_of_other_roles_is_refused(place, tmp_path):
    other = pd.read_csv(place / "people.csv")
    other.loc[0, "height"] += 1
    other.to_csv(tmp_path / "other.csv", index=False)
    for table, roles in ((tmp_path / "other.csv", ROLES), (place / "people.csv", [*ROLES, "--protected", "origin"])):
        for verb in ("fit", "audit"):
            said = refuse(verb, table, *roles, "--tuning", place / "tuning.json", "-o", tmp_path / "out")
            assert "was tuned on other records or roles (people.csv, 240 people)" in said
            assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--choice", "fairst"], 1, "did you mean 'fairest'?"),
        (["-k", 3], 2, "the tuning says what is learned: leave -k out"),
        (["--consistent", 0.1], 2, "leave --consistent out"),
        (["--threshold", 0.5, "--rate", 0.1], 2, "give one of them"),
    ],
)
def test_what_contradicts_a_tuning_or_needs_one_is_refused(place, tmp_path, arguments, code, message):
    tuning = ["--tuning", place / "tuning.json", "-o", tmp_path / "model.ifair"]
    assert message in refuse("fit", place / "people.csv", *ROLES, *tuning, *arguments, code=code)
    said = refuse("fit", place / "people.csv", *ROLES, "--choice", "balanced", *tuning[2:], code=2)
    assert "--choice and --as-audited are about a point of a tuning: name it with --tuning FILE" in said


def test_the_choice_of_a_card_is_checked_by_the_tuning_before_an_audit(place, evidence, tmp_path):
    given = ["report", place / "people.csv", *ROLES, "--tuning", place / "tuning.json", "--card"]
    said = refuse(*given, "--choice", "zzz", "-o", tmp_path / "report.html")
    assert "measuring" not in said
    assert all(f"{point['label']} = {point['id']}" in said for point in evidence["points"])
    assert not list(tmp_path.iterdir())
    for known in (*evidence["choices"], evidence["points"][-1]["label"], evidence["points"][2]["id"]):
        check_tuned_choice(place / "tuning.json", known)


def test_what_speaks_against_the_choices_ends_the_table_of_a_tuning(place, tmp_path, monkeypatch):
    monkeypatch.setattr("ifair.audit.tuning.doubt_choices", lambda found: f"{len(found['trials'])} in doubt")
    searched = ["--trials", 2, "--estimator", "linear", "-o", tmp_path / "tuning.json"]
    with few_candidates():
        done = do("tune", place / "people.csv", *ROLES, *searched)
    assert done.stdout.endswith("\n\n2 in doubt\n")


def test_a_choice_that_deleting_beats_by_the_tuning_is_learned_with_one_warning(place, tmp_path):
    tuning = json.loads((place / "tuning.json").read_text())
    [penalised] = [point for point in tuning["baselines"] if point["role"] == "penalised"]
    of_ours = [point for point in tuning["trials"] if point["id"] == tuning["choices"]["fairest"]]
    files = ["--tuning", tmp_path / "changed.json", "--choice", "fairest", "-o", tmp_path / "model.ifair"]
    for ahead, n_warnings in ((0.01, 1), (-0.5, 0)):
        for measure in ("utility", "ranks"):
            penalised["validation"][measure] = of_ours[0]["validation"][measure] + ahead
            tuning["baselines"][1]["validation"][measure] = 0.0
        (tmp_path / "changed.json").write_text(json.dumps(tuning))
        told = do("fit", place / "people.csv", *ROLES, *files).stderr
        said = "by changed.json, deleting the protected columns with a tuned penalty (C: "
        assert told.count(said) == told.count("does better than 'fairest'") == n_warnings


def test_a_parity_is_tuned_and_kept_up_to_the_decisions(place, tmp_path):
    tuning, model, table = tmp_path / "tuning.json", tmp_path / "m.ifair", place / "people.csv"
    searched = ["--trials", 2, "--estimator", "linear", "--parity", "selection", "-o", tuning]
    with few_candidates():
        tuned = do("tune", table, *ROLES, *searched)
    assert "thresholds of each group of 'sex' aim at the same rate" in " ".join(tuned.stdout.split())
    told = do("fit", table, *ROLES, "--tuning", tuning, "-o", model).stderr
    assert "tuned with --parity selection --groups sex, and this model decides by one threshold" in told
    told = do("fit", table, *ROLES, "--tuning", tuning, "--rate", 0.3, "-o", model).stderr
    assert "tuned with" not in told
    do("decide", table, "--model", model, "-o", tmp_path / "decided.csv")
    decided, people = (pd.read_csv(path).set_index("person") for path in (tmp_path / "decided.csv", table))
    assert np.ptp(decided["decision"].groupby(people["sex"]).mean()) < 0.02


def test_a_model_of_ones_own_is_tuned_shipped_and_vouched_for_by_whoever_decides(place, tmp_path, monkeypatch):
    (tmp_path / "our_models.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "class Bayes(GaussianNB): pass\n"
        "def make_bayes(): return Bayes(var_smoothing=1e-6)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    own = ["--estimator", "our_models:make_bayes"]
    with few_candidates():
        do("tune", place / "people.csv", *ROLES, "--trials", 4, *own, "-o", "tuning.json")
    tuning = json.loads((tmp_path / "tuning.json").read_text())
    assert own[1] in {p["candidate"]["model"] for p in tuning["trials"] if p["role"] == "ours"}
    told = do("fit", place / "people.csv", *ROLES, "--consistent", 0.1, *own, "-o", "m.ifair").stderr
    vouch = ["--trusted", "our_models.Bayes"]
    assert f"must vouch for them with {' '.join(vouch)}" in " ".join(told.split())
    assert "ModelFileWarning" not in told
    said = refuse("decide", place / "newcomers.csv", "--model", "m.ifair", "-o", "decided.csv")
    assert f"load it with {' '.join(vouch)}" in said
    do("decide", place / "newcomers.csv", "--model", "m.ifair", *vouch, "-o", "decided.csv")
    do("transform", "m.ifair", place / "newcomers.csv", "--decide", *vouch, "-o", "scored.csv")
    assert len(pd.read_csv("scored.csv")) == len(pd.read_csv("decided.csv"))


def test_options_of_an_audit_are_refused_where_it_is_over(place, tmp_path):
    for flag in (["-p", "sex"], ["--tuning", place / "tuning.json"], ["--evidence", tmp_path / "e.json"]):
        said = refuse("report", place / "evidence.json", *flag, "-o", tmp_path / "report.html", code=2)
        assert "says how to audit a table, and evidence is given: leave it out" in said
    assert not (tmp_path / "report.html").exists()
