"""What is learned, and the way from a record to its memberships and its representation (Def. 2, 3, 7 and 8).

Every step comes with its pullback: how a gradient on its result flows to the parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import add
from typing import Any, ClassVar

import numpy as np

from ifair.core.arrays import (
    Array,
    Mask,
    at_least,
    each,
    is_tensor,
    namespace,
    records_times,
    row_sums,
    square,
    times_records,
    times_vector,
    weigh_rows,
)
from ifair.engines.engine import Engine


@dataclass(frozen=True, slots=True)
class Parameters:
    """Prototypes and attribute weights, or a gradient with respect to them.

    Parameters
    ----------
    prototypes : ndarray of shape (K, N)
        V of the paper, one prototype per row (Def. 2).
    alpha : ndarray of shape (N,)
        Weights of the attributes in the distance (Def. 7).
    extra : dict of ndarray of shape (n,), optional
        What single terms of the objective learn besides, by name. A gradient may leave out those that it is zero for.

    Notes
    -----
    Those of B fits at once have one dimension more in front, (B, K, N) and (B, N), and so has all that is computed
    from them; records have not, for they are the same for all fits.
    """

    prototypes: Array
    alpha: Array
    extra: dict[str, Array] = field(default_factory=dict)

    @property
    def batch(self) -> tuple[int, ...]:
        """``(B,)`` of the parameters of B fits; ``()`` of one."""
        return self.alpha.shape[:-1]

    def __add__(self, other: "Parameters") -> "Parameters":
        extra = {**self.extra, **other.extra}
        for name in self.extra.keys() & other.extra.keys():
            extra[name] = self.extra[name] + other.extra[name]
        return Parameters(self.prototypes + other.prototypes, self.alpha + other.alpha, extra)

    def __rmul__(self, factor: float) -> "Parameters":
        return self.times(factor)

    def times(self, factor: Any) -> "Parameters":
        """Multiplied by a number, or by one number per fit, shape (B,)."""
        return self._each(lambda array: each(factor, array) * array)

    def zeros(self) -> "Parameters":
        """Zeros of the same shapes."""
        return self._each(namespace(self.alpha).zeros_like)

    def sent_to(self, engine: Engine) -> "Parameters":
        """The same where the engine's records are."""
        V, alpha, *extra = engine.send(self.prototypes, self.alpha, *self.extra.values())
        return Parameters(V, alpha, dict(zip(self.extra, extra)))

    def _each(self, function: Callable[[Array], Array]) -> "Parameters":
        extra = {name: function(array) for name, array in self.extra.items()}
        return Parameters(function(self.prototypes), function(self.alpha), extra)


WEIGHT_SCALE = 0.1
"""What one unit of the solver's variable for a weight stands for; see :class:`Packing`."""


