"""Minimum cuts: against all decisions, and against a maximum flow on the whole graph in whole numbers."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.core import cut
from ifair.core.edges import Edges, edges_of
from ifair.graph import neighbour_graph


def smallest_best_of_all(gains, edges, strength):
    """The intersection of all best decisions, in numbers that are exact."""
    decisions = np.array(list(itertools.product((0, 1), repeat=len(gains))))
    differ = np.abs(decisions[:, edges.first] - decisions[:, edges.second])
    value = decisions @ gains - differ @ (2 * strength * edges.weight)
    return decisions[value == value.max()].min(axis=0).astype(bool)


@st.composite
def problems(draw, most):
    """Gains, edges and strength in sixteenths, so that sums are exact and ties frequent."""
    n = draw(st.integers(1, most))
    possible = list(itertools.combinations(range(n), 2))
    pairs = draw(st.lists(st.sampled_from(possible), unique=True, max_size=3 * n)) if possible else []
    gains = draw(st.lists(st.integers(-16, 16), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 4), min_size=len(pairs), max_size=len(pairs)))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return np.array(gains) / 16, Edges(first, second, np.array(weight) / 4, n), draw(st.integers(0, 8)) / 8


@given(problem=problems(most=15))
def test_the_decision_is_the_smallest_best_of_all(problem):
    gains, edges, strength = problem
    expected = smallest_best_of_all(gains, edges, strength)
    np.testing.assert_array_equal(cut.best_decision(gains, edges, strength), expected)


@given(problem=problems(most=9))
def test_a_flow_alone_decides_alike_also_in_small_numbers(problem):
    gains, edges, strength = problem
    expected = smallest_best_of_all(gains, edges, strength)
    with pytest.MonkeyPatch.context() as patch:
        for largest in (2**30, 2**12):  # the second needs many rounds
            patch.setattr(cut, "LARGEST", largest)
            nobody, everyone = np.zeros(len(gains), dtype=bool), np.arange(len(gains))
            np.testing.assert_array_equal(cut.settle(gains, edges, strength, nobody, everyone), expected)


@pytest.mark.parametrize(("n", "strength"), [(500, 0.05), (600, 0.3), (2000, 0.2), (2000, 1.0)])
def test_decisions_are_those_of_a_flow_on_the_whole_graph_which_settles_few(n, strength, rng, monkeypatch):
    X = rng.normal(size=(n, 3))
    edges = edges_of(neighbour_graph(X), n)
    p = 1 / (1 + np.exp(-X[:, 0] - rng.normal(size=n)))
    sizes, settle = [], cut.settle
    monkeypatch.setattr(cut, "settle", lambda *given: sizes.append(len(given[-1])) or settle(*given))
    for gains in (p - 0.3, np.rint(1000 * (p - 0.5)) / 1000, rng.normal(size=n)):
        expected = settle(gains, edges, strength, np.zeros(n, dtype=bool), np.arange(n))
        np.testing.assert_array_equal(cut.best_decision(gains, edges, strength), expected)
    assert all(size < n for size in sizes)
    monkeypatch.setattr(cut, "GAPS", (0.3,))
    np.testing.assert_array_equal(cut.best_decision(gains, edges, strength), expected)
    assert sizes[-1] > 50 or strength < 0.2, "a rough solution leaves many undecided"


def test_whole_numbers_are_exact(rng):
    values = np.concatenate([rng.normal(size=20) * 10.0 ** rng.integers(-30, 30, size=20), [0.0, 1e-300, -3.0]])
    numbers = cut.whole_numbers(values)
    unit = Fraction(values[-1]) / int(numbers[-1])
    assert [Fraction(v) for v in values.tolist()] == [int(n) * unit for n in numbers]


def test_infinite_strength_decides_about_components_by_the_exact_sum():
    edges = Edges(np.array([0, 1, 3]), np.array([1, 2, 4]), np.ones(3), 6)
    gains = np.array([1e16, 1.0, -1e16, -0.5, 0.5, 0.1])
    np.testing.assert_array_equal(cut.best_decision(gains, edges, np.inf), [True, True, True, False, False, True])
