"""Tables that are not in this process: collections of Dask and frames of Spark give what the same table gives here."""

import numpy as np
import pandas as pd
import pytest
from quiet import quietly
from refusals import must_raise

from ifair import LFR, IFair
from ifair.metrics import consistency
from ifair.models import starts

from clusters import assert_same_model, jobs_left, spark, two_workers

# A few iterations: rounding differs by the order of summation, and long searches end apart where the loss is flat.
FEW = {"n_restarts": 1, "max_iter": 4, "random_state": 0}
SETTINGS = {"protected": ["d"], "pairs": 40, **FEW}

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    quietly,
]


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(300, 4)) + 5.0, columns=list("abcd"), index=np.arange(300) * 2)


@pytest.fixture
def people(frame):
    """Attributes, with a label and a group beside them that are words."""
    label = np.where(frame["a"] > 5, "yes", "no")
    return frame.assign(d=(frame["d"] > 5).astype(float), label=label, group=np.where(frame["d"] > 5, "f", "m"))


class OnDask:
    name, loads = "dask", "__array__"

    def __init__(self):
        pytest.importorskip("distributed", reason="Dask is not installed: pip install 'ifair[dask]'")
        self.dd, self.da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")

    def collect(self, frame, partitions=3):
        return self.dd.from_pandas(frame, npartitions=partitions)

    def choose(self, table, condition):
        return table.query(condition)

    def ask_later(self, function, table):
        """The function of a table, which computes nothing yet."""

        def never(part):
            raise AssertionError("computed")

        must_raise(AssertionError, "computed", function(table.map_partitions(never, meta=table._meta)).compute)
        return function(table)

    def fetch(self, table):
        return table.compute().to_numpy()


class OnSpark:
    name, loads = "spark", "toPandas"

    def __init__(self):
        self.session = spark()

    def collect(self, frame, partitions=3):
        """Partitions of consecutive records, some of them empty where there are more than records."""
        schema = self.session.createDataFrame(frame[:1]).schema
        rows = [tuple(row) for row in frame.astype(object).itertuples(index=False)]
        return self.session.createDataFrame(self.session.sparkContext.parallelize(rows, partitions), schema)

    def choose(self, table, condition):
        return table.filter(condition)

    def ask_later(self, function, table):
        jobs = self.session.sparkContext.statusTracker().getJobIdsForGroup
        before = len(jobs())
        result = function(table)
        assert len(jobs()) == before
        return result

    def fetch(self, table):
        return np.array(table.collect())


@pytest.fixture
def dask():
    cluster = OnDask()
    with two_workers().as_current():
        yield cluster


@pytest.fixture
def session():
    cluster = OnSpark()
    yield cluster
    assert jobs_left(cluster.session) == []


@pytest.fixture(params=["dask", "session"])
def cluster(request):
    return request.getfixturevalue(request.param)


# ---- both ----


@pytest.mark.parametrize(("engine", "pairs"), [("auto", 40), ("named", "moments")])
def test_a_collection_gives_the_model_of_the_same_table_here_without_being_loaded(
    cluster, frame, engine, pairs, monkeypatch
):
    table = cluster.collect(frame)
    monkeypatch.setattr(type(table), cluster.loads, lambda *_: pytest.fail("the table was loaded here"))
    settings = SETTINGS | {"pairs": pairs}
    there = IFair(4, engine=cluster.name if engine == "named" else engine, **settings).fit(table)
    here = IFair(4, **settings).fit(frame)
    assert_same_model(there, here)
    np.testing.assert_allclose(there.shares_, here.shares_, rtol=1e-7)


def test_neither_the_number_of_partitions_nor_empty_ones_matter(cluster, frame):
    few, settings = frame[:5], SETTINGS | {"pairs": "all"}
    assert_same_model(IFair(2, **settings).fit(cluster.collect(few, 7)), IFair(2, **settings).fit(few))
    frame["a"] = np.linspace(0.0, 1.0, 300)  # the last of seven partitions have nobody
    lower, expected = cluster.choose(cluster.collect(frame, 7), "a < 0.5"), frame.query("a < 0.5")
    model = IFair(4, **SETTINGS).fit(lower)
    assert_same_model(model, IFair(4, **SETTINGS).fit(expected))
    np.testing.assert_allclose(cluster.fetch(model.transform(lower)), model.transform(expected), rtol=1e-12)


