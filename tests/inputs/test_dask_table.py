"""Tables that are not in this process: collections of Dask and Parquet files give what the same table gives here."""

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair import LFR, IFair
from ifair.metrics import consistency
from ifair.models import starts

from clusters import assert_same_model, two_workers

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

# A few iterations: rounding differs by the order of summation, and long searches end apart where the loss is flat.
SETTINGS = {"protected": ["d"], "pairs": 40, "n_restarts": 2, "max_iter": 5, "random_state": 0}

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore:.*max_iter=5:sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def client():
    with two_workers().as_current():
        yield two_workers()


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(300, 4)) + 5.0, columns=list("abcd"), index=np.arange(300) * 2)


def table_of(kind, frame, folder):
    if kind == "array":
        return da.from_array(frame.to_numpy(), chunks=(70, 3))
    if kind == "frame":
        return dd.from_pandas(frame, npartitions=4)
    if kind == "folder":
        for i in range(3):
            frame[100 * i : 100 * (i + 1)].to_parquet(folder / f"part{i}.parquet")
        return folder
    frame.to_parquet(folder / "table.parquet")
    return str(folder / "table.parquet")


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [("array", 40), ("frame", 40), ("frame", "all"), ("frame", "moments"), ("folder", 40), ("file", 40)],
)
def test_a_table_elsewhere_gives_the_model_of_the_same_table_here(client, frame, tmp_path, kind, pairs):
    settings = SETTINGS | {"protected": [3] if kind == "array" else ["d"], "pairs": pairs}
    plain = frame.to_numpy() if kind == "array" else frame
    here = IFair(4, **settings).fit(plain)
    table = table_of(kind, frame, tmp_path)
    there = IFair(4, engine="dask", **settings).fit(table)
    assert_same_model(there, here)
    assert hasattr(there, "feature_names_in_") == (kind != "array")
    np.testing.assert_allclose(there.shares_, here.shares_, rtol=1e-7)
    represented = there.transform(table)
    assert not isinstance(represented, np.ndarray | pd.DataFrame)
    np.testing.assert_allclose(np.asarray(represented), there.transform(plain), rtol=1e-12)


@pytest.mark.parametrize("pairs", [40, "moments"])
def test_weights_stand_in_a_column_or_come_from_here(client, frame, rng, pairs):
    weights, settings = rng.integers(0, 4, len(frame)), SETTINGS | {"pairs": pairs}
    here = IFair(4, **settings).fit(frame, sample_weight=weights)
    table = dd.from_pandas(frame.assign(stands_for=weights), npartitions=4)
    assert_same_model(IFair(4, engine="dask", **settings).fit(table, sample_weight="stands_for"), here)
    beside = IFair(4, engine="dask", **settings).fit(dd.from_pandas(frame, npartitions=4), sample_weight=weights)
    assert_same_model(beside, here)
    np.testing.assert_allclose(beside.shares_, here.shares_, rtol=1e-7)


def test_collections_are_fitted_where_they_are_without_being_asked(client, frame, monkeypatch):
    table = dd.from_pandas(frame, npartitions=2)
    monkeypatch.setattr(type(table), "__array__", lambda *_: pytest.fail("the table was loaded here"))
    assert_same_model(IFair(4, **SETTINGS).fit(table), IFair(4, **SETTINGS).fit(frame))


def test_representations_keep_names_index_and_precision_and_wait_to_be_asked_for(client, frame):
    model = IFair(4, **SETTINGS).fit(frame)
    single = frame.astype(np.float32)
    lazy = model.transform(dd.from_pandas(single, npartitions=3))
    computed = lazy.compute()
    assert list(computed.columns) == list(lazy.columns) == list("abcd")
    assert (lazy.dtypes == np.float32).all()
    assert (computed.dtypes == np.float32).all()
    assert computed.index.equals(frame.index)
    np.testing.assert_allclose(computed.to_numpy(), model.transform(single), rtol=1e-6)
    members = model.membership(dd.from_pandas(frame, npartitions=3))
    assert list(members.columns) == [f"prototype{k}" for k in range(4)]
    np.testing.assert_allclose(members.compute().to_numpy(), model.membership(frame), rtol=1e-12)


