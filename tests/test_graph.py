"""The public functions of ifair.graph: what is in the graph, what smoothing leaves, who is chosen."""

import sys

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ifair.errors import MissingExtra
from ifair.graph import (
    NeighbourIndex,
    minimum_cut,
    neighbour_graph,
    newcomer_scores,
    select,
    smooth,
    smooth_with_certificate,
)
from ifair.metrics import consistency, nearest_neighbours


@pytest.fixture
def people(rng):
    return np.hstack([rng.normal(size=(400, 3)).round(1), rng.integers(0, 2, size=(400, 2))])


@pytest.fixture
def graph(people):
    return neighbour_graph(people)


@pytest.fixture
def scores(people, rng):
    return 1 / (1 + np.exp(-people[:, 0] - rng.normal(size=400)))


# The graph


def test_the_graph_is_that_of_the_nearest_neighbours_and_its_penalty_is_what_yNN_lacks(people, graph, rng):
    found = nearest_neighbours(people, 10)
    A = np.zeros((400, 400))
    np.put_along_axis(A, found, 1.0, axis=1)
    assert graph.format == "csr"
    assert graph.has_sorted_indices
    np.testing.assert_array_equal(graph.toarray(), (A + A.T) / 20)
    for other in (neighbour_graph(pd.DataFrame(people)), neighbour_graph(neighbours=found)):
        assert abs(other - graph).max() == 0
    found[5] = -1
    assert neighbour_graph(neighbours=found).sum() == pytest.approx(graph.sum() - 1)
    y = rng.integers(0, 2, size=400)
    row, column = graph.nonzero()
    penalty = (graph[row, column] * np.abs(y[row] - y[column])).sum()
    assert penalty == pytest.approx(400 * (1 - consistency(y, people)))


def test_copies_are_neighbours_nobody_is_their_own_and_who_has_nobody_in_reach_is_isolated():
    W = neighbour_graph([[0.0], [0.0], [0.0], [7.0]], n_neighbors=2).toarray()
    np.testing.assert_array_equal(np.diag(W), 0)
    np.testing.assert_array_equal(W[:3, :3], 0.5 * (1 - np.eye(3)))
    np.testing.assert_array_equal(W[3], [0.25, 0.25, 0, 0])
    X = [[0.0], [1.0], [2.0], [50.0]]
    W = neighbour_graph(X, n_neighbors=2, reach=1.0).toarray()
    assert (W[3] == 0).all()
    np.testing.assert_array_equal(W[0], [0, 0.5, 0, 0])  # at exactly the reach
    assert neighbour_graph(X, n_neighbors=2, reach=0.5).nnz == 0


def test_edges_stay_within_queries_and_columns_count_by_their_weights(people):
    query = np.repeat(["a", "b", "c"], [390, 9, 1])
    W = neighbour_graph(people, query=query)
    row, column = W.nonzero()
    assert (query[row] == query[column]).all()
    np.testing.assert_array_equal(W[:390, :390].toarray(), neighbour_graph(people[:390]).toarray())
    assert W[390:399, 390:399].nnz == 72, "in a short query everybody is a neighbour"
    assert W[399:].nnz == 0
    weights = [4.0, 1.0, 0.0, 1.0, 0.25]
    by_hand = neighbour_graph(people * np.sqrt(weights))
    assert abs(neighbour_graph(people, weights=weights) - by_hand).max() == 0


FEW = "n_neighbors must be at least 1 and less than the number of people, 3"


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        *(([[0.0], [1.0], [2.0]], {"n_neighbors": k}, FEW) for k in (0, 3, 10)),
        ([[0.0], [1.0]], {"weights": [1.0, 1.0]}, "one per column"),
        ([[0.0], [np.nan]], {"n_neighbors": 1}, "X holds missing"),
        (pd.DataFrame({"income": ["low", "high"]}), {}, "X must hold numbers: column 'income'; encode the table first"),
        (pd.DataFrame({"income": [1.0, None]}), {}, "values: column 'income'; encode the table first"),
        (None, {"neighbours": [[7]]}, "row numbers"),
    ],
)
def test_what_makes_no_graph_is_refused(X, options, message):
    must_raise(ValueError, message, neighbour_graph, X, **options)


def test_an_index_finds_what_the_graph_is_made_of(people):
    index, distance = NeighbourIndex(people).nearest(people, 1)
    np.testing.assert_array_equal(distance, 0)
    np.testing.assert_array_equal(people[index[:, 0]], people)
    beyond = NeighbourIndex(people, reach=0.1).nearest(people + 100.0, 2)
    assert (beyond[0] == -1).all()
    assert np.isinf(beyond[1]).all()
    with pytest.raises(ValueError, match="n_neighbors must be from 1 to the size of the reference, 400"):
        NeighbourIndex(people).nearest(people, 401)
    must_raise(ValueError, "X has 1 columns that count, and the reference 5", NeighbourIndex(people).nearest, [[0.0]])


# Smoothing


