"""The measures of an audit: those for choosing with intervals, groups, the adversary and the certificate."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ifair.evaluate.measures import consistency_options, plain_number, utility_measure
from ifair.evaluate.splits import Part, Rows, Split
from ifair.evaluate.statistics import count_draws, gap_interval, group_rates, quantile_interval
from ifair.evaluate.training import Outcome
from ifair.metrics import (
    accuracy,
    adversary,
    bootstrap,
    certify,
    consistency_interval,
    corrected_consistency,
    equal_opportunity_difference,
    nearest_neighbours,
    rank_consistency,
    share_at_k,
    statistical_parity_difference,
    treatment,
)

ADVERSARY_FOLDS = 5
MOST_ATTACKED = 5_000
"""People whose group the adversary guesses, at most; more would only cost time."""

CERTIFIED_SHARES = (0.01, 0.05, 0.1, 0.2)

OTHER_COUNTS = (5, 20)
"""Peers by which consistency is also measured, whatever number was smoothed or chosen by."""


class Judgement:
    """How what happens to the people of one part is judged.

    Parameters
    ----------
    parts : Split
        The part is one of these.
    resamples : int
        Of every bootstrap interval.
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
            found["accuracy"] = bootstrap(accuracy, y, decisions, n_resamples=n)
            found["positive"] = bootstrap(lambda made: float(made.mean()), decisions, n_resamples=n)
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
            intervals = {
                f"{key}_interval": _pair(quantile_interval(found[:, i])) for key, found in drawn.items() if key in row
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
            measured[f"{key}_interval"] = _pair(gap_interval(found[:, ~np.isnan(found).all(axis=0)]))
        return {"partition": name, "groups": rows, **measured}

    def worst(self, n: int = 10, *, higher_is_better: bool = True) -> list[dict[str, Any]]:
        """Who is treated worst compared with the people most like them."""
        found = treatment(self.outcome.scores, neighbours=self.part.neighbours, higher_is_better=higher_is_better)
        return [{"person": one.row, "gap": plain_number(one.gap)} for one in found.worst(n)]

    def graders(self, others: Mapping[str, Rows]) -> dict[str, dict[str, Any]]:
        """Consistency of ranks, and of decisions corrected for chance, by the similarity and by other yardsticks."""
        found: dict[str, dict[str, Any]] = {}
        for name, near in {"similarity": self.part.neighbours, **others}.items():
            options: Any = {"neighbours": near, "query": self.part.query}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)  # nobody has a close peer: None
                found[name] = {"ranks": plain_number(rank_consistency(self.outcome.scores, **options))}
                if self.task == "classification":
                    found[name]["corrected"] = plain_number(corrected_consistency(self.outcome.decisions, **options))
        return found


def find_graders(parts: Split) -> dict[str, Rows]:
    """Everybody's neighbours in the test part by other yardsticks, so that nobody is graded on their own graph alone.

    Returns
    -------
    dict of str to int array of shape (M, k)
        ``k5`` and ``k20``: fewer and more peers of the same similarity. ``mahalanobis``: as many as the similarity has,
        by the Mahalanobis distance of the encoded unprotected columns, whose covariance is that of the training part.
    """
    test, X = parts.test, whiten(parts.train.may_count, parts.test.may_count)
    smallest = len(test) if test.query is None else int(np.unique(test.query, return_counts=True)[1].min())
    found = {f"k{k}": test.find_peers(k).indices for k in OTHER_COUNTS}
    found["mahalanobis"] = nearest_neighbours(X, min(test.n_neighbors, smallest - 1), query=test.query)
    return found


def whiten(seen: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates in which Euclidean distances are Mahalanobis distances, directions without spread left out."""
    centre = seen.mean(axis=0)
    _, sizes, directions = np.linalg.svd(seen - centre, full_matrices=False)
    kept = sizes > 1e-6 * sizes[0]
    return np.asarray((X - centre) @ directions[kept].T / sizes[kept] * np.sqrt(len(seen)))


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


def _pair(interval: tuple[float, float]) -> list[float | None]:
    return [plain_number(end) for end in interval]
