"""Refuse what cannot work, before any work is done, in words that name the culprit."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHOICES = {
    "fairness_distance": ("weighted", "euclidean"),
    "reduction": ("mean", "sum", "norm"),
    "output": ("representation", "membership"),
    "utility_columns": ("all", "unprotected"),
    "precision": ("auto", "single", "double"),
}
NAMED = {
    "alpha_init": ("masked", "random"),
    "init": ("k-means++", "uniform"),
    "pairs": ("auto", "all", "moments"),
}


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an IFair that need no data."""
    for name in ("n_prototypes", "n_restarts", "max_iter"):
        positive_integer(name, getattr(estimator, name))
    for name in ("utility_weight", "fairness_weight", "tol"):
        not_negative(name, getattr(estimator, name))
    if estimator.utility_weight == 0 and estimator.fairness_weight == 0:
        raise ValueError("utility_weight and fairness_weight are both 0: there is nothing to learn")
    if not _is_number(estimator.p) or not 1 <= estimator.p < np.inf:
        raise ValueError(f"p must be a finite number of at least 1 for d to be a distance, got {estimator.p!r}")
    for name, choices in CHOICES.items():
        one_of(name, getattr(estimator, name), choices)
    for name, choices in NAMED.items():
        if isinstance(getattr(estimator, name), str):
            one_of(name, getattr(estimator, name), choices)
    if not isinstance(estimator.pairs, str):
        positive_integer("pairs (a number of landmarks)", estimator.pairs)
    if estimator.pairs == "moments" and estimator.p != 2:
        raise ValueError(f"pairs='moments' has a closed form for p=2 only, got p={estimator.p!r}")
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback must be callable, got {estimator.callback!r}")


def check_arrays(estimator: Any, X: NDArray[np.floating[Any]]) -> None:
    """Check the table, and parameters that must fit it."""
    n_records, n_features = X.shape
    K = estimator.n_prototypes
    if n_records < K:
        raise ValueError(f"n_prototypes={K} needs at least {K} records, the table has n_samples={n_records}")
    # Squares are summed over records, pairs and attributes, and squared again for moments.
    largest = np.abs(X).max(axis=0)
    if largest.max() > 1e60 if X.dtype == np.float64 else largest.max() > 1e30:
        column = int(largest.argmax())
        name = getattr(estimator, "feature_names_in_", range(n_features))[column]
        raise ValueError(
            f"column {name!r} holds values as large as {largest[column]:.3g}, whose squares overflow; "
            "scale the table first (ifair.Encoder does)"
        )
    if not isinstance(estimator.init, str):
        shaped("init", estimator.init, (K, n_features))
    if not isinstance(estimator.alpha_init, str):
        alpha = shaped("alpha_init", estimator.alpha_init, (n_features,))
        if alpha.min() < 0:
            raise ValueError(f"alpha_init must not be negative, got {alpha.min():.6g} in column {alpha.argmin()}")
    if estimator.warm_start and hasattr(estimator, "prototypes_") and estimator.prototypes_.shape != (K, n_features):
        raise ValueError(
            f"warm_start: the previous fit has prototypes of shape {estimator.prototypes_.shape}, this one needs "
            f"{(K, n_features)}; set warm_start=False, or keep n_prototypes and the columns"
        )


def positive_integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")


def not_negative(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def shaped(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """``value`` as finite doubles of the given shape."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
