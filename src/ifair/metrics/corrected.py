"""Consistency that a constant decision cannot win: corrected for chance, at a matched rate, and of ranks."""

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.errors import IfairError
from ifair.metrics.arguments import (
    Floats,
    Ints,
    average,
    average_defined,
    average_queries,
    check_numbers,
    check_vector,
    check_weights,
    split_by_query,
)
from ifair.metrics.neighbours import PeerOptions, average_neighbours, resolve_neighbours


def corrected_consistency(
    y: ArrayLike,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    **options: Unpack[PeerOptions],
) -> float:
    """Consistency of decisions, corrected for chance: ``1 - (1 - yNN) / (2 r (1 - r))`` at selection rate r.

    yNN grows when fewer people are selected, and is 1 when nobody is. Two decisions drawn at random at rate r differ
    with probability 2 r (1 - r): of decisions that take no notice of who is alike this measure is 0, of decisions that
    treat all neighbours alike it is 1. When everybody is decided about alike it is 0: such decisions distinguish
    nobody, so that they tell nothing about like people. Of several classes, two drawn at random differ with probability
    1 less the sum of the squared shares of the classes, which stands in the place of 2 r (1 - r).

    Parameters
    ----------
    y : array of shape (M,)
        Decisions, 0 or 1; or classes, as text or whole numbers.
    sample_weight : array of shape (M,), optional
        How many people each one stands for, in the mean and in the shares. Neighbours are who they are without it, and
        each counts once among them.
    X, k, neighbours, similarity, query, n_jobs
        As in :func:`consistency`.

    Examples
    --------
    >>> from ifair.metrics import consistency, corrected_consistency
    >>> people = [[0.0], [0.1], [0.2], [5.0]]
    >>> consistency([1, 1, 0, 0], people, k=1), corrected_consistency([1, 1, 0, 0], people, k=1)
    (0.75, 0.5)
    >>> consistency([1, 1, 1, 1], people, k=1), corrected_consistency([1, 1, 1, 1], people, k=1)
    (1.0, 0.0)
    >>> corrected_consistency(["A", "A", "B", "C"], people, k=1)
    0.2
    """
    values = check_vector(y, "y")
    if values.dtype.kind == "f" and not np.isin(values, (0.0, 1.0)).all():
        raise IfairError("y must hold decisions, 0 or 1, or classes; rank_consistency is for scores")
    _, classes = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    weights = check_weights(sample_weight, len(classes))
    near = resolve_neighbours(len(classes), X, **options)
    unlike = average_neighbours((classes[:, None] != classes[near]).astype(np.float64), near)
    return _correct_queries(unlike, classes, _differ_in_class, options.get("query"), weights)


def consistency_at_rate(
    scores: ArrayLike,
    X: ArrayLike | None = None,
    *,
    rate: float,
    sample_weight: ArrayLike | None = None,
    **options: Unpack[PeerOptions],
) -> float:
    """:func:`corrected_consistency` of selecting the people with the highest scores, a share ``rate`` of them.

    At one rate for all methods none gains by selecting fewer. Where scores are tied at the cut, the average over all
    ways to break the tie is taken. With ``sample_weight``, how many people each one stands for, the highest are those
    who stand for a share ``rate`` of the people; a person at the cut is selected in part.

    Examples
    --------
    >>> from ifair.metrics import consistency_at_rate
    >>> consistency_at_rate([0.9, 0.8, 0.3, 0.1], [[0.0], [0.1], [0.2], [0.3]], rate=0.5, k=1)
    0.5
    """
    values = check_numbers(scores, "scores")
    if not 0 < rate < 1:
        raise IfairError(f"rate must lie between 0 and 1, got {rate!r}")
    weights = _check_people(sample_weight, len(values))
    near = resolve_neighbours(len(values), X, **options)
    unlike, chance = differ_at_rate(values, near, rate, options.get("query"), weights)
    unlike = average_neighbours(unlike, near)
    return _correct_queries(unlike, chance, _differ_by_rate, options.get("query"), weights)


def _correct_queries(
    unlike: Floats, decided: NDArray[Any], differ: Callable[..., float], query: Any, weights: Floats | None
) -> float:
    """What is left of the chance to be decided about unlike one's neighbours, averaged over queries.

    How likely two people who are drawn at random ``differ`` follows from what is decided, or likely to be, and weights.
    """
    found = []
    for _, rows in split_by_query(query, len(unlike)):
        some = None if weights is None else weights[rows]
        chance = differ(decided[rows], some)
        differing = average(unlike[rows], some, ~np.isnan(unlike[rows]))  # NaN is of people without peers
        found.append(chance if np.isnan(chance) else 1 - differing / chance if chance > 0 else 0.0)
    return average_defined(found)


def _differ_by_rate(chances: Floats, weights: Floats | None) -> float:
    rate = average(chances, weights)
    return 2 * rate * (1 - rate)


def _differ_in_class(classes: Ints, weights: Floats | None) -> float:
    sizes = np.bincount(classes, weights)
    shares = sizes / sizes.sum() if sizes.any() else np.array([np.nan])  # nobody counts
    return 1 - float(shares @ shares)


