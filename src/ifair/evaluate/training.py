"""Training a candidate on the training part, and what it decides about the people of another part."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from ifair.datasets.dataset import Dataset
from ifair.errors import IfairError, check_choice, name_setting, unknown_name
from ifair.evaluate.candidates import Candidate, make_model
from ifair.evaluate.splits import Part, Split, name_groups
from ifair.models.batch_decisions import PARITIES, find_group_thresholds
from ifair.models.consistent import ConsistentClassifier, ConsistentRegressor
from ifair.models.consistent_model import ConsistentModel
from ifair.models.ifair import IFair
from ifair.models.lfr import LFR
from ifair.models.many import fit_many
from ifair.models.prototypes import PrototypeModel
from ifair.ranking import FAStarIR, PairwiseRanker

Floats = NDArray[np.float64]

ON_GPU_FROM = 2000
"""Records from which an evaluation on a GPU is faster than on a core, see docs/performance.md."""

ONE_THREAD_UP_TO = 100_000
"""Records up to which one thread trains a model: more of them wait for each other longer than they work."""

SIGNIFICANCE = 0.1
"""FA*IR's alpha, as in the paper that proposed it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happens to the people of a part; arrays of shape (M,).

    Scores are probabilities of the positive class, or predicted numbers; decisions 0 or 1 for two classes, and else the
    scores. People are ranked by ``order``, larger first, where that is not the scores. ``extra``: measures that only
    this post-processing has.
    """

    scores: Floats
    decisions: NDArray[Any]
    order: Floats | None = None
    extra: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupShift:
    """What is added to the scores of every group of a column, as text, so that one threshold selects all groups alike.

    Nothing is added for a group that was not there.
    """

    parity: str
    column: str
    added: Mapping[str, float]

    def apply(self, scores: Floats, frame: pd.DataFrame) -> Floats:
        """The scores of people, shape (M,), moved by their groups."""
        return scores + np.array([self.added.get(group, 0.0) for group in name_groups(frame, self.column)])


def check_parity(people: Dataset, task: str, kind: str, column: str) -> None:
    """Refuse a parity that cannot be had."""
    check_choice("parity", kind, PARITIES)
    if task != "classification":
        wanted = name_setting("parity", kind)
        raise IfairError(f"{wanted} gives groups the same rate of positive decisions, and nothing is decided here")
    if column not in people.frame.columns:
        raise unknown_name("column of groups", column, people.frame.columns)


@dataclass(frozen=True)
class Trained:
    """A candidate that was fitted: one estimator over the table as it is.

    The estimator is encoder, representation and model in one, or consistent decisions around them, as it goes into a
    model file. It looks at the ``columns``, not at protected ones where they cannot matter. Of two classes, who has a
    score above the threshold is decided about positively. ``post`` is done to the scores of a part afterwards; a
    ``shift`` gives groups the same rate, and the group is then used in deciding.
    """

    estimator: Any
    columns: list[str]
    task: str
    threshold: float = 0.5
    post: Mapping[str, Any] | None = None
    shift: GroupShift | None = None

    @property
    def looks_at(self) -> set[str]:
        """The columns that a score depends on."""
        return {*self.columns, *([] if self.shift is None else [self.shift.column])}

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
        scores = model_scores(self.estimator, frame[self.columns], self.task)
        return scores if self.shift is None else self.shift.apply(scores, frame)

    @property
    def classes(self) -> list[str]:
        """Of a model of more than two classes their names; else none."""
        found = getattr(self.estimator, "classes_", []) if self.task == "classification" else []
        return [str(name) for name in found] if len(found) > 2 else []

    def predict_codes(self, frame: pd.DataFrame) -> Floats:
        """Of a model of several classes everybody's, as its number, shape (M,)."""
        codes = np.searchsorted(self.estimator.classes_, self.estimator.predict(frame[self.columns]))
        return codes.astype(np.float64)

    def decisions(self, scores: Floats) -> NDArray[Any]:
        """What is decided at these scores, shape (M,)."""
        return decide(scores, self.task, self.threshold)

    def outcome(self, part: Part) -> Outcome:
        """What happens to the people of a part, post-processing included."""
        if self._encodes(part) and self.shift is None:
            scores = model_scores(self.pipeline[1:], part.X, self.task)
        else:
            scores = self.scores(part.records.frame)
        if self.post is None:
            return Outcome(scores, self.decisions(scores))
        options = dict(self.post)
        return POST_PROCESSING[options.pop("name")](scores, part, self.task, **options)

    def represent_part(self, part: Part) -> Floats:
        """Representations of the people of a part, shape (M, D)."""
        if not self._encodes(part):
            return self.represent(part.records.frame)
        return np.asarray(self.represent_encoded(part.X), dtype=np.float64)

    def represent_encoded(self, X: pd.DataFrame) -> Any:
        """Representations of records that are encoded already."""
        return self.pipeline[1:-1].transform(X) if len(self.pipeline) > 2 else X

    def _encodes(self, part: Part) -> bool:
        """Whether the part was encoded by this very encoder, so that it need not be encoded again."""
        return not self.consistent and part.encoder is self.pipeline[0]

    def at_rate(self, part: Part, rate: float) -> "Trained":
        """The same model with the threshold above which this share of the people of a part is."""
        return replace(self, threshold=find_height(self.scores(part.records.frame), rate, part.weight))

    def at_parity(self, part: Part, parity: str, column: str) -> "Trained":
        """The same model with groups that are selected at the same rate, as many people of a part in all as before.

        With ``parity="opportunity"``, at the same rate among those whom the model expects to be positive.
        """
        scores = self.scores(part.records.frame)
        weights = np.ones(len(part)) if parity == "selection" else scores
        weights = weights if part.weight is None else weights * part.weight
        wanted = int(self.decisions(scores).sum())
        found = find_group_thresholds(scores, name_groups(part.records.frame, column), wanted, weights)
        added = {group: self.threshold - threshold for group, threshold in found.items()}
        return replace(self, shift=GroupShift(parity, column, added))

    def with_model(self, model: Any, part: Part) -> "Trained":
        """The same representation with another model on top, fitted on a part with other outcomes."""
        fitted = fit_model(model, self.represent_encoded(part.X), part)
        return replace(self, estimator=Pipeline([*self.pipeline.steps[:-1], ("decide", fitted)]))

    def with_post(self, **post: Any) -> "Trained":
        """The same model with this post-processing: its ``name``, and its parameters."""
        return replace(self, post=post)


