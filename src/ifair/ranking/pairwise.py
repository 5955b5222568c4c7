"""A linear model that learns to rank from pairs of candidates of the same query."""

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ifair.errors import IfairError


class PairwiseRanker(BaseEstimator):
    """Scores whose differences say who of two candidates of one query comes first (a logistic RankSVM).

    Of every two candidates of a query with different targets the difference of their records is a case, and who has the
    larger target its class. A logistic regression without intercept learns one weight for each column from all cases.
    What all candidates of a query share, such as its average target, plays no part.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in scikit-learn's LogisticRegression.
    max_pairs : int or None, default=20_000
        With more pairs than this, about so many are drawn at random, from each query in proportion to the pairs that
        it has and at least one; None takes all.
    random_state : int, RandomState instance or None, default=None
        Of this draw.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
    n_pairs_ : int
        Pairs that were learned from.

    Examples
    --------
    >>> X = [[1, 5], [2, 3], [3, 4], [1, 0], [5, 1]]
    >>> ranker = PairwiseRanker().fit(X, [10, 20, 30, 1, 2], query=["a", "a", "a", "b", "b"])
    >>> ranker.n_pairs_
    4
    >>> worse, better = ranker.predict([[0, 3], [4, 3]])
    >>> bool(better > worse)
    True
    """

    def __init__(self, C: float = 1.0, max_pairs: int | None = 20_000, random_state: Any = None) -> None:
        self.C = C
        self.max_pairs = max_pairs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, query: Any = None) -> Self:
        """Learn from the pairs of every query.

        Parameters
        ----------
        X : array-like of shape (n_records, n_columns)
        y : array-like of shape (n_records,)
            Larger comes first.
        query : labels of shape (n_records,), optional
            Records without one (None, NaN) are left out; by default all are candidates of one query.
        """
        if self.max_pairs is not None and self.max_pairs < 1:
            raise IfairError(f"max_pairs must be at least 1 or None, got {self.max_pairs!r}")
        records, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        n = len(target)
        codes = np.zeros(n, dtype=np.intp) if query is None else pd.factorize(np.asarray(query, dtype=object))[0]
        if len(codes) != n:
            raise IfairError(f"query has {len(codes)} labels for {n} records")
        first, second = self._draw_pairs(codes)
        differ = target[first] != target[second]
        first, second = first[differ], second[differ]
        if not len(first):
            raise IfairError(
                "no two candidates of the same query have different targets: there is nothing to learn from"
            )
        # Either order of a pair is the same case to the loss. Every second one is turned round, and the first is taken
        # both ways where it is alone, so that both classes are there.
        above = np.where(target[first] > target[second], first, second)
        below = first + second - above
        sign = np.where(np.arange(len(above)) % 2 == 0, 1.0, -1.0)
        if len(above) == 1:
            above, below, sign = np.repeat(above, 2), np.repeat(below, 2), np.array([1.0, -1.0])
        model = LogisticRegression(C=self.C, fit_intercept=False, max_iter=2000)
        model.fit((records[above] - records[below]) * sign[:, None], sign)
        self.coef_ = model.coef_[0]
        self.n_pairs_ = len(first)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of shape (n_records,); only their order within a query has a meaning."""
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_)

    def _draw_pairs(self, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of the first and of the second of every pair."""
        queries = [np.flatnonzero(codes == code) for code in range(codes.max(initial=-1) + 1)]
        counts = [len(rows) * (len(rows) - 1) // 2 for rows in queries]
        share = 1.0 if self.max_pairs is None else self.max_pairs / max(sum(counts), 1)
        rng = check_random_state(self.random_state)
        found = [np.empty((2, 0), dtype=np.intp)]
        for rows, count in zip(queries, counts):
            if share >= 1.0:
                i, j = np.triu_indices(len(rows), k=1)
            else:
                n = max(1, round(share * count)) if count else 0
                i = rng.randint(len(rows), size=n)
                # Anybody but the first.
                j = (i + 1 + rng.randint(max(len(rows) - 1, 1), size=n)) % len(rows)
            found.append(rows[np.stack([i, j])])
        first, second = np.concatenate(found, axis=1)
        return first, second
