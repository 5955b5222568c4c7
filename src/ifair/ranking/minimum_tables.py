"""FA*IR's tables of minimum counts, and the exact probability that a fair process misses one.

Zehlike et al. (CIKM 2017) call a ranking fair when no prefix of it holds so few protected candidates that a process
which fills every position with a protected candidate with probability ``p``, independently, would hold as few or fewer
with probability at most ``a``. So the prefix of length i must hold at least the smallest m with

    P(Binomial(i, p) <= m) > a.

Testing k prefixes at once fails a fair process more often than ``a``. The corrected ``a`` is the largest
for which the whole table fails it with probability at most ``alpha``. Both halves are exact here:

* the failure probability by dynamic programming over (prefix, protected so far);
* the search over finitely many tables. As ``a`` grows, the table changes only where ``a`` reaches a value
  of the binomial distribution function, never shrinks, and so the failure probability never falls: bisection over those
  values finds the last table that keeps the level. By the union bound it lies at or above alpha / k, and since one
  prefix alone fails with the probability of the last value reached, below or at alpha.

Several protected groups (an extension) have one proportion each, adding up to at most 1; a fair process draws each
position from the multinomial distribution. Every group gets the binomial table of its own proportion, all with the same
``a``, and the corrected ``a`` is again the largest for which the chance that *any* group misses *any* of its minima is
at most ``alpha``. For one group this is FA*IR. The multinomial FA*IR of Zehlike et al. (2022) instead compares the
joint distribution function with ``a``, which leaves many incomparable minimal count vectors at a prefix and needs a
tree and a choice of path; one minimum per group and prefix can be read, printed and checked, keeps the level exactly
too, and favours no group by the choice of a path.

Values closer than a relative 1e-9 are equal: distribution functions of binomials tie exactly (p = 1/2 is
full of ties), and rounding must not decide about a ranking.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.errors import IfairError

TIE = 1e-9
MAX_STATES = 20_000_000  # 160 MB of float64 for the joint distribution of several groups

Proportions = float | Sequence[float]


def minimum_counts(k: int, p: Proportions, alpha: float | None, adjust: bool | str = True) -> NDArray[np.int64]:
    """The least number of protected candidates that every prefix must hold.

    Parameters
    ----------
    k : int
        Length of the ranking.
    p : float, or sequence of G floats
        Target proportion of the protected group, or of each protected group. 0 demands nothing, 1 demands
        only protected candidates.
    alpha : float or None
        Probability with which a fair process may be called unfair, between 0 and 1. None makes no allowance for
        chance: the plain share, rounded down, floor(p i) of the first i.
    adjust : bool or "bonferroni"
        True: ``alpha`` is the level of all prefixes (and groups) together, exactly. False: the level of each prefix
        alone. "bonferroni": each of G groups exact at level alpha / G, which keeps the joint level, a little stricter
        than needed, where the exact joint distribution of many groups would be too large.

    Returns
    -------
    counts : int array of shape (k,), or (G, k) for a sequence ``p``

    Examples
    --------
    The table printed in the FA*IR paper, and the same with its level corrected:

    >>> from ifair.ranking import minimum_counts
    >>> minimum_counts(12, 0.5, 0.1, adjust=False)
    array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4])
    >>> minimum_counts(12, 0.5, 0.1)
    array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])

    The plain share:

    >>> minimum_counts(12, 0.5, None)
    array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
    """
    single, shares = check_proportions(p)
    if alpha is None:
        exact = np.multiply.outer(shares, np.arange(1, _check_length(k) + 1))
        plain = np.floor(exact * (1 + TIE)).astype(np.int64)
        return plain[0] if single else plain
    counts = _make_tables(_check_length(k), shares, alpha, adjust)[1]
    return counts[0].copy() if single else counts.copy()


def adjusted_alpha(k: int, p: Proportions, alpha: float) -> float:
    """A significance per prefix with which k prefixes together keep the level ``alpha``.

    The corrected table belongs to an interval of significances; the middle of it is returned, so that
    rounding cannot leave the interval: ``minimum_counts(k, p, adjusted_alpha(k, p, alpha),
    adjust=False)`` is the table of ``minimum_counts(k, p, alpha)``.
    """
    return _make_tables(_check_length(k), check_proportions(p)[1], alpha, True)[0]


def failure_probability(counts: ArrayLike, p: Proportions) -> float:
    """The probability that a fair process holds fewer protected candidates than ``counts`` at some prefix.

    Parameters
    ----------
    counts : int array of shape (k,), or (G, k) for a sequence ``p``
        Minimum count of each prefix 1..k.
    p : float, or sequence of G floats
        Probability that a position goes to the (each) protected group.

    Notes
    -----
    Exact up to rounding (all terms are positive, none cancel). k times the number of states: (last
    minimum + 1) for one group, the product of those for several, because a group that has reached its
    last minimum cannot fail any more.

    Examples
    --------
    >>> from ifair.ranking import failure_probability
    >>> failure_probability([0, 1], 0.5)  # two tails of a coin
    0.25
    """
    single, shares = check_proportions(p)
    table = np.asarray(counts)
    if table.ndim != (1 if single else 2) or (not single and len(table) != len(shares)):
        raise IfairError(f"counts must have one row per group, {len(shares)}; got the shape {table.shape}")
    if table.size and (not np.issubdtype(table.dtype, np.number) or (table != np.floor(table)).any()):
        raise IfairError("counts must be whole numbers")
    return _compute_failure(np.atleast_2d(table).astype(np.int64), shares)


def check_proportions(p: Proportions) -> tuple[bool, tuple[float, ...]]:
    """Whether ``p`` is one number, and the proportions as a tuple; refuses what is not a distribution."""
    single = np.ndim(p) == 0
    shares = tuple(float(share) for share in np.atleast_1d(np.asarray(p, dtype=float)))
    if not shares or not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + TIE:
        raise IfairError(f"p must lie between 0 and 1, and add up to at most 1 for several groups; got {p}")
    return single, shares


def _check_length(k: int) -> int:
    if k != int(k) or k < 0:
        raise IfairError(f"k must be a whole number of at least 0, got {k}")
    return int(k)


@lru_cache(maxsize=4096)
def _make_tables(
    k: int, shares: tuple[float, ...], alpha: float, adjust: bool | str
) -> tuple[float, NDArray[np.int64]]:
    """The significance per prefix and its table, shape (G, k)."""
    if not 0 < alpha < 1:
        raise IfairError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    if adjust == "bonferroni":
        parts = [_make_tables(k, (share,), alpha / len(shares), True) for share in shares]
        return min(a for a, _ in parts), np.concatenate([table for _, table in parts])
    if not isinstance(adjust, (bool, np.bool_)):
        raise IfairError(f'adjust must be True, False or "bonferroni", got {adjust!r}')
    lowest = alpha / (max(k, 1) * len(shares)) if adjust else alpha
    base, steps = zip(*(_list_binomial_steps(k, share, lowest, alpha) for share in shares))
    if not adjust:
        return alpha, np.array(base)

    def table(a: float) -> NDArray[np.int64]:
        return np.array([b + (s <= a * (1 + TIE)).sum(axis=1) for b, s in zip(base, steps)])

    # The values at which the table changes, ties counted once: ends[j] <= a < ends[j + 1] is one table.
    ends = np.unique(np.concatenate([s[np.isfinite(s)] for s in steps]))
    ends = np.concatenate([[lowest], ends[np.diff(ends, prepend=0.0) > TIE * ends]])
    low, high = 0, len(ends)  # the table of ends[low] keeps the level, that of ends[high] does not
    while high - low > 1:
        middle = (low + high) // 2
        if _compute_failure(table(ends[middle]), shares) <= alpha * (1 + TIE):
            low = middle
        else:
            high = middle
    a = alpha if high == len(ends) else float(ends[low] + ends[high]) / 2
    return a, table(ends[low])


def _list_binomial_steps(
    k: int, p: float, lowest: float, highest: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The table for the significance ``lowest``, and the values up to ``highest`` at which it grows.

    The distribution function of Binomial(i, p) follows from that of i - 1 by F_i(m) = (1 - p) F_{i-1}(m)
    + p F_{i-1}(m - 1): sums of positive terms, so its relative error stays below i times the machine's.
    Row i of the steps has the values F_i(base_i), F_i(base_i + 1), ... up to ``highest``, then infinity.
    """
    base = np.zeros(k, dtype=np.int64)
    rows = []
    F = np.ones(k + 1)
    for i in range(k):
        F[1:] = (1 - p) * F[1:] + p * F[:-1]
        F[0] *= 1 - p
        F[i + 1 :] = 1.0
        start = int(np.searchsorted(F, lowest * (1 + TIE), side="right"))
        stop = int(np.searchsorted(F, highest * (1 + TIE), side="right"))
        base[i] = start
        rows.append(F[start:stop].copy())
    steps = np.full((k, max((len(row) for row in rows), default=0)), np.inf)
    for i, row in enumerate(rows):
        steps[i, : len(row)] = row
    return base, steps


