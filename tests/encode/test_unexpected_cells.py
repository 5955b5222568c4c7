"""What new records hold that an encoder did not learn."""

import numpy as np
import pandas as pd
import pytest

from ifair import Encoder
from ifair.encode.unexpected_cells import (
    Cell,
    find_far_numbers,
    find_new_categories,
    find_unreadable_cells,
    list_column_contents,
)


@pytest.fixture
def encoder():
    people = pd.DataFrame({"age": [20, 30, 40], "job": ["clerk", "nurse", None], "owns": [True, False, True]})
    return Encoder(min_frequency=None).fit(people)


@pytest.mark.parametrize(
    ("age", "owns", "expected"),
    [
        ([1.5], True, []),
        (["20", None, "old", "x"], ["True", "false", None, "maybe"], [Cell("age", 2, "old"), Cell("owns", 3, "maybe")]),
        ([20, None, float("-inf")], True, [Cell("age", 2, float("-inf"))]),
    ],
)
def test_the_first_cell_of_a_column_that_cannot_be_read_is_named(encoder, age, owns, expected):
    new = pd.DataFrame({"age": age, "job": "clerk", "owns": owns})
    assert list_column_contents(encoder) == {"age": "numbers", "job": "text", "owns": "booleans"}
    assert find_unreadable_cells(encoder, new) == expected
    assert find_new_categories(encoder, new) == []


def test_new_categories_are_named_with_their_first_row_and_counted(encoder):
    new = pd.DataFrame({"age": 1, "job": ["clerk", "pilot", None, "pilot", "actor"], "owns": True})
    assert find_new_categories(encoder, new) == [(Cell("job", 1, "pilot"), 2), (Cell("job", 4, "actor"), 1)]
    assert find_new_categories(encoder, new.astype({"job": "category"})) == find_new_categories(encoder, new)


def test_cells_are_shown_as_python_writes_them():
    codes = Encoder(categorical=["code"]).fit(pd.DataFrame({"code": [1, 2, 2], "x": [0.5, 1.0, 2.0]}))
    new = pd.DataFrame({"code": [1, 7, 7], "x": [0.5, float("inf"), 1.0]})
    (((_, _, code), _),) = find_new_categories(codes, new)
    ((_, _, endless),) = find_unreadable_cells(codes, new)
    assert (repr(code), repr(endless)) == ("7", "inf")


def test_categories_that_were_lumped_are_not_new_and_numbers_have_none():
    jobs, ages = pd.DataFrame({"job": ["clerk"] * 5 + ["nurse"] * 5 + ["pilot"]}), pd.DataFrame({"age": [20, 30]})
    assert find_new_categories(Encoder(min_frequency=2).fit(jobs), jobs) == []
    assert find_new_categories(Encoder().fit(ages), ages) == []


@pytest.mark.parametrize("scale", ["unit-variance", "attribute", "numeric"])
def test_numbers_far_from_those_learned_from_are_counted_with_the_furthest_and_what_was_learned(rng, scale):
    people = pd.DataFrame(
        {"age": rng.normal(40, 10, 200), "job": ["clerk", "nurse"] * 100, "home": [True, False] * 100}
    )
    encoder = Encoder(scale=scale).fit(people)
    assert find_far_numbers(encoder, people) == []
    new = people.head(6).assign(age=[400_000.0, 41.0, -999_999.0, np.nan, 20.0, 75.0])
    (far,) = find_far_numbers(encoder, new)
    assert (far.people, far.furthest) == (2, Cell("age", 2, -999_999.0))
    assert (far.mean, far.spread) == (pytest.approx(40, abs=3), pytest.approx(10, abs=3))
    assert far.distance == pytest.approx((far.mean + 999_999) / far.spread)
    assert find_far_numbers(Encoder(scale="none").fit(people), new) == []
