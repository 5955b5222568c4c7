"""From a record to its memberships and its representation (Def. 2, 3 and 8), with the pullback."""

from dataclasses import dataclass

from ifair.core.arrays import Array, namespace, row_sums
from ifair.core.distance import Pullback, powered_distances, root
from ifair.core.parameters import Parameters
from ifair.engines.engine import Engine


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

    p: float = 2.0
    squared: bool = False

    def memberships(self, X: Array, parameters: Parameters) -> Array:
        """``U`` of shape (M, K): how much of each prototype is in each record; rows sum to 1."""
        return self.with_pullback(X, parameters)[0]

    def with_pullback(self, X: Array, parameters: Parameters) -> tuple[Array, Pullback]:
        """Memberships of ``X``, and how a gradient on them flows to the parameters."""
        D, pull_distance = powered_distances(X, parameters, self.p)
        distance, slope = root(D, self.p, 2.0 if self.squared else 1.0)
        U = softmax(-distance)

        def pullback(dU: Array) -> Parameters:
            d_logits = U * (dU - row_sums(U, dU)[..., None])
            return pull_distance(-d_logits * slope)

        return U, pullback


def softmax(logits: Array) -> Array:
    """Row-wise softmax that neither overflows nor underflows to a zero row."""
    xp = namespace(logits)
    weights = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return weights / xp.sum(weights, axis=-1, keepdims=True)


def mean_memberships(engine: Engine, mapping: Mapping, parameters: Parameters) -> Array:
    """The mean membership in every prototype over all records of an engine, shape (K,); NumPy in, NumPy out."""
    sent = Parameters(*engine.send(parameters.prototypes, parameters.alpha))

    def sums(X: Array, _: slice) -> tuple[Array]:
        U = mapping.memberships(X, sent)
        return (namespace(U).sum(U, axis=0),)

    (total,) = engine.fetch(*engine.sum(sums))
    return total / engine.n_records
