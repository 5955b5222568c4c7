"""The objective of LFR (Zemel et al., ICML 2013): reconstruction, prediction, statistical parity of memberships."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ifair.core.arrays import Array
from ifair.core.losses import Reconstruction
from ifair.core.mapping import Mapping
from ifair.core.parameters import Packing, Parameters
from ifair.engines.local import LocalEngine

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
    engine : LocalEngine
    mapping : Mapping
    reconstruction : Reconstruction
    y : ndarray of shape (M,)
        Labels, 0.0 or 1.0.
    groups : ndarray of int, shape (M,)
        0, 1, ...; every number up to the largest occurs.
    weights : tuple of float
        A_x, A_y and A_z.
    rounding : float, default=ROUNDING
        Width of the rounding of L_z at its kink; 0 for none.
    """

    engine: LocalEngine
    mapping: Mapping
    reconstruction: Reconstruction
    y: Array
    groups: NDArray[np.intp]
    weights: tuple[float, float, float]
    rounding: float = ROUNDING

    def value_and_grad(self, parameters: LabelledParameters) -> tuple[LFRLosses, LabelledParameters]:
        """The losses at ``parameters`` and the gradient of their weighted total."""
        M = self.engine.n_records
        A_x, A_y, A_z = self.weights
        mapped, w = parameters.parameters, expit(parameters.log_odds)

        def sums(X: Array, rows: slice) -> tuple[Array]:
            return (self._group_sums(self.mapping.memberships(X, mapped), rows),)

        # The slope of parity needs the memberships of everybody first. One block that holds everybody knows them.
        ahead = self.engine.sum(sums)[0] if A_z > 0.0 and self.engine.block_rows < M else None

        def block(X: Array, rows: slice) -> tuple[Any, ...]:
            U, pullback = self.mapping.with_pullback(X, mapped)
            group_sums = self._group_sums(U, rows)
            reconstruct, dU, dV = self.reconstruction.value_and_grad(X, U, mapped.prototypes)
            target, d_chance = cross_entropy(U @ w, self.y[rows])
            dU *= A_x / M
            dU += (A_y / M * d_chance)[:, None] * w
            if A_z > 0.0:
                slope = self._parity(group_sums if ahead is None else ahead).slope
                dU += (A_z * slope)[self.groups[rows]]
            return reconstruct, target, group_sums, dV, d_chance @ U, pullback(dU)

        reconstruct, target, group_sums, dV, dw, gradient = self.engine.sum(block)
        parity = self._parity(group_sums)
        total = A_x * reconstruct / M + A_y * target / M + A_z * parity.rounded
        direct = Parameters(A_x / M * dV, np.zeros_like(mapped.alpha))
        return (
            LFRLosses(float(total), reconstruct / M, target / M, parity.loss),
            LabelledParameters(gradient + direct, A_y / M * dw * w * (1.0 - w)),
        )

    def _group_sums(self, U: Array, rows: slice) -> Array:
        """Memberships summed over the records of each group, shape (G, K)."""
        members = np.eye(self.n_groups)[self.groups[rows]]
        return members.T @ U

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    def _parity(self, group_sums: Array) -> "Parity":
        counts = np.bincount(self.groups)[:, None]
        means = group_sums / counts
        differences = means[:, None, :] - means[None, :, :]
        # Every pair of groups stands in the cube twice, and every group beside itself.
        n_pairs = max(self.n_groups * (self.n_groups - 1) / 2, 1)
        sizes = np.sqrt(differences * differences + self.rounding**2)
        slopes = differences / np.maximum(sizes, np.finfo(np.float64).tiny)
        return Parity(
            0.5 * float(np.abs(differences).sum()) / n_pairs,
            0.5 * float((sizes - self.rounding).sum()) / n_pairs,
            slopes.sum(axis=1) / (n_pairs * counts),
        )


class Parity(NamedTuple):
    """L_z, the same with its kink rounded, and the slope of that for a record of each group, shape (G, K)."""

    loss: float
    rounded: float
    slope: Array


def cross_entropy(chance: Array, y: Array) -> tuple[float, Array]:
    """Summed cross-entropy of predicted chances with labels, and its slope for every chance."""
    chance = np.clip(chance, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    value = -float(y @ np.log(chance) + (1.0 - y) @ np.log1p(-chance))
    return value, (chance - y) / (chance * (1.0 - chance))


def first_log_odds(U: Array, y: Array) -> Array:
    """Log-odds of the share of positive labels that each prototype stands for, shape (K,), pulled towards one half."""
    positives, all_of_them = y @ U, U.sum(axis=0)
    return np.asarray(logit((positives + 0.5) / (all_of_them + 1.0)))