@dataclass(frozen=True, slots=True)
class Packing:
    """The one place that knows how parameters lie in the solver's flat vector.

    The solver's variable for a weight is ``beta`` with ``alpha = (WEIGHT_SCALE * beta)^2``: weights cannot become
    negative, so that no bounds are needed, and the problem is better conditioned. Both the square and the scale were
    chosen by measurement (``benchmarks/bench_convergence.py``). A weight that starts at exactly 0 stays there; frozen
    weights are left out of the vector altogether.

    Parameters
    ----------
    n_prototypes, n_attributes : int
        K and N.
    frozen : ndarray of bool, shape (N,)
        Attributes whose weight is held at exactly 0.
    extra : dict of int, optional
        Lengths of the further arrays of the parameters, by name; they lie at the end as they are.
    absent : int, default=0
        Prototypes that the vector has room for besides, so that vectors of different K are as long; their numbers, and
        one more of every further array for each, are 0.
    """

    n_prototypes: int
    n_attributes: int
    frozen: Mask
    extra: dict[str, int] = field(default_factory=dict)
    absent: int = 0
    _free: Any = field(init=False, repr=False, compare=False)
    _parts: list[slice] = field(init=False, repr=False, compare=False)
    length: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        free = np.flatnonzero(~self.frozen)
        lengths = (self.n_prototypes * self.n_attributes, len(free), *self.extra.values())
        room = (self.absent * self.n_attributes, 0, *(self.absent for _ in self.extra))
        *starts, end = accumulate(map(add, lengths, room), initial=0)
        # Found once: parameters are packed and unpacked in every evaluation.
        object.__setattr__(self, "_free", slice(None) if len(free) == self.n_attributes else free)
        object.__setattr__(self, "_parts", [slice(at, at + length) for at, length in zip(starts, lengths)])
        object.__setattr__(self, "length", end)

    def fill_up(self, n_prototypes: int) -> "Packing":
        """Vectors of the length that so many prototypes take, with a place for frozen weights too."""
        return replace(self, frozen=np.zeros_like(self.frozen), absent=n_prototypes - self.n_prototypes)

    @property
    def room(self) -> int:
        """Prototypes that the vector has room for."""
        return self.n_prototypes + self.absent

    def pack(self, parameters: Parameters) -> Array:
        beta = np.sqrt(parameters.alpha[self._free]) / WEIGHT_SCALE
        return self._join(parameters.prototypes.ravel(), beta, *(parameters.extra[name] for name in self.extra))

    def unpack(self, theta: Array) -> Parameters:
        V, beta, *extra = (theta[part] for part in self._parts)
        alpha = np.zeros(self.n_attributes)
        alpha[self._free] = (WEIGHT_SCALE * beta) ** 2
        return Parameters(V.reshape(self.n_prototypes, self.n_attributes), alpha, dict(zip(self.extra, extra)))

    def pack_gradient(self, gradient: Parameters, theta: Array) -> Array:
        """The gradient with respect to the flat vector, at ``theta``."""
        d_beta = 2.0 * WEIGHT_SCALE**2 * theta[self._parts[1]] * gradient.alpha[self._free]
        extra = (gradient.extra.get(name, np.zeros(size)) for name, size in self.extra.items())
        return self._join(gradient.prototypes.ravel(), d_beta, *extra)

    def _join(self, *arrays: Array) -> Array:
        if not self.absent:
            return np.concatenate(arrays)
        theta = np.zeros(self.length)
        for part, array in zip(self._parts, arrays):
            theta[part] = array
        return theta


Pullback = Callable[[Array], Parameters]
"""From the gradient with respect to a result to the gradient with respect to the parameters."""


def powered_distances(X: Array, parameters: Parameters, p: float) -> tuple[Array, Pullback]:
    """``D_ik = sum_n alpha_n |x_in - v_kn|^p``, shape (M, K), the distance before its root; and its pullback."""
    if p == 2.0:
        return _squared_euclidean(X, parameters)
    return _minkowski(X, parameters, p)


