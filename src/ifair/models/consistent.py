"""Consistent decisions: any classifier or regressor, with scores that differ little between people who are alike."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold, cross_val_predict
from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ifair.encode.table import as_pandas
from ifair.graph import minimum_cut, newcomer_scores, smooth_certified
from ifair.models.protected import protected_columns
from ifair.similarity import Similarity
from ifair.similarity.peers import Peers
from ifair.similarity.similarity import graph_of_peers

PENALTIES = ("absolute", "squared")
PARITIES = ("selection", "opportunity")
PARITY_ROUNDS = 50
TIED = 1e-9
"""Smoothed scores that differ by no more than this are tied."""


@dataclass(frozen=True)
class BatchDecisions:
    """Decisions about a batch of people.

    Attributes
    ----------
    selected : ndarray of bool, shape (n_people,)
    scores : ndarray of shape (n_people,)
        Smoothed; with `parity` less the threshold of the person's group.
    plain_scores : ndarray of shape (n_people,)
        What the inner model says.
    threshold : float
        The height at which scores are cut.
    group_thresholds : dict
        With `parity`, what is subtracted from the model's scores of every group.
    gap : float
        At most so far is the smoothing objective above its minimum, as a share of it.
    changed : int array
        Positions of people whom the plain model, choosing as many or cutting at the same height, decides otherwise about.
    tied : int array
        Positions of people whose score equals that of the last one selected, where some of them are left out.
    peers : Peers
        Whom everybody was compared with.
    """

    selected: NDArray[np.bool_]
    scores: NDArray[np.float64]
    plain_scores: NDArray[np.float64]
    threshold: float
    group_thresholds: dict[Any, float]
    gap: float
    changed: NDArray[np.intp]
    tied: NDArray[np.intp]
    peers: Peers
    _people: pd.DataFrame = field(repr=False)
    _similarity: Similarity = field(repr=False)

    def explain(self, person: int, most: int = 3) -> str:
        """Why a person is decided about as they are, in words a case worker can read."""
        near = self.peers.indices[person]
        near = near[near >= 0]
        verdict = "selected" if self.selected[person] else "not selected"
        moved = f"person {person} is {verdict}: model {self.plain_scores[person]:.3f}, with peers {self.scores[person]:.3f}"
        if len(near) == 0:
            return f"{moved}; no close peers, so the model's score stands"
        above = int(self.selected[near].sum())
        lines = [f"{moved}; of {len(near)} people most like them {above} are selected"]
        for other in near[:most]:
            words = self._similarity.explain(self._people, person, int(other))
            lines.append(f"  person {other}, score {self.scores[other]:.3f}: {words}")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Everybody: selected, both scores, how many peers they have, whether the decision changed or is a tie."""
        everyone = np.arange(len(self.selected))
        return pd.DataFrame(
            {
                "selected": self.selected,
                "score": self.scores,
                "model_score": self.plain_scores,
                "peers": self.peers.count,
                "changed": np.isin(everyone, self.changed),
                "tied": np.isin(everyone, self.tied),
            },
            index=self._people.index,
        )


def _inner_has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", None) or self._inner(), method)

    return check


