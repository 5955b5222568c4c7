"""Mean, spread, and paired comparisons over repeated splits, with many comparisons in mind."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean and standard deviation over splits; the deviation of a single one is 0."""
    array = np.asarray(values, dtype=np.float64)
    return {"mean": float(array.mean()), "sd": float(array.std(ddof=1)) if len(array) > 1 else 0.0, "n": len(array)}


def spreads(rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """:func:`spread` of every measure of the rows."""
    return {name: spread([row[name] for row in rows]) for name in rows[0]} if rows else {}


def compare(ours: Sequence[float], rivals: Mapping[str, Sequence[float]]) -> dict[str, dict[str, Any]]:
    """Paired t-tests of one method against each rival on the same splits, p-values adjusted after Holm.

    Parameters
    ----------
    ours : sequence of float
        A measure of our method, one value a split.
    rivals : mapping from names to sequences of float
        The same measure of the rivals, on the same splits in the same order.

    Returns
    -------
    dict
        For each rival the mean difference (ours less theirs), the p-value, and the p-value adjusted for all of them.
    """
    mine = np.asarray(ours, dtype=np.float64)
    differences = {name: mine - np.asarray(theirs, dtype=np.float64) for name, theirs in rivals.items()}
    p = {name: _p_value(difference) for name, difference in differences.items()}
    adjusted = holm(p)
    return {
        name: {"difference": float(difference.mean()), "p": p[name], "adjusted": adjusted[name]}
        for name, difference in differences.items()
    }


def _p_value(difference: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    if len(difference) < 2 or np.ptp(difference) == 0.0:
        # Without spread there is no t statistic: equal throughout says nothing, different throughout is as clear as
        # so few splits can be.
        return 1.0 if len(difference) < 2 or difference[0] == 0.0 else 0.0
    return float(stats.ttest_1samp(difference, 0.0).pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment: the chance of any false claim among all stays below the level.

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    order = sorted(p_values, key=lambda name: p_values[name])
    adjusted, largest = {}, 0.0
    for rank, name in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
