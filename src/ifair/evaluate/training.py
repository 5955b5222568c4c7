"""Training a candidate on the training part, and what it decides about the people of another part."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from ifair.evaluate.candidates import Candidate, make_model
from ifair.evaluate.splits import Part, Split
from ifair.models.many import fit_many
from ifair.models.prototypes import PrototypeModel
from ifair.ranking import FAStarIR

Floats = NDArray[np.float64]

ON_GPU_FROM = 2000
"""Records from which an evaluation on a GPU is faster than on a core, see docs/performance.md."""

SIGNIFICANCE = 0.1
"""FA*IR's alpha, as in the paper that proposed it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens to the people of a part.

    Attributes
    ----------
    scores : array of shape (M,)
        Probabilities of the positive class, or predicted scores.
    decisions : array of shape (M,)
        0 or 1 for two classes; scores stand for themselves.
    order : array of shape (M,), optional
        What people are ranked by, larger first, where that is not the scores.
    extra : dict
        Measures that only this post-processing has.
    """

    scores: Floats
    decisions: NDArray[Any]
    order: Floats | None = None
    extra: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trained:
    """A fitted representation and the model trained on it."""

    steps: Pipeline
    model: Any
    task: str
    post: Mapping[str, Any] | None = None

    @property
    def converged(self) -> bool:
        """Whether the representation's solver did; true of those without one."""
        return bool(getattr(self.steps[-1], "converged_", True))

    def represent(self, X: Any) -> Floats:
        """Representations of encoded records, shape (M, D)."""
        return np.asarray(self.steps.transform(X), dtype=np.float64)

    def scores(self, X: Any) -> Floats:
        """The model's scores of encoded records, before any post-processing, shape (M,)."""
        return model_scores(self.model, self.represent(X), self.task)

    def decisions(self, scores: Floats) -> NDArray[Any]:
        """What is decided at these scores, shape (M,)."""
        return decide(scores, self.task)

    def outcome(self, part: Part) -> Outcome:
        """What happens to the people of a part, post-processing included."""
        scores = self.scores(part.X)
        if self.post is None:
            return Outcome(scores, decide(scores, self.task))
        options = dict(self.post)
        return POST_PROCESSING[options.pop("name")](scores, part, self.task, **options)

    def with_post(self, **post: Any) -> "Trained":
        """The same model with this post-processing: its ``name``, and its parameters."""
        return replace(self, post=post)


def decide(scores: Floats, task: str) -> NDArray[Any]:
    """0 or 1 for two classes, 1 above one half; other scores stand for themselves."""
    return (scores > 0.5).astype(np.int64) if task == "classification" else scores


def model_scores(model: Any, Z: Any, task: str) -> Floats:
    """Probabilities of the positive class, or predicted scores, shape (M,)."""
    return model.predict_proba(Z)[:, 1] if task == "classification" else model.predict(Z)


def train(candidate: Candidate, parts: Split, seed: int, solver: Mapping[str, Any]) -> Trained:
    """Fit a candidate on the training part.

    Parameters
    ----------
    seed : int
        Of the representation's starts and of the model.
    solver : mapping
        Parameters of iFair's and LFR's solver, such as ``n_restarts`` and ``max_iter``.
    """
    steps = fit_representation(candidate, parts.train, seed, solver)
    Z = np.asarray(steps.transform(parts.train.X), dtype=np.float64)
    return Trained(steps, fit_model(candidate.model, Z, parts.train, parts.task, seed), parts.task, candidate.post)


def train_many(candidates: Sequence[Candidate], parts: Split, seed: int, solver: Mapping[str, Any]) -> list[Trained]:
    """Fit candidates on the training part, those that are learned by a solver all at once: see :func:`ifair.fit_many`.

    Every one has the starts, and to rounding the steps, that it would have alone.
    """
    data = parts.train
    built = [
        candidate.build(data.records.protected, data.X.shape[1], len(data.hidden), seed, solver)
        for candidate in candidates
    ]
    solved = [steps[-1] for steps in built if isinstance(steps[-1], PrototypeModel)]
    with _expected_warnings():
        fit_many(solved, data.X, data.y, sensitive_features=data.group)
    fitted = [steps if isinstance(steps[-1], PrototypeModel) else _fit(steps, data) for steps in built]
    trained = []
    for candidate, steps in zip(candidates, fitted):
        Z = np.asarray(steps.transform(data.X), dtype=np.float64)
        trained.append(
            Trained(steps, fit_model(candidate.model, Z, data, parts.task, seed), parts.task, candidate.post)
        )
    return trained


def fit_representation(candidate: Candidate, train: Part, seed: int, solver: Mapping[str, Any]) -> Pipeline:
    """Fit a candidate's representation on the training part."""
    return _fit(candidate.build(train.records.protected, train.X.shape[1], len(train.hidden), seed, solver), train)


def _fit(steps: Pipeline, train: Part) -> Pipeline:
    fit = {"lfr__sensitive_features": train.group} if "lfr" in steps.named_steps else {}
    with _expected_warnings():
        return steps.fit(train.X, train.y, **fit)


@contextmanager
def _expected_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        # What was reached is what is measured, converged or not. The trivial optimum at lambda = 0 may be asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="utility_weight=0")
        yield


def fit_model(name: str, Z: Any, train: Part, task: str, seed: int = 0) -> Any:
    """Fit the model of this name on represented training records."""
    query = {"query": train.query} if name == "pairwise" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_model(name, task, seed).fit(np.asarray(Z), train.y, **query)


def choose_engine(n_records: int, n_fits: int = 1) -> str:
    """A GPU where there is one and so many fits of the table at once keep it busy, else the processor."""
    if n_records * n_fits < ON_GPU_FROM or find_spec("torch") is None or find_spec("array_api_compat") is None:
        return "local"
    import torch

    return "torch" if torch.cuda.is_available() else "local"


def rank_fairly(scores: Floats, part: Part, task: str, *, p: float, adjust: bool = True) -> Outcome:
    """FA*IR's rankings by these scores; scores become the fair scores, the paper's extension.

    Without ``adjust`` the significance holds for every prefix alone, not for all of them together.

    ``percent_held`` tells in how many queries there were protected candidates enough for FA*IR's minimum counts.
    """
    rows = np.concatenate([rows for rows, _ in part.rankings])
    ranking = FAStarIR(p=p, alpha=SIGNIFICANCE, adjust=adjust, shortage="ignore").rank(
        scores[rows], sensitive_features=part.group[rows], query=np.asarray(part.query)[rows]
    )
    fair, order = scores.copy(), np.zeros(len(scores))
    fair[rows], order[rows] = ranking.scores, -ranking.rank
    held = 100.0 * float(np.mean(list(ranking.satisfied.values())))
    return Outcome(fair, decide(fair, task), order, {"percent_held": held})


POST_PROCESSING: dict[str, Callable[..., Outcome]] = {"fa-star-ir": rank_fairly}
"""By name what may be done to scores: a function of scores, part, task and its own parameters."""
