"""Newcomers' scores on collections of Dask and Spark: those of the same people here, and nothing before it is asked."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair import ConsistentClassifier, ConsistentRegressor, Encoder

from clusters import spark

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 90) * 1.0, "job": rng.choice(["clerk", "nurse"], 90)})
    frame["sex"] = rng.choice(["f", "m"], 90)
    return frame


@pytest.fixture(scope="module")
def model(people):
    hired = np.where(people["age"] + 10 * (people["job"] == "clerk") > 45, "yes", "no")
    inner = make_pipeline(Encoder(), LogisticRegression())
    return ConsistentClassifier(inner, protected=["sex"], strength=0.5, random_state=0).fit(people, hired)


def test_frames_of_dask_are_scored_lazily_and_like_those_here(people, model):
    dask = pytest.importorskip("dask.dataframe")
    table = dask.from_pandas(people, npartitions=4)
    assert not isinstance(model.predict_proba(table), np.ndarray | pd.DataFrame)
    found = model.predict_proba(table).compute()
    assert list(found.columns) == ["no", "yes"]
    np.testing.assert_array_equal(found.to_numpy(), model.predict_proba(people))
    # A partition without anybody is no error.
    clerks = table[table["age"] > 58].compute().index
    few = model.predict(table[table["age"] > 58]).compute()
    assert few.index.equals(clerks)
    assert few["prediction"].tolist() == model.predict(people.loc[clerks]).tolist()


def test_arrays_of_dask_are_scored_like_those_here():
    array = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = ConsistentRegressor(strength=0.5, random_state=0).fit(X, X[:, 0] + 0.3 * rng.normal(size=80))
    lazy = model.predict(array.from_array(X, chunks=(25, 2)))
    assert lazy.shape == (80,)
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_frames_of_spark_are_scored_lazily_and_like_those_here(people, model):
    table = spark().createDataFrame(people).repartition(3)
    found = model.decision_function(table)
    assert found.columns == ["score"]
    scores = [row["score"] for row in found.collect()]
    np.testing.assert_allclose(np.sort(scores), np.sort(model.decision_function(people)), rtol=0, atol=1e-15)


def test_the_graph_of_a_collection_is_refused_with_what_to_do(people, model):
    dask = pytest.importorskip("dask.dataframe")
    table = dask.from_pandas(people, npartitions=2)
    with pytest.raises(TypeError, match=r"fit of ConsistentClassifier needs everybody in one place.*sample\(frac"):
        model.fit(table, np.zeros(90))
    with pytest.raises(TypeError, match="scores and decide"):
        model.decide(table, n=3)
