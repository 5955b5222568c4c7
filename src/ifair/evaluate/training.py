"""Training a candidate on the training part, and what it decides about the people of another part."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from ifair.datasets.dataset import Dataset
from ifair.encode import Encoder
from ifair.errors import IfairError
from ifair.evaluate.candidates import Candidate, make_model
from ifair.evaluate.splits import Part, Split
from ifair.models.consistent import ConsistentClassifier, ConsistentRegressor
from ifair.models.consistent_model import ConsistentModel
from ifair.models.lfr import LFR
from ifair.ranking import FAStarIR, PairwiseRanker

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
    """A candidate that was fitted: one estimator over the table as it is.

    Attributes
    ----------
    estimator : Pipeline, ConsistentClassifier or ConsistentRegressor
        Encoder, representation and model in one, as it goes into a model file.
    columns : list of str
        The attributes that it looks at; without the protected ones where they cannot matter.
    threshold : float
        Of two classes: who has a higher score is decided about positively.
    post : mapping, optional
        What is done to the scores of a part afterwards.
    """

    estimator: Any
    columns: list[str]
    task: str
    threshold: float = 0.5
    post: Mapping[str, Any] | None = None

    @property
    def pipeline(self) -> Pipeline:
        """Encoder, representation and model, without what is done to scores."""
        return self.estimator.estimator_ if self.consistent else self.estimator

    @property
    def consistent(self) -> bool:
        """Whether the scores of like people were made alike."""
        return isinstance(self.estimator, ConsistentModel)

    @property
    def representation(self) -> Any:
        """The last step before the model: the representation, or the encoder where there is none."""
        return self.pipeline[-2]

    @property
    def converged(self) -> bool:
        """Whether the representation's solver did; true of those without one."""
        return bool(getattr(self.representation, "converged_", True))

    def represent(self, frame: pd.DataFrame) -> Floats:
        """Representations of records, shape (M, D)."""
        return np.asarray(self.pipeline[:-1].transform(frame[self.columns]), dtype=np.float64)

    def scores(self, frame: pd.DataFrame) -> Floats:
        """The scores of records, each for itself, shape (M,)."""
        return model_scores(self.estimator, frame[self.columns], self.task)

    def decisions(self, scores: Floats) -> NDArray[Any]:
        """What is decided at these scores, shape (M,)."""
        return decide(scores, self.task, self.threshold)

    def outcome(self, part: Part) -> Outcome:
        """What happens to the people of a part, post-processing included."""
        scores = self.scores(part.records.frame)
        if self.post is None:
            return Outcome(scores, self.decisions(scores))
        options = dict(self.post)
        return POST_PROCESSING[options.pop("name")](scores, part, self.task, **options)

    def at_rate(self, part: Part, rate: float) -> "Trained":
        """The same model with the threshold above which this share of the people of a part is."""
        return replace(self, threshold=float(np.quantile(self.scores(part.records.frame), 1.0 - rate)))

    def with_post(self, **post: Any) -> "Trained":
        """The same model with this post-processing: its ``name``, and its parameters."""
        return replace(self, post=post)


def decide(scores: Floats, task: str, threshold: float = 0.5) -> NDArray[Any]:
    """0 or 1 for two classes, 1 above the threshold; other scores stand for themselves."""
    return (scores > threshold).astype(np.int64) if task == "classification" else scores


def model_scores(model: Any, Z: Any, task: str) -> Floats:
    """Probabilities of the positive class, or predicted scores, shape (M,)."""
    return model.predict_proba(Z)[:, 1] if task == "classification" else model.predict(Z)


def train(
    candidate: Candidate,
    parts: Split,
    seed: int,
    solver: Mapping[str, Any],
    *,
    near: Trained | None = None,
    threshold: float = 0.5,
) -> Trained:
    """Fit a candidate on the training part; see :func:`fit_candidate`."""
    return fit_candidate(
        candidate,
        parts.train.records,
        parts.task,
        seed,
        solver,
        encoder=parts.encoder,
        similarity=parts.train.similarity or "paper",
        near=near,
        threshold=threshold,
    )


