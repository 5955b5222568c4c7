"""polars tables in and out of encoder, representation and pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from ifair import Encoder, IFair

polars = pytest.importorskip("polars")


@pytest.fixture
def people(rng):
    return {
        "age": rng.integers(18, 70, 60).tolist(),
        "job": rng.choice(["clerk", "nurse", "welder"], 60).tolist(),
        "sex": rng.choice(["f", "m"], 60).tolist(),
    }


def pipeline():
    return make_pipeline(Encoder(), IFair(3, protected=["sex"], n_restarts=1, tol=0.01, random_state=0))


def test_a_polars_table_gives_the_numbers_of_the_pandas_one(people):
    ours = pipeline().fit_transform(polars.DataFrame(people))
    np.testing.assert_allclose(ours, pipeline().fit_transform(pd.DataFrame(people)))


@pytest.mark.parametrize("make", [polars.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_a_pipeline_gives_polars_when_asked_whatever_it_learned_from(people, make):
    fair = pipeline().fit(make(people)).set_output(transform="polars")
    table = fair.transform(make(people))
    assert isinstance(table, polars.DataFrame)
    assert table.columns == list(fair.get_feature_names_out())
    np.testing.assert_allclose(table.to_numpy(), pipeline().fit_transform(make(people)))
