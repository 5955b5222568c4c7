"""``--weight``: a column that says how many people a row stands for, in models and in measures."""

import json

import numpy as np
import pytest
from measured_again import check_measures
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ifair
from ifair import Encoder, IFair
from ifair.data import from_table
from ifair.errors import IfairError
from ifair.report.card import card
from ifair.report.terminal import audit_text, tuning_text

from samples import few_candidates, named_applicants
from scripts import ask, do, refuse, run

pytest.importorskip("optuna")
pytest.importorskip("skops")

ROLES = ["--protected", "sex", "--target", "hired", "--ignore", "rating", "--ignore", "team", "--id", "person"]


@pytest.fixture(scope="module")
def people():
    frame = named_applicants()
    return frame.assign(stands_for=np.random.default_rng(3).integers(1, 9, len(frame)) * 250.0, twice=2.0)


@pytest.fixture(scope="module")
def table(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "people.csv"
    people.to_csv(path, index=False)
    return path


def audit(table, *arguments):
    with few_candidates():
        return ask("audit", table, *ROLES, *arguments, "--resamples", 20, "--jobs", 1)


@pytest.fixture(scope="module")
def weighted(table):
    return audit(table, "--weight", "stands_for", "--ignore", "twice")


def test_the_weight_is_no_attribute_and_the_evidence_names_it(weighted):
    assert "stands_for" not in [column["name"] for column in weighted["data"]["columns"]]
    assert weighted["data"]["weighted_by"] == "stands_for"
    assert "the certificate" in weighted["data"]["counted_once"]
    said = "weighted by 'stands_for', but count once in: how well the protected group is guessed"
    assert said in audit_text(weighted)
    assert "People are weighted by stands_for" in str(card(weighted, weighted["choices"]["balanced"]))


def test_the_measures_are_those_of_scikit_learn_with_these_weights(weighted, people):
    by_id = people.set_index("person")["stands_for"]
    check_measures(weighted, by_id.loc[weighted["people"]["ids"]].to_numpy(), rounding=5e-3)


def test_equal_weights_change_no_estimate_and_other_weights_do(table, weighted):
    plain = audit(table, "--ignore", "twice", "--ignore", "stands_for")
    equal = audit(table, "--weight", "twice", "--ignore", "stands_for")
    for one, other, different in zip(plain["points"], equal["points"], weighted["points"]):
        for name, found in one["test"].items():
            assert other["test"][name]["estimate"] == pytest.approx(found["estimate"], abs=2e-4)
        assert one["validation"] == pytest.approx(other["validation"], abs=2e-4)
        assert different["test"]["accuracy"]["estimate"] != one["test"]["accuracy"]["estimate"]
    assert "weighted_by" not in plain["data"]


def test_a_tuning_learns_and_judges_by_the_weights(table, tmp_path):
    out = tmp_path / "tuning.json"
    options = ["--trials", 2, "--estimator", "linear", "-o", out]
    with few_candidates():
        done = do("tune", table, *ROLES, "--weight", "stands_for", "--ignore", "twice", *options)
    found = json.loads(out.read_text())
    assert found["data"]["weighted_by"] == "stands_for"
    assert "people are weighted by 'stands_for'" in tuning_text(found)
    # It says nothing about the same people with other weights.
    done = run("audit", table, *ROLES, "--weight", "twice", "--ignore", "stands_for", "--tuning", out)
    assert "tuned on other records or roles" in done.output


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (["--consistent", 0.1], []),
        (
            ["-k", 3, "--restarts", 1, "--max-iter", 300, "--jobs", 1],
            [IFair(3, fairness_distance="euclidean", n_restarts=1, max_iter=300, random_state=0)],
        ),
    ],
    ids=["consistent decisions", "a representation"],
)
def test_models_are_learned_with_the_weights(table, people, tmp_path, options, steps):
    out = tmp_path / "model.ifair"
    done = do("fit", table, *ROLES, "--weight", "stands_for", "--ignore", "twice", *options, "-o", out)
    assert "people are weighted by 'stands_for'" in done.output
    about, model = ifair.inspect(out)["about"], ifair.load(out)
    assert about["roles"]["weight"] == about["data"]["weighted_by"] == "stands_for"
    X, weights = people[about["data"]["looks_at"]], people["stands_for"] / people["stands_for"].mean()
    ours = make_pipeline(Encoder(scale="attribute"), *steps, LogisticRegression(max_iter=2000))
    ours.fit(X, people["hired"], **{f"{name}__sample_weight": weights for name, _ in ours.steps[1:]})
    alone = model if steps else model.estimator_
    np.testing.assert_allclose(alone.predict_proba(X), ours.predict_proba(X), rtol=1e-5 if steps else 1e-6)


@pytest.mark.parametrize("verb", ["tune", "audit", "report", "fit"])
def test_weights_that_are_not_positive_numbers_are_named_by_their_rows(people, verb, tmp_path):
    bad = people["stands_for"].copy()
    bad.iloc[[2, 4, 6, 8]] = [0, np.nan, -1, np.inf]
    people.assign(stands_for=bad).to_csv(tmp_path / "people.csv", index=False)
    said = refuse(verb, tmp_path / "people.csv", *ROLES, "--weight", "stands_for", "-o", tmp_path / "out.ifair")
    assert "must hold positive numbers: row 3 holds 0.0; row 5 is empty; row 7 holds -1.0; and 1 more" in said


@pytest.mark.parametrize("word", ["nan", "n/a", "many"])
def test_a_weight_that_is_no_number_is_refused_as_a_weight(people, word, tmp_path):
    bad = people["stands_for"].astype(object)
    bad.iloc[2] = word
    people.assign(stands_for=bad).to_csv(tmp_path / "people.csv", index=False)
    said = refuse("fit", tmp_path / "people.csv", *ROLES, "--weight", "stands_for", "-o", tmp_path / "out.ifair")
    assert f"weight column 'stands_for' must hold positive numbers: row 3 holds {word}. Give everybody one" in said
    assert "--categorical" not in said


def test_a_table_in_python_has_weights_too_and_rankings_have_none(people):
    options = {"target": "hired", "protected": "sex", "ignore": ["person", "rating", "twice"]}
    found = from_table(people, weight="stands_for", **options)
    assert "stands_for" not in found.frame
    np.testing.assert_allclose(found.relative_weight, people["stands_for"] / people["stands_for"].mean())
    assert found.take(np.arange(5)).relative_weight.mean() == pytest.approx(1.0)
    with pytest.raises(IfairError, match="people in rankings"):
        from_table(people, weight="stands_for", query="team", **options)
    with pytest.raises(IfairError, match="both"):
        from_table(people, weight="stands_for", **{**options, "ignore": ["stands_for"]})


def test_a_model_that_cannot_weigh_people_says_so(table, tmp_path):
    more = ["--weight", "stands_for", "--ignore", "twice", "--estimator", "neighbours", "-o", tmp_path / "m.ifair"]
    assert "the model neighbours cannot weigh people" in refuse("fit", table, *ROLES, *more)
