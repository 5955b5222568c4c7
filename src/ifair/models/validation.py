"""Refuse what cannot work, before any work is done, in words that name the culprit."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ifair.core.arrays import is_number
from ifair.encode import columns_of
from ifair.engines.engine import check_engine
from ifair.errors import IfairError, join_words, nearest_name, unknown_choice
from ifair.inputs.table import Table
from ifair.metrics.arguments import check_weights

CHOICES = {"output": ("representation", "membership", "nearest"), "alpha_init": ("masked", "random")}
"""The names that a parameter takes, of all estimators with prototypes; below, of each."""
IFAIR_CHOICES = {
    "fairness_distance": ("weighted", "euclidean"),
    "reduction": ("mean", "sum", "norm"),
    "utility_columns": ("all", "unprotected"),
    "precision": ("auto", "single", "double"),
    "pairs": ("auto", "all", "moments"),
    "init": ("auto", "principal", "k-means++", "k-means", "uniform"),
}
LFR_CHOICES = {"init": ("k-means++", "k-means", "uniform"), "attribute_weights": ("shared", "per group")}
OR_NUMBERS = ("alpha_init", "init", "pairs")
"""Parameters that take numbers besides."""


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an IFair that need no data."""
    _check_common(estimator, ("utility_weight", "fairness_weight"), IFAIR_CHOICES)
    if not isinstance(estimator.pairs, str):
        check_positive_integer("pairs (a number of landmarks)", estimator.pairs)
    if estimator.pairs == "moments" and estimator.p != 2:
        raise IfairError(f"pairs='moments' has a closed form for p=2 only, got p={estimator.p!r}")


def check_lfr_parameters(estimator: Any) -> None:
    """Check the parameters of an LFR that need no data."""
    _check_common(estimator, ("reconstruct_weight", "target_weight", "fairness_weight"), LFR_CHOICES)


def _check_common(estimator: Any, weights: tuple[str, ...], choices: dict[str, tuple[str, ...]]) -> None:
    for name in ("n_prototypes", "n_restarts", "max_iter"):
        check_positive_integer(name, getattr(estimator, name))
    for name in (*weights, "tol"):
        value = getattr(estimator, name)
        if not is_number(value) or not 0 <= value < np.inf:
            raise IfairError(f"{name} must be a finite number of at least 0, got {value!r}")
    if all(getattr(estimator, name) == 0 for name in weights):
        both = "both" if len(weights) == 2 else "all"
        raise IfairError(f"{join_words(weights)} are {both} 0: there is nothing to learn")
    if is_number(estimator.p) and estimator.p == np.inf:
        raise IfairError(
            "p must be finite, got inf: as p grows the distance tends to the largest difference in any attribute whose "
            "weight is not exactly 0, so that weights, which are learned and near 0 for protected columns, would no "
            "longer count. A p of 10 or 20 comes close to it and still has weights"
        )
    if not is_number(estimator.p) or not 1 <= estimator.p < np.inf:
        raise IfairError(f"p must be a finite number of at least 1 for d to be a distance, got {estimator.p!r}")
    check_engine(estimator.engine)
    for name, known in (CHOICES | choices).items():
        value = getattr(estimator, name)
        if value not in known if isinstance(value, str) else name not in OR_NUMBERS:
            raise unknown_choice(name, value, known)
    if isinstance(estimator.init, str) and estimator.init == "principal" and not isinstance(estimator.alpha_init, str):
        raise IfairError("init='principal' chooses the first weights itself; leave alpha_init='masked' or 'random'")
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback must be callable, got {estimator.callback!r}")


def check_table(estimator: Any, table: Table) -> None:
    """Check the table by its size and its largest value in every column, and parameters that must fit it."""
    n_features = table.n_features
    _check_warm_start(estimator, n_features)
    K, weights = estimator.n_prototypes, record_weights(table)
    if weights is not None and np.count_nonzero(weights) < K <= table.n_records:
        raise IfairError(f"n_prototypes={K} needs at least {K} records of a weight above 0")
    if table.n_records < K:
        raise IfairError(f"n_prototypes={K} needs at least {K} records, the table has n_samples={table.n_records}")
    largest = table.statistics.largest
    # Squares are summed over records, pairs and attributes, and squared again for moments.
    if largest.max() > (1e60 if table.dtype == np.float64 else 1e30):
        column = int(largest.argmax())
        name = getattr(estimator, "feature_names_in_", range(n_features))[column]
        raise IfairError(
            f"column {name!r} holds values as large as {largest[column]:.3g}, whose squares overflow; "
            "scale the table first (ifair.Encoder does)"
        )
    _check_powers(estimator.p, 2.0 * float(largest.max()), 150 if table.dtype == np.float64 else 30)
    if not isinstance(estimator.init, str):
        check_shape("init", estimator.init, (K, n_features))
    if not isinstance(estimator.alpha_init, str):
        alpha = check_shape("alpha_init", estimator.alpha_init, (n_features,))
        if alpha.min() < 0:
            raise IfairError(f"alpha_init must not be negative, got {alpha.min():.6g} in column {alpha.argmin()}")


def record_weights(table: Table) -> NDArray[np.float64] | None:
    """How many records each one stands for, shape (M,); None where everyone counts once."""
    return None if table.sample_weight is None else check_weights(table.sample_weight, table.n_records)


def _check_powers(p: float, difference: float, digits: int) -> None:
    """Refuse an order of the distance whose powers numbers cannot hold, for differences as large as this one."""
    if difference and abs(p * np.log10(difference)) > digits:
        fate = "overflow" if difference > 1 else "vanish"
        raise IfairError(
            f"p={p:g}: differences as large as {difference:.3g} {fate} when they are raised to that power; choose a "
            "smaller p (the largest difference decides nearly alone from about 20 on), or scale the table first "
            "(ifair.Encoder does)"
        )


