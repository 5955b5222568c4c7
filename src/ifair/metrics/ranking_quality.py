"""How good and how balanced rankings are, for one ranking or averaged over queries."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import ndcg_score

from ifair.errors import IfairError
from ifair.metrics.arguments import Floats, check_numbers, find_groups, split_by_query, warn_undefined


def kendall_tau(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Kendall's tau-b between true and predicted scores.

    In [-1, 1]: 1 for the same order, -1 for the reverse, 0 for unrelated orders. NaN with a warning when
    either side does not tell any two candidates apart.

    Examples
    --------
    >>> from ifair.metrics import kendall_tau
    >>> kendall_tau([4, 3, 2, 1], [4, 3, 1, 2])  # 5 of 6 pairs agree
    0.67
    """
    truth = check_numbers(y_true, "y_true")
    scores = check_numbers(y_score, "y_score", len(truth))
    if len(truth) < 2 or np.ptp(truth) == 0 or np.ptp(scores) == 0:
        return warn_undefined("Kendall's tau is undefined where all scores are equal")
    return float(kendalltau(truth, scores).statistic)


def average_precision_at_k(y_true: ArrayLike, y_score: ArrayLike, *, k: int = 10) -> float:
    """Average precision of the first k positions, the relevant candidates being the true top k.

    AP@k = 1/k sum_{i=1..k} [candidate at position i is relevant] * (relevant ones among the first i) / i.

    In [0, 1]; 1 exactly when the k candidates ranked first are the k truly best, in any order. Candidates whose true
    score ties with the k-th best are relevant too. Ties among predicted scores count as the mean over all orders of the
    tied candidates (computed in closed form), so the value does not depend on the order of the rows: a model that
    scores everybody alike gets what chance gets. With fewer than k candidates, k is their number (and the value 1).

    Parameters
    ----------
    y_true, y_score : arrays of shape (n,)
        True and predicted scores, higher is better.

    Examples
    --------
    >>> from ifair.metrics import average_precision_at_k
    >>> average_precision_at_k([5, 4, 3, 2], [5, 3, 4, 2], k=2)  # first right, second wrong
    0.5
    """
    truth = check_numbers(y_true, "y_true")
    scores = check_numbers(y_score, "y_score", len(truth))
    k = _limit_k(k, len(truth))
    if k == 0:
        return warn_undefined("average precision of an empty ranking")
    relevant = truth >= np.partition(truth, len(truth) - k)[len(truth) - k]
    total, start, before = 0.0, 0, 0.0
    for size, hits in _count_tied_runs(scores, relevant.astype(float)):
        nth = np.arange(min(size, k - start))  # candidates of this run above the one at hand
        share = hits / size
        others = nth * (hits - 1) / max(size - 1, 1)
        total += float((share * (before + 1 + others) / (start + nth + 1)).sum())
        start, before = start + size, before + hits
        if start >= k:
            break
    return total / k


def mean_average_precision(y_true: ArrayLike, y_score: ArrayLike, *, query: Any, k: int = 10) -> float:
    """Mean of :func:`average_precision_at_k` over queries: the paper's MAP, with k = 10."""
    return mean_over_queries(average_precision_at_k, y_true, y_score, query=query, k=k)


def ndcg(y_true: ArrayLike, y_score: ArrayLike, *, k: int | None = None) -> float:
    """Normalised discounted cumulative gain: sum of y_true / log2(1 + position), over the best possible.

    In [0, 1], higher is better; ties among predictions are averaged. ``y_true`` must not be negative. NaN
    with a warning when nobody has any gain.

    Examples
    --------
    >>> from ifair.metrics import ndcg
    >>> ndcg([3, 2, 1], [1, 2, 3])
    0.79
    """
    truth = check_numbers(y_true, "y_true")
    scores = check_numbers(y_score, "y_score", len(truth))
    if (truth < 0).any():
        raise IfairError("ndcg needs y_true of at least 0")
    if not truth.any():
        return warn_undefined("nDCG is undefined where no candidate has a positive true score")
    if len(truth) == 1:
        return 1.0
    return float(ndcg_score(truth[None], scores[None], k=k))


def share_at_k(
    y_true: ArrayLike | None,  # noqa: ARG001
    y_score: ArrayLike,
    *,
    sensitive_features: Any,
    protected: Any = True,
    k: int = 10,
    query: Any = None,
) -> float:
    """Share of protected candidates among the first k, averaged over queries.

    In [0, 1]; compare with their share among all candidates. Candidates tied at the k-th place count in
    part. With fewer than k candidates, all of them are the first k.

    Parameters
    ----------
    y_true : ignored
        Here so that all measures are called alike; may be None.
    y_score : array of shape (n,)
    sensitive_features : labels of shape (n,), or a frame whose columns are crossed
    protected : label, or collection of labels
    query : labels of shape (n,), optional

    Examples
    --------
    >>> from ifair.metrics import share_at_k
    >>> share_at_k(None, [4, 3, 2, 1], sensitive_features=["m", "f", "m", "f"], protected="f", k=3)
    0.33
    """
    scores = check_numbers(y_score, "y_score")
    flags = find_groups(sensitive_features, len(scores)).mask(protected).astype(float)
    shares = [_measure_share(scores[rows], flags[rows], k) for _, rows in split_by_query(query, len(scores))]
    return float(np.mean(shares))


def mean_over_queries(metric: Callable[..., float], y_true: ArrayLike, y_score: ArrayLike, **options: Any) -> float:
    """Mean of a measure over queries, each counting alike; arguments as of :func:`per_query`.

    Queries for which it is undefined are left out, and a warning says how many.

    Examples
    --------
    >>> from ifair.metrics import kendall_tau, mean_over_queries
    >>> mean_over_queries(kendall_tau, [1, 2, 1, 2], [1, 2, 2, 1], query=["a", "a", "b", "b"])
    0.0
    """
    values = per_query(metric, y_true, y_score, **options)
    defined = [value for value in values.values() if not np.isnan(value)]
    if len(defined) < len(values):
        warn_undefined(f"the measure is undefined for {len(values) - len(defined)} of {len(values)} queries")
    return float(np.mean(defined)) if defined else float("nan")


def per_query(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    query: Any,
    sensitive_features: Any = None,
    **options: Any,
) -> dict[Any, float]:
    """A measure for each query, in the order of appearance."""
    truth = check_numbers(y_true, "y_true")
    scores = check_numbers(y_score, "y_score", len(truth))
    found = None if sensitive_features is None else find_groups(sensitive_features, len(truth))
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # NaN says it, query by query
        for name, rows in split_by_query(query, len(truth)):
            extra = {} if found is None else {"sensitive_features": found.take(rows)}
            values[name] = float(metric(truth[rows], scores[rows], **extra, **options))
    return values


def _limit_k(k: int, n: int) -> int:
    if k < 1:
        raise IfairError(f"k must be at least 1, got {k}")
    return min(k, n)


def _measure_share(scores: Floats, flags: Floats, k: int) -> float:
    k = _limit_k(k, len(scores))
    if k == 0:
        return warn_undefined("share of an empty ranking")
    total, start = 0.0, 0
    for size, hits in _count_tied_runs(scores, flags):
        total += hits * min(size, k - start) / size
        start += size
        if start >= k:
            break
    return total / k


def _count_tied_runs(scores: Floats, flags: Floats) -> list[tuple[int, float]]:
    """Size and number of flagged candidates of each run of equal scores, best first."""
    order = np.argsort(-scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
    sizes = np.diff(np.append(starts, len(scores)))
    return list(zip(sizes.tolist(), np.add.reduceat(flags[order], starts).tolist()))
