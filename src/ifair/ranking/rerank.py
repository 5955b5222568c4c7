"""FA*IR's re-ranking from queues, and the iFair paper's fair scores: arrays in, arrays out."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
