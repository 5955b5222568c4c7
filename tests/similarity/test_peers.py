"""Peers are searched for once where several models compare the same people."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ifair import Similarity
from ifair.similarity import peers as searching
from ifair.similarity.peers import Peers, Points, find_peers, share_searches


def people(rng, n, *, gaps=False):
    present = rng.random((n, 3)) > (0.3 if gaps else 0.0)
    return Points.from_coordinates(rng.normal(size=(n, 3)) * present, present, np.full(3, 0.5), np.arange(3))


@pytest.mark.parametrize("gaps", [False, True])
def test_shared_searches_find_what_every_search_finds(rng, monkeypatch, gaps):
    one, two = people(rng, 30, gaps=gaps), people(rng, 20, gaps=gaps)
    query = np.arange(30) % 2
    cases = [(one, None, 5), (one, None, 3), (one, two, 3), (two, one, 3), (one, one, 3), (one, None, 3, query)]
    expected = [find_peers(*case) for case in cases]
    asked = []
    search = searching._find_peers
    monkeypatch.setattr(searching, "_find_peers", lambda *case: asked.append(case) or search(*case))
    with share_searches({}):
        found = [find_peers(*case) for _ in range(2) for case in cases]
    for a, b in zip([*expected, *expected], found, strict=True):
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.distances, b.distances)
    # Three of five are among five; everything else is a search of its own, once.
    assert len(asked) == 5
    # Without sharing every search is made.
    for _ in range(2):
        find_peers(one, None, 5)
    assert len(asked) == 7


def make_table(rng, n, gap):
    """Rounded numbers and few categories, so that many are equally far; newcomers may have a category of their own."""
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n).astype(float),
            "pay": rng.lognormal(size=n).round(1),
            "trade": rng.choice(list("abcde"), n).astype(object),
            "region": rng.choice(["n", "s"], n).astype(object),
        }
    )
    return table.mask(rng.random(table.shape) < gap)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), gap=st.sampled_from([0.0, 0.02, 0.3]), whole=st.booleans(), k=st.integers(1, 12))
def test_newcomers_one_at_a_time_find_those_that_they_find_together(seed, gap, whole, k):
    rng = np.random.default_rng(seed)
    reference, newcomers = make_table(rng, 200, gap), make_table(rng, 9, 0.0 if whole else 0.2)
    alike = Similarity(n_neighbors=k, caliper=None).fit(reference)
    there = alike.embed(reference)
    distances = alike.distances(newcomers, reference)
    together = alike.neighbours(newcomers, there)
    for i in range(len(newcomers)):
        alone = alike.neighbours(newcomers.iloc[[i]], there)
        np.testing.assert_array_equal(alone.indices[0], together.indices[i])
        np.testing.assert_array_equal(alone.distances[0], together.distances[i])
        np.testing.assert_allclose(alone.distances[0], np.sort(distances[i])[:k], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("reach", "within"), [(0.5, [True, True, False]), (1e300, [True, True, True])])
def test_a_reach_of_any_size_is_compared_with_distances_in_any_precision(dtype, reach, within):
    found = Peers(np.array([[1, 2, 3]]), np.array([[0.25, 0.5, 3.0]], dtype=dtype)).within(reach)
    assert (found.indices[0] >= 0).tolist() == within
