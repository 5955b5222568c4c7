"""One person against everybody: nobody who may be among the nearest is ruled out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ifair.core.nearest import to_ten_digits
from ifair.core.scan import GROUP, Scan, bound_nth

COLUMNS = np.array([0, 1, 1, 1, 2, 3, 3, 4])
"""A number, a category, a number of two values, a category, a number."""


def make_people(rng, n, *, gaps, far=0.0, spread=1.0):
    """Coordinates of numbers and categories as of a similarity, and who has a value."""
    people = np.zeros((n, len(COLUMNS)))
    people[:, [0, 7]] = far + spread * rng.normal(size=(n, 2)).round(1)
    people[np.arange(n), 1 + rng.integers(0, 3, size=n)] = 0.7
    people[:, 4] = far + rng.integers(0, 2, size=n)
    people[np.arange(n), 5 + rng.integers(0, 2, size=n)] = 1.1
    present = rng.random((n, 5)) >= gaps
    return people * present[:, COLUMNS], present


def squared_distances(query, has, people, present, gaps):
    """Attribute by attribute, as the distance is defined."""
    found = np.zeros(len(people))
    for attribute, gap in enumerate(gaps):
        own = attribute == COLUMNS
        difference = ((people[:, own] - query[own]) ** 2).sum(axis=1)
        found += np.where(has[attribute] & present[:, attribute], difference, gap)
    return to_ten_digits(found)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_people=st.integers(2, 200),
    share=st.sampled_from([0.0, 0.05, 0.5]),
    far=st.sampled_from([0.0, 1e3, -1e6]),
    spread=st.sampled_from([1e-4, 1.0, 1e5]),
    data=st.data(),
)
def test_all_who_are_as_near_as_the_nth_are_candidates(seed, n_people, share, far, spread, data):
    rng = np.random.default_rng(seed)
    people, present = make_people(rng, n_people, gaps=share, far=far, spread=spread)
    gaps = rng.random(5)
    n = data.draw(st.integers(1, n_people - 1))
    queries, known = make_people(rng, 3, gaps=share, far=far, spread=spread)
    scan = Scan.from_records(people, COLUMNS, present.astype(float), gaps)
    for query, has in zip(queries, known):
        squared = squared_distances(query, has, people, present, gaps)
        nearest = np.flatnonzero(squared <= np.sort(squared)[n - 1])
        assert set(nearest) <= set(scan.candidates(query, n, has))


def test_nearly_all_others_are_ruled_out(rng):
    people, present = make_people(rng, 5000, gaps=0.05)
    scan = Scan.from_records(people, COLUMNS, present, np.full(5, 0.3))
    query, has = people[7], present[7]
    squared = squared_distances(query, has, people, present, np.full(5, 0.3))
    as_near = np.count_nonzero(squared <= np.sort(squared)[9])
    assert len(scan.candidates(query, 10, has)) <= as_near + 5


def test_categories_are_looked_up_together_and_numbers_multiplied(rng):
    people, present = make_people(rng, 2000, gaps=0.1)
    scan = Scan.from_records(people, COLUMNS, present, np.ones(5))
    assert scan.plain.tolist() == [0, 4, 7]
    assert [len(table.parts) for table in scan.tables] == [2]
    # Three values and two, and a gap of either.
    assert scan.tables[0].size == 4 * 3


@pytest.mark.parametrize("size", [1e20, np.inf, np.nan])
def test_nobody_is_named_for_a_person_beyond_the_range(size, rng):
    scan = Scan.from_records(rng.normal(size=(50, 2)), np.arange(2))
    assert len(scan.candidates(np.array([size, 0.0]), 3)) == 0


@given(st.integers(1, 9), st.integers(61, 4000), st.integers(0, 99))
def test_the_bound_of_the_nth_is_hardly_beyond_it(n, size, seed):
    values = np.random.default_rng(seed).permutation(size).astype(np.float32)
    assert n - 1 <= bound_nth(values, n) <= (n - 1 if size // GROUP < 8 * n else 4 * n + size % GROUP)
