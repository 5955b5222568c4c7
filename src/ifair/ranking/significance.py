"""Is a given ranking fair? The ranked group fairness test of Zehlike et al. (CIKM 2017), with an exact
p-value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ifair.metrics.arguments import Groups, Result, find_groups
from ifair.ranking.minimum_tables import check_proportions, failure_probability, minimum_counts


@dataclass(frozen=True, slots=True)
class RankingTest(Result):
    """What the ranked group fairness test found.

    Attributes
    ----------
    fair : bool
        Every prefix holds the minimum of every protected group.
    p_value : float
        Probability that a fair process has a prefix at least as unlikely as the most unlikely one here:
        the failure probability of the table that this ranking just misses. With the corrected table,
        ``fair`` is ``p_value > alpha``.
    first_violation : int or None
        Length of the shortest prefix that holds too few.
    held, required : int arrays of shape (G, k)
        Protected candidates in each prefix, and their minimum.
    p : tuple of G floats
    alpha : float
    """

    fair: bool
    p_value: float
    first_violation: int | None
    held: NDArray[np.int64]
    required: NDArray[np.int64]
    p: tuple[float, ...]
    alpha: float

    def __str__(self) -> str:
        verdict = "fair" if self.fair else f"unfair from position {self.first_violation} on"
        return f"{verdict} (p-value {self.p_value:.3g}, level {self.alpha:g}, {self.held.shape[1]} positions)"


def ranking_test(
    ranking: Any,
    p: float | Mapping[Any, float],
    alpha: float = 0.1,
    *,
    adjust: bool | str = True,
    protected: Any = True,
) -> RankingTest:
    """Test whether a ranking holds enough protected candidates at every prefix.

    Parameters
    ----------
    ranking : sequence of k group labels, best position first
        For one protected group usually booleans, True for protected.
    p : float, or mapping of group label to float
        Target proportion of the protected group, or of each protected group.
    alpha : float
        Probability with which a fair process may be called unfair.
    adjust : bool or "bonferroni"
        As in :func:`ifair.ranking.minimum_counts`. The p-value always accounts for testing all prefixes
        (and groups) together.
    protected : label, or collection of labels
        What counts as protected in ``ranking`` when ``p`` is one number.

    Examples
    --------
    >>> from ifair.ranking import ranking_test
    >>> print(ranking_test([False] * 6 + [True] * 4, p=0.5))
    unfair from position 5 on (p-value 0.0215, level 0.1, 10 positions)
    """
    codes, shares = code_protected(find_groups(ranking), p, protected)
    k = len(codes)
    held = np.array([np.cumsum(codes == g) for g in range(len(shares))], dtype=np.int64)
    required = minimum_counts(k, shares, alpha, adjust)
    short = (held < required).any(axis=0)
    surprise = float(np.min(binom.cdf(held, np.arange(1, k + 1), np.array(shares)[:, None]), initial=1.0))
    p_value = surprise
    if 0 < surprise < 1:
        p_value = failure_probability(minimum_counts(k, shares, surprise, adjust=False), shares)
    return RankingTest(
        fair=not short.any(),
        p_value=p_value,
        first_violation=int(np.argmax(short)) + 1 if short.any() else None,
        held=held,
        required=required,
        p=shares,
        alpha=alpha,
    )


def is_fair(ranking: Any, p: float | Mapping[Any, float], alpha: float = 0.1, **options: Any) -> bool:
    """Whether every prefix of a ranking holds the minimum number of protected candidates.

    Arguments as of :func:`ranking_test`.

    Examples
    --------
    >>> from ifair.ranking import is_fair
    >>> is_fair([False, True, False, True, False, True], p=0.5, alpha=0.1)
    True
    """
    return ranking_test(ranking, p, alpha, **options).fair


def code_protected(
    found: Groups, p: float | Mapping[Any, float], protected: Any
) -> tuple[NDArray[np.int64], tuple[float, ...]]:
    """Each candidate's protected group as an index into the proportions, -1 for the others.

    A group of the mapping ``p`` that no candidate belongs to stays: its minimum cannot be met, and must show.
    """
    codes = np.full(len(found.codes), -1, dtype=np.int64)
    labels = list(p) if isinstance(p, Mapping) else [protected]
    for g, label in enumerate(labels):
        codes[found.mask(label)] = g
    shares = check_proportions(list(p.values()) if isinstance(p, Mapping) else [p])[1]
    return codes, shares
