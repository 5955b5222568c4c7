"""Data frames of Spark give what the same table gives here."""

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair import LFR, IFair

from clusters import assert_same_model, spark

SETTINGS = {"protected": ["d"], "pairs": 40, "n_restarts": 1, "max_iter": 3, "random_state": 0}

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore:.*max_iter=3:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture
def session():
    return spark()


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(300, 4)) + 5.0, columns=list("abcd"))


def on_spark(session, frame, partitions=3):
    """A table cut into partitions of consecutive records, some of them empty where there are more than records."""
    schema = session.createDataFrame(frame[:1]).schema
    rows = [tuple(row) for row in frame.astype(object).itertuples(index=False)]
    return session.createDataFrame(session.sparkContext.parallelize(rows, partitions), schema)


def here(table):
    return np.array(table.collect())


@pytest.mark.parametrize(("engine", "pairs"), [("auto", 40), ("spark", "moments")])
def test_a_frame_of_spark_gives_the_model_of_the_same_table_here(session, frame, engine, pairs, monkeypatch):
    table = on_spark(session, frame)
    monkeypatch.setattr(type(table), "toPandas", lambda *_: pytest.fail("the table was loaded here"))
    settings = SETTINGS | {"pairs": pairs}
    there = IFair(4, engine=engine, **settings).fit(table)
    assert_same_model(there, IFair(4, **settings).fit(frame))
    assert len(session.sparkContext._jsc.getPersistentRDDs()) == 0


def test_the_number_of_partitions_and_empty_ones_do_not_matter(session, frame):
    few = frame[:5]
    settings = SETTINGS | {"pairs": "all"}
    assert_same_model(IFair(2, **settings).fit(on_spark(session, few, 7)), IFair(2, **settings).fit(few))
    wide = on_spark(session, frame, 1)
    assert_same_model(IFair(4, **SETTINGS).fit(wide), IFair(4, **SETTINGS).fit(frame))


def test_partitions_are_cut_into_pieces_of_whole_blocks(rng):
    from ifair.inputs.spark_table import cut_pieces

    X = rng.normal(size=(53, 2))
    for sizes in ([53], [10, 10, 10, 10, 13], [1] * 53, [40, 13], [7, 46]):
        parts = np.split(X, np.cumsum(sizes)[:-1])
        pieces = list(cut_pieces(parts, 20))
        assert [len(piece) for piece in pieces] == [20, 20, 13]
        np.testing.assert_array_equal(np.concatenate(pieces), X)
    assert list(cut_pieces([], 20)) == []


def test_representations_have_names_and_precision_and_wait_to_be_asked_for(session, frame):
    model = IFair(4, **SETTINGS).fit(frame)
    jobs = session.sparkContext.statusTracker().getJobIdsForGroup
    table = on_spark(session, frame)
    before = len(jobs())
    lazy, members = model.transform(table), model.membership(table)
    assert len(jobs()) == before
    assert lazy.columns == list(model.get_feature_names_out())
    np.testing.assert_allclose(here(lazy), model.transform(frame), rtol=1e-12)
    assert members.columns == [f"prototype{k}" for k in range(4)]
    np.testing.assert_allclose(here(members), model.membership(frame), rtol=1e-12)
    single = on_spark(session, frame.astype(np.float32))
    assert {kind for _, kind in model.transform(single).dtypes} == {"float"}
    expected = model.transform(frame.astype(np.float32))
    np.testing.assert_allclose(here(model.transform(single)), expected, rtol=1e-6)


def test_a_model_fitted_without_names_transforms_frames_with_one_warning(session, frame):
    model = IFair(4, **SETTINGS | {"protected": [3]}).fit(frame.to_numpy())
    with pytest.warns(UserWarning, match="X has feature names, but IFair was fitted without"):
        lazy = model.transform(on_spark(session, frame))
    np.testing.assert_allclose(here(lazy), model.transform(frame.to_numpy()), rtol=1e-12)


def test_whole_numbers_truth_values_and_decimals_are_numbers(session, frame):
    mixed = frame.round(2).assign(a=(frame["a"] * 10).astype(int), b=frame["b"] > 5)
    table = on_spark(session, mixed)
    table = table.withColumn("c", table["c"].cast("decimal(10,2)")).withColumnRenamed("c", "c.of `it`")
    expected = mixed.rename(columns={"c": "c.of `it`"})
    there = IFair(4, **SETTINGS).fit(table)
    assert_same_model(there, IFair(4, **SETTINGS).fit(expected))
    lazy = there.transform(table)
    assert lazy.columns == list(expected.columns)
    np.testing.assert_allclose(here(lazy), there.transform(expected), rtol=1e-12)


def test_what_cannot_be_fitted_is_refused_by_name(session, frame):
    def refused(table, message, error=ValueError, **changes):
        must_raise(error, message, IFair(4, **SETTINGS | changes).fit, table)

    table = on_spark(session, frame)
    refused(table.selectExpr("*", "'nurse' as job"), r"column 'job' holds string, not numbers: encode it first")
    refused(table.selectExpr("*", "if(a > 7, null, a) as age"), r"NaN or infinity, in column 'age'")
    refused(table.selectExpr("*", "a"), "more than one column of the name 'a'")
    refused(table.limit(3), "n_prototypes=4 needs at least 4 records")
    refused(table.filter("a > 1000"), "no records: all its partitions are empty")
    refused(table, "engine='local' cannot read a data frame of Spark: use engine='spark'", engine="local")
    refused("table.parquet", r"pass spark.read.parquet\(path\), not a path", engine="spark")
    refused(table, "already has a Spark session", engine="spark:spark://10.0.0.1:7077")
    model = IFair(4, **SETTINGS).fit(frame)
    must_raise(ValueError, "feature names should match those that were passed", model.transform, table.drop("d"))
    must_raise(TypeError, "archetypes takes tables of this process", model.archetypes, table)


def test_without_spark_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("ifair.errors.find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"needs pyspark and pyarrow and .* pip install 'ifair\[spark\]"):
        IFair(2, engine="spark").fit(np.zeros((4, 2)))


@pytest.mark.parametrize("beside", ["names", "arrays", "protected"])
def test_lfr_of_a_frame_of_spark_is_that_of_the_table_here(session, frame, beside):
    label = np.where(frame["a"] > 5, "yes", "no")
    people = frame.assign(d=(frame["d"] > 5).astype(float), label=label, group=np.where(frame["d"] > 5, "f", "m"))
    X, y, groups = people[list("abcd")], people["label"], people["group"]
    settings = {"n_restarts": 1, "max_iter": 3, "random_state": 0}
    table = on_spark(session, people)
    if beside == "protected":
        expected = LFR(3, protected=["d"], **settings).fit(X, y)
        there = LFR(3, protected=["d"], **settings).fit(table.drop("group"), "label")
    else:
        expected = LFR(3, **settings).fit(X, y, sensitive_features=groups)
        named = beside == "names"
        there = LFR(3, engine="spark", **settings).fit(
            table if named else table.drop("label", "group"),
            "label" if named else y,
            sensitive_features="group" if named else groups,
        )
    assert_same_model(there, expected)
    assert list(there.classes_) == ["no", "yes"]
    assert len(session.sparkContext._jsc.getPersistentRDDs()) == 0
    with pytest.raises(TypeError, match=r"y must be the name of a column of X.*, got DataFrame"):
        LFR(3, **settings).fit(table.drop("label", "group"), table.select("label"))
