"""Datasets of AIF360, recognised by what they offer: the package is not needed to read one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.datasets.dataset import Dataset
from ifair.encode import Encoder
from ifair.errors import IfairError
from ifair.tables.checked_table import check_weight

WEIGHTS = "instance_weights"
"""What AIF360 calls them."""

_NEEDED = ("features", "feature_names", "labels", "label_names", "protected_attributes", "protected_attribute_names")


def from_aif360(dataset: Any, *, name: str = "aif360") -> Dataset:
    """Take a dataset of AIF360 as one of ours.

    Parameters
    ----------
    dataset : aif360.datasets.BinaryLabelDataset or another with the same attributes
        ``features`` of shape (n_records, n_features), ``labels`` of shape (n_records, 1), ``protected_attributes`` of
        shape (n_records, n_protected) and their names; where it has them, ``favorable_label`` and
        ``privileged_protected_attributes``.
    name : str, default="aif360"
        For messages.

    Returns
    -------
    Dataset
        Its target is 1 for the favourable label and 0 otherwise, or the label itself where no label is favourable.
        The protected group are all who are unprivileged in any protected attribute; where nothing is said about
        privilege, all whose value is not the largest. Protected attributes are columns of the frame in any case.
        ``instance_weights`` that differ are its weights.
    """
    missing = [part for part in _NEEDED if not hasattr(dataset, part)]
    if missing:
        raise IfairError(f"{type(dataset).__name__} is no dataset of AIF360: it has no {', '.join(missing)}")
    if len(dataset.label_names) != 1:
        raise IfairError(f"a Dataset has one target, this has the labels {list(dataset.label_names)}: choose one")
    frame = pd.DataFrame(np.asarray(dataset.features, dtype=float), columns=[str(c) for c in dataset.feature_names])
    protected = np.asarray(dataset.protected_attributes, dtype=float)
    names = tuple(str(name) for name in dataset.protected_attribute_names)
    for column, values in zip(names, protected.T):
        frame[column] = values
    labels = np.asarray(dataset.labels, dtype=float).ravel()
    favourable, given = getattr(dataset, "favorable_label", None), getattr(dataset, WEIGHTS, None)
    weights = pd.Series(np.ravel([] if given is None else given), name=WEIGHTS, dtype=np.float64)
    return Dataset(
        name=name,
        frame=frame,
        target=pd.Series(
            labels if favourable is None else (labels == favourable).astype(np.int64), name=str(dataset.label_names[0])
        ),
        protected=names,
        group=_find_unprivileged(protected, getattr(dataset, "privileged_protected_attributes", None)),
        description=f"{len(frame)} records of an AIF360 dataset",
        source="a dataset in memory",
        # Equal numbers are how AIF360 writes that all count alike.
        weight=None if weights.nunique(dropna=False) < 2 else check_weight(weights),
    )


def _find_unprivileged(protected: NDArray[np.float64], privileged: Any) -> NDArray[np.bool_]:
    unprivileged = np.zeros(len(protected), dtype=bool)
    for j, values in enumerate(protected.T):
        best = [np.nanmax(values)] if not privileged else np.asarray(privileged[j], dtype=float)
        unprivileged |= ~np.isin(values, best)
    return unprivileged


def to_aif360(dataset: Dataset, *, features: Any = None, make: Callable[..., Any] | None = None) -> Any:
    """Hand a Dataset, or a representation of it, to AIF360.

    Parameters
    ----------
    dataset : Dataset
        With a target of 0 and 1.
    features : DataFrame or array-like of shape (n_records, n_features), optional
        What a model may see, such as a fair representation. By default the unprotected attributes, one 0/1 column a
        category.
    make : callable, optional
        What is called instead of ``aif360.datasets.BinaryLabelDataset``, with the same arguments.

    Returns
    -------
    aif360.datasets.BinaryLabelDataset
        With one protected attribute, ``privileged``: 0 for the protected group, 1 for all others. The favourable
        label is 1, and the weights of a Dataset that has any are its ``instance_weights``.
    """
    if dataset.target is None or not set(dataset.target.unique()) <= {0, 1}:
        raise IfairError("AIF360's BinaryLabelDataset needs a target of 0 and 1")
    frame = _encode_features(dataset.masked if features is None else features, len(dataset))
    target = str(dataset.target.name or "target")
    weighted = {} if dataset.weight is None else {"instance_weights_name": WEIGHTS}
    taken = {target, "privileged", *weighted.values()} & set(frame.columns)
    if taken:
        raise IfairError(f"a column of the features is called {taken.pop()!r}; rename it")
    frame["privileged"] = np.where(dataset.group, 0.0, 1.0)
    frame[target] = dataset.target.to_numpy(dtype=float)
    if dataset.weight is not None:
        frame[WEIGHTS] = dataset.weight.to_numpy(dtype=float)
    return (_import_dataset_class() if make is None else make)(
        favorable_label=1.0,
        unfavorable_label=0.0,
        df=frame,
        label_names=[target],
        protected_attribute_names=["privileged"],
        privileged_protected_attributes=[np.array([1.0])],
        unprivileged_protected_attributes=[np.array([0.0])],
        **weighted,
    )


def _encode_features(features: Any, n_records: int) -> pd.DataFrame:
    """Features as a table of floats with names and a plain index."""
    if isinstance(features, pd.DataFrame):
        frame = Encoder(scale="none").fit_transform(features.reset_index(drop=True))
    else:
        matrix = np.asarray(features, dtype=float)
        frame = pd.DataFrame(matrix, columns=[f"x{j}" for j in range(matrix.shape[1])])
    if len(frame) != n_records:
        raise IfairError(f"features have {len(frame)} rows for {n_records} records")
    return pd.DataFrame(frame)


def _import_dataset_class() -> Any:
    try:
        from aif360.datasets import BinaryLabelDataset
    except ImportError as error:
        raise ImportError("handing data to AIF360 needs it: pip install aif360") from error
    return BinaryLabelDataset