def _compute_failure(table: NDArray[np.int64], shares: tuple[float, ...]) -> float:
    """Probability that the multinomial process falls below ``table``, shape (G, k), at some prefix."""
    last = table.max(axis=1, initial=0)
    shape = tuple(int(m) + 1 for m in last)
    if prod(shape) > MAX_STATES:
        raise IfairError(
            f"the joint distribution of {len(shares)} groups over {table.shape[1]} positions has "
            f'{prod(shape):,} states; use adjust="bonferroni", a smaller k or fewer groups'
        )
    rest = max(0.0, 1 - sum(shares))
    q = np.zeros(shape)  # q[c]: no prefix failed so far, and c_g of group g (or more, at the last index)
    q[(0,) * len(shape)] = 1.0
    lost = 0.0
    axes: list[tuple[Any, ...]] = [(slice(None),) * g for g in range(len(shape))]
    moves = [((*a, slice(1, None)), (*a, slice(None, -1)), (*a, -1)) for a in axes]
    reached = [0] * len(shape)
    for minima in table.T.tolist():
        grown = rest * q
        for share, (above, below, end) in zip(shares, moves):
            grown[above] += share * q[below]
            grown[end] += share * q[end]
        for g, minimum in enumerate(minima):
            if minimum > reached[g]:  # counts below an earlier minimum are gone already
                short = (*axes[g], slice(None, minimum))
                lost += float(grown[short].sum())
                grown[short] = 0.0
                reached[g] = minimum
        q = grown
    return min(lost, 1.0)
