"""All measures of one point: what its decisions are worth, and how fairly they treat people."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ifair.audit.intervals import between, drawn_counts, gap_between, rates
from ifair.audit.parts import Part
from ifair.metrics import (
    accuracy,
    adversary,
    auc,
    bootstrap,
    certify,
    consistency,
    consistency_interval,
    equal_opportunity_difference,
    kendall_tau,
    mean_average_precision,
    share_at_k,
    statistical_parity_difference,
    treatment,
)

UTILITY = {
    "classification": ("AUC", "how often a random positive case gets a higher score than a random negative one"),
    "regression": ("Kendall's tau", "how well the order of the predictions agrees with the true order"),
    "ranking": ("MAP", "how many of the truly best ten of a query are ranked first, averaged over queries"),
}
"""The main measure of usefulness of each task, and what it says."""

ADVERSARY_FOLDS = 5
MOST_ATTACKED = 5_000
"""People whose group the adversary guesses, at most; more would only cost time."""

CERTIFIED_SHARES = (0.01, 0.05, 0.1, 0.2)


class Scored:
    """Scores and decisions for the people of one part, and how they are judged.

    Parameters
    ----------
    part : Part
    task : str
    scores, decisions : arrays of shape (M,)
    scale : (low, high)
        Between which values scores lie.
    resamples : int
        Of every bootstrap interval.
    """

    def __init__(
        self,
        part: Part,
        task: str,
        scores: NDArray[np.float64],
        decisions: NDArray[Any],
        scale: tuple[float, float],
        resamples: int = 500,
    ) -> None:
        self.part, self.task, self.scores, self.decisions = part, task, scores, decisions
        self._consistency: dict[str, Any] = {"neighbours": part.neighbours, "query": part.query}
        self._consistency |= {"kind": "label"} if task == "classification" else {"kind": "score", "score_range": scale}
        self._resamples = resamples

    def _utility(self) -> tuple[Any, dict[str, Any]]:
        if self.task == "ranking":
            return mean_average_precision, {"query": self.part.query}
        return (auc if self.task == "classification" else kendall_tau), {}

    def brief(self) -> dict[str, float | None]:
        """Utility and consistency alone, for choosing."""
        measure, options = self._utility()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            found = {
                "utility": measure(self.part.y, self.scores, **options),
                "yNN": consistency(self.decisions, **self._consistency),
            }
            if self.task == "classification":
                found["accuracy"] = accuracy(self.part.y, self.decisions)
        return {name: plain(value) for name, value in found.items()}

    def intervals(self, before: "Scored | None" = None) -> dict[str, Any]:
        """The same with 95 % intervals, and what the utility gains over another point's on the same people."""
        measure, options = self._utility()
        y, n = self.part.y, self._resamples
        found = {
            "utility": bootstrap(measure, y, self.scores, n_resamples=n, **options),
            "yNN": consistency_interval(self.decisions, n_resamples=n, **self._consistency),
        }
        if self.task == "classification":
            found["accuracy"] = bootstrap(accuracy, y, self.decisions, n_resamples=n)
            found["positive"] = bootstrap(lambda made: float(made.mean()), self.decisions, n_resamples=n)
        if before is not None:

            def gain(truth: Any, mine: Any, theirs: Any, **some: Any) -> float:
                return float(measure(truth, mine, **some) - measure(truth, theirs, **some))

            found["gain"] = bootstrap(gain, y, self.scores, before.scores, n_resamples=n, **options)
        measured: dict[str, Any] = {
            name: {"estimate": plain(one.estimate), "low": plain(one.low), "high": plain(one.high)}
            for name, one in found.items()
        }
        return measured if self.task == "classification" else {**measured, "spread": plain(self.scores.std())}

    def groups(self) -> list[dict[str, Any]]:
        """For every partition of the people the rates of its groups, and the largest gaps between them.

        ``rate``, ``tpr``, ``parity`` and ``opportunity`` have 95 % intervals, under the same name with ``_interval``.
        """
        counts = drawn_counts(len(self.part), self.part.query, self._resamples)
        return [self._groups(name, labels, counts) for name, labels in self.part.partitions.items()]

    def _groups(self, name: str, labels: NDArray[Any], counts: NDArray[np.float64]) -> dict[str, Any]:
        y, outcome = self.part.y, self.decisions
        names, codes = np.unique(labels, return_inverse=True)
        drawn = {"rate": rates(outcome, codes, len(names), counts)}
        if self.task == "classification":
            drawn["tpr"] = rates(outcome, np.where(y == 1, codes, -1), len(names), counts)
        rows = []
        for i, label in enumerate(names):
            members = labels == label
            row = {"label": label, "n": int(members.sum()), "base": y[members].mean(), "rate": outcome[members].mean()}
            if self.task == "classification" and y[members].any():
                row["tpr"] = outcome[members & (y == 1)].mean()
            intervals = {f"{key}_interval": _pair(between(found[:, i])) for key, found in drawn.items() if key in row}
            if self.task == "ranking":
                row["top"] = share_at_k(
                    None, self.scores, sensitive_features=labels, protected=label, query=self.part.query
                )
                row["share"] = members.mean()
            rows.append({**{key: plain(value) for key, value in row.items()}, **intervals})
        gaps: dict[str, Any] = {}
        if self.task == "classification":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                gaps["parity"] = statistical_parity_difference(None, outcome, sensitive_features=labels)
                gaps["opportunity"] = equal_opportunity_difference(y, outcome, sensitive_features=labels)
        else:
            gaps["parity"] = np.ptp([row["rate"] for row in rows])
        measured = {key: plain(value) for key, value in gaps.items()}
        for key, found in zip(("parity", "opportunity"), drawn.values()):
            # A group without truly positive people has no true positive rate, and takes no part in the gap.
            measured[f"{key}_interval"] = _pair(gap_between(found[:, ~np.isnan(found).all(axis=0)]))
        return {"partition": name, "groups": rows, **measured}

    def worst(self, n: int = 10, *, higher_is_better: bool = True) -> list[dict[str, Any]]:
        """Who is treated worst compared with the people most like them."""
        found = treatment(self.scores, neighbours=self.part.neighbours, higher_is_better=higher_is_better)
        return [{"person": one.row, "gap": plain(one.gap)} for one in found.worst(n)]


def attack(Z: NDArray[np.float64], part: Part, resamples: int) -> list[dict[str, Any]]:
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
                "auc": plain(max(guess.auc, 1 - guess.auc)),
                "reversed": guess.auc < 0.5,
                "accuracy": plain(guess.accuracy),
                "majority": plain(guess.majority),
                "interval_of": measure,
                "low": plain(low),
                "high": plain(high),
            }
        )
    return found


def certificate(Z: NDArray[np.float64], part: Part) -> dict[str, Any]:
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
        "epsilon": plain(found.epsilon),
        "share": found.share,
        "confidence": found.confidence,
        "pairs": found.n_pairs,
        "mean": plain(found.mean),
        "typical_distance": plain(apart.mean()),
    }


def _pair(interval: tuple[float, float]) -> list[float | None]:
    return [plain(end) for end in interval]


def plain(value: Any) -> Any:
    """A number that JSON can hold, to six digits; None for one that is undefined or without limit."""
    if isinstance(value, (str, int)):
        return value
    number = float(value)
    return float(f"{number:.6g}") if np.isfinite(number) else None