def test_representations_have_names_and_precision_and_wait_to_be_asked_for(cluster, frame):
    model = IFair(4, **SETTINGS).fit(frame)
    for represent, names in ((model.transform, list("abcd")), (model.membership, [f"prototype{k}" for k in range(4)])):
        for dtype, kind, tolerance in ((np.float64, "double", 1e-12), (np.float32, "float", 1e-6)):
            given = frame.astype(dtype)
            lazy = cluster.ask_later(represent, cluster.collect(given))
            assert list(lazy.columns) == names
            assert {str(one) for one in dict(lazy.dtypes).values()} <= {kind, np.dtype(dtype).name}
            np.testing.assert_allclose(cluster.fetch(lazy), represent(given), rtol=tolerance)


@pytest.mark.parametrize("beside", ["names", "arrays", "protected", "collections", "frame of groups", "all of it here"])
def test_lfr_of_a_collection_is_that_of_the_table_here(cluster, people, beside):
    X, y, groups = people[list("abcd")], people["label"], people["group"]
    table, parts = cluster.collect(people), cluster.collect(X)
    if cluster.name == "spark" and beside in ("collections", "frame of groups"):
        other = table.select("label")
        must_raise(TypeError, r"y must be the name of a column of X.*, got DataFrame", LFR(3, **FEW).fit, parts, other)
        return
    given = {
        "names": lambda: (table, "label", "group"),
        "arrays": lambda: (parts, y.to_numpy(), groups.tolist()),
        "protected": lambda: (cluster.collect(people.drop(columns="group")), "label", None),
        "collections": lambda: (parts, table["label"], table["group"]),
        "frame of groups": lambda: (parts, table["label"], table[["group"]]),
        "all of it here": lambda: (X, y, groups),
    }[beside]()
    protected = ["d"] if beside == "protected" else None
    here = LFR(3, protected=protected, **FEW).fit(X, y, sensitive_features=None if protected else groups)
    engine = "auto" if beside == "arrays" else cluster.name
    there = LFR(3, protected=protected, engine=engine, **FEW).fit(*given[:2], sensitive_features=given[2])
    assert_same_model(there, here)
    np.testing.assert_allclose(there.label_chances_, here.label_chances_, rtol=1e-7)
    assert list(there.classes_) == ["no", "yes"]
    np.testing.assert_allclose(cluster.fetch(there.transform(parts)), here.transform(X), rtol=1e-6)


def test_what_cannot_be_fitted_or_needs_the_table_here_is_refused_by_name(cluster, frame):
    def refused(message, table, K=4, **changes):
        must_raise(ValueError, message, IFair(K, **SETTINGS | changes).fit, table)

    def collected(**changes):
        return cluster.collect(frame.assign(**changes))

    refused("NaN or infinity, in column 'b'", collected(b=frame["b"].where(np.arange(300) != 250)))
    refused(r"column 'job' holds .*: encode it first", collected(job="nurse"))
    refused("n_prototypes=400 needs at least 400 records", collected(), K=400)
    refused("column 'b' holds values as large as 1e\\+70", collected(b=1e70))
    refused("no records: all its partitions are empty", cluster.choose(collected(), "a > 1000"))
    model, fewer = IFair(4, **SETTINGS).fit(frame), cluster.collect(frame.drop(columns="d"))
    must_raise(ValueError, "feature names should match those that were passed", model.transform, fewer)
    advice = "call it partition by partition"
    must_raise(TypeError, f"archetypes takes tables .*, got DataFrame: {advice}", model.archetypes, collected())
    classifier = LFR(3, protected=["d"], **FEW).fit(frame.assign(d=frame["d"] > 5), frame["a"] > 5)
    for method in (classifier.predict_proba, classifier.predict):
        must_raise(TypeError, f"takes tables of this process, got DataFrame: {advice}", method, collected())


