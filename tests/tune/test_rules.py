"""The paper's three rules."""

import numpy as np
import pytest

from ifair.tune import RULES, choose


def test_a_setting_that_measured_nothing_is_never_chosen():
    rows = [{"u": np.nan, "f": 1.0}, {"u": 0.5, "f": 0.5}]
    for rule in ("max utility", "optimal"):
        assert choose(rows, rule, utility="u", fairness="f") == 1


def test_the_three_rules_choose_by_utility_fairness_and_their_harmonic_mean():
    rows = [{"u": 0.9, "f": 0.1}, {"u": 0.6, "f": 0.6}, {"u": 0.2, "f": 0.95}]
    assert [choose(rows, rule, utility="u", fairness="f") for rule in RULES] == [0, 2, 1]


def test_nothing_to_choose_from_is_an_error():
    with pytest.raises(ValueError, match="no settings"):
        choose([], "optimal", utility="u", fairness="f")
