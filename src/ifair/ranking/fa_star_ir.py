"""FA*IR (Zehlike et al., CIKM 2017): the best ranking with enough protected candidates at every prefix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from ifair.errors import IfairError, check_choice, warn_user
from ifair.metrics.arguments import Floats, Groups, Result, check_numbers, find_groups, split_by_query
from ifair.ranking.minimum_tables import minimum_counts
from ifair.ranking.significance import code_protected

Ints = NDArray[np.int64]


class ShortageWarning(UserWarning):
    """There are fewer protected candidates than the minimum counts demand."""


@dataclass(frozen=True, slots=True)
class FairRanking(Result):
    """A ranking, or one per query, in the order of the candidates.

    Attributes
    ----------
    rank : int array of shape (n,)
        Position of each candidate, 1 for the first, within its query.
    scores : array of shape (n,)
        Fair scores: the given ones, interpolated for those who were moved up.
    order : int array of shape (n,)
        Candidates from first to last; of the first query (in the order of appearance), then of the next.
    satisfied : dict
        Whether the minimum counts hold, by query; the key of a single ranking is None.
    """

    rank: NDArray[np.int64]
    scores: NDArray[np.float64]
    order: NDArray[np.int64]
    satisfied: dict[Any, bool]

    def __str__(self) -> str:
        kept = sum(self.satisfied.values())
        return f"{len(self.rank)} candidates, {len(self.satisfied)} ranking(s), minimum counts held in {kept}"


class FAStarIR(BaseEstimator):
    """Re-rank candidates so that protected ones get their share of every prefix.

    Parameters
    ----------
    k : int or None
        How many positions the guarantee covers; the rest follow by score. None, or more than there are
        candidates: all of them (the table is then made for that many positions).
    p : float, or mapping of group label to float
        Target proportion of the protected group. A mapping names several protected groups with a
        proportion each; see :mod:`ifair.ranking.minimum_tables` for what is guaranteed then. 0 ranks by score; 1
        puts protected candidates first.
    alpha : float or None
        Probability with which a fair process would miss the minimum counts, all prefixes together when ``adjust``. The
        minimum is below ``p`` for it. None: the plain share, floor(p i) of the first i.
    adjust : bool or "bonferroni"
        Correct the significance for testing k prefixes at once; see :func:`ifair.ranking.minimum_counts`.
    protected : label, or collection of labels
        Which ``sensitive_features`` are protected when ``p`` is one number.
    shortage : {"warn", "ignore", "raise"}
        What to do when there are fewer protected candidates than the minimum. All of them are then ranked
        as high as demanded, positions after them are filled by score, and ``satisfied`` is False.

    Notes
    -----
    Equal scores keep the order in which the candidates came, whatever their group: no group is favoured
    by a tie, and where no minimum binds the result is a stable sort by score. Nothing is learned from
    data, so there is no ``fit``.

    Fair scores are those of :func:`fair_scores`, which follow the iFair paper's text but for one case.

    Examples
    --------
    >>> from ifair.ranking import FAStarIR
    >>> scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    >>> women = [False, False, False, False, False, True]
    >>> ranking = FAStarIR(p=0.5, alpha=0.1).rank(scores, sensitive_features=women)
    >>> ranking.order
    array([0, 1, 2, 5, 3, 4])
    >>> ranking.scores
    array([0.9 , 0.8 , 0.7 , 0.6 , 0.5 , 0.65])
    """

    def __init__(
        self,
        k: int | None = None,
        p: float | Mapping[Any, float] = 0.5,
        alpha: float | None = 0.1,
        *,
        adjust: bool | str = True,
        protected: Any = True,
        shortage: str = "warn",
    ) -> None:
        self.k = k
        self.p = p
        self.alpha = alpha
        self.adjust = adjust
        self.protected = protected
        self.shortage = shortage

    def rank(self, scores: ArrayLike, *, sensitive_features: Any, query: ArrayLike | None = None) -> FairRanking:
        """Rank the candidates, those of each query on their own.

        Parameters
        ----------
        scores : array of shape (n,)
            Higher is better.
        sensitive_features : labels of shape (n,), or a frame whose columns are crossed
        query : labels of shape (n,), optional
            Which ranking each candidate belongs to; without it there is one.
        """
        check_choice("shortage", self.shortage, ("warn", "ignore", "raise"))
        score = check_numbers(scores, "scores")
        found = find_groups(sensitive_features, len(score))
        codes, shares = code_protected(found, self.p, self.protected)
        self._refuse_unknown(found)
        rank = np.empty(len(score), dtype=np.int64)
        fair = np.empty(len(score))
        orders = []
        satisfied: dict[Any, bool] = {}
        for name, rows in split_by_query(query, len(score)):
            k = len(rows) if self.k is None else min(self.k, len(rows))
            counts = minimum_counts(k, shares, self.alpha, self.adjust)
            order = fair_order(score[rows], codes[rows], counts)
            rank[rows[order]] = np.arange(1, len(rows) + 1)
            fair[rows] = fair_scores(score[rows], order)
            held = [np.cumsum(codes[rows][order][:k] == g) for g in range(len(counts))]
            satisfied[name] = bool((np.array(held) >= counts).all())
            orders.append(rows[order])
        self._report_shortage(satisfied)
        return FairRanking(rank, fair, np.concatenate(orders) if orders else np.empty(0, dtype=np.int64), satisfied)

    def _refuse_unknown(self, found: Groups) -> None:
        """A protected label of the wrong type would silently protect nobody."""
        if isinstance(self.p, Mapping) or len(found) == 0 or found.mask(self.protected).any():
            return
        if self.protected is True and set(found.labels) <= {False, True}:
            return
        raise IfairError(f"no candidate is {self.protected!r}: sensitive_features holds {list(found.labels)[:10]}")

    def _report_shortage(self, satisfied: dict[Any, bool]) -> None:
        missed = [name for name, held in satisfied.items() if not held]
        if not missed or self.shortage == "ignore":
            return
        where = "" if missed == [None] else f" in {len(missed)} of {len(satisfied)} queries, first {missed[0]!r}"
        message = f"too few protected candidates for the minimum counts{where}"
        if self.shortage == "raise":
            raise IfairError(message)
        warn_user(message, ShortageWarning)


def fair_order(scores: Floats, codes: Ints, counts: Ints) -> Ints:
    """Rank the candidates by score, but for what the minimum counts demand.

    At each position the best remaining candidate is taken, unless some prefix from here on could then no
    longer hold its minima; in that case the best remaining candidate of the groups that are short at the
    first such prefix. With one protected group this is FA*IR's rule (a table grows by at most one a
    position, so the first such prefix is the one that ends here); with several, two groups may come due
    at once, and looking ahead serves one of them early enough. Among the rankings that hold all minima,
    this one is the best at the first position, among those the best at the second, and so on.

    Parameters
    ----------
    scores : array of shape (n,)
    codes : int array of shape (n,)
        Protected group of each candidate, 0..G-1, or -1.
    counts : int array of shape (G, k)
        Minimum of each group in each prefix, k at most n. A group that has fewer candidates than its minimum is taken
        in completely, and no more is demanded of it.

    Returns
    -------
    order : int array of shape (n,)
        All candidates: k positions by the rule, the rest by score.
    """
    # Equal scores keep the order in which they came.
    best = np.argsort(-scores, kind="stable").astype(np.int64)
    n_groups, k = counts.shape
    queues = [best[codes[best] == g] for g in range(n_groups)]
    due = np.minimum(counts, np.array([len(queue) for queue in queues], dtype=np.int64)[:, None])
    taken = np.zeros(len(scores), dtype=bool)
    held = np.zeros(n_groups, dtype=np.int64)
    order = np.empty(len(scores), dtype=np.int64)
    next_best = 0
    for i in range(k):
        while taken[best[next_best]]:
            next_best += 1
        chosen = best[next_best]
        open_slots = np.arange(1, k - i + 1)
        short = np.maximum(due[:, i:] - held[:, None], 0)
        tight = np.flatnonzero(short.sum(axis=0) >= open_slots)
        if tight.size:
            # Of each group its candidates are taken in the order of its queue.
            firsts = [queues[g][held[g]] for g in np.flatnonzero(short[:, tight[0]])]
            chosen = min(firsts, key=lambda c: (-scores[c], c))
        order[i] = chosen
        taken[chosen] = True
        if codes[chosen] >= 0:
            held[codes[chosen]] += 1
    order[k:] = best[~taken[best]]
    return order


def fair_scores(scores: Floats, order: Ints) -> Floats:
    """Scores that agree with a fair ranking (Section V of the iFair paper).

    Whoever was put above a better score leaves a placeholder, filled by interpolating linearly between
    the nearest positions with a score. Everybody else keeps theirs, so a ranking that changes nobody's
    place changes no score. The last position never is a placeholder. Placeholders at the very front, with
    no score before them, get the first score after them, which is the best of all: fair scores never
    leave the range of the scores. They never rise from one position to the next.

    The paper's text leaves a placeholder wherever the minimum counts force the choice of a protected candidate, also
    where this candidate has the best score of all that remain. We keep that score: nobody was moved. The order is the
    same under both rules, and so are the scores of all rankings in which no forced choice is the best one anyway.

    Returns
    -------
    fair : array of shape (n,)
        In the order of the candidates, not of the ranking.
    """
    filled = scores[order].astype(np.float64)
    best_from_here = np.maximum.accumulate(filled[::-1])[::-1]
    gaps = filled < best_from_here
    positions = np.arange(len(order))
    if gaps.any():
        filled[gaps] = np.interp(positions[gaps], positions[~gaps], filled[~gaps])
    fair = np.empty_like(filled)
    fair[order] = filled
    return fair
