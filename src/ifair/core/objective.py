"""The objective (Def. 6 and 9): weighted utility and fairness losses, with the gradient, in one walk over records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ifair.core.arrays import Array, each, namespace
from ifair.core.losses import Reconstruction
from ifair.core.mapping import Mapping
from ifair.core.parameters import Parameters
from ifair.core.schedules import Schedule
from ifair.engines.engine import Engine

Reduction = Literal["mean", "sum", "norm"]


class Losses(NamedTuple):
    """``total = utility_weight * utility + fairness_weight * fairness``, each as reduced."""

    total: float
    utility: float
    fairness: float


@dataclass(frozen=True, slots=True)
class Objective:
    """``lambda L_util + mu L_fair`` of all records of an engine.

    Parameters
    ----------
    engine : Engine
    mapping : Mapping
    utility : Reconstruction
    pairs : Schedule
    utility_weight, fairness_weight : float
        lambda and mu.
    reduction : {"mean", "sum", "norm"}
        Mean over records and over ordered pairs; the paper's sums; or square roots of the sums (the authors' code).
    """

    engine: Engine
    mapping: Mapping
    utility: Reconstruction
    pairs: Schedule
    utility_weight: float
    fairness_weight: float
    reduction: Reduction = "mean"

    def value_and_grad(self, parameters: Parameters) -> tuple[Losses, Parameters]:
        """The losses at ``parameters`` and the gradient of their weighted total, all in NumPy arrays."""
        return self.reduced(*self.engine.evaluate(self._sums, parameters.prototypes, parameters.alpha))

    def reduced(self, utility: Any, fairness: Any, *flat: Array) -> tuple[Losses, Parameters]:
        """The losses and the gradient of their total, from what :meth:`sums` says of one fit."""
        gradients = list(map(Parameters, flat[::2], flat[1::2]))
        if self.reduction == "norm":
            losses = self._losses(np.sqrt(utility), np.sqrt(fairness))
            by_utility, by_fairness = gradients
            gradient = self.utility_weight * _root_slope(losses.utility) * by_utility
            return losses, gradient + self.fairness_weight * _root_slope(losses.fairness) * by_fairness
        over_records, over_pairs = self._shares
        return self._losses(over_records * utility, over_pairs * fairness), gradients[0]

    @property
    def _shares(self) -> tuple[float, float]:
        """What one record and one ordered pair count."""
        M = self.engine.n_records
        return (1.0 / M, 1.0 / M**2) if self.reduction == "mean" else (1.0, 1.0)

    @property
    def mixtures(self) -> tuple[tuple[float, float], ...]:
        """For every gradient that is asked for, how much of the utility and of the fairness sum it holds."""
        if self.reduction == "norm":
            # How strongly each sum counts is known only when both sums are: carry two gradients through the walk.
            return (1.0, 0.0), (0.0, 1.0)
        over_records, over_pairs = self._shares
        return ((self.utility_weight * over_records, self.fairness_weight * over_pairs),)

    def _losses(self, utility: float, fairness: float) -> Losses:
        total = self.utility_weight * utility + self.fairness_weight * fairness
        return Losses(float(total), float(utility), float(fairness))

    def _sums(self, V: Array, alpha: Array) -> tuple[Array, ...]:
        return self.sums(V, alpha, self.mixtures)

    def sums(self, V: Array, alpha: Array, mixtures: Sequence[tuple[Any, Any]]) -> tuple[Array, ...]:
        """The two sums, then for every mixture (a, b) the gradient of ``a * utility + b * fairness``, in two arrays.

        All arrays are of the engine's kind, of one fit or of many at once; a and b are numbers, or one number a fit.
        """
        parameters = Parameters(V, alpha)
        known = self.pairs.prepare(self.engine, self.mapping, parameters)

        def block(X: Array, rows: slice) -> tuple[Any, ...]:
            U, pullback = self.mapping.with_pullback(X, parameters)
            utility, dU, dV = self.utility.value_and_grad(X, U, V)
            part = self.pairs.block(known, X, U, rows, parameters)
            gradients = [pullback(each(a, dU) * dU + each(b, dU) * part.d_memberships) for a, b in mixtures]
            return utility, part.loss, dV, *gradients, *part.sums

        utility, fairness, dV, *rest = self.engine.sum(block)
        gradients, sums = rest[: len(mixtures)], tuple(rest[len(mixtures) :])
        more, direct = self.pairs.finish(known, sums, parameters)
        from_utility = Parameters(dV, namespace(dV).zeros_like(alpha))
        mixed = [g + from_utility.times(a) + direct.times(b) for g, (a, b) in zip(gradients, mixtures)]
        return utility, fairness + more, *(array for m in mixed for array in (m.prototypes, m.alpha))


def _root_slope(rooted: float) -> float:
    """Derivative of the square root in terms of its value; 0 at 0."""
    return 0.5 / rooted if rooted > 0.0 else 0.0
