"""Tiles leave out columns in which nobody departs from what most records have: sums stay, work goes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Objective
from ifair.core.pairs import AllPairs, EuclideanPairs, Landmarks, pair_kernel, tiles
from ifair.engines.engine import LocalEngine

from devices import open_torch

K, CATEGORIES = 3, 60


def draw_people(rng, n_records=90):
    """Two numbers, many rare categories in units of their spread, and a column that never varies."""
    category = np.minimum(rng.geometric(0.08, n_records), CATEGORIES) - 1
    dummies = np.eye(CATEGORIES)[category]
    scale = np.where(dummies.std(axis=0) > 0, dummies.std(axis=0), 1.0)
    X = np.hstack([rng.normal(size=(n_records, 2)), dummies / scale, np.full((n_records, 1), 4.0)])
    return X - X.mean(axis=0)


def draw_parameters(rng, X):
    return Parameters(rng.normal(size=(K, X.shape[1])), rng.uniform(0.1, 1.0, size=X.shape[1]))


def counts_of(X):
    return np.arange(X.shape[1]) != 1


TERMS = {
    "all": lambda kernel, _: AllPairs(kernel),
    "all, weighted": lambda kernel, engine: AllPairs(kernel, *engine.send(np.linspace(0.5, 2.0, engine.n_records))),
    "landmarks": lambda kernel, engine: Landmarks(kernel, engine.take(np.arange(3, 60, 2)), engine.n_records),
}
ENGINES = {"local": lambda X: LocalEngine(X, block_rows=50, tile_rows=12), "torch": lambda X: open_torch(X, 50, 12)}


def assert_same_sums(engine, at, kernel, expected_kernel, term=TERMS["all"]):
    """Two kernels give the same loss and gradients."""
    (losses, gradient), (expected_losses, expected) = (
        Objective(engine, Mapping(2.0), ((1.0, term(one, engine)),)).value_and_grad(at)
        for one in (kernel, expected_kernel)
    )
    assert losses.total == pytest.approx(expected_losses.total, rel=1e-11)
    for name in ("prototypes", "alpha"):
        wanted = getattr(expected, name)
        np.testing.assert_allclose(getattr(gradient, name), wanted, rtol=1e-9, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("where", ENGINES)
@pytest.mark.parametrize("pairs", TERMS)
@pytest.mark.parametrize("weighted", [True, False])
def test_losses_and_gradients_are_those_of_all_columns(rng, where, pairs, weighted):
    X = draw_people(rng)
    with ENGINES[where](X) as engine:
        kernel = pair_kernel(engine, counts_of(X), K, weighted=weighted, single=False)
        assert kernel.origin is not None
        assert_same_sums(engine, draw_parameters(rng, X), kernel, replace(kernel, origin=None), TERMS[pairs])


def test_the_loss_is_the_sum_over_all_pairs_one_by_one(rng):
    X = draw_people(rng, 40)
    at, counts = draw_parameters(rng, X), counts_of(X)
    engine = LocalEngine(X, tile_rows=7)
    kernel = pair_kernel(engine, counts, K, weighted=True, single=False)
    Z = Mapping(2.0).memberships(X, at) @ at.prototypes
    brute = sum(
        (np.sqrt(at.alpha @ (Z[i] - Z[j]) ** 2) - np.sqrt((at.alpha * counts) @ (X[i] - X[j]) ** 2)) ** 2
        for i in range(len(X))
        for j in range(len(X))
    )
    found = Objective(engine, Mapping(2.0), ((1.0, AllPairs(kernel)),), "sum").value_and_grad(at)[0].total
    assert found == pytest.approx(brute, rel=1e-9)


def test_tiles_use_few_of_many_rare_categories(rng):
    X = draw_people(rng)
    kernel = pair_kernel(LocalEngine(X, tile_rows=12), counts_of(X), K, weighted=True, single=False)
    at = draw_parameters(rng, X)
    side = kernel.side(X, Mapping(2.0).memberships(X, at), at)
    a, b = side[:12], side[12:24]
    columns = a.columns_with(b)
    needed = ((X[:12] - np.median(X, axis=0)) != 0).any(axis=0) & ((X[12:24] - np.median(X, axis=0)) != 0).any(axis=0)
    assert len(columns) == (needed & counts_of(X)).sum() + 2 < 20


def test_a_part_of_a_part_of_a_side_leaves_out_nothing_that_it_needs(rng):
    X = draw_people(rng)
    kernel = pair_kernel(LocalEngine(X, tile_rows=12), counts_of(X), K, weighted=True, single=False)
    at = draw_parameters(rng, X)
    side = kernel.side(X, Mapping(2.0).memberships(X, at), at)
    found, expected = kernel.tile(side[12:36][4:16], side[40:60]), kernel.tile(side[16:28], side[40:60])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


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


def test_where_records_differ_in_every_column_all_take_part(rng):
    X = rng.normal(size=(40, 5))
    kernel = pair_kernel(LocalEngine(X), np.ones(5, bool), K, weighted=True, single=False)
    assert kernel.origin is None


class Recording(LocalEngine):
    recorded = True


def test_where_evaluations_are_recorded_only_columns_that_vary_are_compared(rng):
    X = draw_people(rng)
    kernel = pair_kernel(Recording(X), counts_of(X), K, weighted=True, single=False)
    assert kernel.origin is None
    varies, taken = X.std(axis=0) > 0, np.isin(np.arange(X.shape[1]), kernel.unprotected)
    assert (taken >= (counts_of(X) & varies)).all()
    assert not taken[~counts_of(X)].any()
    assert ((taken & ~varies).sum() < 8 and (taken.sum() + 2) % 8 == 0) or taken[counts_of(X)].all()
    assert_same_sums(LocalEngine(X), draw_parameters(rng, X), kernel, EuclideanPairs(np.flatnonzero(counts_of(X)), K))