@dataclass(frozen=True)
class Existing:
    """A model that decides already: what it said about all records of the dataset is all that is known of it.

    Its name says where that is, for people; it ``decided`` 0 or 1 where it does not simply go by the threshold.
    """

    name: str
    scores: Floats
    task: str
    threshold: float = 0.5
    decided: NDArray[Any] | None = None

    def outcome(self, part: Part) -> Outcome:
        """What it said about the people of a part."""
        scores = self.scores[part.rows]
        made = decide(scores, self.task, self.threshold) if self.decided is None else self.decided[part.rows]
        return Outcome(scores, made)


def decide(scores: Floats, task: str, threshold: float = 0.5) -> NDArray[Any]:
    """0 or 1 for two classes, 1 above the threshold; other scores stand for themselves."""
    return (scores > threshold).astype(np.int64) if task == "classification" else scores


def find_height(scores: Floats, rate: float, weights: Floats | None = None) -> float:
    """The score above which a share of the people is, who may stand for several."""
    if weights is None:
        return float(np.quantile(scores, 1.0 - rate))
    return float(np.quantile(scores, 1.0 - rate, weights=weights, method="inverted_cdf"))


def model_scores(model: Any, Z: Any, task: str) -> Floats:
    """Probabilities of the positive class, or predicted scores, shape (M,)."""
    return model.predict_proba(Z)[:, 1] if task == "classification" else model.predict(Z)


def train(
    candidate: Candidate,
    parts: Split,
    seed: int,
    solver: Mapping[str, Any],
    *,
    threshold: float = 0.5,
    fitted: Pipeline | None = None,
) -> Trained:
    """Fit a candidate on the training part, with the protected columns only if it sees them; see `fit_candidate`."""
    part = parts.blind if candidate.drops_protected else parts.train
    return fit_candidate(candidate, part, parts.task, seed, solver, threshold=threshold, fitted=fitted)


Change = Callable[[Any], PrototypeModel]
"""From a model with a solver to the one that is fitted in its place."""


def train_many(
    candidates: Sequence[Candidate],
    parts: Split,
    seed: int,
    solver: Mapping[str, Any],
    change: Change = lambda model: model,
) -> list[Trained]:
    """Fit candidates on the encoded training part, representations that are learned by a solver all at once.

    Protected columns that a candidate does not see are left out after they were encoded.
    """
    fitted = fit_representations(candidates, parts.train, seed, solver, merge_copies=True, change=change)
    return [
        fit_candidate(candidate, parts.train, parts.task, seed, solver, fitted=steps)
        for candidate, steps in zip(candidates, fitted)
    ]