def test_representations_and_their_consistency_compute_nothing_before_they_are_asked_for(client, frame):
    def never(part):
        raise AssertionError("computed")

    model = IFair(4, **SETTINGS).fit(frame)
    table = dd.from_pandas(frame, npartitions=3).map_partitions(never, meta=frame[:0])
    represented = model.transform(table)
    lazy = consistency(represented["a"], represented[["b", "c"]], score_range=(0, 10))
    for result in (represented, model.membership(table), lazy):
        with pytest.raises(AssertionError, match="computed"):
            result.compute()
    here = pd.DataFrame(model.transform(frame), columns=list("abcd"))
    real = model.transform(dd.from_pandas(frame, npartitions=3))
    score = consistency(real["a"], real[["b", "c"]], score_range=(0, 10)).compute()
    assert score == pytest.approx(consistency(here["a"], here[["b", "c"]], score_range=(0, 10)))


def test_partitions_without_records_do_not_matter(client, frame):
    table = dd.from_pandas(frame, npartitions=4)
    some = table[table["a"] > frame["a"][150:].max() + 1]  # empty in most partitions
    together = dd.concat([some, table])
    model = IFair(4, **SETTINGS).fit(together)
    expected = IFair(4, **SETTINGS).fit(pd.concat([some.compute(), frame]))
    assert_same_model(model, expected)
    assert len(model.transform(together).compute()) == len(some) + 300


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_partitions_without_records_keep_the_precision(frame, dtype):
    model = IFair(4, **SETTINGS).fit(frame)
    table = dd.from_pandas(frame.astype(dtype), npartitions=3)
    empty = model.transform(table[table["a"] > 1e9])
    parts = [part.compute() for part in empty.partitions]
    assert [len(part) for part in parts] == [0, 0, 0]
    assert all((part.dtypes == dtype).all() for part in parts)


def test_starts_of_a_large_table_are_drawn_from_a_sample(client, frame, monkeypatch):
    monkeypatch.setattr(starts, "SAMPLED", 50)
    table = dd.from_pandas(frame, npartitions=3)
    one, again = (IFair(4, **SETTINGS).fit(table) for _ in range(2))
    assert np.array_equal(one.prototypes_, again.prototypes_)
    assert one.loss_ == pytest.approx(IFair(4, **SETTINGS).fit(frame).loss_, rel=0.2)


def test_what_cannot_be_fitted_is_refused_by_name(client, frame):
    def refused(message, table, K=4, **changes):
        must_raise(ValueError, message, IFair(K, **SETTINGS | changes).fit, table)

    def collected(**changes):
        return dd.from_pandas(frame.assign(**changes), npartitions=3)

    refused("contains NaN or infinity", collected(b=frame["b"].where(np.arange(300) != 250)))
    gap = frame["b"].astype("Float64").where(np.arange(300) != 250, pd.NA)
    refused("NaN or infinity, in column 'b': fill or drop", collected(b=gap))
    refused("NaN or infinity, in column 0 and 3 more", da.full((9, 4), np.inf), protected=None)
    refused(r"column 'job' holds .*: encode it first", collected(job="nurse"))
    refused("n_prototypes=400 needs at least 400 records", collected(), K=400)
    refused("column 'b' holds values as large as 1e\\+70", collected(b=1e70))
    refused(r"two-dimensional .* of Dask, got Array", da.zeros(5))
    refused("no records: all its partitions are empty", collected().query("a > 1e9"))
    model, fewer = IFair(4, **SETTINGS).fit(frame), collected()[["a", "b", "c"]]
    must_raise(ValueError, "feature names should match those that were passed", model.transform, fewer)


