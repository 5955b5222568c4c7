"""Scores of every family of methods that consistent decisions are compared with, with as many settings each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline

from ifair.evaluate.candidates import EUCLIDEAN, Candidate, make_model
from ifair.evaluate.splits import Part, Split
from ifair.evaluate.training import fit_model, fit_representations, model_scores
from ifair.graph import NeighbourIndex, neighbour_graph, newcomer_scores, smooth
from ifair.metrics import auc, average_precision_at_k
from ifair.reproduce.case import Case

Floats = NDArray[np.float64]

NEIGHBOURS = 10
FOLDS = 5
STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SQUARED_STRENGTHS = (0.05, 0.15, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Squares of differences below 1 are smaller than the differences: the same effect takes more strength."""
PENALTIES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 1.0, 10.0)
"""C of logistic regression; its inverse is the penalty of the linear regression of rankings."""
COMPONENTS = (2, 3, 5, 8, 12, 20, 30, 50)
VOTERS = (5, 10, 20, 40, 60, 90, 130, 200)
LEAVES = (2, 3, 4, 6, 8, 12, 16, 31)
PROTOTYPES = tuple((k, share) for k in (5, 10, 20, 30) for share in (0.1, 0.9))
POST = ("consistent", "glif", "newcomers")
"""Post-processing: total variation of a batch, its squared sibling (Petersen et al. 2021), and people one at a time."""
MOST_LEARNED_FROM = 1500
"""People at most whom iFair's prototypes are learned from, drawn at random; models on top learn from all."""
LARGE = {"pairs": 100, "n_restarts": 1, "max_iter": 300}
"""How iFair is fitted where there are more: people are compared with landmarks, and one search ends sooner."""

Scored = tuple[str, dict[str, Any], Sequence[Floats]]
"""The family, the setting, and the scores of the validation and of the test people."""


def mean_precision(part: Part, scores: Floats) -> float:
    """MAP of the first ten alone: nothing else of a ranking need be measured."""
    return float(np.mean([average_precision_at_k(part.y[rows], scores[rows], k=10) for rows, _ in part.rankings]))


