"""What is learned: prototypes, attribute weights and what terms add; and its way into one flat vector and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ifair.core.arrays import Array, Mask, each, namespace


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
    extra: Mapping[str, Array] = field(default_factory=dict)

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
    """

    n_prototypes: int
    n_attributes: int
    frozen: Mask
    extra: Mapping[str, int] = field(default_factory=dict)

    def _split(self, theta: Array) -> list[Array]:
        """Prototypes, the variables of the weights, and the further arrays."""
        sizes = [self.n_prototypes * self.n_attributes, int(np.sum(~self.frozen)), *self.extra.values()]
        return np.split(theta, np.cumsum(sizes)[:-1])

    def pack(self, parameters: Parameters) -> Array:
        beta = np.sqrt(parameters.alpha[~self.frozen]) / WEIGHT_SCALE
        return np.concatenate([parameters.prototypes.ravel(), beta, *(parameters.extra[name] for name in self.extra)])

    def unpack(self, theta: Array) -> Parameters:
        V, beta, *extra = self._split(theta)
        alpha = np.zeros(self.n_attributes)
        alpha[~self.frozen] = (WEIGHT_SCALE * beta) ** 2
        return Parameters(V.reshape(self.n_prototypes, self.n_attributes), alpha, dict(zip(self.extra, extra)))

    def pack_gradient(self, gradient: Parameters, theta: Array) -> Array:
        """The gradient with respect to the flat vector, at ``theta``."""
        d_beta = 2.0 * WEIGHT_SCALE**2 * self._split(theta)[1] * gradient.alpha[~self.frozen]
        extra = (gradient.extra.get(name, np.zeros(size)) for name, size in self.extra.items())
        return np.concatenate([gradient.prototypes.ravel(), d_beta, *extra])
