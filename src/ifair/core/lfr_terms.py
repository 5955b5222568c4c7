"""The terms of LFR (Zemel et al., ICML 2013) besides the reconstruction: labels, and parity of groups."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logit

from ifair.core.arrays import Array, Indices, at_least, namespace, times_vector, vector_times, weigh, weigh_rows
from ifair.core.mapping import Mapping, Parameters, Pullback, powered_distances
from ifair.core.objective import Part, Term
from ifair.engines.engine import Engine

LEAST_CHANCE = 1e-12
"""Predicted chances are kept this far from 0 and 1, where the logarithm ends."""


@dataclass(frozen=True, slots=True)
class LabelCrossEntropy(Term):
    """Cross-entropy of the predicted chance ``U w`` with the label: L_y of LFR (Zemel et al., ICML 2013).

    Learned are the log-odds of w, the chance of the positive label at every prototype: ``extra["log_odds"]`` of shape
    (K,).

    Parameters
    ----------
    y : array of shape (M,)
        Labels, 0.0 or 1.0.
    sample_weight : array of shape (M,), optional
        How much every record counts; without it, 1.
    """

    extra: ClassVar[tuple[str, ...]] = ("log_odds",)

    y: Array
    sample_weight: Array | None = None

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> Array:
        return sigmoid(parameters.extra["log_odds"])

    def block(self, known: Array, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        loss, slope = cross_entropy(times_vector(U, known), self.y[rows], weight)
        return slope[..., None] * known[..., None, :], (loss, vector_times(slope, U))

    def finish(self, known: Array, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        loss, d_chances = sums
        zero = parameters.zeros()
        return loss, Parameters(zero.prototypes, zero.alpha, {"log_odds": d_chances * known * (1.0 - known)})


def sigmoid(log_odds: Array) -> Array:
    """Chances from log-odds; overflows nowhere."""
    xp = namespace(log_odds)
    small = xp.exp(-xp.abs(log_odds))
    return xp.where(log_odds >= 0.0, xp.ones_like(small), small) / (1.0 + small)


def cross_entropy(chance: Array, y: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Summed cross-entropy of predicted chances with labels, perhaps weighted, and its slope for every chance."""
    xp = namespace(chance)
    chance = at_least(chance, LEAST_CHANCE)
    chance = xp.minimum(chance, xp.full_like(chance, 1.0 - LEAST_CHANCE))
    every = slice(None)
    value = -(xp.log(chance) @ weigh(y, weight, every) + xp.log1p(-chance) @ weigh(1.0 - y, weight, every))
    return value, weigh((chance - y) / (chance * (1.0 - chance)), weight, every)


def first_log_odds(
    engine: Engine, mapping: Mapping, parameters: Parameters, y: Array, sample_weight: Array | None = None
) -> Array:
    """Log-odds of the share of positive labels that each prototype stands for, shape (K,), pulled towards one half.

    Labels and weights are of the engine's kind; parameters and result are NumPy arrays.
    """
    sent = parameters.sent_to(engine)

    def sums(X: Array, rows: slice) -> tuple[Array, Array]:
        U = weigh_rows(mapping.memberships(X, sent), sample_weight, rows)
        return y[rows] @ U, namespace(U).sum(U, axis=0)

    positives, all_of_them = engine.fetch(*engine.sum(sums))
    return np.asarray(logit((positives + 0.5) / (all_of_them + 1.0)))


