"""More than two classes: learned, represented and decided; judged one against the others."""

import numpy as np
import pandas as pd
import pytest

import ifair

from scripts import ask, do, refuse

pytest.importorskip("skops")

ROLES = ["--protected", "sex", "--protected", "age", "--id", "person", "--ignore", "team", "--ignore", "rating"]
ROLES += ["--ignore", "hired", "--target", "grade"]
FAST = ["-k", "3", "--restarts", "1", "--max-iter", "50", "--jobs", "1"]


@pytest.fixture(scope="module")
def graded(applicants, tmp_path_factory):
    """A table with three grades."""
    path = tmp_path_factory.mktemp("graded") / "people.csv"
    grades = pd.qcut(applicants["rating"], 3, labels=["low", "middle", "high"])
    applicants.assign(grade=grades).to_csv(path, index=False)
    return path


def fit(graded, name, *arguments):
    done = do("fit", graded, *ROLES, *arguments, "-o", graded.parent / name)
    assert "of 3 classes (high, low, middle)" in done.stdout
    assert "classes: high, low, middle" in do("inspect", graded.parent / name).stdout
    return graded.parent / name


@pytest.fixture(scope="module")
def consistent(graded):
    return fit(graded, "consistent.ifair", "--consistent", 0.1)


@pytest.fixture(scope="module")
def representation(graded):
    return fit(graded, "fair.ifair", *FAST)


@pytest.mark.parametrize(("peers", "method"), [("batch", "scores"), ("training", "predict_proba")])
def test_consistent_decisions_of_several_classes_are_those_of_the_library(graded, consistent, tmp_path, peers, method):
    facts = ask("decide", graded, "--model", consistent, "--peers", peers, "-o", tmp_path / "out.csv")
    found, people = pd.read_csv(tmp_path / "out.csv", dtype={"person": str}), pd.read_csv(graded)
    model = ifair.load(consistent)
    scores = getattr(model, method)(people[list(model.feature_names_in_)])
    alone = model.estimator_.predict(people[list(model.feature_names_in_)])
    assert found["decision"].tolist() == model.classes_[scores.argmax(axis=1)].tolist()
    np.testing.assert_allclose(found[[f"score_{name}" for name in model.classes_]], scores)
    np.testing.assert_allclose(found["score"], scores.max(axis=1))
    assert found["model_decision"].tolist() == alone.tolist()
    np.testing.assert_array_equal(found["changed"], found["decision"] != alone)
    assert facts["classes"] == found["decision"].value_counts().to_dict()
    assert facts["changed"] == found["changed"].sum() > 0


@pytest.mark.parametrize("which", ["consistent", "representation"])
def test_newcomers_get_the_class_of_the_model_and_its_probability(graded, which, request, tmp_path):
    model = request.getfixturevalue(which)
    do("transform", model, graded, "--decide", "-o", tmp_path / "out.csv")
    found, people, loaded = pd.read_csv(tmp_path / "out.csv"), pd.read_csv(graded), ifair.load(model)
    frame = people[list(loaded.feature_names_in_)]
    assert found["decision"].tolist() == loaded.predict(frame).tolist()
    np.testing.assert_allclose(found["score"], loaded.predict_proba(frame).max(axis=1))
    # On a representation no peers are asked.
    done = do("decide", graded, "--model", model, "-o", tmp_path / "out.csv")
    assert ("; 0 decisions differ from the model's own" in done.stdout) == (which == "representation")


@pytest.mark.parametrize("wanted", [("--rate", 0.2), ("--n", 3), ("--threshold", 0.5)])
def test_nobody_is_selected_among_several_classes(graded, consistent, tmp_path, wanted):
    said = refuse("decide", graded, "--model", consistent, *wanted, "-o", tmp_path / "out.csv", code=2)
    assert f"{wanted[0]} selects people, and this model names one of 3 classes for each" in said
    if wanted[0] != "--n":
        said = refuse("fit", graded, *ROLES, "--consistent", 0.1, *wanted, "-o", tmp_path / "m.ifair", code=2)
        assert "'grade' has 3 classes: leave it out, or judge one class against all others" in said


@pytest.mark.parametrize("verb", ["tune", "audit", "report"])
def test_verbs_that_judge_name_the_way_to_judge_one_class(graded, verb, tmp_path):
    said = refuse(verb, graded, *ROLES, "-o", tmp_path / "out.json")
    assert "say which one is positive, against all others, such as --positive" in said
