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


def find_worthwhile(
    rows: Sequence[Mapping[str, Any]], *, utility: str, fairness: str, chance: float = 0.0
) -> list[int]:
    """Positions of the rows that a rule may choose: what distinguishes nobody is never fair.

    Left out is what has a measure undefined, decides the same about everybody (its ``corrected`` is 0), orders like
    people as at random, or keeps less than half of the best utility above chance.
    """
    known = [i for i, row in enumerate(rows) if row[utility] is not None and row[fairness] is not None]
    useful = [i for i in known if rows[i][fairness] > 0 and rows[i].get("corrected", 1.0) != 0]
    best = max((rows[i][utility] for i in useful), default=chance)
    return [i for i in useful if rows[i][utility] > chance and rows[i][utility] - chance >= KEPT * (best - chance)]


def choose_row(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str, fairness: str = "yNN") -> Any:
    """The row that a rule rates best by its measures under ``"validation"``."""
    return rows[choose([row["validation"] for row in rows], rule, utility=utility, fairness=fairness)]
