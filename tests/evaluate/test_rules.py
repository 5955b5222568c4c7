"""The three rules of choice."""

import numpy as np
import pytest

from ifair.evaluate.rules import RULES, choose, choose_row
from ifair.results import Choices


def test_the_three_rules_choose_by_utility_fairness_and_their_harmonic_mean_and_never_what_measured_nothing():
    rows = [{"u": 0.9, "f": 0.1}, {"u": 0.6, "f": 0.6}, {"u": 0.2, "f": 0.95}, {"u": np.nan, "f": 0.95}]
    assert [choose(rows, rule, utility="u", fairness="f") for rule in RULES] == [0, 2, 1]
    assert choose(rows[::-1], "most_useful", utility="u", fairness="f") == 3
    with pytest.raises(ValueError, match="no settings"):
        choose([], "balanced", utility="u", fairness="f")


def test_a_row_is_chosen_by_its_measures_on_validation():
    rows = [
        {"validation": {"AUC": 0.8, "yNN": 0.5}, "test": {"AUC": 0.1, "yNN": 0.9}},
        {"validation": {"AUC": 0.7, "yNN": 0.9}, "test": {"AUC": 0.9, "yNN": 0.1}},
    ]
    assert choose_row(rows, "most_useful", utility="AUC") is rows[0]
    assert choose_row(rows, "fairest", utility="AUC") is choose_row(rows, "balanced", utility="AUC") is rows[1]


def test_the_names_of_the_rules_are_those_in_the_files():
    assert list(Choices.__annotations__) == list(RULES) == ["most_useful", "fairest", "balanced"]
