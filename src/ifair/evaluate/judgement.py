"""The measures of an audit: those for choosing with intervals, groups, the adversary and the certificate."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ifair.evaluate.measures import consistency_options, plain_number, utility_measure
from ifair.evaluate.splits import Part, Split
from ifair.evaluate.statistics import (
    count_draws,
    gap_interval,
    group_rates,
    is_share,
    quantile_interval,
    share_gap_interval,
)
from ifair.evaluate.training import Outcome
from ifair.metrics import (
    adversary,
    bootstrap,
    certify,
    consistency_interval,
    equal_opportunity_difference,
    share_at_k,
    share_interval,
    statistical_parity_difference,
    treatment,
)

ADVERSARY_FOLDS = 5
MOST_ATTACKED = 5_000
"""People whose group the adversary guesses, at most; more would only cost time."""

CERTIFIED_SHARES = (0.01, 0.05, 0.1, 0.2)


class Judgement:
    """How what happens to the people of one part is judged.

    Parameters
    ----------
    parts : Split
        The part is one of these.
    resamples : int
        Of every interval by the bootstrap; those of shares are exact.
    """

    def __init__(self, part: Part, outcome: Outcome, parts: Split, resamples: int = 500) -> None:
        self.part, self.outcome, self.task = part, outcome, parts.task
        self._alike, self._resamples = consistency_options(part, parts), resamples

    def intervals(self, before: "Judgement | None" = None) -> dict[str, Any]:
        """Utility and consistency with 95 % intervals, and what the utility gains over another on the same people."""
        measure, options = utility_measure(self.part, self.task)
        y, n, scores, decisions = self.part.y, self._resamples, self.outcome.scores, self.outcome.decisions
        found = {
            "utility": bootstrap(measure, y, scores, n_resamples=n, **options),
            "yNN": consistency_interval(decisions, n_resamples=n, **self._alike),
        }
        if self.task == "classification":
            found["accuracy"] = share_interval(y == decisions)
            found["positive"] = share_interval(decisions)
        if before is not None:

            def gain(truth: Any, mine: Any, theirs: Any, **some: Any) -> float:
                return float(measure(truth, mine, **some) - measure(truth, theirs, **some))

            found["gain"] = bootstrap(gain, y, scores, before.outcome.scores, n_resamples=n, **options)
        measured: dict[str, Any] = {
            name: {"estimate": plain_number(one.estimate), "low": plain_number(one.low), "high": plain_number(one.high)}
            for name, one in found.items()
        }
        return measured if self.task == "classification" else {**measured, "spread": plain_number(scores.std())}

    def groups(self) -> list[dict[str, Any]]:
        """For every partition of the people the rates of its groups, and the largest gaps between them.

        ``rate``, ``tpr``, ``parity`` and ``opportunity`` have 95 % intervals, under the same name with ``_interval``.
        """
        counts = count_draws(len(self.part), self.part.query, self._resamples)
        return [self._compare_groups(name, labels, counts) for name, labels in self.part.partitions.items()]

    def _compare_groups(self, name: str, labels: NDArray[Any], counts: NDArray[np.float64]) -> dict[str, Any]:
        y, outcome = self.part.y, self.outcome.decisions
        names, codes = np.unique(labels, return_inverse=True)
        drawn = {"rate": group_rates(outcome, codes, len(names), counts)}
        if self.task == "classification":
            drawn["tpr"] = group_rates(outcome, np.where(y == 1, codes, -1), len(names), counts)
        rows = []
        for i, label in enumerate(names):
            members = labels == label
            row = {"label": label, "n": int(members.sum()), "base": y[members].mean(), "rate": outcome[members].mean()}
            if self.task == "classification" and y[members].any():
                row["tpr"] = outcome[members & (y == 1)].mean()
            who = {"rate": members, "tpr": members & (y == 1)}
            intervals = {
                f"{key}_interval": _pair(self._rate_interval(who[key], found[:, i]))
                for key, found in drawn.items()
                if key in row
            }
            if self.task == "ranking":
                row["top"] = share_at_k(
                    None, self.outcome.scores, sensitive_features=labels, protected=label, query=self.part.query
                )
                row["share"] = members.mean()
            rows.append({**{key: plain_number(value) for key, value in row.items()}, **intervals})
        gaps: dict[str, Any] = {}
        if self.task == "classification":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                gaps["parity"] = statistical_parity_difference(None, outcome, sensitive_features=labels)
                gaps["opportunity"] = equal_opportunity_difference(y, outcome, sensitive_features=labels)
        else:
            gaps["parity"] = np.ptp([row["rate"] for row in rows])
        measured = {key: plain_number(value) for key, value in gaps.items()}
        for key, found in zip(("parity", "opportunity"), drawn.values()):
            # A group without truly positive people has no true positive rate, and takes no part in the gap.
            counted = codes if key == "parity" else np.where(y == 1, codes, -1)
            measured[f"{key}_interval"] = _pair(self._gap_interval(counted, found[:, ~np.isnan(found).all(axis=0)]))
        return {"partition": name, "groups": rows, **measured}

    def _rate_interval(self, members: NDArray[np.bool_], drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Of the mean outcome of some people: an exact one of a share, otherwise of what resamples gave."""
        outcome = self.outcome.decisions[members]
        if self.part.query is not None or not is_share(outcome):
            return quantile_interval(drawn)
        exact = share_interval(outcome)
        return exact.low, exact.high

    def _gap_interval(self, codes: NDArray[np.intp], drawn: NDArray[np.float64]) -> tuple[float, float]:
        """Of the largest gap between the mean outcomes of groups; who has the code -1 is left out."""
        outcome = self.outcome.decisions
        if self.part.query is not None or not is_share(outcome):
            return gap_interval(drawn)
        sizes = np.bincount(codes[codes >= 0])
        hits = np.bincount(codes[codes >= 0], outcome[codes >= 0])
        return share_gap_interval(hits[sizes > 0], sizes[sizes > 0])

    def worst(self, n: int = 10, *, higher_is_better: bool = True) -> list[dict[str, Any]]:
        """Who is treated worst compared with the people most like them."""
        found = treatment(self.outcome.scores, neighbours=self.part.neighbours, higher_is_better=higher_is_better)
        return [{"person": one.row, "gap": plain_number(one.gap)} for one in found.worst(n)]


