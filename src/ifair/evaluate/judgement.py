"""The measures of an audit: those for choosing with intervals, groups, the adversary and the certificate."""

import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.measures import plain_number
from ifair.evaluate.number_bins import order_labels
from ifair.evaluate.resampling import Measured, Resamples
from ifair.evaluate.splits import Part, Rows, Split, name_groups
from ifair.evaluate.statistics import gap_interval, share_gap_interval
from ifair.evaluate.training import Outcome
from ifair.metrics import adversary, certify, nearest_neighbours, share_at_k, treatment
from ifair.metrics.arguments import average
from ifair.metrics.corrected import differ_at_rate, differ_in_rank
from ifair.metrics.individual import compare_with_neighbours
from ifair.results import ENOUGH_PEOPLE, Attack, Certificate, Estimate, JudgedMeasures, Number, Partition, Worst

ADVERSARY_FOLDS = 5
MOST_ATTACKED = 5_000
"""People whose group the adversary guesses, at most; more would only cost time."""

CERTIFIED_SHARES = (0.01, 0.05, 0.1, 0.2)

OTHER_COUNTS = (5, 20)
"""Peers by which consistency is also measured, whatever number was smoothed or chosen by."""


Rates = dict[str, tuple[NDArray[np.bool_], Measured]]
UNKNOWN = Measured(float("nan"), np.array([]))


