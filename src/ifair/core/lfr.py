"""The objective of LFR (Zemel et al., ICML 2013): reconstruction, prediction, statistical parity of memberships."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from ifair.core.arrays import Array, Indices, at_least, namespace
from ifair.core.losses import Reconstruction
from ifair.core.mapping import Mapping
from ifair.core.parameters import Packing, Parameters
from ifair.engines.engine import Engine

LEAST_CHANCE = 1e-12
"""Predicted chances are kept this far from 0 and 1, where the logarithm ends."""

ROUNDING = 0.01
"""How far from 0 the kink of a difference between groups is rounded, in shares of a prototype.

Minimised is ``sqrt(t^2 + r^2) - r`` in place of ``|t|``. L-BFGS runs into the kink and stays: on German Credit, with
weights of 0.01, 1 and 1, it then ended at a loss, taken without rounding, of 1.07 instead of 0.78 (means of five
splits), and with a parity weight of 50 it gave all but everybody one label, which with rounding it did not. A
difference of 0.01 is what chance makes between groups of a few thousand records.
"""


@dataclass(frozen=True, slots=True)
class LabelledParameters:
    """Prototypes with attribute weights, and the log-odds of the positive label at every prototype, shape (K,)."""

    parameters: Parameters
    log_odds: Array

    def __add__(self, other: "LabelledParameters") -> "LabelledParameters":
        return LabelledParameters(self.parameters + other.parameters, self.log_odds + other.log_odds)


@dataclass(frozen=True, slots=True)
class LabelledPacking:
    """The flat vector of :class:`Packing`, with the log-odds behind it."""

    packing: Packing

    def pack(self, parameters: LabelledParameters) -> Array:
        return np.concatenate([self.packing.pack(parameters.parameters), parameters.log_odds])

    def unpack(self, theta: Array) -> LabelledParameters:
        K = self.packing.n_prototypes
        return LabelledParameters(self.packing.unpack(theta[:-K]), theta[-K:])

    def pack_gradient(self, gradient: LabelledParameters, theta: Array) -> Array:
        K = self.packing.n_prototypes
        return np.concatenate([self.packing.pack_gradient(gradient.parameters, theta[:-K]), gradient.log_odds])


class LFRLosses(NamedTuple):
    """The weighted total that is minimised, and its three parts without their weights, fairness without rounding."""

    total: float
    reconstruct: float
    target: float
    fairness: float


@dataclass(frozen=True, slots=True)
class LFRObjective:
    """``A_x L_x + A_y L_y + A_z L_z`` of all records of an engine, as means over records.

    L_x is the squared error of the representation, L_y the cross-entropy of ``y^ = U w`` with the label, L_z the
    absolute difference between two groups' mean memberships, summed over prototypes and averaged over pairs of groups.
    L_z is reported as it is, and enters the total with its kink rounded.

    Parameters
    ----------
    engine : Engine
    mapping : Mapping
    reconstruction : Reconstruction
    y : array of shape (M,)
        Labels, 0.0 or 1.0; like the next two, of the engine's kind.
    groups : array of int, shape (M,)
        0, 1, ...
    group_sizes : array of float, shape (G,)
        How many records there are of each group, at least one.
    weights : tuple of float
        A_x, A_y and A_z.
    rounding : float, default=ROUNDING
        Width of the rounding of L_z at its kink; 0 for none.
    """

    engine: Engine
    mapping: Mapping
    reconstruction: Reconstruction
    y: Array
    groups: Indices
    group_sizes: Array
    weights: tuple[float, float, float]
    rounding: float = ROUNDING

    def value_and_grad(self, parameters: LabelledParameters) -> tuple[LFRLosses, LabelledParameters]:
        """The losses at ``parameters`` and the gradient of their weighted total, all in NumPy arrays."""
        chances, mapped = expit(parameters.log_odds), parameters.parameters
        *losses, dV, d_alpha, d_chances = self.engine.evaluate(self._sums, mapped.prototypes, mapped.alpha, chances)
        gradient = LabelledParameters(Parameters(dV, d_alpha), d_chances * chances * (1.0 - chances))
        return LFRLosses(*map(float, losses)), gradient

    def _sums(self, V: Array, alpha: Array, w: Array) -> tuple[Array, ...]:
        """Losses and gradients at prototypes, weights and chances of the label, in arrays of the engine's kind."""
        M = self.engine.n_records
        A_x, A_y, A_z = self.weights
        mapped, xp = Parameters(V, alpha), namespace(V)

        def sums(X: Array, rows: slice) -> tuple[Array]:
            return (self._members(rows).T @ self.mapping.memberships(X, mapped),)

        # The slope of parity needs the memberships of everybody first. One block that holds everybody knows them.
        ahead = self.engine.sum(sums)[0] if A_z > 0.0 and self.engine.block_rows < M else None

        def block(X: Array, rows: slice) -> tuple[Any, ...]:
            U, pullback = self.mapping.with_pullback(X, mapped)
            members = self._members(rows)
            group_sums = members.T @ U
            reconstruct, dU, dV = self.reconstruction.value_and_grad(X, U, V)
            target, d_chance = cross_entropy(U @ w, self.y[rows])
            dU *= A_x / M
            dU += (A_y / M * d_chance)[:, None] * w
            if A_z > 0.0:
                slope = self._parity(group_sums if ahead is None else ahead).slope
                dU += members @ (A_z * slope)
            return reconstruct, target, group_sums, dV, d_chance @ U, pullback(dU)

        reconstruct, target, group_sums, dV, dw, gradient = self.engine.sum(block)
        parity = self._parity(group_sums)
        total = A_x * reconstruct / M + A_y * target / M + A_z * parity.rounded
        gradient = gradient + Parameters(A_x / M * dV, xp.zeros_like(alpha))
        losses = (total, reconstruct / M, target / M, parity.loss)
        return *losses, gradient.prototypes, gradient.alpha, A_y / M * dw

    def _members(self, rows: slice) -> Array:
        """1.0 where a record is of a group, shape (rows, G): sums over groups are then matrix products."""
        xp = namespace(self.group_sizes)
        numbers = xp.arange(self.n_groups, dtype=self.groups.dtype, device=self.groups.device)
        return xp.astype(self.groups[rows, None] == numbers, xp.float64)

    @property
    def n_groups(self) -> int:
        return self.group_sizes.shape[0]

    def _parity(self, group_sums: Array) -> "Parity":
        xp, counts = namespace(group_sums), self.group_sizes[:, None]
        means = group_sums / counts
        differences = means[:, None, :] - means[None, :, :]
        # Every pair of groups stands in the cube twice, and every group beside itself.
        n_pairs = max(self.n_groups * (self.n_groups - 1) / 2, 1)
        sizes = xp.sqrt(differences * differences + self.rounding**2)
        slopes = differences / at_least(sizes, float(np.finfo(np.float64).tiny))
        return Parity(
            0.5 * xp.sum(xp.abs(differences)) / n_pairs,
            0.5 * xp.sum(sizes - self.rounding) / n_pairs,
            xp.sum(slopes, axis=1) / (n_pairs * counts),
        )


