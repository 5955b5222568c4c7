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
    """The weighted total, and its three parts without their weights."""

    total: float
    reconstruct: float
    target: float
    fairness: float


@dataclass(frozen=True, slots=True)
class LFRObjective:
    """``A_x L_x + A_y L_y + A_z L_z`` of all records of an engine, as means over records.

    L_x is the squared error of the representation, L_y the cross-entropy of ``y^ = U w`` with the label, L_z the
    absolute difference between two groups' mean memberships, summed over prototypes and averaged over pairs of groups.

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
    """

    engine: LocalEngine
    mapping: Mapping
    reconstruction: Reconstruction
    y: Array
    groups: NDArray[np.intp]
    weights: tuple[float, float, float]

    def value_and_grad(self, parameters: LabelledParameters) -> tuple[LFRLosses, LabelledParameters]:
        """The losses at ``parameters`` and the gradient of their weighted total."""
        M = self.engine.n_records
        A_x, A_y, A_z = self.weights
        mapped, w = parameters.parameters, expit(parameters.log_odds)
        fairness, slope = self._parity(mapped)

        def block(X: Array, rows: slice) -> tuple[Any, ...]:
            U, pullback = self.mapping.with_pullback(X, mapped)
            reconstruct, dU_x, dV = self.reconstruction.value_and_grad(X, U, mapped.prototypes)
            target, d_chance = cross_entropy(U @ w, self.y[rows])
            dU = A_x / M * dU_x + A_y / M * d_chance[:, None] * w + A_z * slope[self.groups[rows]]
            return reconstruct, target, dV, d_chance @ U, pullback(dU)

        reconstruct, target, dV, dw, gradient = self.engine.sum(block)
        losses = (reconstruct / M, target / M, fairness)
        total = sum(weight * loss for weight, loss in zip(self.weights, losses))
        direct = Parameters(A_x / M * dV, np.zeros_like(mapped.alpha))
        return (
            LFRLosses(float(total), *losses),
            LabelledParameters(gradient + direct, A_y / M * dw * w * (1.0 - w)),
        )

    def _parity(self, parameters: Parameters) -> tuple[float, Array]:
        """L_z, and its slope with respect to the memberships of a record of each group, shape (G, K)."""
        counts = np.bincount(self.groups).astype(np.float64)
        n_groups = len(counts)
        if n_groups < 2 or self.weights[2] == 0.0:
            return 0.0, np.zeros((n_groups, len(parameters.prototypes)))
        members = np.eye(n_groups)

        def sums(X: Array, rows: slice) -> tuple[Array]:
            return (members[self.groups[rows]].T @ self.mapping.memberships(X, parameters),)

        means = self.engine.sum(sums)[0] / counts[:, None]
        differences = means[:, None, :] - means[None, :, :]
        n_pairs = n_groups * (n_groups - 1) / 2
        # Every pair of groups stands in the cube twice.
        loss = 0.5 * float(np.abs(differences).sum()) / n_pairs
        return loss, np.sign(differences).sum(axis=1) / (n_pairs * counts[:, None])


def cross_entropy(chance: Array, y: Array) -> tuple[float, Array]:
    """Summed cross-entropy of predicted chances with labels, and its slope for every chance."""
    chance = np.clip(chance, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    value = -float(y @ np.log(chance) + (1.0 - y) @ np.log1p(-chance))
    return value, (chance - y) / (chance * (1.0 - chance))


def first_log_odds(U: Array, y: Array) -> Array:
    """Log-odds of the share of positive labels that each prototype stands for, shape (K,), pulled towards one half."""
    positives, all_of_them = y @ U, U.sum(axis=0)
    return np.asarray(logit((positives + 0.5) / (all_of_them + 1.0)))