@pytest.mark.parametrize("pairs", [40, "moments"])
def test_weights_stand_in_a_column_or_come_from_here(cluster, frame, rng, pairs):
    weights, settings = rng.integers(0, 4, len(frame)), SETTINGS | {"pairs": pairs}
    here = IFair(4, **settings).fit(frame, sample_weight=weights)
    table = cluster.collect(frame.assign(stands_for=weights))
    assert_same_model(IFair(4, **settings).fit(table, sample_weight="stands_for"), here)
    beside = IFair(4, **settings).fit(cluster.collect(frame), sample_weight=weights)
    assert_same_model(beside, here)
    np.testing.assert_allclose(beside.shares_, here.shares_, rtol=1e-7)


# ---- Dask ----


@pytest.mark.parametrize(("kind", "pairs"), [("array", 40), ("frame", "all"), ("folder", 40), ("file", 40)])
def test_arrays_and_files_give_the_model_of_the_same_table_here(dask, frame, tmp_path, kind, pairs):
    plain = frame.to_numpy() if kind == "array" else frame
    for i in range(3):
        frame[100 * i : 100 * (i + 1)].to_parquet(tmp_path / f"part{i}.parquet")
    frame.to_parquet(tmp_path / "table")
    table = {
        "array": lambda: dask.da.from_array(plain, chunks=(70, 3)),
        "frame": lambda: dask.collect(frame, 4),
        "folder": lambda: tmp_path,
        "file": lambda: str(tmp_path / "table"),
    }[kind]()
    settings = SETTINGS | {"protected": [3] if kind == "array" else ["d"], "pairs": pairs, "n_restarts": 2}
    here, there = IFair(4, **settings).fit(plain), IFair(4, engine="dask", **settings).fit(table)
    assert_same_model(there, here)
    assert hasattr(there, "feature_names_in_") == (kind != "array")
    represented = there.transform(table)
    assert not isinstance(represented, np.ndarray | pd.DataFrame)
    np.testing.assert_allclose(np.asarray(represented), there.transform(plain), rtol=1e-12)


def test_representations_keep_the_index_and_empty_partitions_the_precision(dask, frame):
    model = IFair(4, **SETTINGS).fit(frame)
    assert model.transform(dask.collect(frame)).compute().index.equals(frame.index)
    for dtype in (np.float32, np.float64):
        table = dask.collect(frame.astype(dtype))
        parts = [part.compute() for part in model.transform(table[table["a"] > 1e9]).partitions]
        assert [len(part) for part in parts] == [0, 0, 0]
        assert all((part.dtypes == dtype).all() for part in parts)


def test_consistency_of_representations_computes_nothing_before_it_is_asked_for(dask, frame):
    def measure(table):
        return consistency(table["a"], table[["b", "c"]], score_range=(0, 10))

    model = IFair(4, **SETTINGS).fit(frame)
    lazy = dask.ask_later(lambda table: measure(model.transform(table)), dask.collect(frame))
    here = pd.DataFrame(model.transform(frame), columns=list("abcd"))
    assert lazy.compute() == pytest.approx(measure(here))


def test_starts_of_a_large_table_are_drawn_from_a_sample(dask, frame, monkeypatch):
    monkeypatch.setattr(starts, "SAMPLED", 50)
    one, again = (IFair(4, **SETTINGS).fit(dask.collect(frame)) for _ in range(2))
    assert np.array_equal(one.prototypes_, again.prototypes_)
    assert one.loss_ == pytest.approx(IFair(4, **SETTINGS).fit(frame).loss_, rel=0.2)


def test_lfr_finds_groups_in_protected_columns_of_files_and_arrays(dask, people, tmp_path):
    X = people[[*"abcd", "label"]]
    here = LFR(3, protected=["d"], **FEW).fit(X[list("abcd")], X["label"])
    X.to_parquet(tmp_path / "table.parquet")
    from_file = LFR(3, engine="dask", protected=["d"], **FEW).fit(str(tmp_path / "table.parquet"), "label")
    assert_same_model(from_file, here)
    array, labels = X[list("abcd")].to_numpy(), (X["label"] == "yes").to_numpy()
    chunks = dask.da.from_array(array, chunks=(70, 3)), dask.da.from_array(labels, chunks=70)
    from_array = LFR(3, engine="dask", protected=[3], **FEW).fit(*chunks)
    np.testing.assert_allclose(from_array.prototypes_, here.prototypes_, rtol=1e-7, atol=1e-7)
    assert from_array.group_labels_ == [0.0, 1.0]