class Parity(NamedTuple):
    """L_z, the same with its kink rounded, and the slope of that for a record of each group, shape (G, K)."""

    loss: Array
    rounded: Array
    slope: Array


def cross_entropy(chance: Array, y: Array) -> tuple[Array, Array]:
    """Summed cross-entropy of predicted chances with labels, and its slope for every chance."""
    xp = namespace(chance)
    chance = at_least(chance, LEAST_CHANCE)
    chance = xp.minimum(chance, xp.full_like(chance, 1.0 - LEAST_CHANCE))
    value = -(y @ xp.log(chance) + (1.0 - y) @ xp.log1p(-chance))
    return value, (chance - y) / (chance * (1.0 - chance))


def first_log_odds(engine: Engine, mapping: Mapping, parameters: Parameters, y: Array) -> Array:
    """Log-odds of the share of positive labels that each prototype stands for, shape (K,), pulled towards one half.

    Labels are of the engine's kind; parameters and result are NumPy arrays.
    """
    sent = Parameters(*engine.send(parameters.prototypes, parameters.alpha))

    def sums(X: Array, rows: slice) -> tuple[Array, Array]:
        U = mapping.memberships(X, sent)
        return y[rows] @ U, namespace(U).sum(U, axis=0)

    positives, all_of_them = engine.fetch(*engine.sum(sums))
    return np.asarray(logit((positives + 0.5) / (all_of_them + 1.0)))