def attack_representation(Z: NDArray[np.float64], part: Part, resamples: int) -> list[dict[str, Any]]:
    """How well the protected group, and each protected attribute, is guessed from representations.

    An AUC below one half gives the group away as much as one above it, with the sign reversed: shown is the larger of
    ``auc`` and ``1 - auc``, and ``reversed`` says which.
    """
    rows = np.random.default_rng(len(part)).permutation(len(part))[:MOST_ATTACKED]
    found = []
    for name, labels in part.partitions.items():
        if "×" in name and name not in part.records.protected:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of groups too small to be guessed
                guess = adversary(Z[rows], sensitive_features=labels[rows], folds=ADVERSARY_FOLDS)
        except ValueError:
            continue  # nobody to guess
        measure = "auc" if guess.chances.shape[1] == 2 else "accuracy"
        interval = guess.interval(measure, n_resamples=resamples)
        low, high = interval.low, interval.high
        if guess.auc < 0.5 and measure == "auc":
            low, high = 1 - high, 1 - low
        found.append(
            {
                "partition": name,
                "auc": plain_number(max(guess.auc, 1 - guess.auc)),
                "reversed": guess.auc < 0.5,
                "accuracy": plain_number(guess.accuracy),
                "majority": plain_number(guess.majority),
                "interval_of": measure,
                "low": plain_number(low),
                "high": plain_number(high),
            }
        )
    return found


def certify_representation(Z: NDArray[np.float64], part: Part) -> dict[str, Any]:
    """How far distances on what may count are kept (Definition 1), by one yardstick for all points.

    The smallest share of exceptions is chosen about which so many pairs allow a statement.
    """
    near = part.may_count
    for share in CERTIFIED_SHARES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # too few pairs: the next share
            found = certify(Z, near, share=share)
        if np.isfinite(found.epsilon):
            break
    order = np.random.default_rng(0).permutation(len(part))
    half = len(order) // 2
    apart = np.linalg.norm(near[order[:half]] - near[order[half : 2 * half]], axis=1)
    return {
        "epsilon": plain_number(found.epsilon),
        "share": found.share,
        "confidence": found.confidence,
        "pairs": found.n_pairs,
        "mean": plain_number(found.mean),
        "typical_distance": plain_number(apart.mean()),
    }


def _pair(interval: tuple[float, float]) -> list[float | None]:
    return [plain_number(end) for end in interval]