@pytest.mark.parametrize("penalty", ["absolute", "squared"])
def test_no_strength_changes_nothing_and_infinite_strength_leaves_the_mean_of_components(
    penalty,
):
    W = neighbour_graph([[0.0], [1.0], [1.5], [20.0], [21.0], [90.0]], n_neighbors=1, reach=5.0)
    p = np.array([0.1, 0.2, 0.6, 0.3, 0.9, 1 / 3])
    found = smooth_with_certificate(p, W, 0, penalty)
    assert (found.scores == p).all()
    assert found.scores is not p
    assert found.gap == 0
    found = smooth(p, W, np.inf, penalty)
    np.testing.assert_allclose(found, [0.3, 0.3, 0.3, 0.6, 0.6, 1 / 3])
    assert found[5] == smooth(p, W, 0.5, penalty)[5] == p[5]
    np.testing.assert_allclose(smooth(p, W, 1e4, penalty, tol=1e-12), found, atol=1e-3)
    np.testing.assert_array_equal(smooth(p, sparse.csr_array((6, 6)), 0.5, penalty), p)


def test_the_certificate_holds_and_smoothed_scores_keep_their_mean_and_range(graph, scores):
    exact = smooth(scores, graph, 0.2, tol=1e-13)
    assert exact.mean() == pytest.approx(scores.mean())
    assert scores.min() <= exact.min()
    assert exact.max() <= scores.max()
    for tol in (1e-2, 1e-5):
        found = smooth_with_certificate(scores, graph, 0.2, tol=tol)
        assert found.converged
        assert found.relative_gap <= tol
        assert np.abs(found.scores - exact).max() <= found.error
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        smooth(scores, graph, 1.0, tol=1e-12, max_iter=5)


def test_columns_are_smoothed_one_by_one(graph, scores):
    both = np.column_stack([scores, 1 - scores])
    found = smooth(both, graph, 0.2)
    np.testing.assert_array_equal(found[:, 0], smooth(scores, graph, 0.2))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    assert smooth(both, graph, np.inf).shape == both.shape


def test_what_cannot_be_smoothed_is_refused(graph, scores):
    must_raise(ValueError, "penalty must be one of", smooth, scores, graph, 0.1, "cubic")
    must_raise(ValueError, "strength must be", smooth, scores, graph, -1)
    must_raise(ValueError, r"shape \(7, 7\)", smooth, scores[:7], graph, 1)
    must_raise(ValueError, "symmetric", smooth, scores, sparse.triu(graph), 1)
    must_raise(ValueError, "not negative", smooth, scores, -graph, 1)
    must_raise(ValueError, "scores holds missing", smooth, np.full(400, np.nan), graph, 1)


# Decisions


def test_a_cut_chooses_who_gains_without_strength_and_whole_components_with_infinite_strength(graph, scores):
    np.testing.assert_array_equal(minimum_cut(scores - 0.5, graph, 0), scores > 0.5)
    W = neighbour_graph([[0.0], [1.0], [20.0], [21.0]], n_neighbors=1)
    np.testing.assert_array_equal(minimum_cut([0.5, -0.4, -0.5, 0.5], W, np.inf), [True, True, False, False])


FIVE, FOUR = [0.9, 0.5, 0.5, 0.5, 0.1], [0.9, 0.5 + 1e-7, 0.5, 0.1]


@pytest.mark.parametrize(
    ("scores", "wanted", "chosen", "tied", "threshold"),
    [
        (FIVE, {"n": 2, "priority": [0, 0, 0, 1, 0]}, [1, 0, 0, 1, 0], [0, 1, 1, 1, 0], 0.5),
        (FIVE, {"rate": 0.8}, [1, 1, 1, 1, 0], [0, 0, 0, 0, 0], 0.3),
        (FOUR, {"n": 2}, [1, 1, 0, 0], [0, 0, 0, 0], 0.5 + 5e-8),
        (FOUR, {"n": 2, "tolerance": 1e-6, "priority": [0, 1, 2, 0]}, [1, 0, 1, 0], [0, 1, 1, 0], 0.5 + 1e-7),
        ([0.2, 0.5, 0.8], {"threshold": 0.5}, [0, 0, 1], [0, 1, 0], 0.5),
        ([0.1, 0.2], {"n": 0}, [0, 0], [0, 0], 0.2),
        ([0.1, 0.2], {"rate": 1.0}, [1, 1], [0, 0], -np.inf),
    ],
)
def test_just_so_many_places_are_given_and_ties_within_the_tolerance_are_told(scores, wanted, chosen, tied, threshold):
    selection = select(np.array(scores), **wanted)
    np.testing.assert_array_equal(selection.chosen, np.array(chosen, dtype=bool))
    np.testing.assert_array_equal(selection.tied, np.array(tied, dtype=bool))
    assert selection.threshold == pytest.approx(threshold, abs=1e-12)


