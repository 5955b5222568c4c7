"""Whatever learns or audits takes a similarity, and does otherwise by another one; metrics are in test_similarity."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

from ifair import ConsistentClassifier, ConsistentRegressor, Similarity
from ifair.audit.people_view import describe_people
from ifair.cli import main
from ifair.evaluate.splits import split_table
from ifair.tables.from_table import from_table

RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {"tests": RNG.normal(size=120), "years": RNG.normal(size=120), "sex": np.where(RNG.random(120) < 0.5, "f", "m")}
)
SCORES = 1 / (1 + np.exp(-PEOPLE["tests"] - PEOPLE["years"]))
LABELS = (SCORES > 0.5).astype(int)


def make_similarity(counted):
    other = {"tests": "years", "years": "tests"}[counted]
    return Similarity(weights={other: 0}, protected=["sex"], n_neighbors=5, caliper=0.3)


def audited_part(alike):
    people = from_table(PEOPLE.assign(hired=LABELS), protected=["sex"], target="hired")
    return split_table(people, 0, similarity=alike).test


def smoothed(kind, y, alike):
    inner = LogisticRegression() if kind is ConsistentClassifier else None
    return kind(inner, protected=["sex"], strength=0.3, n_neighbors=5, similarity=alike, random_state=0).fit(PEOPLE, y)


TAKES = {
    "audit": lambda s: audited_part(s).neighbours.tolist(),
    "people view": lambda s: str(describe_people(audited_part(s), np.arange(120))),
    "consistent classifier": lambda s: smoothed(ConsistentClassifier, LABELS, s).predict_proba(PEOPLE).tolist(),
    "batch of decisions": lambda s: smoothed(ConsistentClassifier, LABELS, s).decide(PEOPLE, n=40).scores.tolist(),
    "consistent regressor": lambda s: smoothed(ConsistentRegressor, SCORES, s).predict(PEOPLE).tolist(),
}


@pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)
def test_what_learns_takes_a_similarity(take):
    one, other = (make_similarity(name) for name in ("tests", "years"))
    assert take(one) != take(other)
    assert take(one) == take(one)


@pytest.mark.parametrize("verb", ["fit", "tune", "audit", "report"])
def test_the_command_line_takes_a_similarity(verb):
    assert "--similarity" in CliRunner().invoke(main, [verb, "--help"]).output