def fit_candidate(
    candidate: Candidate,
    people: Dataset,
    task: str,
    seed: int,
    solver: Mapping[str, Any],
    *,
    encoder: Encoder,
    similarity: Any = None,
    near: Trained | None = None,
    threshold: float = 0.5,
) -> Trained:
    """Fit a candidate on a table of people: what is audited and what is shipped are made here.

    Of people without an outcome the representation is all there is.

    Parameters
    ----------
    task : {"classification", "regression", "ranking"}
    seed : int
        Of the representation's starts, of the model, and of the folds of consistent decisions.
    solver : mapping
        Parameters of iFair's and LFR's solver, such as ``n_restarts`` and ``max_iter``.
    encoder : Encoder
        Its options are taken; it is fitted anew.
    similarity : Similarity, "paper" or None
        Who is like whom, for consistent decisions.
    near : Trained, optional
        What was learned at the setting before: its solution is one of the starts, if it has as many prototypes and
        there is more than one start.
    threshold : float
        Of two classes: who has a higher score is decided about positively.
    """
    hidden = list(people.protected) if candidate.drops_protected else []
    columns = [name for name in people.frame.columns if name not in hidden]
    frame = people.frame[columns]
    left = encoder.categorical
    encode = clone(encoder).set_params(
        categorical=left if isinstance(left, str) else [name for name in left if name not in hidden] or "auto"
    )
    encoded = encode.fit_transform(frame)
    visible = [name for name in people.protected if name not in hidden]
    steps = candidate.build_steps(visible, encoded.shape[1], seed, solver)
    fitted = _fit_steps(steps, encoded, people, near) if steps else Pipeline([("as_is", "passthrough")])
    represent = Pipeline([("encode", encode), *(fitted.steps if steps else [])])
    if people.target is None:
        return Trained(represent, columns, task)
    Z, y = fitted.transform(encoded), people.target.to_numpy()
    model = candidate.build_model(task, seed)
    query = {} if people.query is None else {"query": people.query.to_numpy()}
    of_model = query if isinstance(model, PairwiseRanker) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if not candidate.consistent:
            pipeline = Pipeline([*represent.steps, ("decide", model.fit(Z, y, **of_model))])
            return Trained(pipeline, columns, task, threshold, candidate.post)
        warnings.filterwarnings("ignore", message="the inner estimator can see protected columns")
        options = {name: value for name, value in (candidate.post or {}).items() if name != "name"}
        # The representation looks at no outcome: only the model on top is fitted anew without some of the people.
        estimator = (ConsistentClassifier if task == "classification" else ConsistentRegressor)(
            Pipeline([("represent", FrozenEstimator(represent)), ("decide", model)]),
            **{"n_neighbors": getattr(similarity, "n_neighbors", 10), **options},
            protected=visible or None,
            sees_protected=bool(visible),
            similarity=similarity,
            random_state=seed,
        )
        estimator.fit(frame, y, **query, **{f"decide__{name}": value for name, value in of_model.items()})
    # As if all had been fitted in one: nothing is frozen in a model file.
    estimator.estimator_ = Pipeline([*represent.steps, ("decide", estimator.estimator_[-1])])
    return Trained(estimator.set_params(estimator=clone(estimator.estimator_)), columns, task, threshold)


def train_along(
    candidates: Iterable[Candidate], parts: Split, seed: int, solver: Mapping[str, Any]
) -> Iterator[Trained]:
    """Fit candidates one after the other, each near the one before."""
    near = None
    for candidate in candidates:
        near = train(candidate, parts, seed, solver, near=near)
        yield near


def train_on_path(
    candidate: Candidate, path: Iterable[Mapping[str, Any]], parts: Split, seed: int, solver: Mapping[str, Any]
) -> Trained:
    """What :func:`train_along` gives at the candidate's setting, on its way along the settings of a path.

    Where starts do not depend on the setting before, the candidate is fitted alone.
    """
    if solver["n_restarts"] == 1 or not candidate.method.startswith("ifair"):
        return train(candidate, parts, seed, solver)
    way = []
    for setting in path:
        if setting.get("K") == candidate.setting["K"]:
            way.append(replace(candidate, setting=setting))
        if setting == candidate.setting:
            return list(train_along(way, parts, seed, solver))[-1]
    raise IfairError(f"the grid has no setting {dict(candidate.setting)}")


