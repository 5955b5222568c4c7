"""A table of people, and a model fitted by the command itself."""

import numpy as np
import pandas as pd
import pytest

from scripts import do


@pytest.fixture(scope="session")
def applicants():
    """Made-up people: an identifier, two protected columns, gaps, and an outcome that depends on the attributes."""
    rng = np.random.default_rng(0)
    n = 120
    sex = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    experience = rng.gamma(3, 2, n).round(1)
    people = pd.DataFrame(
        {
            "person": [f"{i:04d}" for i in range(n)],
            "sex": sex,
            "age": rng.integers(18, 66, n),
            "experience": np.where(rng.random(n) < 0.1, np.nan, experience),
            "job": rng.choice(["clerk", "nurse", "welder"], n),
            "owns_home": rng.random(n) < 0.4,
            "team": rng.choice(["north", "south", "west"], n),
            "rating": (experience + (sex == "m") + rng.normal(size=n)).round(2),
        }
    )
    people["hired"] = np.where(people["rating"] > people["rating"].median(), "yes", "no")
    return people


@pytest.fixture(scope="session")
def folder(applicants, tmp_path_factory):
    """A folder with people.csv."""
    place = tmp_path_factory.mktemp("applicants")
    applicants.to_csv(place / "people.csv", index=False)
    return place


FAST = ["-k", "3", "--restarts", "1", "--max-iter", "300", "--jobs", "1"]
ROLES = ["--protected", "sex", "--protected", "age", "--id", "person", "--ignore", "team"]


def fit_model(folder, name, *arguments):
    pytest.importorskip("skops")
    do("fit", folder / "people.csv", *ROLES, *arguments, *FAST, "-o", folder / name)
    return folder / name


@pytest.fixture(scope="session")
def classifier(folder):
    """A model file that decides about ``hired``."""
    return fit_model(folder, "hired.ifair", "--ignore", "rating", "--target", "hired", "--positive", "yes")


@pytest.fixture(scope="session")
def regression(folder):
    """A model file that predicts ``rating``."""
    return fit_model(folder, "rating.ifair", "--ignore", "hired", "--target", "rating")
