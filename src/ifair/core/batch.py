"""Fits whose vectors are of one shape, of one table or of several, evaluated in one call."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ifair.core.arrays import Array, Indices, namespace, zeros
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lbfgs import Floats
from ifair.core.mapping import (
    NOWHERE,
    WEIGHT_SCALE,
    Mapping,
    Packing,
    PaddedMapping,
    Parameters,
    mean_memberships,
)
from ifair.core.objective import Losses, Objective
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import Engine


class _Portion(NamedTuple):
    """Fits that are evaluated at once: which, with room for how many prototypes, by which formulas."""

    rows: slice
    K: int
    form: Objective
    padded: bool
    """Whether some of them have fewer prototypes."""


class Batch:
    """Values and gradients of objectives, each at its own parameters.

    They are functions of flat vectors that stay on the engine, as :mod:`ifair.core.lbfgs` minimises them. In these,
    frozen weights have their place too: a weight that starts at 0 has no slope, and stays there. So has every prototype
    of the fit that has most.

    Parameters
    ----------
    objectives : sequence of Objective
        Of one table or of several, on one device.
    packings : sequence of Packing
        How the vectors of each are packed; all are of one length.
    formulas : sequence of int
        Equal for objectives that differ in their weights only, which stand side by side: they are evaluated at once.
    """

    def __init__(self, objectives: Sequence[Objective], packings: Sequence[Packing], formulas: Sequence[int]) -> None:
        self.objectives, self.packings, self.formulas = list(objectives), list(packings), list(formulas)
        self.shape, self.engine = (packings[0].room, packings[0].n_attributes), objectives[0].engine
        self.n_losses = 1 + len(objectives[0].terms)
        self._weights, self._mixtures, self._shares = self.engine.send(
            np.array([[weight for weight, _ in one.terms] for one in objectives]),
            np.array([one.mixtures for one in objectives]),
            np.array([one.shares for one in objectives]),
        )
        sizes = np.array([packing.n_prototypes for packing in packings])
        self._portions = self._divide(sizes)
        if any(portion.padded for portion in self._portions):
            there = np.arange(self.shape[0]) < sizes[:, None]
            self._there, self._even, self._apart = self.engine.send(
                there.astype(np.float64),
                (there / sizes[:, None])[:, None, :],
                np.where(there, 0.0, NOWHERE)[:, None, :],
            )

    def _divide(self, sizes: Indices) -> list[_Portion]:
        """The portions to evaluate, each with room for its own most prototypes."""
        portions, at = list[_Portion](), 0
        for _, same in groupby(self.formulas):
            end = at + len(list(same))
            apart = (end - at) * self.objectives[at].engine.n_records >= APART_FROM
            while at < end:
                others = np.flatnonzero(sizes[at:end] != sizes[at]) if apart else ()
                most = most_at_once(self.objectives[at], self.packings[at])
                last = at + min(most, *others[:1], end - at)
                widest = at + int(sizes[at:last].argmax())
                K = int(sizes[widest])
                portions.append(_Portion(slice(at, last), K, self.objectives[widest], bool((sizes[at:last] < K).any())))
                at = last
        return portions

    @property
    def fewest(self) -> int:
        """Fits that a recording is for at least: without pairs, asking takes longer than evaluating so few."""
        return 1 if any(isinstance(term, AllPairs | Landmarks) for _, term in self.objectives[0].terms) else 32

    def keep(self, rows: list[int]) -> "Batch":
        objectives, packings = [self.objectives[row] for row in rows], [self.packings[row] for row in rows]
        return Batch(objectives, packings, [self.formulas[row] for row in rows])

    def forget(self, function: Callable[..., tuple[Any, ...]]) -> None:
        self.engine.forget(function)

    def name_losses(self, values: Floats) -> Losses:
        total, *terms = map(float, values)
        return Losses(total, tuple(terms))

    def values_and_grads(self, theta: Array) -> tuple[Array, Array]:
        """Of every fit the total and its terms, shape (B, 1 + T), and the gradient of the total, (B, n)."""
        xp = namespace(theta)
        losses, gradients = zip(*(self._at_once(theta[portion.rows], portion) for portion in self._portions))
        return (losses[0], gradients[0]) if len(losses) == 1 else (xp.concat(losses), xp.concat(gradients))

    def mean_memberships(self, theta: Array, sample_weight: Array | None) -> list[Array]:
        """Of every fit the mean membership in each of its prototypes, shape (K,)."""
        means: list[Array] = []
        for portion in self._portions:
            parameters, mapping = self._unpack(theta[portion.rows], portion), self._fill(portion).mapping
            means += list(mean_memberships(portion.form.engine, mapping, parameters, sample_weight))
        return [mean[: packing.n_prototypes] for mean, packing in zip(means, self.packings)]

    def _unpack(self, theta: Array, portion: _Portion) -> Parameters:
        """What the vectors of a portion stand for."""
        xp, (room, N), K = namespace(theta), self.shape, portion.K
        V, beta = xp.reshape(theta[:, : room * N], (-1, room, N))[:, :K], theta[:, room * N : room * N + N]
        # What terms learn besides has a number per prototype.
        ends = {name: room * N + N + i * room for i, name in enumerate(portion.form.extra)}
        return Parameters(V, (WEIGHT_SCALE * beta) ** 2, {name: theta[:, end : end + K] for name, end in ends.items()})

    def _fill(self, portion: _Portion) -> Objective:
        """The formulas of a portion, in which prototypes that a fit does not have are nowhere."""
        some, K, form, padded = portion
        if not padded:
            return form
        mapping = PaddedMapping(form.mapping.p, form.mapping.squared, apart=self._apart[some, :, :K])
        even = self._even[some, :, :K]
        terms = tuple(
            (weight, replace(term, kernel=replace(term.kernel, even=even)))  # type: ignore[type-var]
            if isinstance(term, AllPairs | Landmarks)
            else (weight, term)
            for weight, term in form.terms
        )
        return replace(form, mapping=mapping, terms=terms)

    def _at_once(self, theta: Array, portion: _Portion) -> tuple[Array, Array]:
        some, K, form, padded = portion
        xp, (room, N), (B, _), T = namespace(theta), self.shape, theta.shape, self.n_losses - 1
        weights, mixtures, beta = self._weights[some], self._mixtures[some], theta[:, room * N : room * N + N]
        shares = [[mixtures[:, i, t] for t in range(T)] for i in range(mixtures.shape[1])]
        sums = self._fill(portion).sums(self._unpack(theta, portion), shares)
        gradients = form.split_gradients(sums[T:])
        terms = xp.stack(sums[:T], axis=-1) * self._shares[some]
        gradient = gradients[0]
        if form.reduction == "norm":
            terms = xp.sqrt(terms)
            slopes = xp.where(terms > 0.0, weights * 0.5 / xp.where(terms > 0.0, terms, 1.0), 0.0)
            gradient = gradient.times(slopes[:, 0])
            for t, other in enumerate(gradients[1:], start=1):
                gradient = gradient + other.times(slopes[:, t])
        total = xp.sum(weights * terms, axis=1)[:, None]
        by_beta = 2.0 * WEIGHT_SCALE**2 * beta * gradient.alpha
        by_prototype, by_extra = gradient.prototypes, [gradient.extra[name] for name in form.extra]
        if padded:  # but for rounding, gradients are 0 already where nobody is there
            by_prototype = by_prototype * self._there[some, :K, None]
            by_extra = [part * self._there[some, :K] for part in by_extra]
        parts = [(xp.reshape(by_prototype, (B, K * N)), N), (by_beta, 0), *((part, 1) for part in by_extra)]
        filled = [one for part, each in parts for one in (part, zeros((B, (room - K) * each), part))]
        return xp.concat([total, terms], axis=1), xp.concat(filled, axis=1)


APART_FROM = 200_000
"""Records times fits from which fits of different K are evaluated one K after the other, within one call.