class ConsistentModel(MetaEstimatorMixin, BaseEstimator):
    """What the classifier and the regressor share; use :class:`ConsistentClassifier` or :class:`ConsistentRegressor`."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        strength: float = 0.1,
        protected: Any = None,
        n_neighbors: int = 10,
        penalty: str = "absolute",
        similarity: Any = None,
        reference: Any = "training",
        cv: Any = 5,
        sees_protected: bool = False,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.strength = strength
        self.protected = protected
        self.n_neighbors = n_neighbors
        self.penalty = penalty
        self.similarity = similarity
        self.reference = reference
        self.cv = cv
        self.sees_protected = sees_protected
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.string = inner.input_tags.string
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` passes on to the inner estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=self._inner(), method_mapping=mapping)

    def fit(self, X: Any, y: Any, *, query: Any = None, **fit_params: Any) -> Self:
        """Fit the inner model, score the training people out of fold, and smooth their scores.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_people, n_features)
            With the protected columns, if there are any.
        y : array-like of shape (n_people,)
        query : labels of shape (n_people,), optional
            Of rankings: only people of the same query are compared.
        **fit_params : dict
            Passed on to the inner estimator's `fit`, by metadata routing where it is enabled.
        """
        self._check_parameters()
        frame = as_pandas(self, X, reset=True)
        target = self._check_target(y)
        check_consistent_length(X, target)
        self.protected_mask_ = protected_columns(self, X)
        if self.protected_mask_.all():
            raise ValueError("every column is protected: nothing is left to decide by")
        routed = process_routing(self, "fit", **fit_params).estimator.fit if fit_params else {}
        seen = self._seen(X)
        scores = self._score_training_people(seen, target, routed)
        people = self._comparable(frame)
        self.similarity_ = self._make_similarity(people).fit(people)
        peers = self.similarity_.neighbours(people, query=query)
        smoothed = self._smooth(scores, graph_of_peers(peers.indices))
        self.gap_ = smoothed.gap
        kept = self._choose_reference(len(people))
        self.reference_scores_ = smoothed.scores[kept]
        self.reference_points_ = self.similarity_.embed(people.iloc[kept])
        return self

    def scores(self, X: Any, *, query: Any = None) -> NDArray[np.float64]:
        """Smoothed scores of a whole batch, each person compared with the others of the batch.

        Returns
        -------
        ndarray of shape (n_people,), or (n_people, n_classes) of more than two classes
        """
        check_is_fitted(self)
        people = self._comparable(as_pandas(self, X, reset=False))
        peers = self.similarity_.neighbours(people, query=query)
        result: NDArray[np.float64] = self._smooth(self._inner_scores(X), graph_of_peers(peers.indices)).scores
        return result

    def decide(
        self,
        X: Any,
        *,
        threshold: float | None = None,
        rate: float | None = None,
        n: int | None = None,
        groups: ArrayLike | None = None,
        parity: str | None = None,
        query: Any = None,
    ) -> BatchDecisions:
        """Decide about a whole batch at once, exactly optimally.

        No other decisions about these people have both a higher expected gain by the inner model's scores and less
        disagreement among people who are alike, at this `strength` (with ``penalty="absolute"``).

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_people, n_features)
        threshold, rate, n : float, float, int
            One of them: select people whose gain is above a height, a share of the people, or so many.
        groups : array-like of shape (n_people,), optional
            The protected group of every person, used only with `parity`.
        parity : {"selection", "opportunity"}, optional
            Every group is selected at the same rate, or at the same rate among those the model expects to be positive,
            by a threshold per group. This uses the group at decision time: ask whether that is allowed.
        query : labels of shape (n_people,), optional
            Compare people of the same query only.
        """
        check_is_fitted(self)
        frame = as_pandas(self, X, reset=False)
        wanted = self._check_wanted(len(frame), threshold, rate, n, groups, parity)
        people = self._comparable(frame)
        plain = self._inner_scores(X)
        if plain.ndim == 2:
            raise ValueError("decide selects people by one score, and this model has one for each of several classes")
        peers = self.similarity_.neighbours(people, query=query)
        graph = graph_of_peers(peers.indices)
        shift, by_group = np.zeros(len(plain)), {}
        if parity is not None:
            shift, by_group = self._equalise(plain, graph, np.asarray(groups), parity, wanted)
        smoothed = self._smooth(plain - shift, graph)
        if threshold is not None:
            height, tied = float(threshold), np.empty(0, dtype=np.intp)
            if self.penalty == "absolute":
                selected = minimum_cut(plain - height, graph, self.strength)
            else:
                selected = smoothed.scores > height
            plainly = plain > height
        else:
            selected, height, tied = _select_top(smoothed.scores, plain, wanted)
            plainly = _select_top(plain, plain, wanted)[0]
        return BatchDecisions(
            selected,
            smoothed.scores,
            plain,
            height,
            by_group,
            smoothed.gap / max(smoothed.objective, np.finfo(float).tiny) if smoothed.gap else 0.0,
            np.flatnonzero(selected != plainly),
            tied,
            peers,
            people,
            self.similarity_,
        )

    def _newcomers(self, X: Any) -> NDArray[np.float64]:
        """Scores of people one at a time, each compared with the reference."""
        check_is_fitted(self)
        people = self._comparable(as_pandas(self, X, reset=False))
        plain = self._inner_scores(X)
        peers = self.similarity_.neighbours(people, self.reference_points_)
        absent = peers.indices < 0
        columns = plain[:, None] if plain.ndim == 1 else plain
        reference = self.reference_scores_.reshape(len(self.reference_scores_), -1)
        result = np.column_stack(
            [
                newcomer_scores(
                    column,
                    np.where(absent, np.nan, reference[peers.indices, c]),
                    self.strength,
                    n_neighbors=self.similarity_.n_neighbors,
                    penalty=self.penalty,
                )
                for c, column in enumerate(columns.T)
            ]
        )
        return self._project(result[:, 0] if plain.ndim == 1 else result)

    def _smooth(self, scores: NDArray[np.float64], graph: Any) -> Any:
        return smooth_certified(scores, graph, self.strength, penalty=self.penalty, tol=self.tol)

    def _equalise(
        self, plain: NDArray[np.float64], graph: Any, groups: NDArray[Any], parity: str, n: int
    ) -> tuple[NDArray[np.float64], dict[Any, float]]:
        """Thresholds by group at which every group is selected alike, as shifts of everybody's score.

        Shifts are moved by how far the cut of every group is from the common one, until nothing moves.
        """
        names, codes = np.unique(groups, return_inverse=True)
        weight = np.ones(len(plain)) if parity == "selection" else np.maximum(plain, 0.0)
        share = n / len(plain) if parity == "selection" else None
        shifts = np.zeros(len(names))
        for _ in range(PARITY_ROUNDS):
            scores = self._smooth(plain - shifts[codes], graph).scores
            goal = share if share is not None else _common_share(scores, codes, weight, n)
            cuts = np.array([_cut_at(scores[codes == g], weight[codes == g], goal) for g in range(len(names))])
            shifts += cuts
            if np.abs(cuts).max() < TIED:
                break
        return shifts[codes], dict(zip(names.tolist(), shifts.tolist()))

    def _score_training_people(self, seen: Any, target: Any, routed: dict[str, Any]) -> NDArray[np.float64]:
        """Fit `estimator_` and return scores of the training people by models that did not see them."""
        inner = self._inner()
        if self.cv == "prefit" or isinstance(inner, FrozenEstimator):
            check_is_fitted(inner)
            self.estimator_ = inner
            return self._inner_scores(seen, select=False)
        self.estimator_ = clone(inner).fit(seen, target, **routed)
        folds = self._folds(target)
        if folds is None:
            return self._inner_scores(seen, select=False)
        out_of_fold = cross_val_predict(
            inner, seen, target, cv=folds, method=self._method(), n_jobs=self.n_jobs, params=routed or None
        )
        return self._one_column(out_of_fold)

    def _folds(self, target: NDArray[Any]) -> BaseCrossValidator | None:
        """How training people are left out in turn; None where there are too few of them."""
        if not isinstance(self.cv, int | np.integer):
            return self.cv
        least = self._fewest_alike(target)
        if least < 2:
            return None
        kind = StratifiedKFold if self._is_classifier() else KFold
        return kind(min(int(self.cv), least), shuffle=True, random_state=self.random_state)

    def _inner_scores(self, X: Any, *, select: bool = True) -> NDArray[np.float64]:
        return self._one_column(getattr(self.estimator_, self._method())(self._seen(X) if select else X))

    def _seen(self, X: Any) -> Any:
        """What the inner estimator may look at."""
        if self.sees_protected and self.protected_mask_.any():
            warnings.warn(
                "sees_protected=True: the inner model may use the protected columns, and what it makes of them is only "
                "smoothed, not removed",
                UserWarning,
                stacklevel=3,
            )
        if self.sees_protected or not self.protected_mask_.any():
            return X
        return _safe_indexing(X, np.flatnonzero(~self.protected_mask_), axis=1)

    def _comparable(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The unprotected columns, by which people are compared."""
        kept = frame.loc[:, ~self.protected_mask_].infer_objects()
        return kept.set_axis([str(name) for name in kept.columns], axis=1)

    def _make_similarity(self, people: pd.DataFrame) -> Similarity:
        if self.similarity is None or isinstance(self.similarity, str):
            reading = "attributes" if self.similarity is None else self.similarity
            return Similarity(n_neighbors=self.n_neighbors, reading=reading)
        given: Similarity = clone(self.similarity)
        # The protected columns are gone already.
        return given.set_params(protected=[name for name in given.protected if name in people.columns])

    def _choose_reference(self, n_people: int) -> NDArray[np.intp]:
        if self.reference == "training" or n_people <= self.reference:
            return np.arange(n_people)
        rng = np.random.default_rng(self.random_state if isinstance(self.random_state, int) else 0)
        return np.sort(rng.choice(n_people, self.reference, replace=False))

    def _check_parameters(self) -> None:
        if not np.isreal(self.strength) or not self.strength >= 0:
            raise ValueError(f"strength must be a number of at least 0, got {self.strength!r}")
        if self.penalty not in PENALTIES:
            raise ValueError(f"penalty must be one of {', '.join(map(repr, PENALTIES))}, got {self.penalty!r}")
        whole = isinstance(self.reference, int | np.integer) and not isinstance(self.reference, bool)
        if self.reference != "training" and not (whole and self.reference > 0):
            raise ValueError(f"reference must be 'training' or how many of them to keep, got {self.reference!r}")

    def _check_wanted(
        self, n_people: int, threshold: float | None, rate: float | None, n: int | None, groups: Any, parity: str | None
    ) -> int:
        """How many people to select; 0 with a threshold."""
        if sum(value is not None for value in (threshold, rate, n)) != 1:
            raise ValueError("give one of threshold, rate and n")
        if parity is not None:
            if parity not in PARITIES:
                raise ValueError(f"parity must be one of {', '.join(map(repr, PARITIES))}, got {parity!r}")
            if groups is None:
                raise ValueError("parity needs groups, the protected group of every person")
            if threshold is not None:
                raise ValueError("parity finds the thresholds itself: give rate or n, not threshold")
        if groups is not None and len(np.asarray(groups)) != n_people:
            raise ValueError(f"groups has {len(np.asarray(groups))} entries, but X has {n_people} people")
        if threshold is not None:
            return 0
        wanted = round(rate * n_people) if rate is not None else int(n or 0)
        if not 0 <= wanted <= n_people or (rate is not None and not 0 <= rate <= 1):
            raise ValueError(f"cannot select {rate if rate is not None else n} of {n_people} people")
        return wanted


