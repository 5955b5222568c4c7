"""Consistency of collections of Dask: a graph of small tasks, nothing computed before it is asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.checked_numbers import check_matrix
from ifair.core.nearest import nearest
from ifair.errors import IfairError, check_choice
from ifair.inputs.table import is_collection
from ifair.metrics.arguments import OUTCOME_KINDS, Floats

Nearest = tuple[Floats, NDArray[Any]]
"""Squared distances to the nearest records found so far, and their outcomes, both of shape (rows, at most k)."""


def lazy_consistency_per_person(
    y: Any,
    X: Any,
    *,
    k: int | None = None,
    neighbours: Any = None,
    similarity: Any = None,
    kind: str = "auto",
    score_range: tuple[float, float] | None = None,
    query: Any = None,
    n_jobs: int | None = None,  # noqa: ARG001 - its threads are those of Dask
) -> Any:
    """Each person's part of yNN, as an array of Dask with the partitions of ``y``.

    Every partition meets every other in a task of its own, which keeps the k nearest of each record: M^2 N operations,
    as many tasks as pairs of partitions, and in one place never more than two partitions. Equally distant records
    count in their order, as in :func:`ifair.metrics.nearest_neighbours`.
    """
    if neighbours is not None or query is not None or similarity is not None:
        raise IfairError(
            "neighbours, similarity and query are not for collections of Dask: give X, or compute them first"
        )
    k = 10 if k is None else k
    if not (is_collection(y) and is_collection(X)):
        raise IfairError("give outcomes and attributes both as collections of Dask, or neither")
    if getattr(y, "ndim", 0) != 1:
        raise IfairError(f"outcomes in a collection of Dask must be one column, got {getattr(y, 'ndim', 0)} dimensions")
    if k < 1:
        raise IfairError(f"k must be at least 1, got {k}")
    from dask import array, delayed

    kind = _kind(y.dtype, kind)
    width = 1.0 if score_range is None else float(score_range[1] - score_range[0])
    if not width > 0:
        raise IfairError(f"score_range must rise, got {score_range}")
    records = [delayed(check_matrix)(part) for part in _partitions(X)]
    outcomes = [delayed(np.asarray)(part) for part in _partitions(y)]
    if len(records) != len(outcomes):
        raise IfairError(f"y has {len(outcomes)} partitions and X {len(records)}: they must be cut alike")
    persons = []
    for i, (A, own) in enumerate(zip(records, outcomes)):
        tiles = [delayed(_nearest)(A, B, theirs, k, i == j) for j, (B, theirs) in enumerate(zip(records, outcomes))]
        persons.append(delayed(_person)(own, tiles, k, kind, width))
    sizes = y.chunks[0] if hasattr(y, "chunks") else [np.nan] * len(persons)
    return array.concatenate([array.from_delayed(p, (n,), np.float64) for p, n in zip(persons, sizes)])


def _partitions(collection: Any) -> list[Any]:
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _kind(dtype: Any, kind: str) -> str:
    check_choice("kind", kind, OUTCOME_KINDS)
    if kind != "auto":
        return kind
    if getattr(dtype, "kind", "O") in "iu":
        raise IfairError('whole numbers, not looked at before they are computed: say kind="label" or kind="score"')
    return "score" if getattr(dtype, "kind", "O") == "f" else "label"


def _nearest(A: Floats, B: Floats, outcomes: NDArray[Any], k: int, same: bool) -> Nearest:
    """The k nearest records of ``B``, or as many as there are, for every record of ``A``."""
    if len(B) != len(outcomes):
        raise IfairError(f"y and X are not cut alike: {len(outcomes)} outcomes meet {len(B)} records")
    few = min(k, len(B) - same)
    if few < 1 or len(A) == 0:
        return np.empty((len(A), 0)), outcomes[:0].reshape(len(A), 0)
    found, squared = nearest(B, few, None if same else A)
    return np.asarray(squared, dtype=np.float64), outcomes[found]


def _person(own: NDArray[Any], tiles: list[Nearest], k: int, kind: str, width: float) -> Floats:
    """One minus the mean distance between a person's outcome and those of the k nearest of all partitions."""
    distances = np.concatenate([d for d, _ in tiles], axis=1)
    others = np.concatenate([o for _, o in tiles], axis=1)
    if len(own) and distances.shape[1] < k:
        raise IfairError(f"k must be less than the number of records, {distances.shape[1] + 1}; got {k}")
    # Partitions come in the order of the records, and a stable sort keeps it among equals.
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(others, order, axis=1)
    if kind == "label":
        apart = (own[:, None] != near).astype(np.float64)
    else:
        apart = np.abs(own[:, None].astype(np.float64) - near.astype(np.float64)) / width
        if not np.isfinite(apart).all():
            raise IfairError("outcomes hold missing or infinite values")
    return np.asarray(1 - apart.mean(axis=1))