WRONG = [{}, {"n": 1, "rate": 0.5}, {"n": 3}, {"n": 0.5}, {"rate": 1.5}, {"n": 1, "priority": [1.0]}]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_one_possible_wish_about_people_with_one_score_each_is_needed(wrong):
    must_raise(ValueError, r"exactly one of|must be", select, [0.2, 0.2], **wrong)
    must_raise(ValueError, "scores must be one-dimensional", select, [[0.1, 0.2]], n=1)


@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3])
def test_the_number_of_places_holds_with_any_ties(n, tolerance, rng):
    scores = rng.integers(0, 5, size=9) / 5 + rng.uniform(0, 0.04, size=9)
    assert select(scores, n=n, tolerance=tolerance).chosen.sum() == n


# Newcomers


@pytest.mark.parametrize("penalty", ["absolute", "squared"])
def test_newcomers_with_nobody_in_reach_keep_their_scores(penalty):
    p = np.array([0.3, 0.7])
    unknown = np.full((2, 3), np.nan)
    for strength in (0.5, np.inf):
        found = newcomer_scores(p, unknown, strength, weights=np.zeros((2, 3)), penalty=penalty)
        np.testing.assert_array_equal(found, p)
    np.testing.assert_array_equal(newcomer_scores(p, unknown[:, :0], 0.5, penalty=penalty), p)
    must_raise(ValueError, "neighbour_scores holds missing", newcomer_scores, p, unknown, 0.5, penalty=penalty)


def test_a_newcomer_far_below_all_neighbours_is_pulled_by_all_of_them_within_reach():
    assert newcomer_scores([0.123], [[0.9, 0.8]], 0.0)[0] == 0.123
    assert newcomer_scores([0.0], [[0.9] * 10], 0.1)[0] == pytest.approx(0.2)
    assert newcomer_scores([0.0], [[0.9] * 10], 5.0)[0] == pytest.approx(0.9)
    some = newcomer_scores([0.6], [[0.2, 0.3, 0.9]], 0.1, weights=[[1, 1, 0]], n_neighbors=3)
    np.testing.assert_allclose(some, newcomer_scores([0.6], [[0.2, 0.3]], 0.1, n_neighbors=3))


# Tensors


def test_tensors_give_the_same_graph_scores_and_cut(people, graph, scores):
    torch = pytest.importorskip("torch")
    X, p = torch.from_numpy(people), torch.from_numpy(scores)
    for options in ({}, {"reach": 0.8}, {"weights": [1.0, 2.0, 0.0, 1.0, 1.0]}, {"query": np.arange(400) % 7}):
        there, here = neighbour_graph(X, **options), neighbour_graph(people, **options)
        np.testing.assert_array_equal(there.to_dense().numpy(), here.toarray())
        assert abs(neighbour_graph(people, device="cpu", **options) - here).max() == 0
    tensor_graph = neighbour_graph(X)
    for penalty in ("absolute", "squared"):
        expected = smooth_with_certificate(scores, graph, 0.2, penalty, tol=1e-9)
        for given, W in ((p, tensor_graph), (p, graph), (scores, tensor_graph)):
            found = smooth_with_certificate(given, W, 0.2, penalty, tol=1e-9)
            assert type(found.scores) is type(given)
            np.testing.assert_allclose(np.asarray(found.scores), expected.scores, atol=1e-9)
            assert found.n_iter == expected.n_iter
    np.testing.assert_allclose(smooth(p, tensor_graph, np.inf), smooth(scores, graph, np.inf))
    expected = minimum_cut(scores - 0.5, graph, 0.2)
    np.testing.assert_array_equal(minimum_cut(p - 0.5, tensor_graph, 0.2).numpy(), expected)
    np.testing.assert_array_equal(minimum_cut(scores - 0.5, tensor_graph, 0.2), expected)
    both = torch.stack([p, 1 - p], dim=1)
    assert smooth(both, tensor_graph, 0.2).shape == both.shape


def test_a_tensor_graph_that_is_not_symmetric_is_refused():
    torch = pytest.importorskip("torch")
    W = neighbour_graph(torch.tensor([[0.0], [1.0], [3.0]]), 1)
    values = W.values()
    values[0] += 1
    must_raise(ValueError, "symmetric", smooth, [0.1, 0.2, 0.3], W, 1)


def test_an_approximate_graph_finds_nearly_all_neighbours_and_repeats():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8)) + 3 * rng.integers(4, size=(3000, 1))
    X[100:120] = X[100]  # copies
    exact, found = neighbour_graph(X, 5), neighbour_graph(X, 5, approximate=True)
    assert abs(neighbour_graph(X, 5, approximate=True, n_jobs=2) - found).max() == 0
    assert exact.minimum(found).sum() / exact.sum() > 0.9
    assert found.diagonal().max() == 0
    np.testing.assert_allclose(found.sum(), 3000)
    # Few people are searched exactly.
    assert abs(neighbour_graph(X[:300], 5, approximate=True) - neighbour_graph(X[:300], 5)).max() == 0


def test_an_approximate_graph_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    must_raise(MissingExtra, "approximate", neighbour_graph, np.zeros((30, 2)), 5, approximate=True)
