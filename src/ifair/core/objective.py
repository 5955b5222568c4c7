"""The objective (Def. 6 and 9): weighted terms, with the gradient, in one walk over the records.

It walks over the records once, in blocks, and asks every term the same three questions: what must be known before the
walk (``prepare``), what a block of records adds (``block``), and what follows once all blocks are summed (``finish``).
Terms over pairs of records are in :mod:`ifair.core.pairs` and :mod:`ifair.core.moments`, those of LFR in
:mod:`ifair.core.lfr_terms`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import (
    Array,
    at_least,
    each,
    is_sparse,
    namespace,
    records_times,
    square,
    times_records,
    total_products,
    weigh,
    weigh_rows,
)
from ifair.core.mapping import Mapping, Packing, Parameters, Pullback
from ifair.engines.engine import Engine, LocalEngine

Part = tuple[Array, tuple[Any, ...]]
"""What a block adds: the gradient on its memberships, and sums for ``finish``, each of which can be added."""


class Term(ABC):
    """A loss over all records, with its gradient.

    A term holds arrays of the engine's kind and is pickled to the workers of a cluster. A term of the memberships
    alone defines ``block`` only, and returns its loss as the one sum.
    """

    __slots__ = ()

    order: ClassVar[int] = 1
    """Records in each thing that is summed: 1, or 2 for pairs. 0 for a loss that is a mean already."""

    extra: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays in ``Parameters.extra`` that the term learns; ``finish`` returns their gradients."""

    needs_all: ClassVar[bool] = False
    """Whether :meth:`prepare` is given the memberships of all records; for engines that have room for them."""

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> Any:
        """What must be known of all records before the walk; it is handed to the other two.

        ``U`` are the memberships of all records, shape (M, K), found once and for all; None unless ``needs_all``.
        """
        return None

    @abstractmethod
    def block(self, known: Any, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        """What the records ``X``, shape (M, N), at ``rows``, with memberships ``U``, shape (M, K), add."""

    def finish(self, known: Any, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters | None]:
        """The loss, and the gradient on the parameters that does not pass through the memberships, if there is one."""
        (loss,) = sums
        return loss, None


@dataclass(frozen=True, slots=True)
class Reconstruction(Term):
    """Squared error between records and their representations (Def. 4).

    Parameters
    ----------
    columns : array of shape (N,)
        1.0 for the attributes that count, 0.0 for those left out.
    sample_weight : array of shape (M,), optional
        How much every record counts; without it, 1.
    """

    columns: Array
    sample_weight: Array | None = None

    def block(self, known: None, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        V = parameters.prototypes
        if parameters.batch or is_sparse(X):
            part, size = self._block_by_products(X, U, V, rows)
            if parameters.batch or part[1][0] > CANCELLED * size:
                return part
        residual = (U @ V - X) * self.columns
        weighed = weigh_rows(residual, self.sample_weight, rows)
        loss = namespace(X).sum(residual * weighed, axis=(-2, -1))
        weighed *= 2.0
        return weighed @ V.mT, (loss, U.mT @ weighed)

    def _block_by_products(self, X: Array, U: Array, V: Array, rows: slice) -> tuple[Part, Array]:
        """The same with the square expanded, and the sum of the squared records, which says how far that rounds."""
        # Errors of hundreds of fits, each as large as the records, would only be written to memory to be read again,
        # and products with sparse records take no time.
        xp, counted = namespace(X), 2.0 * V * self.columns
        slope = U @ (counted @ V.mT)
        slope -= records_times(X, counted)
        weighed = weigh_rows(U, self.sample_weight, rows)
        # The loss needs none of the products with every record: U'U and U'X, of which there is little, know all of it.
        between, to_records = (weighed.mT @ U) @ V, times_records(weighed, X)
        loss = total_products(counted, 0.5 * between - to_records)
        size = xp.sum(weigh(square(X) @ self.columns, self.sample_weight, rows))
        d_prototypes = 2.0 * (between - to_records) * self.columns
        return (weigh_rows(slope, self.sample_weight, rows), (loss + size, d_prototypes)), size

    def finish(self, known: None, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        loss, d_prototypes = sums
        loss = at_least(loss, 0.0)  # rounding may leave an expanded square a hair below
        return loss, Parameters(d_prototypes, namespace(d_prototypes).zeros_like(parameters.alpha))


CANCELLED = 1e-3
"""Share of the squared records below which a loss is summed from errors: expanded, it would have lost digits."""

Reduction = Literal["mean", "sum", "norm"]


class Losses(NamedTuple):
    """The weighted total, which is minimised, and every term as reduced, without its weight."""

    total: float
    terms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Objective:
    """A weighted sum of terms over all records of an engine.

    Parameters
    ----------
    engine : Engine
    mapping : Mapping
    terms : tuple of (float, Term)
        Every term with its weight.
    reduction : {"mean", "sum", "norm"}
        Means, over records or over ordered pairs; the paper's sums; or square roots of the sums (the authors' code).
    total_weight : float, optional
        The sum of the records' weights, which means are taken over; without weights, how many records there are.
    """

    engine: Engine
    mapping: Mapping
    terms: tuple[tuple[float, Term], ...]
    reduction: Reduction = "mean"
    total_weight: float | None = None

    @property
    def extra(self) -> tuple[str, ...]:
        """Names of the arrays that terms and mapping learn besides prototypes and attribute weights."""
        by_terms = (name for _, term in self.terms for name in term.extra)
        return tuple(dict.fromkeys((*by_terms, *self.mapping.extra)))

    def with_weights(self, *weights: float) -> "Objective":
        """The same terms with other weights."""
        return replace(self, terms=tuple((w, term) for w, (_, term) in zip(weights, self.terms, strict=True)))

    def value_and_grad(self, parameters: Parameters, *, once: bool = False) -> tuple[Losses, Parameters]:
        """The losses at ``parameters`` and the gradient of their weighted total, all in NumPy arrays.

        ``once``: this objective will not be evaluated again.
        """
        arrays = parameters.prototypes, parameters.alpha, *(parameters.extra[name] for name in self.extra)
        sums = self.engine.evaluate(self._sums, *arrays, once=once)
        values, gradients = sums[: len(self.terms)], self.split_gradients(sums[len(self.terms) :])
        if self.reduction != "norm":
            return self._losses(share * value for share, value in zip(self.shares, values)), gradients[0]
        losses = self._losses(map(np.sqrt, values))
        # The slope of a root is set to 0 at 0.
        slopes = [0.5 / root if root > 0.0 else 0.0 for root in losses.terms]
        first, *others = (
            weight * slope * gradient for (weight, _), slope, gradient in zip(self.terms, slopes, gradients)
        )
        return losses, sum(others, start=first)

    def forget(self) -> None:
        """Drop what the engine has recorded of evaluations: there are no more of them."""
        self.engine.forget(self._sums)

    def split_gradients(self, arrays: Sequence[Array]) -> list[Parameters]:
        """The gradients of all mixtures, from the arrays that :meth:`sums` returns of them."""
        width = 2 + len(self.extra)
        return [self._parameters(*arrays[i : i + width]) for i in range(0, len(arrays), width)]

    @property
    def shares(self) -> list[float]:
        """What each thing that a term sums counts."""
        M = self.engine.n_records if self.total_weight is None else self.total_weight
        return [1.0 / M**term.order if self.reduction == "mean" else 1.0 for _, term in self.terms]

    @property
    def mixtures(self) -> tuple[tuple[float, ...], ...]:
        """For every gradient that is asked for, how much of each term's sum it holds."""
        if self.reduction == "norm":
            # How strongly a sum counts is known only when all sums are: carry a gradient per term through the walk.
            return tuple(map(tuple, np.eye(len(self.terms)).tolist()))
        return (tuple(weight * share for (weight, _), share in zip(self.terms, self.shares)),)

    def _losses(self, reduced: Any) -> Losses:
        values = tuple(map(float, reduced))
        return Losses(float(sum(weight * value for (weight, _), value in zip(self.terms, values))), values)

    def _parameters(self, V: Array, alpha: Array, *extra: Array) -> Parameters:
        return Parameters(V, alpha, dict(zip(self.extra, extra)))

    def _sums(self, *arrays: Array) -> tuple[Array, ...]:
        return self.sums(self._parameters(*arrays), self.mixtures)

    def sums(self, parameters: Parameters, mixtures: Sequence[Sequence[Any]]) -> tuple[Array, ...]:
        """The sum of every term, then for every mixture of them the gradient, in one array per parameter.

        All arrays are of the engine's kind, of one fit or of many at once. A mixture has a number for every term, or
        one number per fit, shape (B,).
        """
        mapping, terms = self.mapping, [term for _, term in self.terms]
        mapped: dict[int, tuple[Array, Pullback]] = {}
        everybody = None
        if any(term.needs_all for term in terms):
            mapped = dict(self.engine.map(lambda X, rows: (rows.start, mapping.with_pullback(X, parameters))))
            everybody = namespace(parameters.alpha).concat([U for U, _ in mapped.values()])
        known = [term.prepare(self.engine, mapping, parameters, everybody) for term in terms]

        def block(X: Array, rows: slice) -> tuple[Any, ...]:
            U, pullback = mapped.get(rows.start) or mapping.with_pullback(X, parameters)
            parts = [term.block(ahead, X, U, rows, parameters) for term, ahead in zip(terms, known)]
            on_memberships = [d_memberships for d_memberships, _ in parts]
            gradients = [pullback(_mix(mixture, on_memberships)) for mixture in mixtures]
            return *gradients, *(_Sums(sums) for _, sums in parts)

        walked = self.engine.sum(block)
        gradients, summed = walked[: len(mixtures)], walked[len(mixtures) :]
        finished = [term.finish(ahead, sums, parameters) for term, ahead, sums in zip(terms, known, summed)]
        results = [loss for loss, _ in finished]
        for gradient, mixture in zip(gradients, mixtures):
            for share, (_, direct) in zip(mixture, finished):
                gradient = gradient if direct is None else gradient + direct.times(share)
            results += [gradient.prototypes, gradient.alpha, *(gradient.extra[name] for name in self.extra)]
        return tuple(results)


class _Sums(tuple[Any, ...]):
    """The sums of one term, added one by one."""

    def __add__(self, other: Any) -> "_Sums":
        return _Sums(a + b for a, b in zip(self, other, strict=True))


def _mix(mixture: Sequence[Any], gradients: Sequence[Array]) -> Array:
    first, *others = (each(share, gradient) * gradient for share, gradient in zip(mixture, gradients))
    return sum(others, start=first)


class OneObjective:
    """An objective that is evaluated by itself, with its vectors here, wherever the records are."""

    n_losses, fewest, engine = 1, 1, LocalEngine(np.empty((0, 0)))

    def __init__(self, objective: Objective, packing: Packing) -> None:
        self.objective, self.packing = objective, packing
        self._best: list[Any] = []

    def values_and_grads(self, theta: Array) -> tuple[Array, Array]:
        losses, gradient = self.objective.value_and_grad(self.packing.unpack(theta[0]))
        if not self._best or losses.total < self._best[-1].total:
            # The one before too: an interrupt may come before the point is kept.
            self._best = [*self._best[-1:], losses]
        return np.array([[losses.total]]), self.packing.pack_gradient(gradient, theta[0])[None]

    def keep(self, rows: list[int]) -> Self:
        return self

    def forget(self, function: Any) -> None:
        self.objective.forget()

    def name_losses(self, values: NDArray[np.float64]) -> Any:
        return next((losses for losses in self._best if losses.total == values[0]), self._best[-1])