def fit_representation(
    candidate: Candidate, train: Part, seed: int, solver: Mapping[str, Any], *, near: Pipeline | None = None
) -> Pipeline:
    """Fit a candidate's representation on an encoded part; ``near`` as in :func:`fit_candidate`."""
    steps = candidate.build_steps(train.records.protected, train.may_count.shape[1], seed, solver)
    return _fit_steps(steps or [("as_is", "passthrough")], train.X, train.records, near)


def _fit_steps(steps: list[tuple[str, Any]], X: Any, people: Dataset, near: Any) -> Pipeline:
    """Fit the steps of a representation; of two ways to start the one with the smaller loss."""
    pipeline = Pipeline(steps)
    before = near.representation if isinstance(near, Trained) else None if near is None else near[-1]
    if before is None or not _can_start_from(pipeline[-1], before):
        return _fit(pipeline, X, people)
    restarts = pipeline[-1].n_restarts
    warm = clone(pipeline)
    warm[-1].set_params(n_restarts=1, init=before.prototypes_, alpha_init=before.alpha_)
    pipeline[-1].set_params(n_restarts=restarts - 1)
    return min(_fit(pipeline, X, people), _fit(warm, X, people), key=lambda one: one[-1].loss_)


def _can_start_from(model: Any, near: Any) -> bool:
    """Whether a solution of one can be a start of the other, beside others."""
    if not hasattr(model, "get_params"):
        return False
    parameters = model.get_params()
    fits = len(getattr(near, "prototypes_", ())) == parameters.get("n_prototypes")
    return fits and {"init", "alpha_init", "warm_start"} <= set(parameters) and parameters["n_restarts"] > 1


def _fit(steps: Pipeline, X: Any, people: Dataset) -> Pipeline:
    fit = {f"{steps.steps[-1][0]}__sensitive_features": people.group} if isinstance(steps[-1], LFR) else {}
    with warnings.catch_warnings():
        # What was reached is what is measured, converged or not. The trivial optimum at lambda = 0 may be asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="utility_weight=0")
        return steps.fit(X, None if people.target is None else people.target.to_numpy(), **fit)


def fit_model(name: str, Z: Any, train: Part, task: str, seed: int = 0) -> Any:
    """Fit the model of this name on represented training records."""
    query = {"query": train.query} if name == "pairwise" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_model(name, task, seed).fit(np.asarray(Z), train.y, **query)


def choose_engine(n_records: int) -> str:
    """A GPU where there is one and the table is large enough to keep it busy, else the processor."""
    if n_records < ON_GPU_FROM or find_spec("torch") is None or find_spec("array_api_compat") is None:
        return "local"
    import torch

    return "torch" if torch.cuda.is_available() else "local"


def rank_fairly(scores: Floats, part: Part, task: str, *, p: float) -> Outcome:
    """FA*IR's rankings by these scores; scores become the fair scores, the paper's extension.

    ``percent_held`` tells in how many queries there were protected candidates enough for FA*IR's minimum counts.
    """
    rows = np.concatenate([rows for rows, _ in part.rankings])
    ranking = FAStarIR(p=p, alpha=SIGNIFICANCE, shortage="ignore").rank(
        scores[rows], sensitive_features=part.group[rows], query=np.asarray(part.query)[rows]
    )
    fair, order = scores.copy(), np.zeros(len(scores))
    fair[rows], order[rows] = ranking.scores, -ranking.rank
    held = 100.0 * float(np.mean(list(ranking.satisfied.values())))
    return Outcome(fair, decide(fair, task), order, {"percent_held": held})


POST_PROCESSING: dict[str, Callable[..., Outcome]] = {"fa-star-ir": rank_fairly}
"""By name what may be done to scores: a function of scores, part, task and its own parameters."""
