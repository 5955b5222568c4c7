"""What a minimisation is given, what an observer is told of it, and what it finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ifair.core.mapping import Packing, Parameters
from ifair.core.objective import Objective


@dataclass(frozen=True, slots=True)
class Progress:
    """What an observer of a fit is told after every iteration."""

    restart: int
    iteration: int
    loss: float
    gradient_norm: float
    fall: float = np.inf
    """Share of itself by which the loss fell over the last ten iterations; infinite before."""


Observer = Callable[[Progress], None]
"""Called after every iteration; raising StopIteration ends the fit with the best solution so far."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Where a minimisation ended.

    ``stopped`` says why: "converged", "max_iter", "stalled" (no step along the search direction lowers the loss any
    more, though the gradient is not zero), "undefined" (the loss is no number at any start), "callback" or
    "interrupted".
    """

    parameters: Parameters
    losses: Any
    n_iter: int
    stopped: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A fit: every start is tried for a while, then the best one goes on.

    Parameters
    ----------
    objective : Objective
    starts : sequence of Parameters
    packing : Packing
    max_iter : int
        Most iterations of the best start; others have at most a hundred.
    tol : float
        Converged when the loss fell by less than this share of itself (or of a hundredth of the first loss, if that
        is more) over the last ten iterations.
    observer : callable, optional
    rehearsal : Problem, optional
        The same on few records; its solution is the start.
    """

    objective: Objective
    starts: Sequence[Parameters]
    packing: Packing
    max_iter: int
    tol: float
    observer: Observer | None = None
    rehearsal: "Problem | None" = None


Result = tuple[Solution, list[float]]
"""The best solution found, and the loss that each start reached; starts that were never begun are NaN."""
