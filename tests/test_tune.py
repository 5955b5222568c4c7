"""Fronts, volumes and rules, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.tune import RULES, choose, hypervolume, pareto_front

points = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=25)


@given(points)
def test_a_point_is_on_the_front_if_nobody_beats_it(values):
    expected = [not any(a >= x and b >= y and (a, b) != (x, y) for a, b in values) for x, y in values]
    assert pareto_front(values).tolist() == expected


@given(points)
def test_the_volume_is_the_number_of_cells_that_some_point_covers(values):
    covered = {(i, j) for x, y in values for i in range(2, x) for j in range(3, y)}
    assert hypervolume(values, (2, 3)) == pytest.approx(len(covered))


def test_points_that_are_no_numbers_are_never_chosen():
    assert pareto_front([[np.nan, 1.0], [0.5, 0.5]]).tolist() == [False, True]
    rows = [{"u": np.nan, "f": 1.0}, {"u": 0.5, "f": 0.5}]
    for rule in ("max utility", "optimal"):
        assert choose(rows, rule, utility="u", fairness="f") == 1


def test_the_three_rules_choose_by_utility_fairness_and_their_harmonic_mean():
    rows = [{"u": 0.9, "f": 0.1}, {"u": 0.6, "f": 0.6}, {"u": 0.2, "f": 0.95}]
    assert [choose(rows, rule, utility="u", fairness="f") for rule in RULES] == [0, 2, 1]


def test_nothing_to_choose_from_is_an_error():
    with pytest.raises(ValueError, match="no settings"):
        choose([], "optimal", utility="u", fairness="f")
