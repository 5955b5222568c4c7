"""Statistics: repeated splits with paired comparisons, and intervals of many groups at once."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ifair.metrics.bootstrap import share_bounds

LEVEL = 0.95
"""Of all intervals."""

TAILS = (0.025, 0.975)
"""Of a 95 % interval."""


class Spread(TypedDict):
    """A measure over repeated splits."""

    mean: float
    sd: float
    n: int


Spreads = dict[str, Spread]
"""Of measures, by name."""


class Comparison(TypedDict):
    """Ours less a rival's over the same splits, with a 95 % interval, and the p-value of the corrected resampled
    t-test, also adjusted after Holm. Fewer than ``LEAST_SPLITS`` splits have no p-values, a single one no interval."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None


LEAST_SPLITS = 20
"""Random splits from which differences are tested."""

TEST_TO_TRAINING = 1.0
"""Test records per record learned from, with thirds: n2 / n1 of Nadeau and Bengio."""


def spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation over splits; the deviation of a single one is 0."""
    array = np.asarray(values, dtype=np.float64)
    return {"mean": float(array.mean()), "sd": float(array.std(ddof=1)) if len(array) > 1 else 0.0, "n": len(array)}


def spreads(rows: Sequence[Mapping[str, float]]) -> Spreads:
    """:func:`spread` of every measure of the rows."""
    return {name: spread([row[name] for row in rows]) for name in rows[0]} if rows else {}


def compare(ours: Sequence[float], rivals: Mapping[str, Sequence[float]]) -> dict[str, Comparison]:
    """One method against each rival on the same random splits: differences with intervals, and tests.

    Splits of one table overlap, so that their results are not independent, and a plain paired t-test claims too much.
    The corrected resampled t-test (Nadeau and Bengio, Inference for the generalization error, Machine Learning 52,
    2003) takes ``(1/J + n_test/n_training) s^2`` for the variance of a mean over J splits in place of ``s^2 / J``.

    Of each rival the mean difference (ours less theirs) with its 95 % interval, the p-value, and the p-value adjusted
    for all of them.
    """
    mine = np.asarray(ours, dtype=np.float64)
    found = {name: _compare_pairs(mine - np.asarray(theirs, dtype=np.float64)) for name, theirs in rivals.items()}
    p = {name: one["p"] for name, one in found.items() if one["p"] is not None}
    for name, value in holm(p).items():
        found[name]["adjusted"] = value
    return found


def _compare_pairs(differences: NDArray[np.float64]) -> Comparison:
    n, mean = len(differences), float(differences.mean())
    found: Comparison = {"difference": mean, "low": None, "high": None, "p": None, "adjusted": None}
    if n < 2:
        return found
    error = float(np.sqrt((1.0 / n + TEST_TO_TRAINING) * differences.var(ddof=1)))
    half = float(stats.t.ppf(TAILS[1], n - 1)) * error
    found["low"], found["high"] = mean - half, mean + half
    if n < LEAST_SPLITS:
        return found
    if error > 0.0:
        found["p"] = 2.0 * float(stats.t.sf(abs(mean) / error, n - 1))
    else:
        # Without spread there is no t statistic. If signs were drawn at random, all of them would be alike so often.
        found["p"] = 1.0 if mean == 0.0 else 0.5 ** (n - 1)
    return found


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment: the chance of any false claim among all stays below the level.

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    >>> holm({"a": 0.6, "b": 0.7})
    {'a': 1.0, 'b': 1.0}
    """
    order = sorted(p_values, key=lambda name: p_values[name])
    adjusted, largest = {}, 0.0
    for rank, name in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def count_draws(n: int, query: NDArray[Any] | None, resamples: int) -> NDArray[np.float64]:
    """How often everybody is drawn in each resample, shape (B, M); with queries, whole queries are drawn."""
    rng = np.random.default_rng(0)
    units = np.arange(n) if query is None else np.unique(query, return_inverse=True)[1]
    size = int(units.max()) + 1
    counts = [np.bincount(rng.integers(size, size=size), minlength=size)[units] for _ in range(resamples)]
    return np.array(counts, dtype=np.float64).reshape(resamples, n)


def quantile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95 % of what resamples gave, undefined ones left out."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, TAILS)
    return float(low), float(high)


def gap_interval(found: NDArray[np.float64]) -> tuple[float, float]:
    """An interval of the largest gap between groups, from their rates of shape (B, G).

    Of two groups the signed difference is taken, so that the interval begins at zero where its sign is open. Chance
    can only widen the largest gap among several groups: their interval lies high rather than low.
    """
    if found.shape[1] != 2:
        return quantile_interval(np.ptp(found, axis=1))
    low, high = quantile_interval(found[:, 0] - found[:, 1])
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return nearest, max(abs(low), abs(high))


def share_gap_interval(hits: ArrayLike, sizes: ArrayLike) -> tuple[float, float]:
    """An interval of the largest gap between shares of groups, shape (G,), that holds for few people and near 0 or 1.

    Between two groups after Zou and Donner, from exact intervals of both. Of several groups every pair has one, at a
    level adjusted for all pairs; the largest gap lies between the highest of their lower and of their upper ends.
    """
    rate = np.asarray(hits, dtype=np.float64) / np.asarray(sizes, dtype=np.float64)
    if len(rate) < 2:
        return float("nan"), float("nan")
    i, j = np.triu_indices(len(rate), 1)
    low, high = share_bounds(hits, sizes, 1 - (1 - LEVEL) / len(i))
    least = rate[i] - rate[j] - np.hypot(rate[i] - low[i], high[j] - rate[j])
    most = rate[i] - rate[j] + np.hypot(high[i] - rate[i], rate[j] - low[j])
    # Where the sign of a difference is open, the gap may be nothing.
    nearest = np.maximum(np.maximum(least, -most), 0.0)
    return float(nearest.max()), float(min(np.maximum(-least, most).max(), 1.0))
