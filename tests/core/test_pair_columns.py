"""How pairs are cut into tiles, and which columns an accelerator compares."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ifair.core.euclidean_pairs import EuclideanPairs, pair_kernel
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Objective
from ifair.core.pairs import AllPairs
from ifair.engines.engine import LocalEngine, tiles

from oracles import assert_same

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


class Recording(LocalEngine):
    recorded = True


def test_where_evaluations_are_recorded_only_columns_that_vary_are_compared(rng):
    X = draw_people(rng)
    at = draw_parameters(rng, X)
    kernel = pair_kernel(Recording(X), counts_of(X), K, weighted=True, single=False)
    varies, taken = X.std(axis=0) > 0, np.isin(np.arange(X.shape[1]), kernel.unprotected)
    assert (taken >= (counts_of(X) & varies)).all()
    assert not taken[~counts_of(X)].any()
    assert ((taken & ~varies).sum() < 8 and (taken.sum() + 2) % 8 == 0) or taken[counts_of(X)].all()
    few, all_columns = (
        Objective(LocalEngine(X), Mapping(2.0), ((1.0, AllPairs(one)),)).value_and_grad(at)
        for one in (kernel, EuclideanPairs(np.flatnonzero(counts_of(X)), K))
    )
    assert_same(few, all_columns, 1e-11)
