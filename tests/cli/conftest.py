"""A table of people, and a model fitted by the command itself."""

import pytest

from samples import staff
from scripts import do


@pytest.fixture(scope="session")
def applicants():
    return staff()


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
