"""Many fits of one form, evaluated in one call."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ifair.core.arrays import Array
from ifair.core.objective import Losses, Objective
from ifair.core.pairs import EuclideanPairs
from ifair.core.parameters import Parameters


class Batch:
    """Values and gradients of objectives that differ in their weights only, each at its own parameters.

    Parameters
    ----------
    form : Objective
        Any of them; its weights are not looked at.
    most : int
        Fits to evaluate at once; more are evaluated in turns.
    """

    def __init__(self, form: Objective, most: int) -> None:
        self.form, self.most = form, most
        # A recording is of one number of fits, so that every number has a function of its own.
        self._functions: dict[int, Callable[..., tuple[Any, ...]]] = {}

    def value_and_grads(
        self, objectives: Sequence[Objective], parameters: Sequence[Parameters]
    ) -> list[tuple[Losses, Parameters]]:
        """What ``value_and_grad`` of every objective says at its parameters, to rounding."""
        answers: list[tuple[Losses, Parameters]] = []
        for start in range(0, len(objectives), self.most):
            some = slice(start, start + self.most)
            answers += self._at_once(objectives[some], parameters[some])
        return answers

    def _at_once(
        self, objectives: Sequence[Objective], parameters: Sequence[Parameters]
    ) -> list[tuple[Losses, Parameters]]:
        n, engine = len(objectives), self.form.engine
        size = min(ladder(n), self.most) if engine.recorded else n
        # Where too few fits are left for a recording, the last one stands in for the others.
        members = [min(i, n - 1) for i in range(size)]
        mixtures = np.array([objective.mixtures for objective in objectives])[members]
        V = np.stack([parameters[i].prototypes for i in members])
        alpha = np.stack([parameters[i].alpha for i in members])
        function = self._functions.setdefault(size, partial(_sums, self.form))
        results = engine.evaluate(function, V, alpha, mixtures)
        return [objective.reduce_sums(*(result[i] for result in results)) for i, objective in enumerate(objectives)]


def _sums(form: Objective, V: Array, alpha: Array, mixtures: Array) -> tuple[Array, ...]:
    """:meth:`Objective.sums` with the mixtures of every fit, shape (B, n_mixtures, n_terms)."""
    _, n_mixtures, n_terms = mixtures.shape
    return form.sums(Parameters(V, alpha), [[mixtures[:, i, t] for t in range(n_terms)] for i in range(n_mixtures)])


def ladder(n: int) -> int:
    """The next number with no more than three binary digits that count: few recordings serve all numbers of fits.

    Examples
    --------
    >>> [ladder(n) for n in (1, 7, 9, 17, 51, 153)]
    [1, 7, 10, 20, 56, 160]
    """
    step = 1 << max(n.bit_length() - 3, 0)
    return -(-n // step) * step


def can_be_batched(objective: Objective) -> bool:
    """Whether the formulas of an objective take many fits at once: those of Minkowski distances other than p = 2 loop
    over attributes and gain nothing from it."""
    kernels = [getattr(term, "kernel", None) for _, term in objective.terms]
    return objective.mapping.p == 2.0 and all(kernel is None or type(kernel) is EuclideanPairs for kernel in kernels)


def most_at_once(objective: Objective, n_prototypes: int, n_attributes: int) -> int:
    """How many fits may be evaluated at once in the memory that the engine gives to it; 1 where batches do not pay."""
    engine = objective.engine
    rows = min(engine.n_records, engine.block_rows)
    # Of every fit some copies of a block of records and of its memberships are alive at the same time.
    bytes_each = 8 * rows * COPIES * (n_attributes + n_prototypes)
    return max(1, engine.batch_bytes // bytes_each)


COPIES = 8
