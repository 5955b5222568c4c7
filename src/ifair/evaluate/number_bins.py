"""Numbers as groups of people: bins of about equal size, cut where people would cut, named as people name them."""

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

BINS = 4
"""Groups that a column of numbers is cut into, at most."""

OFF = 0.05
"""Of all people: a bin may end so far from its quantile, for the sake of a round number."""

DIGITS = 3
"""To so many digits of their range numbers are rounded, where that is needed; further ones nobody reads."""

MOST_DECIMALS = 6
"""With more, numbers are written by their digits."""

Floats = NDArray[np.float64]


def name_bins(column: pd.Series, missing: str, most: int = BINS) -> NDArray[Any]:
    """Everybody's bin as text, shape (M,), such as "18 to 29"; who has no value is in the group ``missing``.

    There are at ``most`` so many bins.

    Examples
    --------
    >>> ages = pd.Series([19.0, 22, 28, 31, 37, 39, 44, 48, 51, 55, 61, None])
    >>> list(dict.fromkeys(name_bins(ages, "(missing)")))
    ['19 to 29', '30 to 39', '40 to 49', '50 to 61', '(missing)']
    """
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    known = np.sort(values[np.isfinite(values)])
    edges = find_edges(known, most)
    names = np.array([*_name_ranges(edges, known), missing], dtype=object)
    return names[np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), -1)]


def find_edges(ordered: Floats, most: int = BINS) -> Floats:
    """Where the bins of numbers in order begin, but for the first: near the quantiles, at the roundest numbers."""
    found = {_find_edge(ordered, i / most) for i in range(1, most)} if len(ordered) else set()
    return np.array(sorted(edge for edge in found if edge > ordered[0]))


def _find_edge(ordered: Floats, share: float) -> float:
    """The roundest number that about this share is below; where many are equal, the best that there is."""
    wanted = float(np.quantile(ordered, share))
    for step in _list_steps(float(ordered[-1] - ordered[0])):
        edge = round(wanted / step) * step
        if abs(_share_below(ordered, edge) - share) <= OFF + 1e-9:
            return float(f"{edge:.12g}")  # as it is written: 0.3, not 0.30000000000000004
    value = float(ordered[np.searchsorted(ordered, wanted)])
    above = ordered[ordered > value][:1]
    if len(above) and _are_whole(ordered):
        above = np.array([value + 1.0])
    return float(min([value, *above], key=lambda edge: abs(_share_below(ordered, edge) - share)))


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.round(numbers)).all())


def _list_steps(spread: float) -> list[float]:
    """1, 5, 10, 50 and so on, the coarsest first: what round numbers of this range are multiples of."""
    if spread <= 0:
        return []
    power = int(np.floor(np.log10(spread)))
    return [digit * 10.0**p for p in range(power, power - DIGITS, -1) for digit in (5, 1)]


def _share_below(ordered: Floats, edge: float) -> float:
    return float(np.searchsorted(ordered, edge) / len(ordered))


def _name_ranges(edges: Floats, ordered: Floats) -> list[str]:
    """What the bins are called: whole numbers by the first and the last of each, others up to where the next begins."""
    if not len(ordered):
        return []
    starts, last = [float(ordered[0]), *edges.tolist()], float(ordered[-1])
    if not _are_whole(ordered):
        # So many that no two ends are written alike: of few large numbers among small ones the range says little.
        decimals, ends_of_all = _count_decimals(last - starts[0]), {*starts, last}
        while decimals <= MOST_DECIMALS and len({_write(end, decimals) for end in ends_of_all}) < len(ends_of_all):
            decimals += 1
        below = [f"{_write(low, decimals)} to under {_write(high, decimals)}" for low, high in zip(starts, edges)]
        return [*below, f"{_write(starts[-1], decimals)} to {_write(last, decimals)}"]
    firsts = [np.ceil(start) for start in starts]
    ends = [*(np.ceil(edge) - 1 for edge in edges), last]
    return [_write(low) if low == high else f"{_write(low)} to {_write(high)}" for low, high in zip(firsts, ends)]


def _count_decimals(spread: float) -> int:
    return max(0, DIGITS - 1 - int(np.floor(np.log10(spread)))) if spread > 0 else 0


def _write(number: float, decimals: int = 0) -> str:
    """So many decimals, thousands apart where there are many; powers of ten where people would count zeros."""
    if decimals > MOST_DECIMALS or abs(number) >= 1e15:
        return f"{number:.10g}"
    number = round(number, decimals) + 0.0  # not -0
    text = f"{number:,.{decimals}f}" if abs(number) >= 10_000 else f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)")


def order_labels(labels: NDArray[Any]) -> list[Any]:
    """The different labels of groups in the order in which people list them: by the numbers in them, as numbers.

    Examples
    --------
    >>> order_labels(np.array(["100 to 199", "9 to 99", "b", "(missing)"], dtype=object))
    ['9 to 99', '100 to 199', '(missing)', 'b']
    """

    def place(label: Any) -> list[tuple[int, float, str]]:
        parts = _NUMBER.split(str(label))
        # Every other part is a number.
        return [(0, float(p.replace(",", "")), "") if i % 2 else (1, 0.0, p) for i, p in enumerate(parts) if p]

    return sorted(set(labels), key=lambda label: (place(label), str(label)))