@pytest.fixture
def people(frame):
    """Attributes, with a label and a group beside them that are words."""
    label = np.where(frame["a"] > 5, "yes", "no")
    return frame.assign(d=(frame["d"] > 5).astype(float), label=label, group=np.where(frame["d"] > 5, "f", "m"))


def lfr(**changes):
    return LFR(3, **{"engine": "dask", "n_restarts": 2, "max_iter": 5, "random_state": 0} | changes)


def assert_same_lfr(one, other):
    assert_same_model(one, other)
    np.testing.assert_allclose(one.label_chances_, other.label_chances_, rtol=1e-7)


@pytest.mark.parametrize("beside", ["names", "collections", "arrays", "frame of groups", "all of it here"])
def test_lfr_of_a_collection_is_that_of_the_table_here(client, people, beside):
    X, y, groups = people[list("abcd")], people["label"], people["group"]
    here = lfr(engine="local").fit(X, y, sensitive_features=groups)
    table = dd.from_pandas(people, npartitions=4)
    parts = table[list("abcd")]
    there = {
        "names": lambda: lfr().fit(table, "label", sensitive_features="group"),
        "collections": lambda: lfr().fit(parts, table["label"], sensitive_features=table["group"]),
        "arrays": lambda: lfr(engine="auto").fit(parts, y.to_numpy(), sensitive_features=groups.tolist()),
        "all of it here": lambda: lfr().fit(X, y, sensitive_features=groups),
        "frame of groups": lambda: lfr().fit(parts, table["label"], sensitive_features=table[["group"]]),
    }[beside]()
    assert_same_lfr(there, here)
    np.testing.assert_allclose(there.transform(parts).compute().to_numpy(), here.transform(X), rtol=1e-6)


def test_lfr_finds_groups_in_protected_columns_and_reads_files(client, people, tmp_path):
    X = people[[*"abcd", "label"]]
    here = lfr(engine="local", protected=["d"]).fit(X[list("abcd")], X["label"])
    X.to_parquet(tmp_path / "table.parquet")
    assert_same_lfr(lfr(protected=["d"]).fit(str(tmp_path / "table.parquet"), "label"), here)
    array = da.from_array(X[list("abcd")].to_numpy(), chunks=(70, 3))
    from_array = lfr(protected=[3]).fit(array, da.from_array((X["label"] == "yes").to_numpy(), chunks=70))
    np.testing.assert_allclose(from_array.prototypes_, here.prototypes_, rtol=1e-7, atol=1e-7)
    assert from_array.group_labels_ == [0.0, 1.0]


def test_lfr_refuses_labels_that_do_not_belong_to_the_records(client, people):
    table = dd.from_pandas(people, npartitions=3)
    X, label = table[list("abcd")], table["label"]

    def refused(message, *given, groups):
        must_raise(ValueError, message, lfr().fit, *given, sensitive_features=groups)

    def without(name, row):
        return dd.from_pandas(people[name].where(np.arange(300) != row), npartitions=3)

    uneven = r"y is not cut like X: its partitions hold 100, 200 records, those of X 100, 100, 100"
    refused(uneven, X, label.repartition(npartitions=2), groups="d")
    refused("y has 299 entries, but X has 300 records", X, np.arange(299) % 2, groups="d")
    mistyped = "y='lable' is no column of X; did you mean 'label'"
    refused(mistyped, table.drop(columns="group"), "lable", groups="label")
    refused("sensitive_features has no value for the record at index 7", X, label, groups=without("group", 7))
    refused("y has no value for the record at index 3", X, without("label", 3), groups=None)


def test_what_needs_the_table_here_says_so(client, frame):
    y = (frame["a"] > 5).to_numpy()
    classifier = LFR(3, protected=["d"], max_iter=5, random_state=0).fit(frame.assign(d=frame["d"] > 5), y)
    table, advice = dd.from_pandas(frame, npartitions=2), "call it partition by partition"
    for method in (classifier.predict_proba, classifier.predict, classifier.archetypes):
        must_raise(TypeError, f"takes tables of this process, got DataFrame: {advice}", method, table)
