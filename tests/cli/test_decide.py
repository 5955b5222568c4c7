"""``ifair fit --consistent`` and ``ifair decide``: what the library decides, from files to files."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import ifair

from scripts import ask, do, refuse, run

pytest.importorskip("skops")

ROLES = ["--protected", "sex", "--protected", "age", "--id", "person", "--ignore", "team"]
OUTCOME = ["--ignore", "rating", "--target", "hired", "--positive", "yes"]


@pytest.fixture(scope="module")
def consistent(folder):
    path = folder / "consistent.ifair"
    done = do("fit", folder / "people.csv", *ROLES, *OUTCOME, "--consistent", 0.1, "-o", path)
    assert "consistent decisions of strength 0.1" in done.stdout
    assert "one by one, people are compared with 120 of them (`ifair.score`, `ifair transform" in done.stdout
    assert "protected columns (sex, age): not looked at" in done.stdout
    return path


@pytest.mark.parametrize("wanted", [("--n", 30), ("--rate", 0.25), ("--threshold", 0.6)])
def test_the_file_of_decisions_is_what_the_library_decides(folder, applicants, consistent, tmp_path, wanted):
    facts = ask("decide", folder / "people.csv", "--model", consistent, *wanted, "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv", dtype={"person": str})
    model = ifair.load(consistent)
    batch = model.decide(applicants[list(model.feature_names_in_)], **{wanted[0][2:]: wanted[1]})
    assert found["person"].tolist() == applicants["person"].tolist()
    np.testing.assert_array_equal(found["decision"], batch.selected)
    np.testing.assert_allclose(found["score"], batch.scores)
    np.testing.assert_array_equal(np.flatnonzero(found["changed"]), batch.changed)
    np.testing.assert_array_equal(found["explanation"].notna(), found["changed"] == 1)
    assert (facts["people"], facts["selected"]) == (120, batch.selected.sum())
    assert facts["gap"] == batch.gap
    assert [change["row"] - 1 for change in facts["changes"]] == batch.changed.tolist() != []
    for change in facts["changes"]:
        assert change["id"] == f"{change['row'] - 1:04d}"
        assert change["explanation"].startswith(f"person {change['id']} is ")


def test_the_terminal_tells_the_nearest_peer_and_the_largest_differences_and_the_file_all(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({f"measure_{i}": rng.normal(size=150).round(2) for i in range(6)})
    people["sex"] = rng.choice(["f", "m"], 150)
    people["hired"] = np.where(people["measure_0"] + people["measure_1"] + rng.normal(size=150) > 0, "yes", "no")
    table, model, out = (tmp_path / name for name in ("people.csv", "m.ifair", "out.csv"))
    people.to_csv(table, index=False)
    do("fit", table, "-p", "sex", "--target", "hired", "--positive", "yes", "--consistent", 0.5, "-o", model)
    done = do("decide", table, "--model", model, "--rate", 0.4, "-o", out)
    told = [line for line in done.stdout.splitlines() if line.startswith("  person ")]
    explanations = pd.read_csv(out)["explanation"].dropna().tolist()
    assert 0 < len(told) <= 5
    assert any(text.count(" apart in ") > 6 for text in explanations)
    for line, full in zip(told, explanations):
        head, *peers = full.split("; person ")
        assert line.startswith(f"  {head}")
        if len(peers) and (len(peers) > 1 or peers[0].count(" apart in ") > 3):
            assert line.endswith(f" (all in {out})")
        # Of the nearest peer, who comes first in the file, the last that are named there differ most.
        named = [re.findall(r"apart in (\w+)", text) for text in (line, peers[0] if peers else "")]
        assert named[0] == named[1][:-4:-1]


def test_compared_with_the_training_people_a_person_gets_one_score_alone_in_any_part_and_in_any_order(
    applicants, consistent, tmp_path
):
    found = {}
    parts = {"all": applicants, "one": applicants[5:6], "some": applicants[3:40][::-1]}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
        given = ["--model", consistent, "--peers", "training", "-o", tmp_path / f"{name}-out.csv"]
        facts = ask("decide", tmp_path / f"{name}.csv", *given)
        assert facts["peers"] == "training"
        found[name] = pd.read_csv(tmp_path / f"{name}-out.csv", dtype={"person": str}).set_index("person")
        expected = found["all"].loc[found[name].index]
        np.testing.assert_allclose(found[name]["score"], expected["score"], rtol=1e-12)
        pd.testing.assert_series_equal(found[name]["decision"], expected["decision"])
    model = ifair.load(consistent)
    scores = model.predict_proba(applicants[list(model.feature_names_in_)])[:, 1]
    np.testing.assert_allclose(found["all"]["score"], scores, rtol=1e-12)
    do("transform", consistent, tmp_path / "all.csv", "--decide", "-o", tmp_path / "one_by_one.csv")
    one_by_one = pd.read_csv(tmp_path / "one_by_one.csv")
    np.testing.assert_array_equal(found["all"]["decision"], one_by_one["decision"])


def test_a_person_alone_is_told_to_be_compared_with_nobody_and_what_compares_them(applicants, consistent, tmp_path):
    applicants[5:6].to_csv(tmp_path / "one.csv", index=False)
    given = ["decide", tmp_path / "one.csv", "--model", consistent, "-o", tmp_path / "out.csv"]
    told = do(*given).stdout
    assert re.match(r"[01] of 1 person selected; 0 decisions differ", told)
    assert "1 person has no close peers in the table and keeps the model's own score; 0 are tied" in told
    assert "decisions depend on who is in the table; --peers training compares them with the 120 training" in told
    told = do(*given, "--peers", "training", "--force").stdout
    assert "0 people have no close peers among the 120 training people that the model keeps, and keep" in told
    assert "--peers" not in told


def test_the_training_people_are_asked_for_where_there_are_some_and_for_what_they_can_say(
    folder, classifier, consistent, equal, tmp_path
):
    given = ["--peers", "training", "-o", tmp_path / "out.csv"]
    for model, more, message in (
        (classifier, [], "keeps no training people; a model of `ifair fit --consistent` does"),
        (consistent, ["--n", 9, "--parity", "selection", "--groups", "sex"], "in the table as a whole"),
        (equal, [], "leave --peers out, or give --parity none"),
    ):
        assert message in refuse("decide", folder / "people.csv", "--model", model, *more, *given, code=2)
    # Without parity a rate is kept, but the threshold it led to asks about nobody else.
    facts = ask("decide", folder / "people.csv", "--model", equal, "--parity", "none", *given)
    assert facts["threshold"] == ifair.inspect(equal)["about"]["decision"]["threshold"]


def test_groups_of_a_few_people_are_doubted(folder, consistent, tmp_path):
    arguments = ["--n", 30, "--parity", "selection", "--groups", "age", "-o", tmp_path / "out.csv"]
    done = do("decide", folder / "people.csv", "--model", consistent, *arguments)
    assert re.match(r"30 of 120 people selected; \d+ decisions differ from the model's own", done.stdout)
    assert re.search(r"Warning: --groups age: of \d+ groups \d+ have fewer than 10 people", done.stderr)
    assert re.search(r"thresholds of groups, subtracted .* range: .* and \d+ more\n", done.stdout)


def test_protected_columns_may_be_missing_and_rows_printed(folder, applicants, consistent, tmp_path):
    applicants.drop(columns=["sex", "age", "person"]).to_csv(tmp_path / "few.csv", index=False)
    outputs = []
    for table in (folder / "people.csv", tmp_path / "few.csv"):
        done = do("decide", table, "--model", consistent, "--n", 10, "-o", "-")
        outputs.append(pd.read_csv(pd.io.common.StringIO(done.stdout)))
    assert list(outputs[1].columns[:2]) == ["decision", "score"]
    pd.testing.assert_series_equal(outputs[0]["decision"], outputs[1]["decision"])


def test_a_strength_that_makes_everybody_alike_is_doubted(folder, tmp_path):
    done = do("fit", folder / "people.csv", *ROLES, *OUTCOME, "--consistent", 7, "-o", tmp_path / "m.ifair")
    assert "Warning: a strength of 7 is more than scores differ, by 1 at most: nearly everybody" in done.stderr


def test_a_regression_is_decided_by_too_with_a_strength_in_the_units_of_the_target(folder, applicants, tmp_path):
    arguments = [*ROLES, "--ignore", "hired", "--target", "rating", "--consistent", 0.1, "-o", tmp_path / "m.ifair"]
    done = do("fit", folder / "people.csv", *arguments)
    strength = ifair.load(tmp_path / "m.ifair").strength
    assert strength == pytest.approx(0.1 * np.ptp(applicants["rating"]))
    assert "a linear model of 'rating' is trained on the unprotected columns\n" in done.stdout
    assert f"strength 0.1 of the range of 'rating' is {strength:g} in its units" in done.stdout
    dear = applicants.assign(rating=1_234_567 * applicants["rating"])
    dear.to_csv(tmp_path / "dear.csv", index=False)
    limits = ["--threshold", 7123456.5, "--force"]
    told = do("fit", tmp_path / "dear.csv", *arguments, *limits).stdout
    assert "selected by `ifair decide` above 7123456.5\n" in told
    strength = ifair.load(tmp_path / "m.ifair").strength
    assert f"consistent decisions of strength {strength:,.0f}, linear model" in told
    assert f" is {strength:.0f} in its units" in told
    assert "e+" not in told
    assert "threshold: 7123456.5\n" in do("inspect", tmp_path / "m.ifair").stdout
    do("decide", folder / "people.csv", "--model", tmp_path / "m.ifair", "--n", 12, "-o", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["decision"].sum() == 12


@pytest.mark.parametrize("consistent", [[], ["--consistent", 0.1]])
def test_a_threshold_of_a_predicted_number_is_kept_for_decisions(folder, applicants, tmp_path, consistent):
    model, out = tmp_path / "m.ifair", tmp_path / "out.csv"
    limit = float(applicants["rating"].quantile(0.7))
    roles = [*ROLES, "--ignore", "hired", "--target", "rating"]
    done = do("fit", folder / "people.csv", *roles, *consistent, "--threshold", limit, "-o", model)
    assert f"selected by `ifair decide` above {limit:.15g}" in done.stdout
    do("decide", folder / "people.csv", "--model", model, "-o", out)
    decided = pd.read_csv(out)
    assert 0 < decided["decision"].sum() < len(decided)
    np.testing.assert_array_equal(decided["decision"], decided["score"] > limit)
    assert "must be a number" in refuse(
        "decide", folder / "people.csv", "--model", model, "--threshold", "nan", "-o", out, code=2
    )


def test_a_model_without_consistency_decides_by_its_own_scores(folder, applicants, classifier, tmp_path):
    do("decide", folder / "people.csv", "--model", classifier, "--n", 30, "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    model = ifair.load(classifier)
    scores = model.predict_proba(applicants[list(model.feature_names_in_)])[:, 1]
    np.testing.assert_allclose(found["score"], scores)
    assert found["decision"].sum() == 30
    assert not found["changed"].any()
    assert found.loc[found["decision"] == 1, "score"].min() >= found.loc[found["decision"] == 0, "score"].max()


def test_decisions_on_the_attributes_themselves_are_no_representation(folder, applicants, consistent, tmp_path):
    said = refuse("transform", consistent, folder / "people.csv", "-o", tmp_path / "out.csv")
    assert "no representation: use `ifair decide`" in said
    assert not (tmp_path / "out.csv").exists()
    do("transform", consistent, folder / "people.csv", "--decide", "-o", tmp_path / "out.csv")
    model = ifair.load(consistent)
    scores = model.predict_proba(applicants[list(model.feature_names_in_)])[:, 1]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["score"], scores)


@pytest.fixture(scope="module")
def equal(folder):
    """A model that was fitted to select groups alike."""
    path = folder / "equal.ifair"
    arguments = ["--consistent", 0.1, "--rate", 0.3, "--parity", "selection", "--groups", "sex", "-o", path]
    done = do("fit", folder / "people.csv", *ROLES, *OUTCOME, *arguments)
    assert "0.0 % of decisions change, where people are decided about one by one, by construction" in done.stdout
    assert "`ifair decide` selects every group of 'sex' at the same rate, which uses the group" in done.stdout
    return path


def test_groups_are_selected_at_one_rate_when_asked_for_or_as_the_model_was_fitted_and_that_is_told(
    folder, applicants, equal, consistent, tmp_path
):
    asked = ["--rate", 0.3, "--parity", "selection", "--groups", "sex", "-o", tmp_path / "asked.csv"]
    done = do("decide", folder / "people.csv", "--model", consistent, *asked)
    assert "thresholds of groups, subtracted from the model's scores before peers pull" in done.stdout
    assert re.search(r"differ from the model's own, \d+ of them by thresholds of groups\n", done.stdout)
    found = pd.read_csv(tmp_path / "asked.csv")
    model = ifair.load(consistent)
    by_one_threshold = model.scores(applicants[list(model.feature_names_in_)])
    np.testing.assert_allclose(found["score"], by_one_threshold, atol=2e-3)
    assert found["score"].between(0, 1).all()
    assert found.loc[found["above_threshold"] > 1e-6, "decision"].eq(1).all()
    rates = found["decision"].groupby(applicants["sex"]).mean()
    assert abs(rates["f"] - rates["m"]) <= 1 / (applicants["sex"] == "f").sum()
    assert not done.stderr
    assert re.search(r"with peers (0\.\d{3} (above|below)|at) their group's threshold; \d+ of \d+ people", done.stdout)
    assert "-0.000" not in done.stdout
    done = do("decide", folder / "people.csv", "--model", equal, "-o", tmp_path / "out.csv")
    assert (
        "every group of 'sex' is selected at the same rate, as nearly as its size allows, as the model was fitted"
        in done.stdout
    )
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), found)


def test_people_without_a_group_are_one_as_in_an_audit(applicants, equal, tmp_path):
    unknown = applicants.assign(sex=applicants["sex"].astype(object).where(applicants.index >= 30, None))
    unknown.to_csv(tmp_path / "unknown.csv", index=False)
    done = do("decide", tmp_path / "unknown.csv", "--model", equal, "-o", tmp_path / "out.csv", "--json")
    assert "--groups sex: 30 people have no value, and are a group of their own" in done.stderr
    assert set(json.loads(done.stdout)["group_thresholds"]) == {"(missing)", "f", "m"}
    decided = pd.read_csv(tmp_path / "out.csv")["decision"]
    assert decided[:30].mean() == pytest.approx(decided.mean(), abs=0.04)


def test_one_person_is_told_of_in_the_singular(applicants, equal, tmp_path):
    unknown = applicants.assign(sex=applicants["sex"].astype(object).where(applicants.index >= 1, None))
    unknown.to_csv(tmp_path / "unknown.csv", index=False)
    told = do("decide", tmp_path / "unknown.csv", "--model", equal, "-o", tmp_path / "out.csv").stderr
    assert "--groups sex: 1 person has no value, and is a group of their own" in told
    assert "--groups sex: of 3 groups 1 has fewer than 10 people, where" in told


def test_a_parity_that_was_fitted_can_be_switched_off_and_needs_its_column(folder, applicants, equal, tmp_path):
    given = ["decide", folder / "people.csv", "--model", equal, "-o", tmp_path / "out.csv"]
    facts = ask(*given, "--parity", "none")
    assert facts["selected"] == 36
    assert not facts["group_thresholds"]
    assert "parity" not in facts
    assert "or --parity none" in refuse(*given, "--threshold", 0.5, code=2)
    applicants.drop(columns="sex").to_csv(tmp_path / "few.csv", index=False)
    said = refuse("decide", tmp_path / "few.csv", "--model", equal, "-o", tmp_path / "no.csv")
    assert f"no column 'sex' (groups that {equal.name} selects at the same rate; --parity none switches" in said
    done = run("transform", equal, folder / "people.csv", "--decide", "-o", tmp_path / "one_by_one.csv")
    assert "without equal rates of 'sex'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*OUTCOME, "--rate", 0.3, "--parity", "selection"], "several protected columns"),
        ([*OUTCOME, "--parity", "selection", "--groups", "sex"], "how many with --rate"),
        ([*OUTCOME, "--rate", 0.3, "--groups", "sex"], "belong together"),
        ([*OUTCOME, "--rate", 0.3, "--parity", "selection", "--groups", "sx"], "did you mean 'sex'?"),
        (
            ["--ignore", "hired", "--target", "rating", "--rate", 0.3, "--parity", "selection", "--groups", "sex"],
            "nothing is decided here",
        ),
        ([], "name the outcome with --target"),
        ([*OUTCOME, "-k", 3], "leave -k out"),
        ([*OUTCOME, "--consistent", -1], "Invalid value for '--consistent'"),
    ],
)
def test_what_cannot_be_decided_by_is_refused_before_learning(folder, tmp_path, arguments, message):
    done = run("fit", folder / "people.csv", *ROLES, "--consistent", 0.1, *arguments, "-o", tmp_path / "m.ifair")
    assert done.exit_code in (1, 2)
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "m.ifair").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--n", 3, "--rate", 0.1], 2, "one of --rate, --n and --threshold"),
        (["--n", 3, "--rate", 0.1], 2, "--rate and --n were given: only one of"),
        (["--threshold", 50], 2, "a number from 0 to 1; did you mean 0.5?"),
        (["--threshold", "inf"], 2, "a number from 0 to 1"),
        (["--threshold", 1234567], 2, "--threshold 1234567: scores are probabilities"),
        (["--n", 3, "--parity", "selection"], 2, "belong together"),
        (["--n", 3, "--groups", "sex"], 2, "belong together"),
        (["--threshold", 0.5, "--parity", "selection", "--groups", "sex"], 2, "give --rate or --n, not --threshold"),
        (["--n", 500], 1, "Error: n must be from 0 to the number of people, 120"),
        (["--n", 3, "--parity", "selection", "--groups", "sx"], 1, "no column 'sx', did you mean 'sex'?"),
        (["--n", 3, "--id", "persn"], 1, "no column 'persn', did you mean 'person'?"),
    ],
)
def test_wrong_wishes_are_named(folder, consistent, tmp_path, arguments, code, message):
    given = ["decide", folder / "people.csv", "--model", consistent, "-o", tmp_path / "out.csv"]
    assert message in refuse(*given, *arguments, code=code)
    assert not (tmp_path / "out.csv").exists()


def test_a_model_and_a_table_that_were_swapped_are_told_the_order(folder, classifier, tmp_path):
    table, output = folder / "people.csv", ["-o", tmp_path / "out.csv"]
    assert "The order is `ifair decide TABLE --model MODEL`" in refuse("decide", classifier, table, *output, code=2)
    for order, verb in (
        ("ifair transform MODEL TABLE", ["transform", table, classifier]),
        ("ifair decide TABLE --model MODEL", ["decide", classifier, "--model", table]),
    ):
        said = refuse(*verb, *output)
        assert f"people.csv is a table, not a model; were the two swapped? The order is `{order}`" in said
