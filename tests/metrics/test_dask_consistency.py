"""Consistency of collections of Dask is that of the same arrays, and waits to be asked for."""

import numpy as np
import pandas as pd
import pytest

from ifair.metrics import consistency, consistency_per_person

da = pytest.importorskip("dask.array", reason="Dask is not installed: pip install 'ifair[dask]'")
dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'ifair[dask]'")

pytestmark = pytest.mark.cluster


@pytest.fixture
def people(rng):
    """Whole numbers, so that many distances are equal and the order of records decides."""
    X = rng.integers(0, 4, size=(120, 3)).astype(float)
    return X, rng.random(120)


@pytest.mark.parametrize("rows", [7, 50, 120])
@pytest.mark.parametrize("k", [1, 10, 119])
def test_arrays_of_dask_give_what_the_arrays_give(people, rows, k):
    X, y = people
    lazy = consistency_per_person(da.from_array(y, rows), da.from_array(X, (rows, 2)), k=k)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), consistency_per_person(y, X, k=k), rtol=1e-12)
    mean = consistency(da.from_array(y, rows), da.from_array(X, (rows, 2)), k=k)
    assert float(mean.compute()) == pytest.approx(consistency(y, X, k=k), rel=1e-12)


@pytest.mark.parametrize("kind", ["label", "score"])
def test_frames_of_dask_give_what_the_frames_give(people, kind):
    X, y = people
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=(3 * y).astype(int))
    table = dd.from_pandas(frame, npartitions=5)
    options = {"k": 4, "kind": kind, "score_range": (0, 2)}
    lazy = consistency(table["y"], table[["a", "b", "c"]], **options)
    assert float(lazy.compute()) == pytest.approx(consistency(frame["y"], X, **options), rel=1e-12)


def test_records_that_meet_in_blocks_are_found(rng, monkeypatch):
    monkeypatch.setattr("ifair.core.nearest.ROWS", 8)
    X, y = rng.normal(size=(60, 2)), rng.random(60) < 0.5
    lazy = consistency(da.from_array(y, 30), da.from_array(X, (30, 2)), k=3)
    assert float(lazy.compute()) == pytest.approx(consistency(y, X, k=3))


def test_what_cannot_be_is_refused_in_words(people):
    X, y = people
    lazy_X, lazy_y = da.from_array(X, (40, 3)), da.from_array(y, 40)
    with pytest.raises(ValueError, match="both as collections of Dask, or neither"):
        consistency(y, lazy_X)
    with pytest.raises(ValueError, match="neighbours, similarity and query are not for collections"):
        consistency(lazy_y, lazy_X, query=y)
    with pytest.raises(ValueError, match="3 partitions and X 2: they must be cut alike"):
        consistency(lazy_y, da.from_array(X, (60, 3)))
    with pytest.raises(ValueError, match="y and X are not cut alike"):
        consistency(da.from_array(y, ((30, 50, 40),)), lazy_X).compute()
    with pytest.raises(ValueError, match=r'whole numbers.* say kind="label"'):
        consistency(da.zeros(120, chunks=40, dtype=int), lazy_X)
    with pytest.raises(ValueError, match="k must be less than the number of records, 120; got 120"):
        consistency(lazy_y, lazy_X, k=120).compute()
    with pytest.raises(ValueError, match="must be one column, got 2 dimensions"):
        consistency(lazy_X, lazy_X)
    with pytest.raises(ValueError, match="k must be at least 1"):
        consistency(lazy_y, lazy_X, k=0)
    with pytest.raises(ValueError, match="score_range must rise"):
        consistency(lazy_y, lazy_X, score_range=(1, 0))
    with pytest.raises(ValueError, match="missing or infinite"):
        consistency(lazy_y, da.where(lazy_X > 2, np.nan, lazy_X)).compute()
