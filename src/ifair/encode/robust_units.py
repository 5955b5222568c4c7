"""What counts as one unit of a number, whatever its outliers and rare values."""

import numpy as np
from numpy.typing import NDArray

IQR_OF_NORMAL = 1.349
"""Interquartile range of a normal distribution in standard deviations: makes the unit of a normal column its own."""


def robust_size(values: NDArray[np.float64]) -> float:
    """A typical difference that outliers and rare values do not move.

    Examples
    --------
    >>> robust_size(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 6.0]))
    5.0
    """
    if len(values) == 0:
        return 1.0
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    if high > low:
        return float((high - low) / IQR_OF_NORMAL)
    away = np.abs(values - middle)
    return float(away[away > 0].mean()) if (away > 0).any() else 1.0
