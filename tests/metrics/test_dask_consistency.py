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


@pytest.mark.parametrize(
    ("message", "ask"),
    [
        ("both as collections of Dask, or neither", lambda y, X: consistency(y.compute(), X)),
        ("neighbours, similarity and query are not for collections", lambda y, X: consistency(y, X, query=y)),
        ("3 partitions and X 2: they must be cut alike", lambda y, X: consistency(y, X.rechunk((60, 3)))),
        ("y and X are not cut alike", lambda y, X: consistency(y.rechunk(((30, 50, 40),)), X).compute()),
        (r'whole numbers.* say kind="label"', lambda y, X: consistency(y.astype(int), X)),
        ("k must be less than the number of records, 120; got 120", lambda y, X: consistency(y, X, k=120).compute()),
        ("must be one column, got 2 dimensions", lambda y, X: consistency(X, X)),
        ("k must be at least 1", lambda y, X: consistency(y, X, k=0)),
        ("score_range must rise", lambda y, X: consistency(y, X, score_range=(1, 0))),
        ("missing or infinite", lambda y, X: consistency(y, da.where(X > 2, np.nan, X)).compute()),
    ],
)
def test_what_cannot_be_is_refused_in_words(people, message, ask):
    X, y = people
    with pytest.raises(ValueError, match=message):
        ask(da.from_array(y, 40), da.from_array(X, (40, 3)))
