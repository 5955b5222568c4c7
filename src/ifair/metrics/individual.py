"""Individual fairness: do people who are alike in what may count get the same outcome?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.errors import IfairError, check_choice
from ifair.inputs.table import is_collection
from ifair.metrics.arguments import OUTCOME_KINDS, Floats, Ints, average_queries, check_weights
from ifair.metrics.dask_consistency import lazy_consistency_per_person
from ifair.metrics.neighbours import PeerOptions, average_neighbours, resolve_neighbours
from ifair.similarity import Similarity


class ConsistencyOptions(PeerOptions, total=False):
    """What all forms of yNN take; see :func:`consistency`."""

    kind: str
    score_range: tuple[float, float] | None


def consistency(
    y: ArrayLike,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    **options: Unpack[ConsistencyOptions],
) -> float:
    """yNN: how far people get the outcomes of their k nearest neighbours (the paper's Section V-C).

    ``yNN = 1 - 1/(M k) sum_i sum_{j in kNN(x*_i)} |y_i - y_j|``

    In [0, 1] for labels and probabilities, higher is fairer, and 1 when everybody gets the same outcome.

    Parameters
    ----------
    y : array of shape (M,), or (M, C) of class probabilities
        Outcomes: predicted labels, probabilities or scores, one for each record.
    X : array or frame of shape (M, N)
        The *original*, scaled, non-protected attributes, on which neighbours are searched. Not the
        representation, and without the protected columns. With ``similarity`` the table as it is.
    sample_weight : array of shape (M,), optional
        How many people each one stands for in the mean. Neighbours are who they are without it.
    k : int, default=10
        Number of neighbours, by default that of ``similarity``; a person is not a neighbour of theirs.
    neighbours : int array of shape (M, k) or Peers, optional
        Instead of ``X``: what :func:`ifair.metrics.nearest_neighbours` or :meth:`ifair.Similarity.neighbours` found, so
        that many methods share one search. -1 stands for nobody within reach; people without any neighbour are left
        out of the mean. Who is among their own neighbours is an error.
    similarity : Similarity, optional
        Who is like whom in the table ``X``: one that is fitted.
    kind : {"auto", "label", "score"}, default="auto"
        How far two outcomes are apart. "label": 0 if equal, else 1. "score": the absolute difference, for
        probabilities and scores. "auto": "label" for booleans, strings and whole numbers with two values,
        "score" for floats; whole numbers with more values could be either and must be named.
        Rows of class probabilities are compared in total variation, half the sum of absolute differences.
    score_range : (low, high), optional
        The range that scores can take: differences are divided by its width, so that yNN stays in [0, 1].
    query : labels of shape (M,), optional
        For rankings: neighbours are searched among the candidates of the same query, and the mean is taken
        over queries, each counting alike.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Returns
    -------
    float
        Where ``y`` and ``X`` are collections of Dask, cut alike, an array of Dask without dimensions: nothing is
        computed before it is asked for.

    Examples
    --------
    >>> from ifair.metrics import consistency
    >>> consistency([1, 1, 0, 0], [[0.0], [0.1], [0.2], [5.0]], k=1)  # the third differs from its neighbour
    0.75
    """
    person = consistency_per_person(y, X, **options)
    if is_collection(y) or is_collection(X):
        if sample_weight is not None:
            raise IfairError("sample_weight needs arrays in memory: compute() the collections of Dask first")
        return person.mean()  # a collection of Dask
    return average_queries(person, query=options.get("query"), weights=check_weights(sample_weight, len(person)))


def consistency_per_person(y: ArrayLike, X: ArrayLike | None = None, **options: Unpack[ConsistencyOptions]) -> Floats:
    """Each person's part of :func:`consistency`, shape (M,); its mean is yNN. NaN for people without any neighbour.

    Averaged by group (for instance in fairlearn's MetricFrame, as ``y_pred``) it tells which group is
    treated less consistently.
    """
    if is_collection(y) or is_collection(X):
        return lazy_consistency_per_person(y, X, **options)
    near, apart = compare_with_neighbours(y, X, **options)
    return np.asarray(1 - average_neighbours(apart, near))


def compare_with_neighbours(
    y: ArrayLike,
    X: ArrayLike | None = None,
    *,
    kind: str = "auto",
    score_range: tuple[float, float] | None = None,
    **peers: Unpack[PeerOptions],
) -> tuple[Ints, Floats]:
    """Everybody's neighbours and how far their outcomes are from one's own, both of shape (M, k)."""
    outcomes = np.asarray(y)
    near = resolve_neighbours(len(outcomes), X, **peers)
    if outcomes.ndim == 2 and outcomes.shape[1] == 1:
        outcomes = outcomes[:, 0]
    if outcomes.ndim == 2:
        chances = outcomes.astype(np.float64)
        if not np.allclose(chances.sum(axis=1), 1) or chances.min() < 0:
            raise IfairError("outcomes with several columns must be probabilities that add up to 1")
        # Total variation.
        return near, np.asarray(sum(np.abs(c[:, None] - c[near]) for c in chances.T) / 2)
    if outcomes.ndim != 1:
        raise IfairError(f"outcomes must be a vector or rows of probabilities, got {outcomes.shape}")
    if resolve_outcome_kind(outcomes, kind) == "label":
        _, codes = np.unique(outcomes, return_inverse=True)
        return near, (codes[:, None] != codes[near]).astype(np.float64)
    values = outcomes.astype(np.float64)
    if not np.isfinite(values).all():
        raise IfairError("outcomes hold missing or infinite values")
    width = 1.0 if score_range is None else float(score_range[1] - score_range[0])
    if not width > 0:
        raise IfairError(f"score_range must rise, got {score_range}")
    return near, np.abs(values[:, None] - values[near]) / width


def resolve_outcome_kind(outcomes: NDArray[Any], kind: str) -> str:
    """Resolve "auto"."""
    check_choice("kind", kind, OUTCOME_KINDS)
    if kind != "auto":
        return kind
    if np.issubdtype(outcomes.dtype, np.floating):
        return "score"
    if np.issubdtype(outcomes.dtype, np.integer) and len(np.unique(outcomes)) > 2:
        raise IfairError('whole numbers with more than two values: say kind="label" or kind="score"')
    return "label"


@dataclass(frozen=True)
class ConsistencyScorer:
    """A scikit-learn scorer: yNN of what an estimator says about held-out people.

    Parameters
    ----------
    columns : names or indices
        The non-protected columns of the estimator's input, on which neighbours are searched.
    k : int, optional
        By default 10, or the number of ``similarity``.
    response_method : str
        ``predict``, ``predict_proba`` or any other method of the estimator.
    similarity : Similarity, optional
        Instead of ``columns``: who is like whom in the estimator's input, fitted.

    Examples
    --------
    >>> from ifair.metrics import ConsistencyScorer
    >>> from sklearn.dummy import DummyClassifier
    >>> X = [[0.0, 1.0], [0.1, 0.0], [0.9, 1.0]]
    >>> ConsistencyScorer(columns=[0], k=1)(DummyClassifier().fit(X, [0, 1, 1]), X)
    1.0
    """

    columns: Sequence[Any] = ()
    k: int | None = None
    response_method: str = "predict"
    similarity: Similarity | None = None

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        outcomes = getattr(estimator, self.response_method)(X)
        if self.similarity is not None:
            return consistency(outcomes, X, k=self.k, similarity=self.similarity)
        names = list(self.columns)
        plain = X[names] if hasattr(X, "columns") else np.asarray(X)[:, names]
        return consistency(outcomes, plain, k=self.k)
