"""A small pipeline from a raw table to a decision, and its file."""

import numpy as np
import pandas as pd
import pytest
from quiet import fit_quietly
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import ifair


@pytest.fixture(scope="session")
def people():
    """A table with numbers, booleans, text and missing values."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n).astype(float),
            "income": rng.normal(3000, 800, n),
            "job": rng.choice(["clerk", "nurse", "none"], n),
            "married": rng.random(n) < 0.5,
            "gender": rng.choice(["f", "m"], n),
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame.loc[::7, "job"] = None
    return frame


@pytest.fixture(scope="session")
def pipeline(people):
    """Encoder, IFair and a classifier, fitted."""
    target = (people["income"] > 3000).astype(int)
    steps = [
        ("encode", ifair.Encoder()),
        ("fair", ifair.IFair(3, protected=["gender"], n_restarts=1, max_iter=10, random_state=0)),
        ("decide", LogisticRegression()),
    ]
    return fit_quietly(Pipeline(steps), people, target)


@pytest.fixture
def model_file(pipeline, tmp_path):
    pytest.importorskip("skops.io")
    path = tmp_path / "model.ifair"
    ifair.save(pipeline, path, about={"roles": {"protected": ["gender"]}})
    return path