@dataclass(frozen=True)
class ScoreFamilies:
    """Every family of methods on one split: what is searched or fitted once serves all of them.

    The linear model that is smoothed has the penalty that is most useful on validation.
    """

    parts: Split
    case: Case

    def __iter__(self) -> Iterator[Scored]:
        """Every setting of every family."""
        for C, scores in zip(PENALTIES, self._linear):
            yield "penalty", {"C": C}, scores
        train = self.parts.train
        reduced = [Candidate("svd-masked", {"K": k}) for k in COMPONENTS]
        for k, steps in zip(COMPONENTS, fit_representations(reduced, train, self.case.seed, {})):
            yield "components", {"K": k}, self._score(self._make_linear(), steps)
        for leaves, scores in zip(LEAVES, self._trees):
            yield "leaves", {"leaves": leaves}, scores
        for k in VOTERS:
            votes = [train.y[near[:, :k]].mean(axis=1) for near in self._voters]
            yield "voters", {"k": k}, votes
        for (k, share), steps in zip(PROTOTYPES, self._fit_prototypes()):
            yield "prototypes", {"K": k, "share": share}, self._score(self._make_linear(), steps)
        yield from self._smooth_scores()

    @cached_property
    def inner_models(self) -> dict[str, tuple[list[Floats], Floats]]:
        """By name the scores of the held-out parts, and out of fold those of the training people; rankings in units
        of 1."""
        train, validation, task = self.parts.train, self.parts.validation, self.parts.task
        utility = mean_precision if task == "ranking" else lambda part, scores: auc(part.y, scores)
        best = int(np.argmax([utility(validation, scores) for scores, _ in self._linear]))
        fitted = {
            "linear": (self._linear[best], self._make_linear(PENALTIES[best])),
            "boosting": (self._trees[-1], self._make_booster(LEAVES[-1])),
        }
        width = np.ptp(train.y) or 1.0 if task == "ranking" else 1.0
        scored: dict[str, tuple[list[Floats], Floats]] = {}
        for name, (held_out, model) in fitted.items():
            method = "predict_proba" if task == "classification" else "predict"
            held = cross_val_predict(model, train.may_count, train.y, cv=FOLDS, method=method)
            out_of_fold = held[:, 1] if held.ndim == 2 else held
            scored[name] = [scores / width for scores in held_out], out_of_fold / width
        means = [np.mean(both, axis=0) for both in zip(*(plain for plain, _ in scored.values()))]
        scored["mean"] = means, np.mean([held for _, held in scored.values()], axis=0)
        return scored

    def _smooth_scores(self) -> Iterator[Scored]:
        """Every post-processing of every inner model at every strength."""
        parts = self.parts
        graphs = [neighbour_graph(neighbours=part.neighbours) for part in (parts.validation, parts.test)]
        nearest = [near[:, :NEIGHBOURS] for near in self._voters]
        own = neighbour_graph(neighbours=parts.train.neighbours)
        for name, (plain, out_of_fold) in self.inner_models.items():
            for strength in SQUARED_STRENGTHS:
                smoothed = [smooth(p, W, strength, "squared") for p, W in zip(plain, graphs)]
                yield f"glif, {name}", {"inner": name, "strength": strength}, smoothed
            for strength in STRENGTHS:
                setting = {"inner": name, "strength": strength}
                yield f"consistent, {name}", setting, [smooth(p, W, strength) for p, W in zip(plain, graphs)]
                reference = smooth(out_of_fold, own, strength)
                alone: list[Any] = [newcomer_scores(p, reference[near], strength) for p, near in zip(plain, nearest)]
                yield f"newcomers, {name}", setting, alone

    @cached_property
    def _linear(self) -> list[list[Floats]]:
        return [self._score(self._make_linear(C)) for C in PENALTIES]

    @cached_property
    def _trees(self) -> list[list[Floats]]:
        return [self._score(self._make_booster(leaves)) for leaves in LEAVES]

    @cached_property
    def _voters(self) -> list[NDArray[np.intp]]:
        """The nearest training people of the held-out people, as many as any family asks for."""
        train = self.parts.train
        index, most = NeighbourIndex(train.may_count), min(VOTERS[-1], len(train) - 1)
        return [index.nearest(part.may_count, most)[0] for part in (self.parts.validation, self.parts.test)]

    def _fit_prototypes(self) -> list[Pipeline]:
        settings = [{"K": k, "lambda": 1 - share, "mu": share, **EUCLIDEAN} for k, share in PROTOTYPES]
        candidates = [Candidate("ifair-frozen", setting) for setting in settings]
        train, solver = self.parts.train, self.case.engine_solver(self.parts.train, len(PROTOTYPES))
        if len(train) > MOST_LEARNED_FROM:
            drawn = np.random.default_rng([self.case.seed, 787]).permutation(len(train))[:MOST_LEARNED_FROM]
            rows, solver = np.sort(drawn), {**solver, **LARGE}
            train = replace(train, records=train.records.take(rows), X=train.X.iloc[rows], rows=train.rows[rows])
        return fit_representations(candidates, train, self.case.seed, solver, merge_copies=True)

    def _score(self, model: Any, steps: Pipeline | None = None) -> list[Floats]:
        """Scores of the held-out parts by a model of represented people, or of masked data as they are."""
        train, *others = [part.may_count if steps is None else steps.transform(part.X) for part in self.parts]
        fitted = fit_model(model, train, self.parts.train)
        return [model_scores(fitted, Z, self.parts.task) for Z in others]

    def _make_linear(self, C: float = 1.0) -> Any:
        # The penalty of rankings is 1 / C here, and half of that where candidates are trained.
        C = C if self.parts.task == "classification" else C / 2
        return make_model("linear", self.parts.task, self.case.seed, C)

    def _make_booster(self, leaves: int) -> Any:
        model = make_model("boosting", self.parts.task, self.case.seed)
        return model.set_params(max_leaf_nodes=leaves, learning_rate=0.06)
