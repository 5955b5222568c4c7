"""What is learned: prototypes and attribute weights, and their way into one flat vector and back."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ifair.core.arrays import Array, Mask, each


@dataclass(frozen=True, slots=True)
class Parameters:
    """Prototypes and attribute weights, or a gradient with respect to them.

    Parameters
    ----------
    prototypes : ndarray of shape (K, N)
        V of the paper, one prototype a row (Def. 2).
    alpha : ndarray of shape (N,)
        Weights of the attributes in the distance (Def. 7).

    Notes
    -----
    Those of B fits at once have one dimension more in front, (B, K, N) and (B, N), and so has all that is computed
    from them; records have not, for they are the same for all fits.
    """

    prototypes: Array
    alpha: Array

    @property
    def batch(self) -> tuple[int, ...]:
        """``(B,)`` of the parameters of B fits; ``()`` of one."""
        return self.alpha.shape[:-1]

    def __add__(self, other: Self) -> "Parameters":
        return Parameters(self.prototypes + other.prototypes, self.alpha + other.alpha)

    def __rmul__(self, factor: float) -> "Parameters":
        return Parameters(factor * self.prototypes, factor * self.alpha)

    def times(self, factor: Any) -> "Parameters":
        """Multiplied by a number, or by one number a fit, shape (B,)."""
        return Parameters(each(factor, self.prototypes) * self.prototypes, each(factor, self.alpha) * self.alpha)


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
    """

    n_prototypes: int
    n_attributes: int
    frozen: Mask

    @property
    def _n_values(self) -> int:
        return self.n_prototypes * self.n_attributes

    def pack(self, parameters: Parameters) -> Array:
        beta = np.sqrt(parameters.alpha[~self.frozen]) / WEIGHT_SCALE
        return np.concatenate([parameters.prototypes.ravel(), beta])

    def unpack(self, theta: Array) -> Parameters:
        alpha = np.zeros(self.n_attributes)
        alpha[~self.frozen] = (WEIGHT_SCALE * theta[self._n_values :]) ** 2
        return Parameters(theta[: self._n_values].reshape(self.n_prototypes, self.n_attributes), alpha)

    def pack_gradient(self, gradient: Parameters, theta: Array) -> Array:
        """The gradient with respect to the flat vector, at ``theta``."""
        d_beta = 2.0 * WEIGHT_SCALE**2 * theta[self._n_values :] * gradient.alpha[~self.frozen]
        return np.concatenate([gradient.prototypes.ravel(), d_beta])
