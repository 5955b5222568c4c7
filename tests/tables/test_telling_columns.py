"""Columns that tell a protected one, or the outcome, (nearly) by themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from ifair.tables.telling_columns import warn_of_copies


def _mixed(n, share=0.4):
    return np.random.default_rng(1).random(n) < share


COPIES = {
    "another name": (np.where(_mixed(200), "F", "M"), "'sex' of all 200 people"),
    "finer, with gaps": (np.where(np.arange(200) % 9 == 0, None, np.where(_mixed(200), "Mrs", "Mr")), "who have both"),
    "one slip": (_mixed(200) ^ (np.arange(200) == 7), "'sex' of 199 of 200 people"),
    "four slips": (_mixed(200) ^ (np.arange(200) % 50 == 7), None),
    "half of one group": (np.where(_mixed(200, 0.2), "Wife", "other"), None),
    "an id": (np.arange(200), None),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_column_that_tells_a_protected_one_or_the_target_is_named(name):
    values, words = COPIES[name]
    people = pd.DataFrame({"sex": np.where(_mixed(200), "female", "male"), "copy": pd.Series(values, dtype=object)})
    for told, advice in ((["sex"], "protected=['copy']"), ([], "models look far better")):
        lines = warn_of_copies(people, ["copy"], told, None if told else "sex")
        said = "nearly by itself (AUC 0.97" if name == "four slips" and not told else words
        assert len(lines) == (said is not None)
        assert all(said in line and advice in line and "ignore=['copy']" in line for line in lines)


def test_a_copy_in_a_tiny_table_or_of_what_nearly_everybody_has_is_no_news():
    few = pd.DataFrame({"sex": ["f", "m"] * 8, "copy": [1, 0] * 8})
    one_sided = pd.DataFrame({"sex": ["f"] * 9 + ["m"] * 991, "copy": 0})
    assert warn_of_copies(few, ["copy"], ["sex"], None) == warn_of_copies(one_sided, ["copy"], ["sex"], None) == []


def test_a_number_in_step_with_the_target_is_named(rng):
    income = rng.lognormal(10, 0.5, 300)
    people = pd.DataFrame({"income": income, "in cents": 100 * income, "rent": income * rng.uniform(0.9, 1.1, 300)})
    lines = warn_of_copies(people, ["in cents", "rent"], [], "income")
    assert [line.split("'")[1] for line in lines] == ["in cents"]


def test_a_column_that_nearly_ranks_people_by_the_target_is_named(rng):
    hired = np.arange(1500) % 4 == 0
    people = pd.DataFrame({"hired": np.where(hired, "yes", "no"), "signed": hired ^ (rng.random(1500) < 0.02)})
    people["points"] = np.where(hired, rng.normal(3.0, 1.0, 1500), rng.normal(0.0, 1.0, 1500))
    people["losses"] = -people["points"]
    people["grade"] = rng.integers(0, 5, 1500) + 2 * hired  # tells much, and may well be true
    people["few"] = np.where(np.arange(1500) < 600, people["points"], np.nan)
    columns = ["signed", "points", "losses", "grade", "few"]
    lines = warn_of_copies(people, columns, [], "hired")
    assert [line.split("'")[1] for line in lines] == ["signed", "points", "losses"]
    for line, column in zip(lines, (people["signed"], people["points"], people["points"])):
        told = float(line.partition("(AUC ")[2][:5])
        assert told == pytest.approx(roc_auc_score(hired, column), abs=0.006 if "signed" in line else 0.0006)
    assert warn_of_copies(people, columns, ["hired"], None) == []


def test_a_column_that_is_filled_for_one_outcome_only_is_named(rng):
    hired = np.arange(400) % 4 == 0
    people = pd.DataFrame({"hired": hired, "salary": np.where(hired, rng.normal(50, 9, 400), np.nan)})
    people["left"] = np.where(hired, None, "resigned")
    people["some gaps"] = np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400))
    lines = warn_of_copies(people, ["salary", "left", "some gaps"], [], "hired")
    assert [line.split("'")[1] for line in lines] == ["salary", "left"]
    assert all("by whether it is empty (AUC 1.000)" in line for line in lines)


def test_many_values_do_not_tell_a_rare_outcome_by_chance(rng):
    rare = np.arange(2000) % 140 == 0
    people = pd.DataFrame({"fraud": rare, "branch": [f"b{i}" for i in rng.integers(0, 190, 2000)]})
    assert warn_of_copies(people, ["branch"], [], "fraud") == []


def test_every_column_is_looked_through_once_however_many_it_may_tell(monkeypatch):
    factorize, seen = pd.factorize, []
    monkeypatch.setattr(pd, "factorize", lambda values: seen.append(getattr(values, "name", None)) or factorize(values))
    people = pd.DataFrame({name: np.arange(100) % size for name, size in zip("abcde", (2, 3, 5, 7, 4))})
    warn_of_copies(people, ["a", "b", "c", "d"], ["a", "b"], "e")
    assert sorted(filter(None, seen)) == ["a", "b", "c", "d", "e"]
