"""``ifair fit``: from a table to a model file."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ifair
from ifair import Encoder, IFair

from scripts import ask, do, refuse, stop_when

pytest.importorskip("skops")

FAST = ["-k", "3", "--restarts", "1", "--max-iter", "300", "--jobs", "1"]


def test_the_file_holds_what_the_library_learns(folder, applicants, classifier):
    model = ifair.load(classifier)
    assert list(model.named_steps) == ["encode", "fair", "decide"]
    X = applicants[["experience", "job", "owns_home"]]
    fair = IFair(3, fairness_distance="euclidean", n_restarts=1, max_iter=300, random_state=0)
    ours = make_pipeline(Encoder(scale="attribute"), fair, LogisticRegression(max_iter=2000))
    ours.fit(X, applicants["hired"] == "yes")
    np.testing.assert_allclose(model.predict_proba(X), ours.predict_proba(X), rtol=1e-6)


def test_the_file_records_roles_data_and_settings(classifier):
    about = ifair.inspect(classifier)["about"]
    assert about["roles"]["protected"] == ["sex", "age"]
    assert about["roles"]["positive"] == "yes"
    assert about["data"]["attributes"] == ["sex", "age", "experience", "job", "owns_home"]
    assert about["data"]["left_out"] == {"team": "as asked", "rating": "as asked"}
    assert about["data"]["looks_at"] == ["experience", "job", "owns_home"]
    assert about["candidate"]["setting"] == {"variant": "frozen", "K": 3, "lambda": 1.0, "mu": 1.0}
    assert about["candidate"]["model"] == "linear"
    assert about["settings"] == {"n_restarts": 1, "max_iter": 300, "seed": 0}
    assert about["decision"] == {"threshold": 0.5, "rate": None}
    assert about["flips"] == {"people": 120, "looked_at": False, "share": 0.0}


def test_a_file_of_roles_does_what_the_flags_do(folder, classifier, tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text(
        '[roles]\nprotected = ["sex", "age"]\nid = "person"\nignore = ["team", "rating"]\n'
        'target = "hired"\npositive = "no"\n'
    )
    out = tmp_path / "model.ifair"
    # The flag comes before the file.
    do("fit", *FAST, folder / "people.csv", "--columns", roles, "--positive", "yes", "-o", out)
    assert ifair.inspect(out)["about"] == ifair.inspect(classifier)["about"]


def test_json_is_all_that_standard_output_holds(folder, tmp_path):
    out = tmp_path / "model.ifair"
    facts = ask("fit", *FAST, folder / "people.csv", "-p", "sex", "-o", out)
    assert facts["model"] == str(out)
    training = facts["training"]
    assert not any(name.startswith("sex") for name in training["weights"])
    weights = list(training["weights"].values())
    assert weights == sorted(weights, reverse=True)
    assert training["loss"] == pytest.approx(training["utility_loss"] + training["fairness_loss"])
    assert list(facts["data"]["left_out"]) == ["person"]
    assert any("'person'" in line for line in facts["warnings"])


def test_words_tell_losses_convergence_weights_and_what_was_left_out(folder, tmp_path):
    given = ["-p", "sex", "--ignore", "rating", "--max-iter", "2", "-o", tmp_path / "model.ifair"]
    done = do("fit", *FAST, folder / "people.csv", *given)
    told = (
        "utility",
        "fairness",
        "count most",
        "left out: 'rating' as asked",
        "protected columns (sex): not looked at",
    )
    for part in (*told, "NOT converged after 2 iterations; raise --max-iter"):
        assert part in done.stdout
    assert "Warning: column 'person' is different in every row" in done.stderr
    assert "'person'" not in done.stdout  # once is enough
    assert "rating" not in done.stderr
    assert "iteration" in done.stderr


@pytest.mark.parametrize("target", ["hired", "grade"])
def test_the_papers_way_says_how_many_decisions_flip(applicants, tmp_path, target):
    grades = pd.qcut(applicants["rating"], 3, labels=["low", "middle", "high"])
    people = applicants.assign(grade=grades)[["sex", "age", "experience", "job", "owns_home", target]]
    people.to_csv(tmp_path / "people.csv", index=False)
    roles = ["-p", "sex", "--target", target, *(["--positive", "yes"] if target == "hired" else [])]
    out = tmp_path / "model.ifair"
    done = do("fit", tmp_path / "people.csv", *roles, *FAST, "-k", 10, "--no-freeze", "--mu", 0, "-o", out)
    model = ifair.load(out)
    swapped = people.assign(sex=people["sex"].map({"f": "m", "m": "f"}))
    now, then = (model.predict(table[list(model.feature_names_in_)]) for table in (people, swapped))
    share = (now != then).mean()
    assert 0 < share < 1
    assert ifair.inspect(out)["about"]["flips"]["share"] == pytest.approx(share)
    assert f"if nothing but sex is swapped, {100 * share:.1f} % of decisions change" in done.stdout
    assert "are looked at: weight" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "sex", "--target", "hired"], "--positive"),
        (["-p", "sex", "--target", "hired", "--positive", "Yes"], "did you mean 'yes'?"),
        (["-p", "sex", "-k", "500"], "n_prototypes=500 needs at least 500 records"),
        (["-p", "sex", "--lambda", "0", "--mu", "0"], "there is nothing to learn"),
    ],
)
def test_what_cannot_work_exits_with_1_and_says_why(folder, tmp_path, arguments, message):
    assert message in refuse("fit", *FAST, folder / "people.csv", *arguments, "-o", tmp_path / "model.ifair")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["--threshold", "--rate"])
def test_who_is_decided_about_needs_an_outcome(folder, tmp_path, limit):
    said = refuse("fit", folder / "people.csv", "-p", "sex", limit, 0.5, "-o", tmp_path / "model.ifair", code=2)
    assert f"{limit} is about decisions: name the outcome with --target" in said


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_it_and_leaves_no_file(folder, applicants, tmp_path):
    # Enough people that it takes until it is stopped.
    pd.concat([applicants.drop(columns="person")] * 4).to_csv(tmp_path / "many.csv", index=False)
    code = "from ifair.cli import main; main(prog_name='ifair')"
    arguments = ["fit", "many.csv", "-p", "sex", "-k", "10", "--restarts", "60", "-o", "out/model.ifair"]
    (tmp_path / "out").mkdir()
    stopped, said = stop_when("iteration", code, *arguments, folder=tmp_path)
    assert stopped == 130
    assert "nothing half-written is left" in said
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("freeze", "said"), [("--freeze", "no score moves, by construction"), ("--no-freeze", "scores move by")]
)
def test_of_a_number_scores_move_and_no_decision_changes(folder, tmp_path, freeze, said):
    roles = ["-p", "sex", "--ignore", "person", "--ignore", "hired", "--ignore", "team", "--target", "rating"]
    done = do("fit", *FAST, folder / "people.csv", *roles, freeze, "--max-iter", 5, "-o", tmp_path / "m.ifair")
    assert said in done.stdout
    assert "decisions" not in done.stdout
