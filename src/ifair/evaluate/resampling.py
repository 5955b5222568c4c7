"""The same resamples of people for every candidate, so that the difference of any two is a paired one."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ifair.evaluate.measures import plain_number
from ifair.evaluate.splits import Part, Rows
from ifair.evaluate.statistics import count_draws, quantile_interval
from ifair.metrics import average_precision_at_k, kendall_tau, share_interval
from ifair.metrics.arguments import split_by_query
from ifair.metrics.bootstrap import weighted_auc
from ifair.metrics.neighbours import average_neighbours
from ifair.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure, and what it is in every resample; NaN where it is undefined. ``exact``: an interval without them."""

    estimate: float
    drawn: Floats
    exact: tuple[float, float] | None = None

    def __sub__(self, other: "Measured") -> "Measured":
        return Measured(self.estimate - other.estimate, self.drawn - other.drawn)

    def describe(self) -> Estimate:
        """With the 95 % interval, as plain data."""
        low, high = self.exact or quantile_interval(self.drawn)
        return {"estimate": plain_number(self.estimate), "low": plain_number(low), "high": plain_number(high)}


class Resamples:
    """Measures of the people of a part, each in the same resamples.

    Everybody is drawn with replacement, and counts as often as drawn, times the weight, where people have weights; a
    pair counts the product of its two, and whose peer somebody is stays as found in the data. In rankings whole queries
    are drawn.
    """

    def __init__(self, part: Part, n: int) -> None:
        self.part = part
        # The first row is the people as they are: what it gives is the estimate.
        self.drawn = np.vstack([np.ones(len(part)), count_draws(len(part), part.query, n)])
        self.counts = self.drawn if part.weight is None else self.drawn * part.weight
        self._weighed: tuple[Rows | None, Floats] = (None, np.array([]))

    def _make_measured(self, values: Floats) -> Measured:
        return Measured(float(values[0]), values[1:])

    def average(self, values: NDArray[Any], who: NDArray[np.bool_] | None = None) -> Measured:
        """The mean of values (M,) over people, all or some; of shares of people the interval is exact."""
        counted = np.ones(len(self.part), dtype=bool) if who is None else who
        totals = self.counts @ np.where(counted, values, 0.0)
        with np.errstate(invalid="ignore"):
            found = self._make_measured(totals / (self.counts @ counted.astype(np.float64)))
        hits = np.asarray(values)[counted]
        is_share = len(hits) > 0 and np.isin(hits, (0, 1)).all()
        if not is_share or self.part.query is not None or self.part.weight is not None:
            return found
        exact = share_interval(hits)
        return replace(found, exact=(exact.low, exact.high))

    def average_pairs(self, apart: Floats, near: Rows) -> Measured:
        """The mean over people, and over these peers, of values (M, k); over queries, where there are any."""
        if self.part.query is not None:
            # Over queries of the mean over their people; those with NaN take no part.
            values = average_neighbours(apart, near)
            means = [np.nanmean(values[rows]) if not np.isnan(values[rows]).all() else np.nan for rows in self._queries]
            return self._of_queries(np.array(means))
        known = near >= 0
        shares = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
        rows = np.repeat(np.arange(len(near)), near.shape[1])[known.ravel()]
        columns = near.ravel()[known.ravel()]
        # Several measures are by the same peers.
        if self._weighed[0] is not near:
            self._weighed = near, self._weigh_pairs(rows, columns, shares[known])
        with np.errstate(invalid="ignore"):
            return self._make_measured(self._weigh_pairs(rows, columns, (shares * apart)[known]) / self._weighed[1])

    def _weigh_pairs(self, rows: NDArray[Any], columns: NDArray[Any], values: Floats) -> Floats:
        """The sum over pairs in every resample, a pair as often as both of its people were drawn."""
        size = len(self.part)
        matrix = sparse.csr_array((values, (rows, columns)), shape=(size, size))
        return np.asarray(np.einsum("bm,mb->b", self.counts, matrix @ self.counts.T))

    def _of_queries(self, values: Floats) -> Measured:
        counts = self.counts[:, [rows[0] for rows in self._queries]]
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return self._make_measured(counts[:, defined] @ values[defined] / counts[:, defined].sum(axis=1))

    @cached_property
    def _queries(self) -> list[NDArray[np.intp]]:
        return [rows for _, rows in split_by_query(self.part.query, len(self.part))]

    def utility(self, scores: Floats, task: str) -> Measured:
        """AUC of two classes, Kendall's tau of numbers, in which everybody counts once, MAP of rankings."""
        y = self.part.y
        if task == "classification":
            return self._make_measured(weighted_auc(y, scores, self.counts))
        if task == "ranking":
            return self._of_queries(np.array([average_precision_at_k(y[r], scores[r], k=10) for r in self._queries]))
        rows = [np.repeat(np.arange(len(y)), drawn.astype(int)) for drawn in self.drawn]
        return self._make_measured(np.array([kendall_tau(y[chosen], scores[chosen]) for chosen in rows]))
