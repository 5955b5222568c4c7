"""Fits of one form, evaluated in one call."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import Array, namespace
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lbfgs import Floats
from ifair.core.mapping import WEIGHT_SCALE, Mapping, Packing, Parameters
from ifair.core.objective import Losses, Objective
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import Engine


class Batch:
    """Values and gradients of objectives that differ in their weights only, each at its own parameters.

    They are functions of flat vectors that stay on the engine, as :mod:`ifair.core.lbfgs` minimises them. In these,
    frozen weights have their place too: a weight that starts at 0 has no slope, and stays there.

    Parameters
    ----------
    objectives : sequence of Objective
        The first stands for all, except for the weights.
    shape : tuple of int
        (K, N).
    most : int
        Fits to evaluate at once; more are evaluated in turns.
    """

    def __init__(self, objectives: Sequence[Objective], shape: tuple[int, int], most: int) -> None:
        self.objectives, self.shape, self.most = list(objectives), shape, most
        self.form = self.objectives[0]
        self.engine = self.form.engine
        self.n_losses = 1 + len(self.form.terms)
        self._weights, self._mixtures, self._shares = self.engine.send(
            np.array([[weight for weight, _ in one.terms] for one in objectives]),
            np.array([one.mixtures for one in objectives]),
            np.array(self.form.shares),
        )

    @property
    def recorded(self) -> bool:
        return self.engine.recorded

    def send(self, theta: Floats) -> Array:
        sent: Array = self.engine.send(theta)[0]
        return sent

    def fetch(self, array: Array) -> Floats:
        fetched: Floats = self.engine.fetch(array)[0]
        return fetched

    def run(self, function: Callable[[Array], tuple[Array]], orders: Floats) -> Floats:
        report: Floats = self.engine.evaluate(function, orders)[0]
        return report

    def keep(self, rows: list[int]) -> "Batch":
        return Batch([self.objectives[row] for row in rows], self.shape, self.most)

    def name_losses(self, values: Floats) -> Losses:
        total, *terms = map(float, values)
        return Losses(total, tuple(terms))

    def values_and_grads(self, theta: Array) -> tuple[Array, Array]:
        """Of every fit the total and its terms, shape (B, 1 + T), and the gradient of the total, (B, n)."""
        xp, B = namespace(theta), theta.shape[0]
        portions = [slice(first, min(first + self.most, B)) for first in range(0, B, self.most)]
        losses, gradients = zip(*(self._at_once(theta[some], some) for some in portions))
        return (losses[0], gradients[0]) if len(portions) == 1 else (xp.concat(losses), xp.concat(gradients))

    def _at_once(self, theta: Array, some: slice) -> tuple[Array, Array]:
        xp, (K, N), (B, _), T = namespace(theta), self.shape, theta.shape, self.n_losses - 1
        weights, mixtures, beta = self._weights[some], self._mixtures[some], theta[:, K * N : K * N + N]
        # What terms learn besides has a number per prototype.
        ends = {name: K * N + N + i * K for i, name in enumerate(self.form.extra)}
        extra = {name: theta[:, end : end + K] for name, end in ends.items()}
        parameters = Parameters(xp.reshape(theta[:, : K * N], (B, K, N)), (WEIGHT_SCALE * beta) ** 2, extra)
        shares = [[mixtures[:, i, t] for t in range(T)] for i in range(mixtures.shape[1])]
        sums = self.form.sums(parameters, shares)
        gradients = self.form.split_gradients(sums[T:])
        terms = xp.stack(sums[:T], axis=-1) * self._shares
        gradient = gradients[0]
        if self.form.reduction == "norm":
            terms = xp.sqrt(terms)
            slopes = xp.where(terms > 0.0, weights * 0.5 / xp.where(terms > 0.0, terms, 1.0), 0.0)
            gradient = gradient.times(slopes[:, 0])
            for t, other in enumerate(gradients[1:], start=1):
                gradient = gradient + other.times(slopes[:, t])
        total = xp.sum(weights * terms, axis=1)[:, None]
        by_beta = 2.0 * WEIGHT_SCALE**2 * beta * gradient.alpha
        by_extra = [gradient.extra[name] for name in self.form.extra]
        flat = xp.concat([xp.reshape(gradient.prototypes, (B, K * N)), by_beta, *by_extra], axis=1)
        return xp.concat([total, terms], axis=1), flat


def most_at_once(objective: Objective, packing: Packing) -> int:
    """How many such fits may be evaluated at once in the memory that the engine gives to it; 1 where it gains nothing.

    The formulas of Minkowski distances other than p = 2 loop over attributes.
    """
    engine = objective.engine
    pairs = [term.kernel for _, term in objective.terms if isinstance(term, AllPairs | Landmarks)]
    in_steps = [kernel for kernel in pairs if type(kernel) is EuclideanPairs]
    plain = type(objective.mapping) is Mapping and objective.mapping.p == 2.0
    if not plain or len(in_steps) < len(pairs):
        return 1
    rows = min(engine.n_records, engine.block_rows)
    # Of every fit some copies of a block's memberships are alive at the same time; of its records where weights count.
    width = packing.n_prototypes + any(kernel.weighted for kernel in in_steps) * packing.n_attributes
    bytes_each = 8 * rows * COPIES * width
    return max(1, engine.batch_bytes // bytes_each)


COPIES = 16
"""LFR on a third of Census, where memberships are all there is, took 11 of them; recordings keep some more."""


def describe_form(objective: Objective, packing: Packing) -> Hashable | None:
    """What two fits must share for their formulas to be the same: all but the weights. None for one by itself."""
    if most_at_once(objective, packing) == 1:
        return None
    terms = tuple(_describe(objective.engine, term) for _, term in objective.terms)
    return packing.n_prototypes, objective.mapping, objective.reduction, terms


def _describe(engine: Engine, part: Any) -> Hashable:
    """A part of a formula with all that it holds."""
    if is_dataclass(part):
        return type(part), *(_describe(engine, getattr(part, field.name)) for field in fields(part))
    if hasattr(part, "shape") and not isinstance(part, type):
        on_host: NDArray[Any] = engine.fetch(part)[0]
        return on_host.tobytes()
    described: Hashable = part
    return described
