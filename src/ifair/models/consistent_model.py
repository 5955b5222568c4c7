"""What consistent classifiers and regressors share: fitting, smoothing, newcomers one at a time, and batches."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_numeric_dtype
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.utils import _safe_indexing, assert_all_finite, check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from ifair.core.smooth import PENALTIES
from ifair.encode.table_forms import FEW, detect_form, to_pandas
from ifair.errors import IfairError, check_choice, format_given, warn_user
from ifair.graph import Smoothing, minimum_cut, neighbour_graph, newcomer_scores, select, smooth_with_certificate
from ifair.inputs.partitions import refuse_cluster
from ifair.models.batch_decisions import (
    PEERS,
    BatchDecisions,
    check_groups,
    check_reference_decisions,
    select_by_group,
)
from ifair.models.validation import check_positive_integer, protected_columns
from ifair.similarity import Similarity
from ifair.similarity.peers import Peers, Points

Floats = NDArray[np.float64]

EXACT = 1e-12
"""Relative duality gap of scores that decide who is selected: it bounds every score to about its root."""


class ConsistentModel(MetaEstimatorMixin, BaseEstimator, ABC):
    """Use :class:`ifair.ConsistentClassifier` or :class:`ifair.ConsistentRegressor`, which describe the parameters."""

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
        inner = get_tags(self._find_inner()).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.string = inner.string
        tags.input_tags.categorical = inner.categorical
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The reference as plain arrays, for files that hold data only."""
        state = dict(super().__getstate__())
        if "reference_" in state:
            state["reference_"] = self.reference_.to_arrays()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "reference_" in state:
            self.reference_ = Points(**state["reference_"])

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` passes on to the inner estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._find_inner(), method_mapping=mapping)

    def fit(self, X: Any, y: Any, *, query: Any = None, **fit_params: Any) -> Self:
        """Fit the inner estimator, score the training people out of fold, and smooth their scores.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_people, n_features)
            With the protected columns, if there are any.
        y : array-like of shape (n_people,)
        query : labels of shape (n_people,), optional
            Of rankings: only people of the same query are compared.
        **fit_params : dict
            For the inner estimator's `fit`, such as `sample_weight`; by metadata routing where that is enabled. In the
            graph of people everybody counts once.
        """
        self._check_parameters()
        refuse_cluster(X, f"fit of {type(self).__name__}")
        frame = to_pandas(self, X, reset=True)
        target = self._check_target(y)
        check_consistent_length(frame, target)
        self._doubt_strength(target)
        self.protected_mask_ = protected_columns(self, X)
        if self.protected_mask_.all():
            raise IfairError(
                f"every column is protected (n_features={self.n_features_in_}): nothing is left to decide by"
            )
        self.seen_mask_ = self._find_seen_columns()
        if self.estimator is None and detect_form(X) != "array":
            self._refuse_text(frame.loc[:, self.seen_mask_])
        rng = check_random_state(self.random_state)
        scores = self._score_training_people(self._take_seen(X, frame), target, rng, fit_params)
        people = self._take_comparable(frame)
        self.similarity_ = self._make_similarity(people).fit(people)
        smoothing = self._smooth(scores, self._compare(people, query)[1], self.tol)
        self.gap_ = smoothing.relative_gap
        kept = self._choose_reference(len(people), rng)
        self.reference_ = self.similarity_.embed(people.iloc[kept])
        self.reference_scores_ = smoothing.scores[kept]
        return self

    def scores(self, X: Any, *, query: Any = None) -> Floats:
        """Smoothed scores of a whole batch, where people are compared with each other.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_people, n_features)
        query : labels of shape (n_people,), optional
            Of rankings: compare people of the same query only.

        Returns
        -------
        ndarray of shape (n_people,), or (n_people, n_classes) of more than two classes
        """
        people, model_scores = self._read(X)
        return self._on_simplex(self._smooth(model_scores, self._compare(people, query)[1], self.tol).scores)

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
        peers: str = "batch",
    ) -> BatchDecisions:
        """Decide about a whole batch at once, exactly optimally; or about everybody by themselves.

        At this `strength`, no other decisions about these people have both a higher expected gain by the inner model's
        scores and less disagreement among people who are alike (with ``penalty="absolute"``, and where nobody is tied).
        The people of the batch are compared with each other only: who else is in it has a say, and nobody is like the
        one person of a batch of one. With ``peers="training"`` it has none.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_people, n_features)
        threshold, rate, n : float, float, int
            One of them: whoever is worth more than so much, a share of the people, or so many.
        groups : array-like of shape (n_people,), optional
            The group of every person; only used with `parity`.
        parity : {"selection", "opportunity"}, optional
            Select every group at the same rate, or at the same rate among the people whom the inner model expects to be
            positive, by a threshold per group. The group is then used in deciding: ask whether that is allowed.
        query : labels of shape (n_people,), optional
            Compare people of the same query only.
        peers : {"batch", "training"}, default="batch"
            With whom people are compared: with each other, or everybody by themselves with the training people that the
            model keeps (`reference_`). Scores are then those of `predict_proba` or `predict`, and decisions by a
            threshold do not depend on who else is in the batch. Without `parity` and `query`.

        Returns
        -------
        BatchDecisions
        """
        check_choice("peers", peers, PEERS)
        if peers == "training":
            check_reference_decisions(parity, query)
        people, model_scores = self._read(X)
        if model_scores.ndim == 2:
            raise IfairError(
                f"decide selects people by one score, and this model has one for each of {model_scores.shape[1]} "
                "classes: use scores, or a model of two classes"
            )
        check_groups(len(people), groups, parity, threshold=threshold, probable=self._method == "predict_proba")
        if peers == "training":
            return self._decide_by_reference(people, model_scores, threshold=threshold, rate=rate, n=n)
        near, graph = self._compare(people, query)
        thresholds: dict[Any, float] = {}
        # Who would have been selected without peers and groups.
        alone = select(model_scores, threshold=threshold, rate=rate, n=n)
        # A minimum cut decides by a threshold, the scores otherwise.
        smoothing = self._smooth(model_scores, graph, EXACT if threshold is None else self.tol)
        found = select(
            smoothing.scores, threshold=threshold, rate=rate, n=n, priority=model_scores, tolerance=smoothing.error
        )
        smoothed, by_peers = smoothing.scores, found.chosen
        if parity is not None:
            weights = np.ones(len(people)) if parity == "selection" else model_scores
            chosen, tied, smoothing, thresholds = select_by_group(
                model_scores,
                np.asarray(groups),
                int(alone.chosen.sum()),
                weights,
                lambda p: self._smooth(p, graph, EXACT),
            )
            height = 0.0
        else:
            chosen, tied, height = found.chosen, found.tied, found.threshold
            if threshold is not None:
                tied = np.zeros(len(people), dtype=bool)
                if self.penalty == "absolute":
                    chosen = minimum_cut(model_scores - threshold, graph, self.strength)
        changed = chosen != alone.chosen
        by_group = changed & (by_peers == alone.chosen) & (parity is not None)
        return BatchDecisions(
            selected=chosen,
            scores=smoothing.scores,
            smoothed=smoothed,
            model_scores=model_scores,
            threshold=height,
            group_thresholds=thresholds,
            gap=smoothing.relative_gap,
            changed=np.flatnonzero(changed),
            changed_by_group=np.flatnonzero(by_group),
            tied=np.flatnonzero(tied),
            peers=near,
            _graph=graph,
            _people=people,
            _similarity=self.similarity_,
        )

    def _decide_by_reference(
        self, people: pd.DataFrame, model_scores: Floats, *, threshold: float | None, **places: Any
    ) -> BatchDecisions:
        """Decisions about people who are each compared with the reference."""
        near = self.similarity_.neighbours(people, self.reference_)
        scores = self._smooth_towards(near, model_scores)
        found = select(scores, threshold=threshold, priority=model_scores, **places)
        alone = select(model_scores, threshold=threshold, **places)
        return BatchDecisions(
            selected=found.chosen,
            scores=scores,
            smoothed=scores,
            model_scores=model_scores,
            threshold=found.threshold,
            group_thresholds={},
            gap=0.0,
            changed=np.flatnonzero(found.chosen != alone.chosen),
            changed_by_group=np.array([], dtype=np.intp),
            tied=np.flatnonzero(found.tied & (threshold is None)),
            peers=near,
            _graph=None,
            _people=people,
            _similarity=self.similarity_,
        )

    def _score_newcomers(self, X: Any) -> Floats:
        """Scores of people one at a time, each compared with the reference."""
        if not hasattr(self, "reference_"):  # asking scikit-learn takes a while, which counts for one person
            check_is_fitted(self)
        frame, seen = self._read_columns(X)
        model_scores = self._call_inner(seen)
        if self.strength == 0:
            return model_scores
        # For a few people selecting columns would take longer than the search.
        people = frame if len(frame) <= FEW else self._take_comparable(frame)
        return self._smooth_towards(self.similarity_.neighbours(people, self.reference_), model_scores)

    def _smooth_towards(self, peers: Peers, model_scores: Floats) -> Floats:
        """Scores of people one at a time, each smoothed towards their peers in the reference."""
        if self.strength == 0:
            return model_scores
        within = peers.indices >= 0

        def score(plain: Floats, reference: Floats) -> Floats:
            near = reference[peers.indices]  # the last person's where there is nobody, whose weight is 0
            found = newcomer_scores(plain, near, self.strength, weights=within, penalty=self.penalty)
            return found.astype(np.float64, copy=False)

        if model_scores.ndim == 1:
            return score(model_scores, self.reference_scores_)
        columns = zip(model_scores.T, self.reference_scores_.T)
        return self._on_simplex(np.column_stack([score(plain, reference) for plain, reference in columns]))

    def _smooth(self, scores: Floats, graph: Any, tol: float) -> Smoothing:
        found = smooth_with_certificate(scores, graph, self.strength, self.penalty, tol=min(tol, self.tol))
        # The minimiser is within the range of the scores; a solution up to a gap may be a little outside.
        np.clip(found.scores, scores.min(axis=0), scores.max(axis=0), out=found.scores)
        return found

    def _compare(self, people: pd.DataFrame, query: Any) -> tuple[Peers, Any]:
        """Everybody's peers in the batch, and the graph of them."""
        if query is not None:
            check_consistent_length(people, query)
        peers = self.similarity_.neighbours(people, query=query)
        return peers, neighbour_graph(neighbours=peers.indices)

    def _read(self, X: Any) -> tuple[pd.DataFrame, Floats]:
        """The columns to compare people by, and what the inner model says of them."""
        check_is_fitted(self)
        refuse_cluster(X, f"scores and decide of {type(self).__name__}")
        frame, seen = self._read_columns(X)
        return self._take_comparable(frame), self._call_inner(seen)

    def _read_columns(self, X: Any) -> tuple[pd.DataFrame, Any]:
        """The table, in which columns that nothing looks at may be missing, and what the inner estimator looks at."""
        known = getattr(self, "feature_names_in_", None)
        if known is not None and isinstance(X, pd.DataFrame) and X.shape[1] < len(known):
            X = X.assign(**{name: np.nan for name in self.needless_columns if name not in X.columns})
            if set(X.columns) == set(known):  # else scikit-learn says what is missing
                X = X[list(known)]
        frame = to_pandas(self, X, reset=False)
        return frame, self._take_seen(X, frame)

    @property
    def needless_columns(self) -> list[str]:
        """Protected columns that nothing looks at: tables of pandas, and records, may do without them."""
        check_is_fitted(self)
        unseen = self.protected_mask_ & ~self.seen_mask_
        return [str(name) for name, needless in zip(getattr(self, "feature_names_in_", ()), unseen) if needless]

    # ---- the inner model ----

    @property
    def _prefit(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator) or (isinstance(self.cv, str) and self.cv == "prefit")

    def _refuse_text(self, seen: pd.DataFrame) -> None:
        """Refuse what the default estimator cannot read, with the one that can."""
        for name in seen.columns:
            held = "gaps" if seen[name].isna().any() else None if is_numeric_dtype(seen[name]) else "text"
            if held is not None:
                model = type(self._find_inner()).__name__
                raise IfairError(
                    f"column {name!r} holds {held}, which the default estimator cannot read: encode the table, with "
                    f"estimator=make_pipeline(ifair.Encoder(), {model}())"
                )

    def _score_training_people(self, seen: Any, target: Any, rng: Any, fit_params: dict[str, Any]) -> Floats:
        """Fit `estimator_`; scores of the training people by models that did not see them."""
        inner = self._find_inner()
        if self._prefit:
            self.estimator_ = inner
            return self._call_inner(seen)
        # Without routing scikit-learn's meta-estimators pass everything on.
        routed = (
            process_routing(self, "fit", **fit_params).estimator.fit
            if get_config()["enable_metadata_routing"]
            else fit_params
        )
        self.estimator_ = clone(inner).fit(seen, target, **routed)
        folds = self._make_folds(target, rng)
        if folds is None:
            return self._call_inner(seen)
        params = fit_params or None
        found = cross_val_predict(inner, seen, target, cv=folds, method=self._method, n_jobs=self.n_jobs, params=params)
        return self._shape_scores(found)

    def _make_folds(self, target: NDArray[Any], rng: Any) -> Any:
        """How training people are left out in turn; None where there are too few of them."""
        if not isinstance(self.cv, int | np.integer):
            return self.cv
        kind, most = self._fold_kind(target)
        if most < 2:
            warn_user("too few people to leave any out: the training people are scored by a model that has seen them")
            return None
        return kind(min(int(self.cv), most), shuffle=True, random_state=rng.randint(2**31 - 1))

    def _call_inner(self, seen: Any) -> Floats:
        return self._shape_scores(getattr(self.estimator_, self._method)(seen))

    def _find_seen_columns(self) -> NDArray[np.bool_]:
        """The columns that the inner estimator looks at: the unprotected ones, or those that it was fitted on."""
        everything = np.ones(self.n_features_in_, dtype=bool)
        seen = everything if self.sees_protected else ~self.protected_mask_
        if self._prefit:
            check_is_fitted(inner := self._find_inner())
            names, own = getattr(inner, "feature_names_in_", None), getattr(self, "feature_names_in_", None)
            n_columns = getattr(inner, "n_features_in_", int(seen.sum()))
            if names is not None and own is not None:
                seen = np.isin(own, names)
            elif n_columns == self.n_features_in_:
                seen = everything
            if seen.sum() != n_columns:
                raise IfairError(
                    f"the estimator was fitted on {n_columns} columns, and X has {self.n_features_in_}, of which "
                    f"{int((~self.protected_mask_).sum())} are not protected: pass the columns that it was fitted on"
                )
        if (seen & self.protected_mask_).any():
            warn_user(
                "the inner estimator can see protected columns: what it makes of them is smoothed and not removed"
            )
        return seen

    # ---- columns, people and parameters ----

    def _take_seen(self, X: Any, frame: pd.DataFrame) -> Any:
        """What the inner estimator looks at, in the form that the user has."""
        table = X if hasattr(X, "shape") else frame.infer_objects().to_numpy()
        if self.seen_mask_.all():
            return table
        seen = np.flatnonzero(self.seen_mask_)
        # Of one person pandas takes columns quicker than scikit-learn does.
        return table.take(seen, axis=1) if isinstance(table, pd.DataFrame) else _safe_indexing(table, seen, axis=1)

    def _take_comparable(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The unprotected columns, by which people are compared."""
        kept = frame.loc[:, ~self.protected_mask_].infer_objects()
        return kept.set_axis([str(name) for name in kept.columns], axis=1)

    def _make_similarity(self, people: pd.DataFrame) -> Similarity:
        if self.similarity is None or isinstance(self.similarity, str):
            return Similarity(n_neighbors=self.n_neighbors, reading=self.similarity or "attributes")
        given: Similarity = clone(self.similarity)
        # The protected columns are gone already.
        left = [name for name in given.protected if name in people.columns]
        return given.set_params(protected=left, n_neighbors=self.n_neighbors)

    def _choose_reference(self, n_people: int, rng: Any) -> NDArray[np.intp]:
        if self.reference == "training" or n_people <= self.reference:
            return np.arange(n_people)
        return np.sort(rng.choice(n_people, self.reference, replace=False))

    def _check_parameters(self) -> None:
        if not isinstance(self.strength, int | float | np.number) or not self.strength >= 0:
            raise IfairError(f"strength must be a number of at least 0, or infinity; got {self.strength!r}")
        check_choice("penalty", self.penalty, PENALTIES)
        check_positive_integer("n_neighbors", self.n_neighbors)
        if isinstance(self.reference, str):
            check_choice("reference", self.reference, ("training",))
        else:
            check_positive_integer("reference (how many training people to keep)", self.reference)
        if isinstance(self.cv, str):
            check_choice("cv", self.cv, ("prefit",))

    def _doubt_strength(self, target: NDArray[Any]) -> None:
        """Warn of a strength that makes nearly everybody alike; infinity says that this is meant."""
        width = self._find_score_width(target)
        too_much = self.strength > width and not np.isclose(self.strength, width)
        if self.penalty == "absolute" and too_much and np.isfinite(self.strength):
            warn_user(
                f"a strength of {format_given(self.strength)} is more than scores differ, by {format_given(width)} at "
                "most: nearly everybody will get the same score and the same decision. Strength is in units of the "
                f"scores; begin with a tenth of what they differ by, {format_given(width / 10)} (`ifair fit "
                "--consistent 0.1`, which is such a share)"
            )

    # ---- what the classifier and the regressor do differently ----

    @abstractmethod
    def _find_inner(self) -> Any:
        """The estimator, or the one by default."""

    @property
    @abstractmethod
    def _method(self) -> str:
        """The inner model's method that gives scores."""

    def _check_target(self, y: Any) -> NDArray[Any]:
        target: NDArray[Any] = column_or_1d(y, warn=True)
        assert_all_finite(target, input_name="y")
        return target

    @abstractmethod
    def _find_score_width(self, target: NDArray[Any]) -> float:
        """By how much scores can differ, to doubt strengths by; infinity where that is not known."""

    @abstractmethod
    def _fold_kind(self, target: NDArray[Any]) -> tuple[Any, int]:
        """How to fold, and into how many folds at most."""

    def _shape_scores(self, scores: Any) -> Floats:
        return np.asarray(scores, dtype=np.float64)

    def _on_simplex(self, scores: Floats) -> Floats:
        return scores