class Judgement:
    """How what happens to the people of one part of a split is judged.

    Intervals are by the bootstrap with so many ``resamples``; those of shares are exact.
    """

    def __init__(self, part: Part, outcome: Outcome, parts: Split, resamples: int = 500) -> None:
        self.part, self.outcome, self.task = part, outcome, parts.task
        self._scores = np.asarray(outcome.scores, dtype=np.float64)
        self._score_range, self._resamples = parts.score_range, resamples

    def measures_for_choosing(self) -> dict[str, Measured]:
        """``utility``, ``yNN`` and ``ranks`` (consistency of ranks, which no constant wins).

        Of two classes also ``accuracy``, ``positive`` (the share of positive decisions) and ``corrected`` (yNN
        corrected for chance).
        """
        found = {"utility": self.draws.utility(self._scores, self.task)}
        found |= self._measure_consistency(self.draws, self.part.neighbours)
        if self.task == "classification":
            found["accuracy"] = self.draws.average(self.outcome.decisions == self.part.y)
            found["positive"] = self.draws.average(self.outcome.decisions)
        return found

    def _measure_consistency(self, draws: Resamples, near: Rows) -> dict[str, Measured]:
        """``yNN``, ``ranks`` and, of two classes, ``corrected``, by these neighbours."""
        part, decisions = self.part, self.outcome.decisions
        by_score = {"kind": "score", "score_range": self._score_range}
        kind = {"kind": "label"} if self.task == "classification" else by_score
        _, apart = compare_with_neighbours(decisions, neighbours=near, query=part.query, **kind)
        unlike = draws.average_pairs(apart, near)
        ranks = draws.average_pairs(differ_in_rank(self._scores, near, part.query, part.weight), near)
        found = {
            "yNN": Measured(1 - unlike.estimate, 1 - unlike.drawn),
            "ranks": Measured(1 - 3 * ranks.estimate, 1 - 3 * ranks.drawn),
        }
        if self.task == "classification":
            found["corrected"] = _correct_for_chance(unlike, draws.average(decisions))
        return found

    def measures(self) -> dict[str, Measured]:
        """Everything that candidates are compared by, each in the same resamples.

        Those for choosing; of two classes also ``matched`` (consistency corrected for chance where as many are selected
        as were truly positive, whoever decides); and for each partition a gap: ``gap:NAME``.
        """
        part, found = self.part, self.measures_for_choosing()
        if self.task == "classification" and 0 < part.y.mean() < 1:
            rate = average(part.y, part.weight)
            differing, chance = differ_at_rate(self._scores, part.neighbours, rate, part.query, part.weight)
            unlike = self.draws.average_pairs(differing, part.neighbours)
            found["matched"] = _correct_for_chance(unlike, self.draws.average(chance))
        gaps = {f"gap:{name}": self._measure_gap(rates) for name, rates in self._rates.items()}
        return found | {name: gap for name, gap in gaps.items() if gap is not None}

    def describe(self, measures: Mapping[str, Measured]) -> JudgedMeasures:
        """Measures with their intervals as plain data, and the spread of scores; groups are in :meth:`groups`."""
        described: Any = {name: one.describe() for name, one in measures.items() if not name.startswith("gap:")}
        if self.task != "classification":
            described["spread"] = plain_number(np.std(self.outcome.scores))
        return described

    @cached_property
    def draws(self) -> Resamples:
        """The resamples that everything is measured in."""
        return Resamples(self.part, self._resamples)

    @cached_property
    def _rates(self) -> dict[str, Rates]:
        """By partition the mean decisions of its groups."""
        everybody = np.ones(len(self.part), dtype=bool)
        return {name: self._measure_rates(labels, everybody) for name, labels in self.part.partitions.items()}

    def _measure_rates(self, labels: NDArray[Any], counted: NDArray[np.bool_]) -> Rates:
        """Of every group who is in it, of those who are counted, and their mean decision."""
        members = {label: (labels == label) & counted for label in order_labels(labels)}
        return {label: (who, self.draws.average(self.outcome.decisions, who)) for label, who in members.items()}

    def _measure_gap(self, rates: Rates) -> Measured | None:
        """The largest gap between groups of enough people; None where there are no two."""
        enough = [(who, rate) for who, rate in rates.values() if who.sum() >= ENOUGH_PEOPLE]
        if len(enough) < 2:
            return None
        drawn = np.column_stack([np.r_[rate.estimate, rate.drawn] for _, rate in enough])
        if all(rate.exact for _, rate in enough):
            decisions, sizes = self.outcome.decisions, [who.sum() for who, _ in enough]
            interval = share_gap_interval([decisions[who].sum() for who, _ in enough], sizes)
        else:
            interval = gap_interval(drawn[1:])
        return Measured(float(np.ptp(drawn[0])), np.ptp(drawn[1:], axis=1), interval)

    def groups(self) -> list[Partition]:
        """For every partition of the people the rates of its groups, and the largest gaps between them.

        ``rate``, ``tpr``, ``parity`` and ``opportunity`` have 95 % intervals, under the same name with ``_interval``.
        Groups of too few people take no part in a gap. The largest gap comes first.
        """
        found = [self._compare_groups(name, labels) for name, labels in self.part.partitions.items()]
        return sorted(found, key=lambda one: -1.0 if one["parity"] is None else one["parity"], reverse=True)

    def _compare_groups(self, name: str, labels: NDArray[Any]) -> Partition:
        y, rated = self.part.y, {"rate": self._rates[name]}
        if self.task == "classification":
            rated["tpr"] = self._measure_rates(labels, y == 1)
        rows = []
        for label, (members, _) in self._rates[name].items():
            row: Any = {"label": label, "n": int(members.sum())}
            row["base"] = plain_number(average(y, self.part.weight, members))
            for key, rates in rated.items():
                one = rates[label][1].describe()
                if one["estimate"] is not None:
                    row |= {key: one["estimate"], f"{key}_interval": [one["low"], one["high"]]}
            if self.task == "ranking":
                top = share_at_k(
                    None, self.outcome.scores, sensitive_features=labels, protected=label, query=self.part.query
                )
                row |= {"top": plain_number(top), "share": plain_number(members.mean())}
            rows.append(row)
        compared: Any = {"partition": name, "groups": rows}
        for key, rates in zip(("parity", "opportunity"), rated.values()):
            gap = (self._measure_gap(rates) or UNKNOWN).describe()
            compared |= {key: gap["estimate"], f"{key}_interval": [gap["low"], gap["high"]]}
        return compared

    def gap_at_parity(self, column: str, parity: str) -> Estimate:
        """The largest gap that is left between groups of a column who are given the same rate by their thresholds.

        Of all, or for the parity "opportunity" of those who truly are positive; unknown where no two groups have
        enough people.
        """
        counted = np.ones(len(self.part), dtype=bool) if parity == "selection" else self.part.y == 1
        rates = self._measure_rates(name_groups(self.part.records.frame, column), counted)
        return (self._measure_gap(rates) or UNKNOWN).describe()

    def worst(self, n: int = 10, *, higher_is_better: bool = True) -> list[Worst]:
        """Who is treated worst compared with the people most like them."""
        found = treatment(self.outcome.scores, neighbours=self.part.neighbours, higher_is_better=higher_is_better)
        return [{"person": one.row, "gap": plain_number(one.gap)} for one in found.worst(n)]

    def graders(self, others: Mapping[str, Rows]) -> dict[str, dict[str, Number]]:
        """Consistency of ranks, and of decisions corrected for chance, by the similarity and by other yardsticks."""
        found: dict[str, dict[str, Number]] = {}
        once = Resamples(self.part, 0)
        for name, near in {"similarity": self.part.neighbours, **others}.items():
            measured = self._measure_consistency(once, near)
            kept = [measure for measure in ("ranks", "corrected") if measure in measured]
            found[name] = {measure: plain_number(measured[measure].estimate) for measure in kept}
        return found