def _check_warm_start(estimator: Any, n_features: int) -> None:
    """Check that a previous solution, if there is one to start from, fits the table."""
    wanted = (estimator.n_prototypes, n_features)
    if (
        getattr(estimator, "warm_start", False)
        and hasattr(estimator, "prototypes_")
        and estimator.prototypes_.shape != wanted
    ):
        raise IfairError(
            f"warm_start: the previous fit has prototypes of shape {estimator.prototypes_.shape}, this one needs "
            f"{wanted}; set warm_start=False, or keep n_prototypes and the columns"
        )


def check_pairs(estimator: Any, table: Table) -> None:
    """All pairs hold something of every record, which some tables are there to avoid."""
    n, most = table.n_records, table.all_pairs_up_to
    all_pairs = estimator.pairs == "all" or (not isinstance(estimator.pairs, str) and estimator.pairs >= n)
    if all_pairs and n > most:
        raise IfairError(
            f"pairs={estimator.pairs!r} means {n:,} x {n:,} pairs, which must be held and visited in memory: of "
            f"records on disk that is done for up to {most:,}. Use pairs=1000 (landmarks) or pairs='moments', which "
            "are linear in the records, or load the table into memory."
        )


def check_positive_integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise IfairError(f"{name} must be an integer of at least 1, got {value!r}")


def check_shape(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """``value`` as finite doubles of the given shape."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise IfairError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise IfairError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


# ---- labels ----


def encode_classes(y: Any, n_records: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The two classes of labels, checked as scikit-learn checks them, and the labels as 0.0 and 1.0."""
    if y is None:
        raise IfairError("This LFR estimator requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    missing = np.flatnonzero(pd.isna(y))
    if len(missing):
        raise IfairError(f"Input y contains NaN: the record at index {missing[0]} has no label; drop it")
    assert_all_finite(y, input_name="y")
    check_consistent_length(y, np.empty(n_records))
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes, numbers = np.unique(y, return_inverse=True)
    if kind != "binary":
        raise IfairError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(classes) < 2:
        raise IfairError(f"LFR needs records of two classes, but y holds only one class: {classes[0]!r}")
    return classes, numbers.astype(np.float64)


def refuse_weightless(numbers: NDArray[Any], names: Sequence[Any], weights: NDArray[np.float64], what: str) -> None:
    """Refuse classes or groups of which no record has a weight."""
    for name, weight in zip(names, np.bincount(numbers.astype(np.intp), weights, minlength=len(names))):
        if weight == 0.0:
            raise IfairError(f"sample_weight is 0 for all records of the {what} {name}; drop them")


# ---- protected columns ----


def protected_columns(estimator: Any, X: Any) -> NDArray[np.bool_]:
    """What an estimator's parameter `protected` means for the table whose columns it has just validated.

    Names also match the columns that :class:`ifair.Encoder` made of an attribute: ``"race"`` means every ``race=...``.
    A callable gets ``X`` as the user passed it and returns any of the other forms.

    Returns
    -------
    ndarray of bool, shape (n_features,)
    """
    protected, n_features = estimator.protected, estimator.n_features_in_
    if callable(protected):
        protected = protected(X)
        if callable(protected):
            raise TypeError("protected: the callable returned another callable; return names, indices or a mask")
    if protected is None:
        return np.zeros(n_features, dtype=bool)
    if isinstance(protected, str | int | np.integer) and not isinstance(protected, bool):
        protected = [protected]
    items = np.asarray(protected) if not isinstance(protected, np.ndarray) else protected
    if items.ndim != 1:
        raise IfairError(f"protected must be one-dimensional, got an array of shape {items.shape}")
    if len(items) == 0:
        return np.zeros(n_features, dtype=bool)
    if items.dtype.kind == "b":
        if len(items) != n_features:
            raise IfairError(f"protected is a mask of length {len(items)}, but the table has {n_features} columns")
        return items.astype(bool)
    as_list = list(protected)
    if all(isinstance(item, str) for item in as_list):
        columns = _columns_of_names(as_list, getattr(estimator, "feature_names_in_", None))
    elif items.dtype.kind in "iu":
        columns = _columns_of_indices(as_list, n_features)
    else:
        raise TypeError(f"protected must hold column names, column indices or a boolean mask, got {protected!r}")
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = True
    return mask


def _columns_of_names(wanted: list[str], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise IfairError(
            f"protected={wanted!r} names columns, but the table has no column names; "
            "pass a DataFrame, or name the columns by index or by a boolean mask"
        )
    _refuse_duplicates(wanted)
    columns: list[int] = []
    for name in wanted:
        found = columns_of(name, names)
        if not found:
            attributes = list(dict.fromkeys([*names, *(n.partition("=")[0] for n in names)]))
            close = nearest_name(name, attributes, cutoff=0.5)
            shown = ", ".join(map(repr, names[:8])) + (f", ... ({len(names)} in all)" if len(names) > 8 else "")
            hint = f"; did you mean {close!r}?" if close else f"; the columns are {shown}"
            raise IfairError(f"protected column {name!r} is not in the table{hint}")
        columns += found
    return columns


def _columns_of_indices(wanted: list[Any], n_features: int) -> list[int]:
    for index in wanted:
        if not -n_features <= index < n_features:
            raise IfairError(f"protected column index {index} is out of range: the table has {n_features} columns")
    columns = [int(index) % n_features for index in wanted]
    _refuse_duplicates(columns)
    return columns


def _refuse_duplicates(wanted: Sequence[Any]) -> None:
    repeated = sorted({item for item in wanted if wanted.count(item) > 1})
    if repeated:
        raise IfairError(f"protected names {repeated} more than once; list every column once")