class ConsistentClassifier(ClassifierMixin, ConsistentModel):
    """Around any classifier: people who are alike get scores that are alike.

    The scores p of the inner classifier are replaced by the minimiser s of

    ``1/2 sum_i (s_i - p_i)^2 + strength * sum_ij W_ij |s_i - s_j|``,

    where W joins every person with the people most like them on the unprotected columns. Newcomers are scored one at a
    time against the training people; `decide` and `scores` smooth a whole batch at once, exactly.

    Parameters
    ----------
    estimator : classifier, default=LogisticRegression()
        Anything with `predict_proba` or `decision_function`, pipelines too. It is fitted on the unprotected columns.
    strength : float, default=0.1
        gamma, how much alike treatment counts beside the model's scores. 0 changes nothing; infinity gives everybody in
        a connected component the same score.
    protected : as in :class:`ifair.IFair`, default=None
        Columns that neither the estimator nor the comparison of people looks at.
    n_neighbors : int, default=10
        People that everybody is compared with.
    penalty : {"absolute", "squared"}, default="absolute"
        "squared" is the graph Laplacian of Petersen et al. (2021).
    similarity : Similarity, "paper" or None, default=None
        Who is like whom. None: :class:`ifair.Similarity` of all unprotected columns. "paper": its reading of this name.
    reference : "training" or int, default="training"
        The people whom newcomers are compared with: all training people, or so many of them at random. Their
        unprotected attributes become part of the model.
    cv : int, cross-validation generator or "prefit", default=5
        Training people are scored by models that did not see them. "prefit": the estimator is fitted already (as is one
        in `sklearn.frozen.FrozenEstimator`), and X are people it has not seen.
    sees_protected : bool, default=False
        Give the protected columns to the estimator all the same, with a warning.
    tol : float, default=1e-5
        Largest duality gap, as a share of the objective.
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    n_jobs : int, default=None
        Processes for the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all training people.
    similarity_ : Similarity
    reference_scores_ : ndarray of shape (n_reference,) or (n_reference, n_classes)
    protected_mask_ : ndarray of bool, shape (n_features,)
    gap_ : float
        Duality gap of the training people's scores.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_, feature_names_in_

    References
    ----------
    D. S. Hochbaum: An efficient algorithm for image segmentation, Markov random fields and related problems. J. ACM 2001.
    A. Chambolle, J. Darbon: On total variation minimization and surface evolution using parametric maximum flows.
    IJCV 2009. F. Petersen et al.: Post-processing for individual fairness. NeurIPS 2021.

    Examples
    --------
    >>> from ifair import ConsistentClassifier
    >>> from ifair.data import load_credit
    >>> people, good_risk = load_credit(return_X_y=True)
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ifair import Encoder
    >>> model = ConsistentClassifier(make_pipeline(Encoder(), LogisticRegression()), protected=["age"], random_state=0)
    >>> batch = model.fit(people[:700], good_risk[:700]).decide(people[700:], n=40)
    >>> int(batch.selected.sum())
    40
    """

    def _inner(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _is_classifier(self) -> bool:
        return True

    def _method(self) -> str:
        inner = self._inner()
        return "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"

    def _check_target(self, y: Any) -> NDArray[Any]:
        target = column_or_1d(y, warn=True)
        assert_all_finite(target, input_name="y")
        check_classification_targets(target)
        self.classes_ = np.unique(target)
        if len(self.classes_) < 2:
            raise ValueError(f"decisions need records of two classes, but y holds only one class: {self.classes_[0]!r}")
        return target

    def _fewest_alike(self, target: NDArray[Any]) -> int:
        return int(np.unique(target, return_counts=True)[1].min())

    def _one_column(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Of two classes the score of the second."""
        table = np.asarray(scores, dtype=np.float64)
        return table[:, 1] if table.ndim == 2 and len(self.classes_) == 2 else table

    def _project(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of several classes, smoothed one against the rest, as probabilities again."""
        if scores.ndim == 1 or self._method() != "predict_proba":
            return scores
        positive = np.maximum(scores, 0.0)
        return positive / positive.sum(axis=1, keepdims=True)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every class, one person at a time, shape (n_people, n_classes)."""
        scores = self._newcomers(X)
        return np.column_stack([1.0 - scores, scores]) if scores.ndim == 1 else scores

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores one person at a time; of two classes positive where the second is decided for."""
        scores = self._newcomers(X)
        return scores - 0.5 if scores.ndim == 1 and self._method() == "predict_proba" else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score, one person at a time."""
        scores = self.decision_function(X)
        chosen = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels


class ConsistentRegressor(RegressorMixin, ConsistentModel):
    """Around any regressor: people who are alike get predictions that are alike.

    Parameters and attributes as of :class:`ConsistentClassifier`; the estimator is a regressor, by default
    ``LinearRegression()``. `strength` is in units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair import ConsistentRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = ConsistentRegressor(strength=0.5, protected=[2], random_state=0).fit(X, X[:, 0] + X[:, 2])
    >>> model.predict(X).shape
    (80,)
    """

    def _inner(self) -> Any:
        return LinearRegression() if self.estimator is None else self.estimator

    def _is_classifier(self) -> bool:
        return False

    def _method(self) -> str:
        return "predict"

    def _check_target(self, y: Any) -> NDArray[np.float64]:
        target = column_or_1d(y, warn=True)
        assert_all_finite(target, input_name="y")
        return target

    def _fewest_alike(self, target: NDArray[Any]) -> int:
        return len(target)

    def _one_column(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(scores, dtype=np.float64)

    def _project(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions one person at a time, shape (n_people,)."""
        return self._newcomers(X)


def _select_top(
    scores: NDArray[np.float64], plain: NDArray[np.float64], n: int
) -> tuple[NDArray[np.bool_], float, NDArray[np.intp]]:
    """The n people with the highest scores; of those tied at the cut, the ones that the model prefers.

    Returns
    -------
    selected : ndarray of bool
    height : float
        The score of the last one selected.
    tied : int array
        Everybody with that score, if some of them are left out.
    """
    selected = np.zeros(len(scores), dtype=bool)
    if n == 0:
        return selected, np.inf, np.empty(0, dtype=np.intp)
    height = float(np.sort(scores)[-n])
    level = np.where(np.abs(scores - height) <= TIED, height, scores)
    order = np.lexsort((np.arange(len(scores)), -plain, -level))
    selected[order[:n]] = True
    at_cut = level == height
    tied = np.flatnonzero(at_cut) if (at_cut & ~selected).any() else np.empty(0, dtype=np.intp)
    return selected, height, tied


def _cut_at(scores: NDArray[np.float64], weight: NDArray[np.float64], share: float) -> float:
    """The height above which people of so much of the weight are."""
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(weight[order])
    n = int(np.searchsorted(reached, share * reached[-1] * (1 + 1e-12), side="right"))
    if n == 0:
        return float(scores[order[0]] + TIED)
    if n == len(scores):
        return float(scores[order[-1]] - TIED)
    return float(0.5 * (scores[order[n - 1]] + scores[order[n]]))


def _common_share(
    scores: NDArray[np.float64], codes: NDArray[np.intp], weight: NDArray[np.float64], n: int
) -> float:
    """The share of every group's weight at which n people are selected in all."""
    low, high = 0.0, 1.0
    for _ in range(60):
        share = 0.5 * (low + high)
        count = sum(
            int((scores[codes == g] > _cut_at(scores[codes == g], weight[codes == g], share)).sum())
            for g in np.unique(codes)
        )
        low, high = (share, high) if count < n else (low, share)
    return high
