"""The people behind the measures: who is treated worse than those who are like them?"""

from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ifair.metrics.arguments import Floats, Ints, Result, check_numbers
from ifair.metrics.neighbours import PeerOptions, average_neighbours, resolve_neighbours


@dataclass(frozen=True, slots=True)
class Person(Result):
    """One person, the neighbours and their outcomes."""

    row: int
    outcome: float
    gap: float
    neighbours: tuple[int, ...]
    neighbour_outcomes: tuple[float, ...]

    def __str__(self) -> str:
        others = ", ".join(f"{row}: {outcome:g}" for row, outcome in zip(self.neighbours, self.neighbour_outcomes))
        return f"person {self.row} got {self.outcome:g}, {self.gap:+.3g} against the neighbours ({others})"


@dataclass(frozen=True, slots=True)
class Treatment:
    """How everybody is treated against their nearest neighbours.

    Attributes
    ----------
    outcomes : array of shape (M,)
    gaps : array of shape (M,)
        Own outcome minus the mean of the neighbours', turned so that negative is worse off. NaN for people without any
        neighbour: nobody is close enough to compare them with.
    neighbours : int array of shape (M, k)
        -1 where there is nobody within reach.
    order : int array of shape (M,)
        Rows from the worst treated to the best, equal gaps by row; people without any neighbour last.
    """

    outcomes: Floats
    gaps: Floats
    neighbours: Ints = field(repr=False)
    order: Ints = field(repr=False)

    @property
    def n_without_peers(self) -> int:
        """How many people have no neighbour."""
        return int(np.isnan(self.gaps).sum())

    def person(self, row: int) -> Person:
        """One person in detail."""
        near = self.neighbours[row][self.neighbours[row] >= 0]
        return Person(
            row=int(row),
            outcome=float(self.outcomes[row]),
            gap=float(self.gaps[row]),
            neighbours=tuple(near.tolist()),
            neighbour_outcomes=tuple(self.outcomes[near].tolist()),
        )

    def worst(self, n: int = 10) -> list[Person]:
        """The n people who are treated worst, worst first."""
        compared = self.order[: len(self.order) - self.n_without_peers]
        return [self.person(row) for row in compared[:n]]

    def to_frame(self, index: Any = None) -> pd.DataFrame:
        """Everybody, worst first: outcome, mean outcome of the neighbours, gap; ``index`` names the rows."""
        names = np.arange(len(self.gaps)) if index is None else np.asarray(index)
        frame = pd.DataFrame(
            {
                "outcome": self.outcomes,
                "neighbours": average_neighbours(self.outcomes[self.neighbours], self.neighbours),
                "gap": self.gaps,
            },
            index=pd.Index(names),
        )
        return frame.iloc[self.order]

    def to_dict(self, n: int = 10) -> dict[str, Any]:
        """Size, and the n who are treated worst."""
        return {
            "n_people": len(self.gaps),
            "n_without_peers": self.n_without_peers,
            "k": self.neighbours.shape[1],
            "worst": [person.to_dict() for person in self.worst(n)],
        }

    def __str__(self) -> str:
        below = int((self.gaps < 0).sum())
        text = f"{below} of {len(self.gaps)} people below their neighbours"
        text += "".join(f"; worst: {person}" for person in self.worst(1))
        return text + (f"; {self.n_without_peers} without close peers" if self.n_without_peers else "")


def treatment(
    y: ArrayLike,
    X: ArrayLike | None = None,
    *,
    higher_is_better: bool = True,
    **options: Unpack[PeerOptions],
) -> Treatment:
    """Compare everybody's outcome with that of the k people most like them, and rank by the gap.

    Parameters
    ----------
    y : array of shape (M,)
        Decisions (0/1), probabilities, scores or ranks.
    X, k, neighbours, similarity, n_jobs
        As in :func:`ifair.metrics.consistency`.
    query : labels of shape (M,), optional
        Compare only with candidates of the same query.
    higher_is_better : bool
        False for risks and ranks, where the worst treated have more than their neighbours.

    Examples
    --------
    >>> from ifair.metrics import treatment
    >>> print(treatment([1, 0, 1, 1], [[0.0], [0.1], [0.2], [0.3]], k=2).worst(1)[0])
    person 1 got 0, -1 against the neighbours (0: 1, 2: 1)
    """
    outcomes = check_numbers(y, "y")
    near = resolve_neighbours(len(outcomes), X, **options)
    gaps = outcomes - average_neighbours(outcomes[near], near)
    gaps = gaps if higher_is_better else -gaps
    return Treatment(outcomes, gaps, near, np.argsort(gaps, kind="stable"))
