"""Everybody's nearest neighbours: searched, or given with -1 where there is nobody within reach."""

from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ifair.core.checked_numbers import check_matrix
from ifair.core.nearest import nearest
from ifair.core.neighbour_graph import check_others
from ifair.errors import IfairError
from ifair.metrics.arguments import Floats, Ints, split_by_query
from ifair.similarity import Peers, Similarity

NEIGHBOURS = 10


class PeerOptions(TypedDict, total=False):
    """Who is compared with whom; see :func:`ifair.metrics.consistency`."""

    k: int | None
    neighbours: ArrayLike | Peers | None
    similarity: Similarity | None
    query: Any
    n_jobs: int | None


def nearest_neighbours(X: ArrayLike, k: int = 10, *, query: Any = None, n_jobs: int | None = None) -> Ints:
    """The k nearest other records of every record, in Euclidean distance.

    Parameters
    ----------
    X : array or frame of shape (M, N)
        Scaled, non-protected attributes.
    k : int
        Less than M.
    query : labels of shape (M,), optional
        Search only among the candidates of the same query.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all cores.

    Returns
    -------
    neighbours : int array of shape (M, k)
        The nearest first, equally distant ones by their row number. A record is never its own neighbour,
        though its exact copies are.

    Notes
    -----
    Distances are equal when their squares agree to ten significant digits: distances that are equal in
    exact arithmetic, as between encoded categories, then tie whatever the order of the columns or the
    processor.

    The result is exact, and an M x M array is never made: see :mod:`ifair.core.nearest`. M^2 N / 2 multiplications;
    memory grows with M.

    Examples
    --------
    >>> from ifair.metrics import nearest_neighbours
    >>> nearest_neighbours([[0.0], [1.0], [3.0], [3.0]], k=2)
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    records = check_matrix(X)
    found = np.empty((len(records), k), dtype=np.intp)
    for _, rows in split_by_query(query, len(records)):
        if not 1 <= k < len(rows):
            raise IfairError(f"k must be at least 1 and less than the number of records, {len(rows)}; got {k}")
        found[rows] = rows[nearest(records[rows], k, n_jobs=n_jobs)[0]]
    return found


def resolve_neighbours(
    n_records: int,
    X: Any,
    k: int | None = None,
    neighbours: Any = None,
    query: Any = None,
    n_jobs: int | None = None,
    similarity: Similarity | None = None,
) -> Ints:
    """The given neighbours, checked, or those found in ``X``, shape (M, k); -1 where there is nobody within reach."""
    if (X is None) == (neighbours is None):
        raise IfairError("give either X, to search neighbours in, or neighbours")
    if similarity is not None:
        if X is None:
            raise IfairError("similarity searches neighbours in X, the table of people: leave neighbours out")
        neighbours = similarity.neighbours(X, n_neighbors=k, query=query)
    elif X is not None:
        neighbours = nearest_neighbours(X, NEIGHBOURS if k is None else k, query=query, n_jobs=n_jobs)
    near = np.asarray(neighbours.indices if isinstance(neighbours, Peers) else neighbours)
    if near.ndim != 2 or len(near) != n_records or not np.issubdtype(near.dtype, np.integer):
        raise IfairError(f"neighbours must be whole numbers of shape ({n_records}, k), got {near.shape}")
    if near.size and not (near.min() >= -1 and near.max() < n_records):
        raise IfairError("neighbours name records that do not exist")
    check_others(near)
    return near.astype(np.intp, copy=False)


def average_neighbours(values: Floats, neighbours: Ints) -> Floats:
    """Mean over each person's neighbours of values of shape (M, k); NaN for a person who has none, shape (M,)."""
    if neighbours.min(initial=0) >= 0:
        return np.asarray(values.mean(axis=1))
    known = neighbours >= 0
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1))