@dataclass(frozen=True, slots=True)
class GroupMapping(Mapping):
    """Memberships from distances in which every group has attribute weights of its own, as Zemel et al. define them.

    The weights of the first group are ``alpha``, those of the others ``alpha * exp(extra["log_ratios"])``, so that none
    can become negative. Logarithms count up to ``LARGEST_LOG_RATIO``: line searches try much larger ones, which would
    overflow.

    Parameters
    ----------
    columns : int array of shape (P,)
        Columns that tell the groups apart.
    values : array of shape (G, P)
        What the records of each group hold there.
    """

    extra: ClassVar[tuple[str, ...]] = ("log_ratios",)

    columns: Indices = field(kw_only=True)
    values: Array = field(kw_only=True)

    def distances(self, X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
        members = find_members(X, self.columns, self.values)
        weights = group_weights(parameters)
        found = [powered_distances(X, Parameters(parameters.prototypes, alpha), self.p) for alpha in weights]
        D = members[:, 0, None] * found[0][0]
        for g, (distances, _) in enumerate(found[1:], start=1):
            D = D + members[:, g, None] * distances

        def pullback(C: Array) -> Parameters:
            first, *others = (pull(members[:, g, None] * C) for g, (_, pull) in enumerate(found))
            xp, (alpha, *rest) = namespace(C), weights
            d_prototypes, d_alpha, d_logs = first.prototypes, first.alpha, []
            for part, own in zip(others, rest):
                d_prototypes = d_prototypes + part.prototypes
                d_alpha = d_alpha + part.alpha * xp.where(alpha > 0.0, own / at_least(alpha, TINY), xp.ones_like(own))
                d_logs.append(part.alpha * own)
            counts = xp.astype(parameters.extra["log_ratios"] <= LARGEST_LOG_RATIO, alpha.dtype)
            return Parameters(d_prototypes, d_alpha, {"log_ratios": xp.concat(d_logs) * counts})

        return D, pullback


TINY = float(np.finfo(np.float64).tiny)
SAME_VALUE = 1e-5
"""So far apart, relative to their size or to 1, two values of a group are the same: single precision is enough."""


LARGEST_LOG_RATIO = 100.0
"""So large may the logarithm of a group's weight be, relative to the first group's."""


def group_weights(parameters: Parameters) -> list[Array]:
    """The attribute weights of every group, each of shape (N,)."""
    alpha, logs = parameters.alpha, parameters.extra["log_ratios"]
    xp, N = namespace(alpha), alpha.shape[0]
    ratios = xp.exp(xp.minimum(logs, xp.full_like(logs, LARGEST_LOG_RATIO)))
    return [alpha, *(alpha * ratios[i : i + N] for i in range(0, logs.shape[0], N))]


def find_members(X: Array, columns: Indices, values: Array) -> Array:
    """1.0 where a record is of a group, shape (M, G)."""
    xp = namespace(X)
    apart = xp.abs(xp.take(X, columns, axis=1)[:, None, :] - values[None, :, :])
    return xp.astype(xp.all(apart <= SAME_VALUE * (1.0 + xp.abs(values)), axis=-1), X.dtype)


ROUNDING = 0.01
"""How far from 0 the kink of a difference between groups is rounded, in shares of a prototype.

Minimised is ``sqrt(t^2 + r^2) - r`` in place of ``|t|``. L-BFGS runs into the kink and stays: on German Credit, with
weights of 0.01, 1 and 1, it then ended at a loss, taken without rounding, of 1.07 instead of 0.78 (means of five
splits), and with a parity weight of 50 it gave all but everybody one label, which with rounding it did not. A
difference of 0.01 is what chance makes between groups of a few thousand records.
"""


class ParitySums(NamedTuple):
    """The parity loss, and its slope for a record of each group, shape (G, K)."""

    loss: Array
    slope: Array


@dataclass(frozen=True, slots=True)
class GroupParity(Term):
    """Absolute difference between two groups' mean memberships, its kink rounded: L_z of LFR (Zemel et al.).

    Summed over prototypes and averaged over pairs of groups.

    Parameters
    ----------
    groups : array of int, shape (M,)
        0, 1, ...
    group_sizes : array of float, shape (G,)
        How many records there are of each group, at least one, or what they weigh together.
    rounding : float, default=ROUNDING
        Width of the rounding at the kink; 0 for none.
    sample_weight : array of shape (M,), optional
        How much every record counts in the mean of its group; without it, 1.
    """

    order: ClassVar[int] = 0

    groups: Indices
    group_sizes: Array
    rounding: float = ROUNDING
    sample_weight: Array | None = None

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> ParitySums | None:
        # The slope needs the memberships of everybody first. One block that holds everybody knows them.
        if engine.block_rows >= engine.n_records:
            return None

        def sums(X: Array, rows: slice) -> tuple[Array]:
            return (self._members(rows).T @ mapping.memberships(X, parameters),)

        return self._parity(*engine.sum(sums))

    def block(self, known: ParitySums | None, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        members = self._members(rows)
        if known is not None:
            return members @ known.slope, ()
        loss, slope = self._parity(members.T @ U)
        return members @ slope, (loss,)

    def finish(self, known: ParitySums | None, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, None]:
        return (sums[0] if known is None else known.loss), None

    def _members(self, rows: slice) -> Array:
        """What a record counts in its group, 0 in others, shape (rows, G): sums over groups are matrix products."""
        xp = namespace(self.group_sizes)
        numbers = xp.arange(self.group_sizes.shape[0], dtype=self.groups.dtype, device=self.groups.device)
        return weigh_rows(xp.astype(self.groups[rows, None] == numbers, xp.float64), self.sample_weight, rows)

    def _parity(self, group_sums: Array) -> ParitySums:
        xp, counts = namespace(group_sums), self.group_sizes[:, None]
        means = group_sums / counts
        differences = means[..., :, None, :] - means[..., None, :, :]
        # Every pair of groups stands in the cube twice, and every group beside itself.
        n_groups = self.group_sizes.shape[0]
        n_pairs = max(n_groups * (n_groups - 1) / 2, 1)
        sizes = xp.sqrt(differences * differences + self.rounding**2)
        slopes = differences / at_least(sizes, TINY)
        loss = 0.5 * xp.sum(sizes - self.rounding, axis=(-3, -2, -1)) / n_pairs
        return ParitySums(loss, xp.sum(slopes, axis=-2) / (n_pairs * counts))
