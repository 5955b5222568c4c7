"""Refuse what cannot work, before any work is done, in words that name the culprit."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import namespace
from ifair.engines.choose import check_engine, is_elsewhere, require_torch

STARTS = {"alpha_init": ("masked", "random"), "init": ("k-means++", "uniform", "principal")}
OUTPUTS = ("representation", "membership")


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an IFair that need no data."""
    _check_common(estimator, weights=("utility_weight", "fairness_weight"))
    one_of("fairness_distance", estimator.fairness_distance, ("weighted", "euclidean"))
    one_of("reduction", estimator.reduction, ("mean", "sum", "norm"))
    one_of("utility_columns", estimator.utility_columns, ("all", "unprotected"))
    one_of("precision", estimator.precision, ("auto", "single", "double"))
    if isinstance(estimator.pairs, str):
        one_of("pairs", estimator.pairs, ("auto", "all", "moments"))
    else:
        positive_integer("pairs (a number of landmarks)", estimator.pairs)
    if estimator.pairs == "moments" and estimator.p != 2:
        raise ValueError(f"pairs='moments' has a closed form for p=2 only, got p={estimator.p!r}")


def check_lfr_parameters(estimator: Any) -> None:
    """Check the parameters of an LFR that need no data."""
    _check_common(estimator, weights=("reconstruct_weight", "target_weight", "fairness_weight"))
    if isinstance(estimator.init, str):
        one_of("init", estimator.init, ("k-means++", "uniform"))


def _check_common(estimator: Any, weights: tuple[str, ...]) -> None:
    for name in ("n_prototypes", "n_restarts", "max_iter"):
        positive_integer(name, getattr(estimator, name))
    for name in (*weights, "tol"):
        not_negative(name, getattr(estimator, name))
    if all(getattr(estimator, name) == 0 for name in weights):
        both = "both" if len(weights) == 2 else "all"
        raise ValueError(f"{', '.join(weights[:-1])} and {weights[-1]} are {both} 0: there is nothing to learn")
    if not _is_number(estimator.p) or not 1 <= estimator.p < np.inf:
        raise ValueError(f"p must be a finite number of at least 1 for d to be a distance, got {estimator.p!r}")
    one_of("output", estimator.output, OUTPUTS)
    check_engine(estimator.engine)
    for name, choices in STARTS.items():
        if isinstance(getattr(estimator, name), str):
            one_of(name, getattr(estimator, name), choices)
    if isinstance(estimator.init, str) and estimator.init == "principal" and not isinstance(estimator.alpha_init, str):
        raise ValueError("init='principal' chooses the first weights itself; leave alpha_init='masked' or 'random'")
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback must be callable, got {estimator.callback!r}")


def check_table(estimator: Any, X: NDArray[np.floating[Any]]) -> None:
    """Check the table, and parameters that must fit it."""
    check_largest(estimator, X.shape[0], np.maximum(X.max(axis=0), -X.min(axis=0)), X.dtype)


def check_largest(estimator: Any, n_records: int, largest: NDArray[np.floating[Any]], dtype: np.dtype[Any]) -> None:
    """Check the table by its size and its largest value in every column, and parameters that must fit it."""
    n_features = len(largest)
    K = estimator.n_prototypes
    if n_records < K:
        raise ValueError(f"n_prototypes={K} needs at least {K} records, the table has n_samples={n_records}")
    # Squares are summed over records, pairs and attributes, and squared again for moments.
    if largest.max() > (1e60 if dtype == np.float64 else 1e30):
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


def check_tensor(estimator: Any, X: Any) -> Any:
    """A tensor to transform, checked where it is, in single or double precision."""
    require_torch("torch")
    xp, name, wanted = namespace(X), type(estimator).__name__, estimator.n_features_in_
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D tensor instead: one row a record, one column an attribute")
    if X.shape[1] != wanted:
        raise ValueError(f"X has {X.shape[1]} features, but {name} is expecting {wanted} features as input")
    X = X.detach()
    if X.dtype not in (xp.float64, xp.float32):
        X = xp.astype(X, xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError("Input X contains NaN or infinity: fill or drop what is missing first (ifair.Encoder does)")
    return X


def check_is_here(estimator: Any, X: Any, method: str) -> None:
    """Refuse a table elsewhere, for methods that need it in this process."""
    if is_elsewhere(estimator.engine, X):
        raise TypeError(
            f"{method} takes tables of this process, got {type(X).__name__}: call it partition by partition "
            "(map_blocks, map_partitions or mapInPandas of the collection), or on a sample"
        )


def check_warm_start(estimator: Any, n_features: int) -> None:
    """Check that a previous solution, if there is one to start from, fits the table."""
    wanted = (estimator.n_prototypes, n_features)
    if (
        getattr(estimator, "warm_start", False)
        and hasattr(estimator, "prototypes_")
        and estimator.prototypes_.shape != wanted
    ):
        raise ValueError(
            f"warm_start: the previous fit has prototypes of shape {estimator.prototypes_.shape}, this one needs "
            f"{wanted}; set warm_start=False, or keep n_prototypes and the columns"
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