Then prototypes that are not there take longer than asking for more operations.
"""


def form_batches(
    objectives: Sequence[Objective], packings: Sequence[Packing]
) -> tuple[list[list[int]], list[Packing], Callable[[list[int]], Batch]]:
    """The numbers of fits that are evaluated together, how the vectors of every fit are packed, and the batches.

    Those of the same formulas, and of one K, stand side by side. A fit that is evaluated by itself is in no group.
    Batches are made of the numbers of fits of one group, which may come more than once.
    """
    known: dict[int, Hashable] = {}
    described = [describe_formulas(objective, packing, known) for objective, packing in zip(objectives, packings)]
    numbered = {formula: number for number, formula in enumerate(dict.fromkeys(described))}
    formulas = [numbered[formula] for formula in described]
    groups: dict[Hashable, list[int]] = {}
    for number in sorted(range(len(objectives)), key=lambda i: (formulas[i], packings[i].n_prototypes)):
        if described[number] is not None:
            groups.setdefault(_describe_shape(objectives[number], packings[number]), []).append(number)
    filled = list(packings)
    for numbers in groups.values():
        # Batches have a place for frozen weights too, and for the prototypes of the fit that has most.
        most = max(packings[number].n_prototypes for number in numbers)
        for number in numbers:
            filled[number] = packings[number].fill_up(most)

    def batch(numbers: list[int]) -> Batch:
        packed = [filled[number] for number in numbers]
        return Batch([objectives[number] for number in numbers], packed, [formulas[number] for number in numbers])

    return list(groups.values()), filled, batch


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
    width = packing.room + any(kernel.weighted for kernel in in_steps) * packing.n_attributes
    bytes_each = 8 * rows * COPIES * width
    return max(1, engine.batch_bytes // bytes_each)


COPIES = 16
"""LFR on a third of Census, where memberships are all there is, took 11 of them; recordings keep some more."""


PADDED_UP_TO = 4096
"""Records up to which fits of different K are evaluated together, with room for the most prototypes.

