"""Where the search starts: first prototypes and first attribute weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import kmeans_plusplus

from ifair.core.parameters import Parameters

NEAR_ZERO = 1e-4
"""First weight of a protected attribute in iFair-b: near zero, with room to move."""


def first_parameters(
    X: NDArray[np.floating[Any]],
    n_prototypes: int,
    init: Any,
    alpha_init: Any,
    protected: NDArray[np.bool_],
    frozen: NDArray[np.bool_],
    random_state: np.random.RandomState,
) -> Parameters:
    """Draw a start.

    Parameters
    ----------
    X : ndarray of shape (M, N)
    n_prototypes : int
    init : {"k-means++", "uniform"} or ndarray of shape (K, N)
        k-means++ picks records far apart under the first weights; uniform draws from (0, 1), as the paper.
    alpha_init : {"masked", "random"} or ndarray of shape (N,)
        Uniform in (0, 1), with protected attributes near zero (iFair-b) or without (iFair-a).
    protected, frozen : ndarray of bool, shape (N,)
    random_state : RandomState
    """
    n_features = X.shape[1]
    alpha: NDArray[np.float64]
    if isinstance(alpha_init, str):
        alpha = np.asarray(random_state.uniform(size=n_features))
        if alpha_init == "masked":
            alpha[protected] = NEAR_ZERO
    else:
        alpha = np.array(alpha_init, dtype=np.float64)
    alpha[frozen] = 0.0
    if not isinstance(init, str):
        prototypes = np.array(init, dtype=np.float64)
    elif init == "uniform":
        prototypes = random_state.uniform(size=(n_prototypes, n_features))
    else:
        _, chosen = kmeans_plusplus(X * np.sqrt(alpha), n_prototypes, random_state=random_state)
        prototypes = X[chosen]
    return Parameters(prototypes, alpha)