def _squared_euclidean(X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
    # Expanding the square turns everything into matrix products.
    V, alpha = parameters.prototypes, parameters.alpha
    xp = namespace(X)
    weighted = V * alpha[..., None, :]
    D = records_times(X, -2.0 * weighted)
    squares = square(X)
    D += times_vector(squares, alpha)[..., :, None]
    D += row_sums(weighted, V)[..., None, :]
    D = at_least(D, 0.0)

    def pullback(C: Array) -> Parameters:
        CX = times_records(C, X)
        per_prototype = xp.sum(C, axis=-2)[..., :, None]
        d_prototypes = 2.0 * alpha[..., None, :] * (per_prototype * V - CX)
        d_alpha = xp.sum(C, axis=-1) @ squares + xp.sum((per_prototype * V - 2.0 * CX) * V, axis=-2)
        return Parameters(d_prototypes, d_alpha)

    return D, pullback


def _minkowski(X: Array, parameters: Parameters, p: float) -> tuple[Array, Pullback]:
    V, alpha = parameters.prototypes, parameters.alpha
    xp = namespace(X)
    D = xp.stack([xp.abs(X - v) ** p @ alpha for v in V], axis=1)

    def pullback(C: Array) -> Parameters:
        # One prototype at a time: nothing larger than X itself is held.
        d_prototypes = []
        d_alpha = xp.zeros_like(alpha)
        for v, c in zip(V, C.T):
            difference = X - v
            magnitude = xp.abs(difference)
            d_alpha = d_alpha + c @ magnitude**p
            d_prototypes.append(-p * alpha * (c @ (magnitude ** (p - 1.0) * xp.sign(difference))))
        return Parameters(xp.stack(d_prototypes, axis=0), d_alpha)

    return D, pullback


def root(D: Array, p: float, exponent: float) -> tuple[Array, Array | None]:
    """``D^(exponent/p)`` and its derivative, None if that is 1; at D = 0 it is set to 0 (a subgradient).

    ``exponent`` is 1 for the distance itself and 2 for its square.
    """
    xp = namespace(D)
    power = exponent / p
    if power == 1.0:
        return D, None
    positive = D > 0.0
    safe = xp.where(positive, D, xp.ones_like(D))
    rooted = xp.where(positive, xp.sqrt(safe) if power == 0.5 else safe**power, xp.zeros_like(D))
    return rooted, xp.where(positive, power * rooted / safe, xp.zeros_like(D))


def compare_from_afar(X: Array, parameters: Parameters, p: float) -> tuple[Array, Array]:
    """``d(x, v_k) - d(x, 0)``, shape (M, K), and ``d(x, 0)``, (M, 1), for records far from 0 and the prototypes.

    There, powers overflow, and distances are equal in all digits that they have. With ``s`` the largest number of a
    record, ``|x - v|^p - |x|^p = s^p |x/s|^p (|1 - v/x|^p - 1)`` has neither fault.
    """
    xp = namespace(X)
    alpha = parameters.alpha
    scale = xp.max(xp.abs(X), axis=-1, keepdims=True)
    unit = xp.abs(X) / scale
    powers = unit**p
    total = times_vector(powers, alpha)[:, None]
    nonzero = xp.where(X == 0.0, xp.ones_like(X), X)
    changes = []
    for v in parameters.prototypes:
        ratio = v / nonzero
        is_small = (xp.abs(ratio) < 0.5) & (X != 0.0)
        small = xp.where(is_small, ratio, xp.zeros_like(ratio))
        change = xp.where(is_small, powers * xp.expm1(p * xp.log1p(-small)), xp.abs((X - v) / scale) ** p - powers)
        changes.append(times_vector(change, alpha))
    distance = total ** (1.0 / p)
    difference = distance * xp.expm1(xp.log1p(xp.stack(changes, axis=1) / total) / p)
    return difference * scale, distance * scale


FAR = 1e6
"""From so many times the size of the prototypes on, records are compared with them from afar."""
LARGEST_POWER = 1e290
"""So large may powers of differences be."""
ROUNDING = 64
"""Up to so many units of rounding apart, two distances to prototypes are equal."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Softmax of negative distances to the prototypes.

    Parameters
    ----------
    p : float
        Order of the Minkowski distance.
    squared : bool
        Take the softmax of squared distances (the authors' code) instead of distances (the paper).
    """

    extra: ClassVar[tuple[str, ...]] = ()
    """Names of the arrays in ``Parameters.extra`` that it learns besides prototypes and weights."""

    p: float = 2.0
    squared: bool = False

    def distances(self, X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
        """Distances to the prototypes before their root, as of :func:`powered_distances`."""
        return powered_distances(X, parameters, self.p)

    def memberships(self, X: Array, parameters: Parameters) -> Array:
        """``U`` of shape (M, K): how much of each prototype is in each record; rows sum to 1."""
        return self.with_pullback(X, parameters)[0]

    def memberships_anywhere(self, X: Array, parameters: Parameters) -> Array:
        """The same for records however far away."""

        def from_afar(records: Array) -> Array:
            difference, distance = compare_from_afar(records, parameters, self.p)
            if not self.squared:
                return softmax(-difference)
            least = namespace(X).min(difference, axis=-1, keepdims=True)
            return softmax(-(difference - least) * (2.0 * distance + difference + least))

        return self._apply(X, parameters, lambda records: self.memberships(records, parameters), from_afar)

    def nearest(self, X: Array, parameters: Parameters) -> Array:
        """The number of every record's nearest prototype, of equally near ones the first; shape (M,)."""

        def from_afar(records: Array) -> Array:
            xp = namespace(records)
            difference, _ = compare_from_afar(records, parameters, self.p)
            return _first_of_least(difference, xp.max(xp.abs(difference), axis=-1, keepdims=True))

        return self._apply(X, parameters, lambda records: self._nearest(records, parameters), from_afar)

    def _apply(
        self, X: Array, parameters: Parameters, near: Callable[[Array], Array], afar: Callable[[Array], Array]
    ) -> Array:
        """One function for records near the prototypes, another for those far away."""
        xp = namespace(X)
        if X.shape[0] == 0 or X.shape[1] == 0:
            return near(X)
        size = float(xp.max(xp.abs(parameters.prototypes))) or 1.0
        most = FAR * size
        if self.p != 2.0:
            most = min(most, (LARGEST_POWER if xp.finfo(X.dtype).max > LARGEST_POWER else 1e30) ** (1.0 / self.p))
        if float(xp.maximum(xp.max(X), -xp.min(X))) <= most:
            return near(X)
        is_far = xp.max(xp.abs(X), axis=-1) > most
        found = near(xp.where(is_far[:, None], xp.zeros_like(X), X))
        found[is_far] = xp.astype(afar(X[is_far]), found.dtype)
        return found

    def _nearest(self, X: Array, parameters: Parameters) -> Array:
        D, _ = powered_distances(X, parameters, self.p)
        xp = namespace(D)
        # Sums of powers round by a share of themselves, expanded squares by a share of their largest part.
        size = xp.min(D, axis=-1, keepdims=True)
        if self.p == 2.0:
            V, alpha = parameters.prototypes, parameters.alpha
            size = times_vector(X * X, alpha)[:, None] + xp.max(row_sums(V * alpha, V))
        return _first_of_least(D, size)

    def with_pullback(self, X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
        """Memberships of ``X``, and how a gradient on them flows to the parameters."""
        D, pull_distance = self.distances(X, parameters)
        distance, slope = root(D, self.p, 2.0 if self.squared else 1.0)
        U = softmax(-distance)

        def pullback(dU: Array) -> Parameters:
            d_distance = row_sums(U, dU)[..., None] - dU
            d_distance *= U
            if slope is not None:
                d_distance *= slope
            return pull_distance(d_distance)

        return U, pullback


def _first_of_least(D: Array, size: Array) -> Array:
    """The number of every row's least distance; those equal but for rounding, which is a share of ``size``, tie.

    Copies of a record must not part, wherever they stand.
    """
    xp = namespace(D)
    near = xp.min(D, axis=-1, keepdims=True) + ROUNDING * float(xp.finfo(D.dtype).eps) * size >= D
    return xp.argmax(xp.astype(near, xp.int32), axis=-1)


@dataclass(frozen=True, slots=True)
class PaddedMapping(Mapping):
    """The mapping of many fits at once, some of which have fewer prototypes than there is room for.

    Parameters
    ----------
    apart : array of shape (B, 1, K)
        Added to the powered distances: 0, or ``NOWHERE`` for a prototype that a fit does not have. Nobody has a share
        of that, nor does any gradient flow through it.
    """

    apart: Array = field(kw_only=True)

    def distances(self, X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
        D, pullback = powered_distances(X, parameters, self.p)
        D += self.apart
        return D, pullback


NOWHERE = 1e200
"""The powered distance of a prototype that is not there: its softmax is 0, and its root a number."""


def softmax(logits: Array) -> Array:
    """Row-wise softmax that neither overflows nor underflows to a zero row."""
    xp = namespace(logits)
    if xp is np:
        # In place, which a cache likes; and of many short rows the largest numbers are found faster across them.
        weights = logits - np.ascontiguousarray(logits.mT).max(axis=-2)[..., None]
        np.exp(weights, out=weights)
    elif is_tensor(logits):
        return logits.softmax(-1)  # type: ignore[attr-defined]  # in one go
    else:
        weights = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    weights /= xp.sum(weights, axis=-1, keepdims=True)
    return weights


def mean_memberships(
    engine: Engine, mapping: Mapping, parameters: Parameters, sample_weight: Array | None = None
) -> Array:
    """The mean membership in every prototype over all records of an engine, shape (K,), or (B, K) of B fits.

    Parameters are NumPy arrays or of the engine's kind, as weights of records are; the result is a NumPy array.
    """
    sent = parameters.sent_to(engine)

    def sums(X: Array, rows: slice) -> tuple[Array]:
        U = weigh_rows(mapping.memberships(X, sent), sample_weight, rows)
        return (namespace(U).sum(U, axis=-2),)

    (total,) = engine.fetch(*engine.sum(sums))
    return total / (engine.n_records if sample_weight is None else np.sum(total, axis=-1, keepdims=True))