def fit_candidate(
    candidate: Candidate,
    part: Part,
    task: str,
    seed: int,
    solver: Mapping[str, Any],
    *,
    threshold: float = 0.5,
    fitted: Pipeline | None = None,
) -> Trained:
    """Fit a candidate on encoded people: what is audited and what is shipped are made here.

    Of people without an outcome the representation is all there is. The seed is of the representation's starts, of the
    model, and of the folds of consistent decisions; the solver iFair's and LFR's. The similarity of the part says who
    is like whom, for consistent decisions. Threads are limited to the solver's ``n_jobs``. A representation that was
    ``fitted`` to the part before is taken as it is.
    """
    model = make_model(candidate.model, task, seed, candidate.setting.get("C"))
    people = part.records
    if people.weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise IfairError(f"the model {candidate.model} cannot weigh people: its fit takes no sample_weight")
    if fitted is None:
        (fitted,) = fit_representations([candidate], part, seed, solver)
    columns, visible = list(people.frame.columns), list(people.protected)
    steps = [("encode", part.encoder), *(step for step in fitted.steps if step[1] != "passthrough")]
    if people.target is None:
        return Trained(Pipeline(steps), columns, task)
    if not candidate.consistent:
        pipeline = Pipeline(
            [*steps, ("decide", fit_model(model, fitted.transform(part.X), part, solver.get("n_jobs")))]
        )
        return Trained(pipeline, columns, task, threshold, candidate.post)
    options = {name: value for name, value in (candidate.post or {}).items() if name != "name"}
    # The representation looks at no outcome: only the model on top is fitted anew without some of the people.
    estimator = (ConsistentClassifier if task == "classification" else ConsistentRegressor)(
        Pipeline([("represent", FrozenEstimator(Pipeline(steps))), ("decide", model)]),
        **{"n_neighbors": part.n_neighbors, **options},
        protected=visible or None,
        sees_protected=bool(visible),
        similarity=part.similarity or "paper",
        random_state=seed,
    )
    of_model = {f"decide__{name}": value for name, value in _list_beside(model, part).items()}
    with _expected_warnings(), _limit_threads(part, solver.get("n_jobs")):
        warnings.filterwarnings("ignore", message="the inner estimator can see protected columns")
        estimator.fit(people.frame, part.y, **({} if part.query is None else {"query": part.query}), **of_model)
    # As if all had been fitted in one: nothing is frozen in a model file.
    estimator.estimator_ = Pipeline([*steps, ("decide", estimator.estimator_[-1])])
    return Trained(estimator.set_params(estimator=clone(estimator.estimator_)), columns, task, threshold)


def fit_representations(
    candidates: Sequence[Candidate],
    part: Part,
    seed: int,
    solver: Mapping[str, Any],
    *,
    merge_copies: bool = False,
    change: Change = lambda model: model,
) -> list[Pipeline]:
    """Fit the representations of candidates on encoded people; those with a solver and nothing before it at once.

    To rounding each is what it would be alone: see :func:`ifair.fit_many`. With ``merge_copies`` the solver gets people
    who are alike in everything once, with the weight of all: the losses are the same, and its starts others.
    """
    width, protected = part.may_count.shape[1], part.records.protected
    built = [
        Pipeline(candidate.build_steps(protected, width, seed, solver) or [("as_is", "passthrough")])
        for candidate in candidates
    ]
    solved = list[PrototypeModel]()
    with _expected_warnings():
        for steps in built:
            name, model = steps.steps[-1]
            if len(steps) == 1 and isinstance(model, PrototypeModel):
                solved.append(change(model))
                steps.steps = [(name, solved[-1])]
            else:
                steps.fit(part.X)
        for kind in (LFR, IFair):
            if models := [model for model in solved if isinstance(model, kind)]:
                _fit_models(models, part, merge_copies)
    return built


def _fit_models(models: Sequence[PrototypeModel], part: Part, merge_copies: bool) -> None:
    """Fit models of one kind to encoded people; what stands beside the records must be the same of copies, too."""
    X, weight = part.X, part.weight
    beside: dict[str, Any] = {}
    if isinstance(models[0], LFR):
        # With weights of their own, groups are told apart by a column.
        told = models[0].attribute_weights == "shared"
        beside = {"y": part.y, **({"sensitive_features": part.group} if told else {})}
    if merge_copies:
        told_apart = np.column_stack([X, *(pd.factorize(values)[0] for values in beside.values())])
        _, first, copy_of = np.unique(told_apart, axis=0, return_index=True, return_inverse=True)
        if max(model.n_prototypes for model in models) <= len(first) <= WORTH_MERGING * len(X):
            X, beside = X.iloc[first], {name: values[first] for name, values in beside.items()}
            weight = np.bincount(copy_of.ravel(), weights=weight).astype(np.float64)  # NumPy 2.0 has it as a column
    if len(models) == 1:
        models[0].fit(X, **beside, sample_weight=weight)  # shows its progress
    else:
        fit_many(models, X, **beside, sample_weight=weight)


WORTH_MERGING = 0.8
"""Share of different records up to which it saves time to fit them alone; mostly it saves their pairs."""


@contextmanager
def _expected_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        # What was reached is what is measured, converged or not. The trivial optimum at lambda = 0 may be asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="utility_weight=0")
        yield


def _limit_threads(part: Part, n_jobs: int | None) -> threadpool_limits:
    """At most so many threads of OpenMP, which boosted trees are grown by; of few people one."""
    several = None if n_jobs is None or n_jobs < 0 else n_jobs
    return threadpool_limits(1 if len(part) <= ONE_THREAD_UP_TO else several, user_api="openmp")


def fit_model(model: Any, Z: Any, train: Part, n_jobs: int | None = None) -> Any:
    """Fit a model on represented training records."""
    with _expected_warnings(), _limit_threads(train, n_jobs):
        return model.fit(Z, train.y, **_list_beside(model, train))


def _list_beside(model: Any, part: Part) -> dict[str, Any]:
    """What a model of these people is fitted with besides their outcome."""
    query = {"query": part.query} if isinstance(model, PairwiseRanker) else {}
    return query if part.weight is None else {**query, "sample_weight": part.weight}


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