def test_what_only_dask_can_get_wrong_is_refused_by_name(dask, frame, people):
    def refused(message, *given, **groups):
        model = LFR(3, engine="dask", **FEW) if groups else IFair(4, **FEW)
        must_raise(ValueError, message, model.fit, *given, **groups)

    def without(name, row):
        return dask.collect(people[name].where(np.arange(300) != row))

    gap = frame["b"].astype("Float64").where(np.arange(300) != 250, pd.NA)
    refused("NaN or infinity, in column 'b': fill or drop", dask.collect(frame.assign(b=gap)))
    refused("NaN or infinity, in column 0 and 3 more", dask.da.full((9, 4), np.inf))
    refused(r"two-dimensional .* of Dask, got Array", dask.da.zeros(5))
    table = dask.collect(people)
    X, label = table[list("abcd")], table["label"]
    uneven = r"y is not cut like X: its partitions hold 100, 200 records, those of X 100, 100, 100"
    refused(uneven, X, label.repartition(npartitions=2), sensitive_features="d")
    refused("y has 299 entries, but X has 300 records", X, np.arange(299) % 2, sensitive_features="d")
    mistyped = "y='lable' is no column of X; did you mean 'label'"
    refused(mistyped, table.drop(columns="group"), "lable", sensitive_features="label")
    nobody = "sensitive_features has no value for the record at index 7"
    refused(nobody, X, label, sensitive_features=without("group", 7))
    refused("y has no value for the record at index 3", X, without("label", 3), sensitive_features=None)


# ---- Spark ----


def test_partitions_are_cut_into_pieces_of_whole_blocks(rng):
    from ifair.inputs.spark_table import cut_pieces

    X = rng.normal(size=(53, 2))
    for sizes in ([53], [10, 10, 10, 10, 13], [1] * 53, [40, 13], [7, 46]):
        parts = np.split(X, np.cumsum(sizes)[:-1])
        pieces = list(cut_pieces(parts, 20))
        assert [len(piece) for piece in pieces] == [20, 20, 13]
        np.testing.assert_array_equal(np.concatenate(pieces), X)
    assert list(cut_pieces([], 20)) == []


def test_a_model_fitted_without_names_transforms_frames_with_one_warning(session, frame):
    model = IFair(4, **SETTINGS | {"protected": [3]}).fit(frame.to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but IFair was fitted without"):
        lazy = model.transform(session.collect(frame))
    np.testing.assert_allclose(session.fetch(lazy), model.transform(frame.to_numpy()), rtol=1e-12)


def test_whole_numbers_truth_values_and_decimals_are_numbers(session, frame):
    mixed = frame.round(2).assign(a=(frame["a"] * 10).astype(int), b=frame["b"] > 5)
    table = session.collect(mixed)
    table = table.withColumn("c", table["c"].cast("decimal(10,2)")).withColumnRenamed("c", "c.of `it`")
    expected = mixed.rename(columns={"c": "c.of `it`"})
    there = IFair(4, **SETTINGS).fit(table)
    assert_same_model(there, IFair(4, **SETTINGS).fit(expected))
    lazy = there.transform(table)
    assert lazy.columns == list(expected.columns)
    np.testing.assert_allclose(session.fetch(lazy), there.transform(expected), rtol=1e-12)


def test_what_only_spark_can_get_wrong_is_refused_by_name(session, frame):
    def refused(message, table, **changes):
        must_raise(ValueError, message, IFair(4, **SETTINGS | changes).fit, table)

    table = session.collect(frame)
    refused("NaN or infinity, in column 'age'", table.selectExpr("*", "if(a > 7, null, a) as age"))
    refused("more than one column of the name 'a'", table.selectExpr("*", "a"))
    refused("engine='local' cannot read a data frame of Spark: use engine='spark'", table, engine="local")
    refused(r"pass spark.read.parquet\(path\), not a path", "table.parquet", engine="spark")
    refused("already has a Spark session", table, engine="spark:spark://10.0.0.1:7077")