Of so few, asking for an evaluation takes longer than prototypes that are not there.
"""


def _describe_shape(objective: Objective, packing: Packing) -> Hashable:
    """What two fits must share to be searched together: the room of their vectors and, of few records, no more."""
    own = None if objective.engine.n_records <= PADDED_UP_TO else packing.n_prototypes
    return own, packing.n_attributes, objective.extra, len(objective.terms), objective.reduction


def describe_formulas(objective: Objective, packing: Packing, known: dict[int, Hashable]) -> Hashable | None:
    """What two fits must share to be evaluated at once: the records, and all but weights and the number of prototypes.

    None for a fit by itself. Terms that several fits share are described once: what is ``known`` of them, by their
    identity, is kept there.
    """
    # Engines without memory for batches have room for one.
    if most_at_once(objective, packing) == 1:
        return None
    engine = objective.engine
    for _, term in objective.terms:
        if id(term) not in known:
            known[id(term)] = _describe(engine, term)
    return id(engine), objective.mapping, objective.reduction, tuple(known[id(term)] for _, term in objective.terms)


def _describe(engine: Engine, part: Any) -> Hashable:
    """A part of a formula with all that it holds, but for the number of prototypes."""
    if is_dataclass(part):
        held = (field.name for field in fields(part) if field.name != "n_prototypes")
        return type(part), *(_describe(engine, getattr(part, name)) for name in held)
    if hasattr(part, "shape") and not isinstance(part, type):
        return engine.fetch(part)[0].tobytes()
    return part


def round_up(n: int) -> int:
    """The next number with no more than three binary digits that count: few recordings serve all numbers of fits.

    Examples
    --------
    >>> [round_up(n) for n in (1, 7, 9, 17, 51, 153)]
    [1, 7, 10, 20, 56, 160]
    """
    step = 1 << max(n.bit_length() - 3, 0)
    return -(-n // step) * step
