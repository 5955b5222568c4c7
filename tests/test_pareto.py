"""Fronts and volumes, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.tune import hypervolume, pareto_front

points = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=25)


@given(points)
def test_a_point_is_on_the_front_if_nobody_beats_it(values):
    expected = [not any(a >= x and b >= y and (a, b) != (x, y) for a, b in values) for x, y in values]
    assert pareto_front(values).tolist() == expected


@given(points)
def test_the_volume_is_the_number_of_cells_that_some_point_covers(values):
    covered = {(i, j) for x, y in values for i in range(2, x) for j in range(3, y)}
    assert hypervolume(values, (2, 3)) == pytest.approx(len(covered))


def test_points_that_are_no_numbers_are_never_on_the_front():
    assert pareto_front([[np.nan, 1.0], [0.5, 0.5]]).tolist() == [False, True]


@given(points)
def test_nothing_on_the_front_is_beaten_and_all_else_is(values):
    kept = pareto_front(values)
    front = [point for point, on in zip(values, kept) if on]
    for (x, y), on in zip(values, kept):
        assert any(a >= x and b >= y and (a, b) != (x, y) for a, b in front) != on


@given(points, points)
def test_more_points_never_take_volume_away(some, more):
    assert hypervolume(some + more, (0, 0)) >= hypervolume(some, (0, 0))


def test_the_volume_is_the_share_of_random_darts_that_some_point_beats(rng):
    values = rng.random((12, 2))
    darts = 0.3 + 0.7 * rng.random((40_000, 2))
    hit = (darts[:, None, :] < values[None, :, :]).all(axis=2).any(axis=1)
    expected, sd = 0.49 * hit.mean(), 0.49 * hit.std() / 200
    assert hypervolume(values, (0.3, 0.3)) == pytest.approx(expected, abs=5 * sd + 1e-9)


def test_a_staircase_counted_by_hand():
    # Slabs of 3 x 1, 2 x 1 and 1 x 2 above the reference point (1, 1); the last point lies below it.
    assert hypervolume([[4, 2], [3, 3], [2, 5], [0, 9]], [1, 1]) == pytest.approx(7)
