"""What the paper's model reaches on a representation, and what an adversary: the same for every experiment."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from ifair.experiments.protocol import Part, Split, classification_measures, classify
from ifair.experiments.ranking import ranking_measures
from ifair.metrics import auc
from ifair.metrics.adversary import make_attacker


def utility_of(part: Part) -> str:
    """The measure of utility that settings are chosen by."""
    return "AUC" if part.query is None else "MAP"


def measured(parts: Split, mapped: Sequence[NDArray[np.float64]]) -> list[dict[str, float]]:
    """What the paper's classifier, or ranker, trained on the first of three mapped parts reaches on the others."""
    held_out = (parts.validation, parts.test)
    if utility_of(parts.train) == "MAP":
        model = LinearRegression().fit(mapped[0], parts.train.y)
        return [ranking_measures(part, model.predict(Z)) for part, Z in zip(held_out, mapped[1:])]
    answers = classify(mapped[0], parts.train.y, *mapped[1:])
    return [classification_measures(part, *answer) for part, answer in zip(held_out, answers)]


def group_told(
    parts: Split, seen: NDArray[np.float64], unseen: NDArray[np.float64], adversary: str, seed: int
) -> float:
    """The AUC with which an adversary, trained on the training part, tells the group on test; 1/2 is chance."""
    model = make_attacker(adversary, seed).fit(seen, parts.train.group)
    return auc(parts.test.group, model.predict_proba(unseen)[:, 1])
