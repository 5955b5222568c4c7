"""polars tables through encoder and representation; how they come out is checked in tests/models/test_contract.py."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from ifair import Encoder, IFair

polars = pytest.importorskip("polars")


def test_a_polars_table_gives_the_numbers_of_the_pandas_one(rng):
    people = {
        "age": rng.integers(18, 70, 60).tolist(),
        "job": rng.choice(["clerk", "nurse", "welder"], 60).tolist(),
        "sex": rng.choice(["f", "m"], 60).tolist(),
    }
    pipeline = make_pipeline(Encoder(), IFair(3, protected=["sex"], n_restarts=1, tol=0.01, random_state=0))
    ours, expected = (pipeline.fit_transform(make(people)) for make in (polars.DataFrame, pd.DataFrame))
    np.testing.assert_allclose(ours, expected)


def test_polars_is_not_imported_for_a_pandas_table():
    code = (
        "import sys, pandas as pd; from ifair import Encoder; e = Encoder(); "
        "e.decode(e.fit_transform(pd.DataFrame({'a': ['x', 'y']}))); assert 'polars' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
