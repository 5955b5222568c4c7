"""Columns that tell a protected one, or the outcome, by themselves: hiding the one hides little, and a model leaks."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.errors import name_setting

FEWEST_TELLING = 10
"""People outside the largest group whom a column must tell, and people per value of it: fewer may agree by chance."""
TELLS = 0.995
TELLS_OF_OTHERS = 0.95
"""A column tells another where its values say so many people right, and so many of those outside the largest group."""
IN_STEP = 0.999
"""Of the rank correlation of two columns of numbers, one of which is as good as the other."""
NEARLY_IN_STEP = 0.99
ENOUGH = 10_000
"""So many people, from all over the table, tell that two columns are not in step: ranking a million takes its time."""

Codes = NDArray[np.intp]


def warn_of_copies(
    frame: pd.DataFrame, attributes: Iterable[str], protected: Collection[str], target: str | None
) -> list[str]:
    """A sentence for every unprotected attribute that tells a protected column, or the target, (nearly) by itself."""
    return [line for _, line in find_copies(frame, attributes, protected, target)]


def find_copies(
    frame: pd.DataFrame, attributes: Iterable[str], protected: Collection[str], target: str | None
) -> Iterator[tuple[str, str]]:
    """The same with the attribute before each sentence."""
    told_by = {told: (frame[told], pd.factorize(frame[told])[0]) for told in (*protected, *filter(None, [target]))}
    for column in attributes:
        if column in protected:
            continue
        codes = pd.factorize(frame[column])[0]
        for told, (values, others) in told_by.items():
            found = _tell_how(frame[column], codes, values, others)
            found = found or (_nearly_tell(frame[column], codes, others) if told == target else None)
            if found is None:
                continue
            if told == target:
                what, why = "target", "if it is not known before the outcome, models look far better than they are; "
            else:
                protect = name_setting("protected", [column])
                what, why = "protected column", f"hiding {told!r} alone hides little; protect it with {protect}, or "
            ignore = name_setting("ignore", [column])
            yield column, f"column {column!r} tells the {what} {told!r} {found}: {why}leave it out with {ignore}"


def _tell_how(column: pd.Series, codes: Codes, told: pd.Series, others: Codes) -> str | None:
    """How well a column tells another of those who have both, in words; None where it does not, or may by chance.

    The codes are those of their values, -1 where one is missing.
    """
    known = (codes >= 0) & (others >= 0)
    n = int(known.sum())
    if n < max(2 * FEWEST_TELLING, 0.5 * len(told)):
        return None
    codes, others = (codes, others) if n == len(told) else (codes[known], others[known])
    sizes = np.bincount(others)
    n_values, n_told = np.count_nonzero(np.bincount(codes)), np.count_nonzero(sizes)
    if FEWEST_TELLING * n_values > n:
        numbers = all(is_numeric_dtype(one) and not is_bool_dtype(one) for one in (column, told))
        if not numbers or FEWEST_TELLING * n_told <= n:
            return None
        both = pd.DataFrame({"column": column[known], "told": told[known]}).astype(np.float64)
        some = both.iloc[:: max(1, n // ENOUGH)]
        if abs(some["column"].corr(some["told"], method="spearman")) < NEARLY_IN_STEP:
            return None
        same = float(np.corrcoef(both.rank().to_numpy().T)[0, 1])
        return f"(ranked by either, people stand alike: rank correlation {same:.4f})" if abs(same) >= IN_STEP else None
    if n_told - n_values > (1 - TELLS) * n:
        return None  # a value of the column tells one of the other at most
    pair, pairs = pd.factorize(codes.astype(np.int64) * len(sizes) + others)
    most = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // len(sizes), np.bincount(pair))
    wrong, outside = n - int(most.sum()), n - int(sizes.max())
    if outside < FEWEST_TELLING or wrong > (1 - TELLS) * n or wrong > (1 - TELLS_OF_OTHERS) * outside:
        return None
    return f"of {'all ' if not wrong else f'{n - wrong:,} of '}{n:,} people{' who have both' * (n < len(told))}"


NEARLY_TELLS = 0.97
"""Area under the curve of a column by itself from which it hardly was known before the outcome."""


def _nearly_tell(column: pd.Series, codes: Codes, others: Codes) -> str | None:
    """How well a column alone ranks people by an outcome of two values, in words, where that is hardly to be believed.

    By its numbers where it has many, else by the share of the outcome among those who have a value.
    """
    if others.max() != 1:
        return None
    empty = _find_area(codes < 0, others)  # a salary after being hired, say, is empty for all others
    area = max(empty, 1.0 - empty)
    if area >= NEARLY_TELLS:
        return f"by whether it is empty (AUC {area:.3f})"
    some = np.flatnonzero((codes >= 0) & (others >= 0))
    if len(some) < 0.5 * len(column):
        return None
    codes, others = codes[some], others[some]
    sizes = np.bincount(codes)
    if FEWEST_TELLING * np.count_nonzero(sizes) <= len(some):
        area = _find_area(_rate_by_others(codes, others), others)
    elif is_numeric_dtype(column) and not is_bool_dtype(column):
        area = _find_area(column.to_numpy(dtype=np.float64)[some], others)
        area = max(area, 1.0 - area)
    else:
        return None
    return f"nearly by itself (AUC {area:.3f})" if area >= NEARLY_TELLS else None


def _rate_by_others(codes: Codes, outcome: Codes) -> NDArray[np.float64]:
    """The rate of the outcome among those with somebody's value in the other half of the people, drawn at random.

    In their own half everybody would be told by their own outcome, the more so the fewer have the value.
    """
    rates, n_codes = np.empty(len(codes)), int(codes.max()) + 1
    half = np.random.default_rng(0).permutation(len(codes)) % 2 == 0
    for own, other in ((half, ~half), (~half, half)):
        positives = np.bincount(codes[other], outcome[other], minlength=n_codes) + outcome[other].mean()
        rates[own] = (positives / (np.bincount(codes[other], minlength=n_codes) + 1.0))[codes[own]]
    return rates


def _find_area(scores: NDArray[Any], outcome: Codes) -> float:
    """The area under the curve of scores for an outcome of 0 and 1; a half where too few have either."""
    some = np.flatnonzero(outcome >= 0)
    some = some[:: max(1, len(some) // ENOUGH)]
    positive = outcome[some] == 1
    n_positive, n_others = int(positive.sum()), int((~positive).sum())
    if min(n_positive, n_others) < FEWEST_TELLING:
        return 0.5
    ranks = pd.Series(scores[some]).rank().to_numpy()
    return (float(ranks[positive].mean()) - 0.5 * (n_positive + 1)) / n_others
