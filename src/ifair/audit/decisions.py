"""What a simple model decides when it is trained on a representation."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline

from ifair.audit.candidates import Candidate
from ifair.audit.parts import Part, Parts


@dataclass(frozen=True)
class Decider:
    """A representation and the model trained on it: logistic regression for two classes, else linear regression."""

    steps: Pipeline
    model: Any
    task: str

    def represent(self, X: Any) -> NDArray[np.float64]:
        """Representations of encoded records, shape (M, D)."""
        return np.asarray(self.steps.transform(X), dtype=np.float64)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the positive class, or predicted scores, shape (M,)."""
        Z = self.represent(X)
        return self.model.predict_proba(Z)[:, 1] if self.task == "classification" else self.model.predict(Z)

    def decisions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """0 or 1 for two classes; scores stand for themselves."""
        return (scores > 0.5).astype(np.int64) if self.task == "classification" else scores


def learn(candidate: Candidate, parts: Parts, seed: int, solver: Mapping[str, Any]) -> Decider:
    """Fit a representation and a model on the training part."""
    train = parts.train
    steps = candidate.build(train.records.protected, train.may_count.shape[1], seed, solver)
    extra = {"lfr__sensitive_features": train.records.group} if candidate.family == "lfr" else {}
    with warnings.catch_warnings():
        # What was reached is what is measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        Z = np.asarray(steps.fit(train.X, train.y, **extra).transform(train.X), dtype=np.float64)
        model: Any = LogisticRegression(max_iter=2000) if parts.task == "classification" else LinearRegression()
        return Decider(steps, model.fit(Z, train.y), parts.task)


def score_range(part: Part, task: str) -> tuple[float, float]:
    """Between which values scores lie, to measure differences by."""
    if task == "classification":
        return 0.0, 1.0
    low, high = float(np.min(part.y)), float(np.max(part.y))
    return (low, high) if high > low else (low, low + 1.0)
