"""The three rules for choosing a setting. Their names are the same in code, files, commands and pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ifair.errors import IfairError

__all__ = ["choose"]


def harmonic_mean(a: float, b: float) -> float:
    """2 a b / (a + b); 0 where either is 0 or less."""
    return 2.0 * a * b / (a + b) if a > 0 and b > 0 else 0.0


KEPT = 0.5
"""Of the best utility above chance, in order to be chosen at all."""

NEARLY_ALL = 0.95
"""Of people with the same decision."""

RULES: dict[str, Callable[[float, float], float]] = {
    "most_useful": lambda utility, _: utility,
    "fairest": lambda _, fairness: fairness,
    "balanced": harmonic_mean,
}
"""By name how a rule rates a setting by its utility and its individual fairness.

The paper's rules (a), (b) and (c): "Max Utility", "Max Fairness", "Optimal".
"""


def choose(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str, fairness: str = "yNN") -> int:
    """The row that a rule rates best; of equals the first.

    Parameters
    ----------
    rows : sequence of mappings
        What each setting reached, on validation data.
    rule : str
        A key of ``RULES``.
    utility, fairness : str
        Keys of the two measures in a row. A row with a NaN is never chosen unless all have one.

    Examples
    --------
    >>> rows = [{"AUC": 0.8, "yNN": 0.7}, {"AUC": 0.7, "yNN": 0.9}]
    >>> [choose(rows, rule, utility="AUC", fairness="yNN") for rule in RULES]
    [0, 1, 1]
    """
    if not rows:
        raise IfairError("there are no settings to choose from")
    rated = [RULES[rule](float(row[utility]), float(row[fairness])) for row in rows]
    return int(np.argmax(np.nan_to_num(rated, nan=-np.inf)))


def is_nearly_one_decision(positive: float | None) -> bool:
    """Whether nearly all people get the same decision, by the share who get the positive one; not if unknown."""
    return positive is not None and max(positive, 1 - positive) >= NEARLY_ALL


ONE_DECISION = "nearly one decision"
"""What is said of it, wherever it is."""


def find_worthwhile(
    rows: Sequence[Mapping[str, Any]], *, utility: str, fairness: str, chance: float = 0.0
) -> list[int]:
    """Positions of the rows that a rule may choose: what distinguishes nobody is never fair; see :func:`list_flaws`."""
    flaws = list_flaws(rows, utility=utility, fairness=fairness, chance=chance)
    return [i for i, flaw in enumerate(flaws) if flaw is None]


def list_flaws(
    rows: Sequence[Mapping[str, Any]], *, utility: str, fairness: str, chance: float = 0.0
) -> list[str | None]:
    """Why no rule may choose a row, in words; None where one may.

    Such a row has a measure undefined, decides the same about everybody (its ``corrected`` is 0), orders like people as
    at random, or keeps less than half of the best utility above chance.
    """

    def find_flaw(row: Mapping[str, Any]) -> str | None:
        if row[utility] is None or row[fairness] is None:
            return "undefined"
        if row.get("corrected", 1.0) == 0:
            return "one decision for everybody"
        return None if row[fairness] > 0 else "like people ranked as at random"

    flaws = [find_flaw(row) for row in rows]
    best = max((row[utility] for row, flaw in zip(rows, flaws) if flaw is None), default=chance)

    def is_useful(row: Mapping[str, Any]) -> bool:
        return bool(row[utility] > chance and row[utility] - chance >= KEPT * (best - chance))

    return [flaw if flaw or is_useful(row) else "too little utility" for row, flaw in zip(rows, flaws)]


def choose_row(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str, fairness: str = "yNN") -> Any:
    """The row that a rule rates best by its measures under ``"validation"``."""
    return rows[choose([row["validation"] for row in rows], rule, utility=utility, fairness=fairness)]