def differ_at_rate(
    scores: Floats, near: Ints, rate: float, query: Any = None, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """How likely people and their neighbours are decided about unlike, (M, k), and everybody's chance, (M,)."""
    everybody, ties, together = np.zeros(len(scores)), np.zeros(len(scores), dtype=bool), np.zeros(len(scores))
    for _, rows in split_by_query(query, len(scores)):
        some = None if weights is None else weights[rows]
        everybody[rows], ties[rows], together[rows] = _selection_chances(scores[rows], rate, some)
    own, others = everybody[:, None], everybody[near]
    # Two different people are decided about unlike with this chance; of two who are tied, not independently.
    unlike = own * (1 - others) + others * (1 - own)
    both = ties[:, None] & ties[near]
    return np.where(both, 2 * (own - together[:, None]), unlike), everybody


def rank_consistency(
    scores: ArrayLike,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    **options: Unpack[PeerOptions],
) -> float:
    """Consistency of ranks: ``1 - 3 mean |r_i - r_j|`` over neighbours, ranks r between 0 and 1 (``1/(M+1)``, ...).

    0 for a random order, 1 when all neighbours are next to each other. No threshold and no shrinking of scores changes
    it, and a constant score, which ranks nobody, has 0: tied people count as ranked among themselves at random.

    Parameters
    ----------
    scores : array of shape (M,)
    sample_weight : array of shape (M,), optional
        How many people each one stands for, in the mean and in the ranks: a person takes so many places. Neighbours are
        who they are without it, and each counts once among them.
    X, k, neighbours, similarity, query, n_jobs
        As in :func:`consistency`.

    Examples
    --------
    >>> from ifair.metrics import rank_consistency
    >>> people = [[0.0], [0.1], [5.0], [5.1]]
    >>> rank_consistency([0.9, 0.8, 0.2, 0.1], people, k=1)
    0.4
    >>> rank_consistency([0.3, 0.3, 0.3, 0.3], people, k=1)
    0.0
    """
    values = check_numbers(scores, "scores")
    weights = _check_people(sample_weight, len(values))
    near = resolve_neighbours(len(values), X, **options)
    apart = average_neighbours(differ_in_rank(values, near, options.get("query"), weights), near)
    return average_queries(1 - 3 * apart, query=options.get("query"), weights=weights)


def _check_people(sample_weight: ArrayLike | None, length: int) -> Floats | None:
    """Weights that count people, who take places."""
    weights = check_weights(sample_weight, length)
    if weights is not None and weights.sum() < 2:
        raise IfairError(
            f"sample_weight says how many people each one stands for, and these stand for {weights.sum():g} together: "
            "places and ranks need two at least; multiply them, for instance such that their mean is 1"
        )
    return weights


def differ_in_rank(scores: Floats, near: Ints, query: Any = None, weights: Floats | None = None) -> Floats:
    """How far the ranks, between 0 and 1, of people and their neighbours are apart, shape (M, k)."""
    ranks, tied = np.zeros(len(scores)), np.zeros(len(scores))
    for _, rows in split_by_query(query, len(scores)):
        level, counts = _count_levels(scores[rows], None if weights is None else weights[rows])
        n = counts.sum()
        # The mean of the places that people with one score take together.
        ranks[rows] = (np.cumsum(counts) - counts + (counts + 1) / 2)[level] / (n + 1)
        # Two places drawn from t tied ones are (t + 1) / 3 apart on average.
        tied[rows] = (counts[level] + 1) / (3 * (n + 1))
    own, others = ranks[:, None], ranks[near]
    return np.where(own == others, tied[:, None], np.abs(own - others))


def _count_levels(scores: Floats, weights: Floats | None) -> tuple[Ints, Floats]:
    """Everybody's place among the different scores, the lowest first, and how many people have each of these."""
    _, level = np.unique(scores, return_inverse=True)
    counts: Any = np.bincount(level, np.ones(len(scores)) if weights is None else weights)
    return level, counts


def _selection_chances(scores: Floats, rate: float, weights: Floats | None) -> tuple[Floats, Any, float]:
    """Everybody's chance to be among the highest, who is tied at the cut, and the chance of two of these together.

    People who stand for several may be selected one by one; otherwise a whole number is, some but not all.
    """
    n = len(scores)
    level, counts = _count_levels(scores, weights)
    wanted = rate * float(counts.sum())
    if weights is None:
        wanted = min(max(round(wanted), 1), n - 1)
    if wanted <= 0:
        return np.zeros(n), np.zeros(n, dtype=bool), 0.0
    above = np.cumsum(counts[::-1])[::-1] - counts
    # The highest level at which the places are used up.
    cut = int(np.flatnonzero(above + counts >= wanted * (1 - 1e-12)).max())
    places, t = wanted - float(above[cut]), float(counts[cut])
    own = min(places / t, 1.0)
    # Of less than two people nobody is drawn without putting back.
    together = own**2 if t < 2 else max(places * (places - 1) / (t * (t - 1)), 0.0)
    return np.where(level > cut, 1.0, np.where(level == cut, own, 0.0)), level == cut, together
