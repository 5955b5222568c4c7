"""The utility loss: what the representation loses of the data (Def. 4)."""

from dataclasses import dataclass

from ifair.core.arrays import Array, namespace


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """Squared error between records and their representations.

    Parameters
    ----------
    columns : ndarray of shape (N,)
        1 for the attributes that count, 0 for those left out.
    """

    columns: Array

    def value_and_grad(self, X: Array, U: Array, V: Array) -> tuple[Array, Array, Array]:
        """The loss, and its gradients with respect to the memberships and the prototypes.

        Parameters
        ----------
        X : ndarray of shape (M, N)
        U : ndarray of shape (M, K)
        V : ndarray of shape (K, N)
        """
        residual = (U @ V - X) * self.columns
        value = namespace(X).sum(residual * residual, axis=(-2, -1))
        residual *= 2.0
        return value, residual @ V.mT, U.mT @ residual
