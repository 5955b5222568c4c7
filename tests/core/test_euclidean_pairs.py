"""Pairs whose inputs are kept have the sums of those that are visited anew; how pairs are cut, and their columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair import IFair
from ifair.core import euclidean_pairs
from ifair.core.euclidean_pairs import EuclideanPairs, KeptPairs, keep_pairs, pair_kernel, sort_alike
from ifair.core.mapping import Mapping, Parameters
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine, tiles

from oracles import assert_gradient_is_right, assert_same

M, K, CATEGORIES = 50, 3, 30
DRAWN = np.arange(1, M, 4)
WEIGHTS = np.linspace(0.0, 3.0, M)
OF_DRAWN = WEIGHTS[DRAWN] / WEIGHTS[DRAWN].mean()


def draw_numbers(rng):
    return rng.normal(size=(M, 6))


def draw_categories(rng):
    """Two numbers, and categories of which many are rare."""
    category = np.minimum(rng.geometric(0.1, M), CATEGORIES) - 1
    X = np.hstack([rng.normal(size=(M, 2)), 3.0 * np.eye(CATEGORIES)[category]])
    return X - X.mean(axis=0)


TABLES = {"numbers": draw_numbers, "categories": draw_categories}
# What tells which pairs to keep, and the term that visits them anew.
PAIRS = {
    "all": ((), lambda kernel, X: AllPairs(kernel)),
    "all, weighted": ((None, WEIGHTS), lambda kernel, X: AllPairs(kernel, WEIGHTS)),
    "landmarks": ((DRAWN,), lambda kernel, X: Landmarks(kernel, X[DRAWN], M)),
    "landmarks, weighted": (
        (DRAWN, WEIGHTS, OF_DRAWN),
        lambda kernel, X: Landmarks(kernel, X[DRAWN], WEIGHTS.sum(), WEIGHTS, OF_DRAWN),
    ),
}
every_table = pytest.mark.parametrize("table", TABLES)
every_pairs = pytest.mark.parametrize("pairs", PAIRS)
both_distances = pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])


def open_table(X):
    return LocalEngine(X, block_rows=20, tile_rows=8)


def kernel_of(X, weighted=True, dtype=np.float64):
    """Pairs that do not compare by the second column."""
    return EuclideanPairs(np.delete(np.arange(X.shape[1]), 1), K, weighted, dtype)


def draw_parameters(rng, X):
    return Parameters(rng.normal(size=(K, X.shape[1])), rng.uniform(0.1, 1.0, size=X.shape[1]))


def objective(engine, term):
    return Objective(engine, Mapping(), ((0.4, Reconstruction(np.ones(engine.X.shape[1]))), (0.7, term)), "sum")


def keep(X, pairs, kernel):
    engine = open_table(X)
    return objective(engine, keep_pairs(engine, kernel, *PAIRS[pairs][0]))


@every_table
@every_pairs
@both_distances
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)], ids=["double", "single"])
def test_losses_and_gradients_are_those_of_pairs_that_are_visited_anew(rng, table, pairs, weighted, dtype, tolerance):
    X = TABLES[table](rng)
    at, kernel = draw_parameters(rng, X), kernel_of(X, weighted, dtype)
    anew = objective(open_table(X), PAIRS[pairs][1](replace(kernel, dtype=np.float64), X))
    assert_same(keep(X, pairs, kernel).value_and_grad(at), anew.value_and_grad(at), tolerance)


@pytest.mark.every_seed
@every_table
@every_pairs
@both_distances
def test_the_gradient_equals_central_differences(rng, table, pairs, weighted):
    X = TABLES[table](rng)
    assert_gradient_is_right(keep(X, pairs, kernel_of(X, weighted)), draw_parameters(rng, X))


def test_people_of_a_rare_category_are_neighbours(rng):
    X = draw_categories(rng)
    alike = np.median(X, axis=0) != X
    sorted_rows = sort_alike(np.where(alike, X, 0.0))
    np.testing.assert_array_equal(np.sort(sorted_rows), np.arange(M))
    for column in np.flatnonzero(alike.sum(axis=0) == 2):
        first, second = np.flatnonzero(alike[sorted_rows, column])
        assert second == first + 1
    engine = open_table(X)
    common = [len(pair.columns) for some in keep_pairs(engine, kernel_of(X)).pairs for pair in some]
    assert np.mean(common) < 0.25 * X.shape[1]


def test_memberships_are_found_once(rng, monkeypatch):
    X = draw_numbers(rng)
    seen, with_pullback = [], Mapping.with_pullback

    def watched(self, block, parameters):
        seen.append(len(block))
        return with_pullback(self, block, parameters)

    monkeypatch.setattr(Mapping, "with_pullback", watched)
    keep(X, "all", kernel_of(X)).value_and_grad(draw_parameters(rng, X))
    assert sum(seen) == M


def test_nothing_is_kept_of_batches_other_distances_and_large_tables(rng, monkeypatch):
    X = draw_numbers(rng)
    assert isinstance(keep_pairs(LocalEngine(X), kernel_of(X)), KeptPairs)
    roomy = LocalEngine(X)
    roomy.batch_bytes = 2**20
    assert keep_pairs(roomy, kernel_of(X)) is None
    assert keep_pairs(LocalEngine(X), MinkowskiPairs(np.arange(6), 6, 3.0)) is None
    monkeypatch.setattr("ifair.engines.engine.LocalEngine.room", 8 * M * (2 * 5 + euclidean_pairs.COPIES * (K + 2)))
    assert keep_pairs(LocalEngine(X), kernel_of(X)) is not None
    assert keep_pairs(LocalEngine(X), kernel_of(X, weighted=False)) is None
    assert keep_pairs(LocalEngine(X), kernel_of(X), DRAWN) is None
    shared = LocalEngine(X)  # what one fit keeps others have no room for
    assert [keep_pairs(shared, kernel_of(X)) is None for _ in range(2)] == [False, True]


@pytest.mark.filterwarnings("ignore:IFair stopped at max_iter")
@pytest.mark.parametrize("options", [{}, {"fairness_distance": "euclidean"}, {"pairs": 20}], ids=str)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["people", "weighted people"])
def test_a_fit_takes_the_same_steps_where_nothing_is_kept(rng, monkeypatch, options, weights):
    X = draw_categories(rng)
    model = IFair(K, protected=[0], n_restarts=1, max_iter=4, random_state=0, **options)
    kept = model.fit(X, sample_weight=weights).prototypes_
    monkeypatch.setattr("ifair.engines.engine.LocalEngine.room", 0)
    np.testing.assert_allclose(kept, model.fit(X, sample_weight=weights).prototypes_, rtol=1e-7, atol=1e-9)


# ---- how pairs are cut into tiles, and which columns an accelerator compares ----


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_tiles_cover_all_records_once_and_are_even_where_they_may_be(n_records, tile_rows):
    cut = tiles(n_records, tile_rows)
    assert np.concatenate([np.arange(n_records)[at] for at in cut]).tolist() == list(range(n_records))
    sizes = [at.stop - at.start for at in cut]
    assert max(sizes) <= tile_rows
    assert len(cut) == -(-n_records // tile_rows)
    assert len(set(sizes[:-1])) <= 1
    if len(cut) > 1 and tile_rows % 8 == 0:
        assert sizes[0] % 8 == 0


def test_where_evaluations_are_recorded_only_columns_that_vary_are_compared(rng):
    X = draw_categories(rng)
    X = np.hstack([X, np.zeros((M, 1))])
    at, all_columns = draw_parameters(rng, X), kernel_of(X)
    counts = np.isin(np.arange(X.shape[1]), all_columns.unprotected)
    engine = LocalEngine(X)
    engine.recorded = True
    kernel = pair_kernel(engine, counts, K, weighted=True, single=False)
    varies, taken = X.std(axis=0) > 0, np.isin(np.arange(X.shape[1]), kernel.unprotected)
    assert (taken >= (counts & varies)).all()
    assert not taken[~counts].any()
    assert ((taken & ~varies).sum() < 8 and (taken.sum() + 2) % 8 == 0) or taken[counts].all()
    few, expected = (
        Objective(LocalEngine(X), Mapping(), ((1.0, AllPairs(one)),)).value_and_grad(at)
        for one in (kernel, all_columns)
    )
    assert_same(few, expected, 1e-11)
