"""A small pipeline from a raw table to a decision, and its file."""

import pytest
from quiet import fit_quietly
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import ifair

from samples import applicants


@pytest.fixture(scope="session")
def people():
    """A table with numbers, booleans, text and missing values."""
    frame = applicants(120)[["experience", "height", "job", "owns home", "sex"]]
    frame.loc[::7, "job"] = None
    return frame


@pytest.fixture(scope="session")
def pipeline(people):
    """Encoder, IFair and a classifier, fitted."""
    target = (people["height"] > 170).astype(int)
    steps = [
        ("encode", ifair.Encoder()),
        ("fair", ifair.IFair(3, protected=["sex"], n_restarts=1, max_iter=10, random_state=0)),
        ("decide", LogisticRegression()),
    ]
    return fit_quietly(Pipeline(steps), people, target)


@pytest.fixture
def model_file(pipeline, tmp_path):
    pytest.importorskip("skops.io")
    path = tmp_path / "model.ifair"
    ifair.save(pipeline, path, about={"roles": {"protected": ["sex"]}})
    return path
