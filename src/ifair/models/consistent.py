"""Consistent decisions: any classifier or regressor, with scores that differ little between people who are alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ifair.errors import IfairError
from ifair.inputs.partitions import lazy_on_clusters
from ifair.models.consistent_model import ConsistentModel

Floats = NDArray[np.float64]


def _class_names(model: Any) -> list[str]:
    return [str(name) for name in model.classes_]


class ConsistentClassifier(ClassifierMixin, ConsistentModel):
    """Around any classifier: people who are alike get scores that are alike.

    The scores p of the inner classifier are replaced by the minimiser s of

    ``1/2 sum_i (s_i - p_i)^2 + strength * sum_ij W_ij |s_i - s_j|``,

    where W joins everybody with the people most like them on the unprotected columns. Newcomers are scored one at a
    time against the training people; `decide` and `scores` smooth a whole batch at once.

    Parameters
    ----------
    estimator : classifier, default=LogisticRegression(max_iter=1000)
        Anything with `predict_proba` or `decision_function`, pipelines too. Tables with text or gaps need one
        that begins with :class:`ifair.Encoder`.
    strength : float, default=0.1
        How much alike treatment counts beside the model's scores. 0 changes nothing; infinity gives everybody in a
        connected component of the graph the same score, and so does nearly any number above the range of the scores (1
        of probabilities), of which `fit` warns.
    protected : as in :class:`ifair.IFair`, default=None
        Columns that neither the estimator nor the comparison of people looks at.
    n_neighbors : int, default=10
        The most people that everybody is compared with; it takes the place of the number in `similarity`.
    penalty : {"absolute", "squared"}, default="absolute"
        "squared" is the graph Laplacian of Petersen et al. (2021); its decisions are no minimum cut.
    similarity : Similarity, "paper" or None, default=None
        Who is like whom. None: :class:`ifair.Similarity` of all unprotected columns. "paper": its reading of that name.
    reference : "training" or int, default="training"
        The people whom newcomers are compared with: all training people, or so many of them, drawn at random. Their
        unprotected attributes become part of the model and of its file.
    cv : int, cross-validation generator or "prefit", default=5
        Training people are scored by models that have not seen them. "prefit": the estimator is fitted already, as is
        one in :class:`sklearn.frozen.FrozenEstimator`, and X are people that it has not seen.
    sees_protected : bool, default=False
        Give the protected columns to the estimator all the same, for one that makes them harmless itself; with a
        warning. An estimator that is already fitted gets the columns that it was fitted on.
    tol : float, default=1e-5
        Largest duality gap, as a share of the objective. `decide` asks for less.
    random_state : int, RandomState instance or None, default=None
        Of the folds and of the reference.
    n_jobs : int, default=None
        Processes for the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all training people.
    classes_ : ndarray of shape (n_classes,)
    similarity_ : Similarity
        Fitted.
    reference_scores_ : ndarray of shape (n_reference,) or (n_reference, n_classes)
        Smoothed scores of the reference.
    reference_ : Points
        The people of the reference.
    protected_mask_, seen_mask_ : ndarray of bool, shape (n_features,)
        Columns that are protected, and columns that the estimator looks at.
    gap_ : float
        Relative duality gap of the reference's scores.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the table has column names that are all strings.

    Notes
    -----
    `decision_function` is positive where `predict` says the second of two classes: the smoothed probability less a
    half, or the smoothed decision function of an estimator without probabilities.

    Of more than two classes each has a score of its own, smoothed by itself; probabilities are divided by their sum. On
    four tables this was as accurate as projecting them on the simplex and more consistent; smoothing on the simplex
    took thirty times as long and was up to 0.02 more accurate at a strength of 1 only (``benchmarks/multiclass.py``).

    References
    ----------
    Hochbaum, An efficient algorithm for image segmentation, Markov random fields and related problems, J. ACM 48, 2001.
    Chambolle and Darbon, On total variation minimization and surface evolution using parametric maximum flows, IJCV 84,
    2009. Petersen, Mukherjee, Sun and Yurochkin, Post-processing for individual fairness, NeurIPS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ifair import ConsistentClassifier
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame(
    ...     {
    ...         "experience": rng.integers(0, 20, 100),
    ...         "tests": rng.integers(0, 100, 100),
    ...         "female": rng.integers(2, size=100),
    ...     }
    ... )
    >>> hired = people["experience"] + people["tests"] / 5 + rng.normal(0, 4, 100) > 20
    >>> model = ConsistentClassifier(protected=["female"], strength=0.2, random_state=0).fit(people, hired)
    >>> batch = model.decide(people, n=30)
    >>> int(batch.selected.sum()), batch.changed, batch.tied
    (30, array([ 0, 83]), array([ 0,  9, 21, 54, 64]))
    >>> print(batch.explain(83, most=1))
    person 83 is selected: model score 0.828, with peers 0.822; 2 of 4 people like them selected; ...
      person 24, selected, score 0.822: 2 apart in tests (96, 94), 1 apart in experience (6, 7)
    """

    @available_if(lambda model: hasattr(model._find_inner(), "predict_proba"))
    @lazy_on_clusters(lambda model: (_class_names(model), float))
    def predict_proba(self, X: Any) -> Floats:
        """Probability of every class, one person at a time, shape (n_people, n_classes); lazy of Dask and Spark."""
        if self.strength == 0:
            return self._ask_inner("predict_proba", X)
        scores = self._score_newcomers(X)
        return np.column_stack([1.0 - scores, scores]) if scores.ndim == 1 else scores

    @lazy_on_clusters(lambda model: ("score" if len(model.classes_) == 2 else _class_names(model), float))
    def decision_function(self, X: Any) -> Floats:
        """Scores one person at a time; of two classes above 0 for the second; lazy of Dask and Spark."""
        scores = self._score_newcomers(X)
        return scores - 0.5 if scores.ndim == 1 and self._method == "predict_proba" else scores

    @lazy_on_clusters(lambda model: ("prediction", model.classes_.dtype))
    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score, one person at a time; lazy of Dask and Spark."""
        if self.strength == 0:
            return self._ask_inner("predict", X)
        scores = self.decision_function(X)
        chosen = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    @property
    def classes_(self) -> NDArray[Any]:
        check_is_fitted(self)
        return self.estimator_.classes_

    def _ask_inner(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        answer: NDArray[Any] = getattr(self.estimator_, method)(self._read_columns(X)[1])
        return answer

    def _find_inner(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    @property
    def _method(self) -> str:
        return "predict_proba" if hasattr(self._find_inner(), "predict_proba") else "decision_function"

    def _check_target(self, y: Any) -> NDArray[Any]:
        target = super()._check_target(y)
        check_classification_targets(target)
        if len(np.unique(target)) < 2 and not self._prefit:
            raise IfairError(
                f"decisions need people of two classes, but y holds only one class: {target[:1].tolist()[0]!r}"
            )
        return target

    def _find_score_width(self, target: NDArray[Any]) -> float:
        return 1.0 if self._method == "predict_proba" else np.inf

    def _fold_kind(self, target: NDArray[Any]) -> tuple[Any, int]:
        return StratifiedKFold, int(np.unique(target, return_counts=True)[1].min())

    def _shape_scores(self, scores: Any) -> Floats:
        """Of two classes the score of the second."""
        table = np.asarray(scores, dtype=np.float64)
        return table[:, 1] if table.ndim == 2 and table.shape[1] == 2 else table

    def _on_simplex(self, scores: Floats) -> Floats:
        """Scores of several classes as probabilities again."""
        if scores.ndim == 1 or self._method != "predict_proba":
            return scores
        normalised: Floats = scores / scores.sum(axis=1, keepdims=True)
        return normalised


class ConsistentRegressor(RegressorMixin, ConsistentModel):
    """Around any regressor: people who are alike get predictions that are alike.

    Parameters and attributes are those of :class:`ConsistentClassifier`, without classes; `strength` is in units of the
    target. For rankings, `query` of `fit`, `scores` and `decide` compares people of the same query only.

    Parameters
    ----------
    estimator : regressor, default=LinearRegression()
    strength, protected, n_neighbors, penalty, similarity, reference, cv, sees_protected, tol, random_state, n_jobs
        As of :class:`ConsistentClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair import ConsistentRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = ConsistentRegressor(strength=0.5, protected=[2], random_state=0).fit(X, X[:, 0] + X[:, 2])
    >>> model.predict(X).shape
    (80,)
    """

    @lazy_on_clusters(lambda _: ("prediction", float))
    def predict(self, X: Any) -> Floats:
        """Predictions one person at a time, shape (n_people,); lazy of Dask and Spark."""
        return self._score_newcomers(X)

    def _find_inner(self) -> Any:
        return LinearRegression() if self.estimator is None else self.estimator

    @property
    def _method(self) -> str:
        return "predict"

    def _find_score_width(self, target: NDArray[Any]) -> float:
        return float(np.ptp(target)) or np.inf

    def _fold_kind(self, target: NDArray[Any]) -> tuple[Any, int]:
        return KFold, len(target)
