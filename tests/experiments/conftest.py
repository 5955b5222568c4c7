"""Settings so small that a unit takes a fraction of a second, and a ranking that needs no file."""

import numpy as np
import pandas as pd
import pytest

from ifair.data import Dataset
from ifair.datasets.catalogue.xing import compute_score
from ifair.experiments import protocol


@pytest.fixture(autouse=True)
def nothing_prepared():
    """No test sees the splits of another one, whose data may be made up."""
    protocol._prepared.cache_clear()


@pytest.fixture
def grid():
    return {"K": [4], "ratios": [[0.5, 0.5], [0.9, 0.1]], "lfr": [0.1, 1.0], "p": [0.3, 0.6]}


@pytest.fixture
def search():
    return {"n_restarts": 1, "max_iter": 20, "tol": 1e-2}


@pytest.fixture
def job_searches(monkeypatch):
    """Nine searches with 12 to 20 candidates each and five people in none, wherever a dataset is loaded by name."""
    rng = np.random.default_rng(7)
    query = np.repeat([f"job {i}" for i in range(9)], np.arange(12, 21))
    query = np.append(query, [None] * 5)
    n = len(query)
    frame = pd.DataFrame(
        {
            "job_search": pd.Categorical(np.where(pd.isna(query), "none", query)),
            "work_months": rng.integers(0, 200, n),
            "education_months": rng.integers(0, 80, n),
            "profile_views": rng.integers(1, 5000, n),
            "sex": pd.Categorical(np.where(rng.random(n) < 0.4, "female", "male")),
        }
    )
    women = (frame["sex"] == "female").to_numpy()

    def load(name, *, weights=(1, 1, 1)):
        target = compute_score(frame, weights)
        return Dataset(name, frame, target, ("sex",), women, query=pd.Series(query, dtype="category"))

    monkeypatch.setattr("ifair.experiments.protocol.load", load)
    return load("xing")