def brief_measures(part: Part, outcome: Outcome, parts: Split) -> Any:
    """What outcomes for the people of a part are chosen by.

    A :class:`ifair.results.Validation`: None for what is undefined.
    """
    found = Judgement(part, outcome, parts, resamples=0).measures_for_choosing()
    return {name: plain_number(one.estimate) for name, one in found.items()}


def find_graders(parts: Split) -> dict[str, Rows]:
    """Everybody's neighbours in the test part by other yardsticks, so that nobody is graded on their own graph alone.

    ``k5`` and ``k20``: fewer and more peers of the same similarity. ``mahalanobis``: as many as the similarity has,
    by the Mahalanobis distance of the encoded unprotected columns, whose covariance is that of the training part.
    """
    test, X = parts.test, whiten(parts.train.may_count, parts.test.may_count)
    smallest = len(test) if test.query is None else int(np.unique(test.query, return_counts=True)[1].min())
    most = test.find_peers(max(OTHER_COUNTS))
    found = {f"k{k}": most.first(k).indices for k in OTHER_COUNTS}
    found["mahalanobis"] = nearest_neighbours(X, min(test.n_neighbors, smallest - 1), query=test.query)
    return found


def whiten(seen: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates in which Euclidean distances are Mahalanobis distances, directions without spread left out."""
    centre = seen.mean(axis=0)
    _, sizes, directions = np.linalg.svd(seen - centre, full_matrices=False)
    kept = sizes > 1e-6 * sizes[0]
    return np.asarray((X - centre) @ directions[kept].T / sizes[kept] * np.sqrt(len(seen)))


def attack_representation(Z: NDArray[np.float64], part: Part, resamples: int) -> list[Attack]:
    """How well the protected group, and each protected attribute, is guessed from representations.

    An AUC below one half gives the group away as much as one above it, with the sign reversed: shown is the larger of
    ``auc`` and ``1 - auc``, and ``reversed`` says which.
    """
    rows = np.random.default_rng(len(part)).permutation(len(part))[:MOST_ATTACKED]
    found: list[Attack] = []
    for name, labels in part.partitions.items():
        if "×" in name and name not in part.records.protected:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of groups too small to be guessed
                guess = adversary(Z[rows], sensitive_features=labels[rows], folds=ADVERSARY_FOLDS)
        except ValueError:
            continue  # nobody to guess
        measure: Literal["auc", "accuracy"] = "auc" if guess.chances.shape[1] == 2 else "accuracy"
        interval = guess.interval(measure, n_resamples=resamples)
        low, high = interval.low, interval.high
        if guess.auc < 0.5 and measure == "auc":
            low, high = 1 - high, 1 - low
        shown = max(guess.auc, 1 - guess.auc)
        if measure == "auc":
            # The estimate is the mean over folds, the interval of all folds taken together.
            low, high = min(low, shown), max(high, shown)
        found.append(
            {
                "partition": name,
                "people": len(guess.chances),
                "auc": plain_number(shown),
                "reversed": guess.auc < 0.5,
                "accuracy": plain_number(guess.accuracy),
                "majority": plain_number(guess.majority),
                "interval_of": measure,
                "low": plain_number(low),
                "high": plain_number(high),
            }
        )
    return found


def certify_representation(Z: NDArray[np.float64], part: Part) -> Certificate:
    """How far distances on what may count are kept (Definition 1), by one yardstick for all points.

    The smallest share of exceptions is chosen about which so many pairs allow a statement.
    """
    for share in CERTIFIED_SHARES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # too few pairs: the next share
            found = certify(Z, part.points, share=share)
        if np.isfinite(found.epsilon):
            break
    order = np.random.default_rng(0).permutation(len(part))
    half = len(order) // 2
    apart = np.sqrt(part.points.squared_differences(part.points, order[:half], order[half : 2 * half]))
    return {
        "epsilon": plain_number(found.epsilon),
        "share": found.share,
        "confidence": found.confidence,
        "pairs": found.n_pairs,
        "mean": plain_number(found.mean),
        "typical_distance": plain_number(apart.mean()),
    }


def _correct_for_chance(unlike: Measured, rate: Measured) -> Measured:
    """See :func:`ifair.metrics.corrected_consistency`: 0 where everybody is decided about alike."""

    def correct(share: Any, selected: Any) -> Any:
        chance = 2 * selected * (1 - selected)
        known = chance > 1e-12  # a weighted mean of the same number may be off by its last digits
        return np.where(known, 1 - share / np.where(known, chance, 1.0), 0.0)

    return Measured(float(correct(unlike.estimate, rate.estimate)), correct(unlike.drawn, rate.drawn))
