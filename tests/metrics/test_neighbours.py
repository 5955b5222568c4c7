"""The neighbour search: exact against brute force, whatever the scale, the ties and the copies."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import must_raise

from ifair import metrics
from ifair.errors import IfairError
from ifair.graph import neighbour_graph
from ifair.metrics import nearest_neighbours


def brute_force(X, k):
    """All distances of each record, sorted; equal to ten digits means the lower row number first."""
    X = X / (np.abs(X).max() or 1)
    found = []
    for i, x in enumerate(X):
        squares = ((X - x) ** 2).sum(axis=1)
        mantissa, exponent = np.frexp(squares)
        squares = np.ldexp(np.rint(mantissa * 2.0**36), exponent)
        squares[i] = np.inf
        found.append(np.argsort(squares, kind="stable")[:k])
    return np.array(found)


def tables(rng):
    """Beside those of tests/core/test_nearest.py."""
    centres = rng.normal(size=(3, 4)) * 1e5
    return {
        "one-hot": np.eye(9)[rng.integers(0, 9, 300)],
        "far from zero": 1e7 + rng.normal(size=(400, 5)),
        "tight clusters far apart": np.repeat(centres, 150, axis=0) + 1e-3 * rng.normal(size=(450, 4)),
        "columns of different scale": rng.normal(size=(300, 3)) * [1e-6, 1, 1e6],
        "huge": rng.normal(size=(300, 3)) * 1e180,
        "minute": rng.normal(size=(300, 3)) * 1e-150,
        "sorted": np.sort(rng.normal(size=(500, 1)), axis=0),
        "barely enough": rng.normal(size=(11, 3)),
    }


@pytest.mark.parametrize("name", tables(np.random.default_rng(0)))
@pytest.mark.parametrize("k", [1, 10])
def test_neighbours_are_those_of_brute_force(name, k, rng):
    X = tables(rng)[name]
    np.testing.assert_array_equal(nearest_neighbours(X, k), brute_force(X, k))


small = arrays(np.float64, st.tuples(st.integers(3, 25), st.integers(1, 4)), elements=st.integers(-3, 3).map(float))


@given(X=small, k=st.integers(1, 5), seed=st.integers(0, 99))
def test_ties_go_to_the_lowest_row_and_the_order_of_columns_changes_nothing(X, k, seed):
    k = min(k, len(X) - 1)
    np.testing.assert_array_equal(nearest_neighbours(X, k), brute_force(X, k))
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_array_equal(nearest_neighbours(X[:, columns] / 3, k), nearest_neighbours(X / 3, k))


def test_frames_single_precision_and_negative_zeros_are_welcome_and_what_has_no_neighbours_is_refused(rng):
    assert nearest_neighbours([[0.0], [-0.0], [1.0]], k=1).tolist() == [[1], [0], [0]]
    X = rng.normal(size=(50, 3)).astype(np.float32)
    np.testing.assert_array_equal(nearest_neighbours(pd.DataFrame(X), 3), nearest_neighbours(X.astype(float), 3))
    for k in (0, 2):
        must_raise(ValueError, "k must be at least 1 and less than", nearest_neighbours, [[1.0], [2.0]], k)
    must_raise(ValueError, "X holds missing", nearest_neighbours, [[np.nan], [1.0]], 1)
    must_raise(ValueError, "X must hold numbers", nearest_neighbours, [["a"], ["b"]], 1)


@pytest.mark.parametrize(
    "measure",
    [
        metrics.consistency,
        metrics.consistency_per_person,
        metrics.consistency_interval,
        metrics.corrected_consistency,
        metrics.rank_consistency,
        metrics.treatment,
        lambda y, neighbours: metrics.consistency_at_rate(y, rate=0.5, neighbours=neighbours),
        lambda y, neighbours: neighbour_graph(neighbours=neighbours),
    ],
    ids=["consistency", "per person", "interval", "corrected", "ranks", "treatment", "at a rate", "graph"],
)
def test_nobody_is_their_own_neighbour_in_any_measure(measure):
    y, near = np.array([1, 0, 1, 0]), np.array([[1, 2], [2, -1], [3, 2], [0, 1]])
    with pytest.raises(IfairError, match=r"of row 2 name that row itself \(1 of 4 rows do\).*kneighbors\(\)"):
        measure(y, neighbours=near)
    near[2, 1] = 0
    measure(y, neighbours=near)
