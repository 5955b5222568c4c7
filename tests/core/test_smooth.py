"""Smoothing: closed forms and certificates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.core.cut import best_decision
from ifair.core.edges import Edges
from ifair.core.smooth import newcomer_absolute, newcomer_limit, newcomer_squared, smooth_absolute, smooth_squared


def random_edges(rng, n, n_edges, weights=None):
    pairs = np.sort(rng.integers(0, n, size=(n_edges, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0).reshape(-1, 2)
    weight = rng.uniform(0.01, 1.0, size=len(pairs)) if weights is None else rng.choice(weights, size=len(pairs))
    return Edges(pairs[:, 0], pairs[:, 1], weight, n)


def objective(s, p, edges, strength, power=1):
    differences = np.abs(s[edges.first] - s[edges.second]) ** power
    return 0.5 * np.sum((s - p) ** 2) + 2 * strength * np.sum(edges.weight * differences)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_gap_bounds_scores_and_how_far_below_the_objective_any_others_are(tol, rng):
    edges, p = random_edges(rng, 80, 300), rng.normal(size=80)
    exact = smooth_absolute(p, edges, 0.05, tol=1e-14, max_iter=20_000)
    found = smooth_absolute(p, edges, 0.05, tol=tol, max_iter=20_000)
    assert found.gap <= tol * found.objective
    assert found.objective - exact.objective <= found.gap + 1e-12
    assert np.sum((found.scores - exact.scores) ** 2) <= found.gap + 1e-12
    for _ in range(50):
        other = found.scores + rng.normal(size=80) * 10.0 ** rng.uniform(-6, 0)
        assert objective(other, p, edges, 0.05) >= found.objective - found.gap - 1e-12


def test_scores_are_those_of_minimum_cuts_at_all_thresholds(rng):
    p = rng.integers(0, 9, size=40) / 8
    edges = random_edges(rng, 40, 90, weights=[0.05, 0.1])
    exact = smooth_absolute(p, edges, 0.5, tol=1e-14, max_iter=20_000).scores
    levels = np.linspace(-0.03, 1.03, 107)
    above = np.array([best_decision(p - level, edges, 0.5) for level in levels])
    assert (above[1:] <= above[:-1]).all(), "sets at higher thresholds are contained in those at lower ones"
    step = levels[1] - levels[0]
    np.testing.assert_allclose(levels[0] + step * (above.sum(axis=0) - 0.5), exact, atol=0.51 * step)


def test_squared_differences_agree_with_a_dense_solve(rng):
    edges, p = random_edges(rng, 70, 250), rng.normal(size=70)
    W = np.zeros((70, 70))
    W[edges.first, edges.second] = W[edges.second, edges.first] = edges.weight
    laplacian = np.diag(W.sum(axis=1)) - W
    expected = np.linalg.solve(np.eye(70) + 4 * 0.3 * laplacian, p)
    found = smooth_squared(p, edges, 0.3, tol=1e-20, max_iter=1000)
    np.testing.assert_allclose(found.scores, expected, atol=1e-9)
    rough = smooth_squared(p, edges, 0.3, tol=1e-2, max_iter=1000)
    least = objective(expected, p, edges, 0.3, power=2)
    assert rough.objective == pytest.approx(objective(rough.scores, p, edges, 0.3, power=2))
    assert -1e-12 <= rough.objective - least <= rough.gap


def test_a_dual_solution_is_a_good_start(rng):
    edges, p = random_edges(rng, 300, 1500), rng.normal(size=300)
    first = smooth_absolute(p, edges, 0.1, tol=1e-8, max_iter=5000)
    assert smooth_absolute(p, edges, 0.1, tol=1e-8, max_iter=5000, start=first.dual).n_iter == 0


def test_hubs_do_not_stop_the_steps_from_converging(rng):
    spokes = np.arange(1, 4000)
    edges = Edges(np.zeros(3999, dtype=np.intp), spokes, rng.uniform(0.05, 0.1, 3999), 4000)
    assert smooth_absolute(rng.random(4000), edges, 0.2, tol=1e-6, max_iter=3000).converged


numbers = st.integers(-16, 16).map(lambda i: i / 16)


@given(p=numbers, near=st.lists(numbers, min_size=1, max_size=6), data=st.data())
def test_a_newcomer_gets_the_minimiser(p, near, data):
    pull = data.draw(st.lists(st.sampled_from([0.0, 0.0625, 0.125, 0.5]), min_size=len(near), max_size=len(near)))
    near, pull = np.array([near]), np.array([pull])
    for rule, power in ((newcomer_absolute, 1), (newcomer_squared, 2)):
        found = rule(np.array([p]), near, pull)[0]
        grid = np.linspace(-2, 2, 513)
        values = 0.5 * (grid - p) ** 2 + (pull * np.abs(grid[:, None] - near) ** power).sum(axis=1)
        value = 0.5 * (found - p) ** 2 + (pull * np.abs(found - near) ** power).sum()
        assert value <= values.min() + 1e-12


def test_a_newcomer_under_infinite_strength_gets_the_nearest_median():
    p, near = np.array([0.9, 0.0, 0.35, 0.5]), np.array([[0.4, 0.3, 0.1, 0.8]] * 4)
    np.testing.assert_allclose(newcomer_limit(p, near, np.ones((4, 4)), "absolute"), [0.4, 0.3, 0.35, 0.4])
    np.testing.assert_allclose(newcomer_limit(p, near, np.ones((4, 4)), "squared"), 0.4)
    np.testing.assert_array_equal(newcomer_limit(p, near, np.zeros((4, 4)), "absolute"), p)
    strong = newcomer_absolute(p, near, np.full((4, 4), 1e6))
    np.testing.assert_allclose(newcomer_limit(p, near, np.ones((4, 4)), "absolute"), strong, atol=1e-9)
