"""Graphs of people who are alike, and what follows from them: smoothed scores and the best consistent decisions.

The method is written down in the mathematics, under "Consistent decisions". Arrays of NumPy give arrays of NumPy and
graphs of SciPy; tensors of PyTorch are worked on where they are.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.core import cut
from ifair.core import smooth as core
from ifair.core.arrays import is_tensor, to_host
from ifair.core.checked_numbers import check_floats, check_matrix
from ifair.core.edges import components, edges_of, on_host, to_kind_of
from ifair.core.nearest import Reference
from ifair.core.neighbour_graph import check_others, graph_of, search_neighbours, squared_reach, tensor_graph_of
from ifair.errors import IfairError, check_choice, warn_user

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

__all__ = [
    "NeighbourIndex",
    "Selection",
    "Smoothing",
    "minimum_cut",
    "neighbour_graph",
    "newcomer_scores",
    "select",
    "smooth",
    "smooth_with_certificate",
]


def neighbour_graph(
    X: Any = None,
    n_neighbors: int = 10,
    *,
    weights: ArrayLike | None = None,
    reach: float | None = None,
    query: Any = None,
    neighbours: ArrayLike | None = None,
    device: Any = None,
    n_jobs: int | None = None,
    approximate: bool = False,
) -> Any:
    """Who is like whom: the symmetric graph ``W = (A + A') / 2k`` of the k nearest neighbours.

    ``A_ij = 1`` if j is one of the k nearest others of i. With these weights ``sum_ij W_ij |y_i - y_j| = M (1 - yNN)``.

    Parameters
    ----------
    X : array, frame or tensor of shape (M, N)
        Scaled attributes that may count, without the protected ones. Exact copies of a person are neighbours at a
        distance of zero.
    n_neighbors : int
        k, less than M. In a query of k people or fewer everybody else of it is a neighbour.
    weights : array of shape (N,), optional
        How much each column counts in the squared distance; 0 leaves it out.
    reach : float, optional
        A caliper: people further apart are no neighbours. Who has nobody within reach, and is in nobody's reach, is
        isolated. Weights stay ``1 / 2k``.
    query : labels of shape (M,), optional
        For rankings: edges only between candidates of the same query.
    neighbours : int array of shape (M, k), optional
        Instead of ``X``: neighbours that were searched elsewhere; a negative number stands for nobody, and nobody is
        their own. ``n_neighbors`` is then their number.
    device : str or torch.device, optional
        Search on this device of PyTorch. By default where ``X`` is.
    n_jobs : int or None
        Threads on a processor, as in scikit-learn: None is one, -1 all cores.
    approximate : bool
        Search by cells of faiss (the extra ``approximate``), on processors: quicker for hundreds of thousands of
        people, and some of the nearest are missed. Repeatable.

    Returns
    -------
    scipy.sparse.csr_array of shape (M, M), or a sparse CSR tensor on its device if X is a tensor

    Notes
    -----
    Exact unless asked otherwise, also on a device, and the same in both places: distances are compared to ten
    significant digits, equally near people by their row. Memory grows with M.

    Examples
    --------
    >>> from ifair.graph import neighbour_graph
    >>> neighbour_graph([[0.0], [1.0], [3.0], [3.5]], n_neighbors=1).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    if neighbours is not None:
        index = np.asarray(neighbours)
        if X is not None or query is not None or reach is not None or weights is not None:
            raise IfairError("neighbours stand instead of X, and of weights, reach and query of its search")
        if index.ndim != 2 or index.dtype.kind not in "iu" or index.max(initial=-1) >= len(index):
            raise IfairError(
                f"neighbours must be row numbers of shape (M, k), less than M; got shape {index.shape}, {index.dtype}"
            )
        check_others(index)
        return graph_of(index, index.shape[1])
    as_tensor = is_tensor(X)
    records = _scale_columns(X.double() if as_tensor else check_matrix(X), weights)
    if device is not None:
        import torch

        records = torch.as_tensor(records if as_tensor else np.ascontiguousarray(records), device=device)
    index = search_neighbours(records, n_neighbors, reach, query, n_jobs, approximate)
    return tensor_graph_of(index, n_neighbors) if as_tensor else graph_of(to_host(index), n_neighbors)


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Smoothed scores with the proof of how good they are.

    Attributes
    ----------
    scores : array of shape (M,) or (M, C)
    gap : float
        The objective is at most so much above its minimum; the largest of all columns.
    relative_gap : float
        The same as a share of the objective.
    error : float
        No score is further than this from that of the exact minimiser.
    n_iter : int
        Iterations, of the column that took most.
    converged : bool
        Whether the relative gap is within the tolerance.
    """

    scores: Any
    gap: float
    relative_gap: float
    error: float
    n_iter: int
    converged: bool


def smooth(
    scores: Any, graph: Any, strength: float, penalty: str = "absolute", *, tol: float = 1e-5, max_iter: int = 10_000
) -> Any:
    """Scores that stay near the given ones and differ little between people who are alike.

    The minimiser of ``1/2 sum_i (s_i - p_i)^2 + strength * sum_ij W_ij |s_i - s_j|`` over ordered pairs, or with
    ``(s_i - s_j)^2``.

    Parameters
    ----------
    scores : array or tensor of shape (M,) or (M, C)
        Probabilities or scores p of any model; every column is smoothed by itself.
    graph : sparse matrix or CSR tensor of shape (M, M)
        Symmetric weights W, as of :func:`neighbour_graph`.
    strength : float
        At 0 nothing changes, to the last bit; at infinity everybody gets the mean of their connected component.
    penalty : {"absolute", "squared"}
        "absolute" is graph total variation: for every threshold t, ``s > t`` is the best of all ways to decide
        (:func:`minimum_cut` of ``p - t``). "squared" is one linear system, and GLIF's penalty.
    tol : float
        Stop at a duality gap of so much of the objective.
    max_iter : int
        Warn (``ConvergenceWarning``) if the gap is not reached in so many iterations.

    Returns
    -------
    float64 array or tensor like ``scores``

    References
    ----------
    Those of :class:`ifair.ConsistentClassifier`.

    Examples
    --------
    >>> from ifair.graph import neighbour_graph, smooth
    >>> graph = neighbour_graph([[0.0], [1.0], [3.0], [3.5]], n_neighbors=1)
    >>> smooth([0.2, 0.4, 0.9, 0.5], graph, strength=0.05).round(3)
    array([0.3, 0.3, 0.8, 0.6])
    """
    return smooth_with_certificate(scores, graph, strength, penalty, tol=tol, max_iter=max_iter).scores


def smooth_with_certificate(
    scores: Any, graph: Any, strength: float, penalty: str = "absolute", *, tol: float = 1e-5, max_iter: int = 10_000
) -> Smoothing:
    """:func:`smooth`, with the duality gap and what it proves.

    Parameters
    ----------
    scores, graph, strength, penalty, tol, max_iter
        As of :func:`smooth`.

    Examples
    --------
    >>> from ifair.graph import neighbour_graph, smooth_with_certificate
    >>> graph = neighbour_graph([[0.0], [1.0], [3.0], [3.5]], n_neighbors=1)
    >>> smooth_with_certificate([0.2, 0.4, 0.9, 0.5], graph, strength=0.05, tol=1e-9).error < 1e-4
    True
    """
    _check_rule(strength, penalty)
    as_tensor = is_tensor(scores)
    values = scores.double() if as_tensor else check_floats(scores, "scores")
    if values.ndim not in (1, 2):
        raise IfairError(f"scores must have one or two dimensions, got the shape {tuple(values.shape)}")
    edges = edges_of(graph, len(values), scores.device if as_tensor else None)
    if strength == 0:
        return Smoothing(values + 0, 0.0, 0.0, 0.0, 0, True)
    if math.isinf(strength):
        component = components(on_host(edges))
        columns = [core.component_means(column, component) for column in _columns(to_host(values))]
        return Smoothing(_restore_form(columns, values), 0.0, 0.0, 0.0, 0, True)
    found = [
        core.PENALTIES[penalty](to_kind_of(edges.weight, column), edges, strength, tol=tol, max_iter=max_iter)
        for column in _columns(values)
    ]
    converged = all(result.converged for result in found)
    if not converged:
        from sklearn.exceptions import ConvergenceWarning

        share = max(result.gap / result.objective for result in found if result.objective > 0)
        warn_user(
            f"the smoothed scores are within a relative gap of {share:.1e}, not tol={tol}, after {max_iter} "
            "iterations: raise max_iter or tol",
            ConvergenceWarning,
        )
    # The squared objective is strongly convex, gap >= 1/2 |s - s*|^2; the dual doubles that of the absolute one.
    largest = max((result.gap for result in found), default=0.0)
    return Smoothing(
        _restore_form([result.scores for result in found], values),
        largest,
        max((result.gap / result.objective for result in found if result.objective > 0), default=0.0),
        math.sqrt(largest if penalty == "absolute" else 2.0 * largest),
        max((result.n_iter for result in found), default=0),
        converged,
    )


def minimum_cut(gains: Any, graph: Any, strength: float) -> Any:
    """The best decision about everybody at once.

    The maximiser of ``sum_i gains_i y_i - strength * sum_ij W_ij |y_i - y_j|`` over all 2^M decisions y in {0, 1} and
    ordered pairs. If several are equally good, the smallest of them, which is contained in all others: nobody is
    chosen without need.

    Parameters
    ----------
    gains : array or tensor of shape (M,)
        What choosing a person brings, such as ``p - t`` for a probability p and a threshold t.
    graph : sparse matrix or CSR tensor of shape (M, M)
        Symmetric weights W, as of :func:`neighbour_graph`.
    strength : float
        At infinity, connected people are decided about alike.

    Returns
    -------
    bool array of shape (M,), or a tensor if ``gains`` is one

    Notes
    -----
    Exact for the numbers as they are in double precision: smoothed gains decide about nearly everybody, by a bound that
    the duality gap proves, and a maximum flow in whole numbers settles the rest. Decisions are nested: with higher
    gains for all, nobody drops out.

    Examples
    --------
    >>> from ifair.graph import minimum_cut, neighbour_graph
    >>> graph = neighbour_graph([[0.0], [1.0], [2.5], [9.0], [9.5]], n_neighbors=1)
    >>> minimum_cut([0.3, -0.1, 0.2, -0.3, 0.1], graph, strength=0.2)
    array([ True,  True,  True, False, False])
    """
    _check_rule(strength)
    values = check_floats(to_host(gains), "gains")
    if values.ndim != 1:
        raise IfairError(f"gains must be one-dimensional, got the shape {values.shape}")
    edges = edges_of(graph, len(values), gains.device if is_tensor(gains) else None)
    return _restore_form([cut.best_decision(values, edges, strength)], gains)


@dataclass(frozen=True, slots=True)
class Selection:
    """Who is chosen, where the line was drawn, and who stands on it.

    Attributes
    ----------
    chosen : bool array of shape (M,)
    threshold : float
        Scores above it are chosen; those at it are tied.
    tied : bool array of shape (M,)
        People whose scores cannot be told from the threshold, some of whom were chosen by priority or row and others
        not. Nobody, if the line runs between two scores.
    """

    chosen: Bools
    threshold: float
    tied: Bools


def select(
    scores: ArrayLike,
    *,
    threshold: float | None = None,
    rate: float | None = None,
    n: int | None = None,
    priority: ArrayLike | None = None,
    tolerance: float = 0.0,
) -> Selection:
    """Choose people by their (smoothed) scores: above a threshold, a share of all, or a number of places.

    Parameters
    ----------
    scores : array of shape (M,)
    threshold, rate, n
        Exactly one of them. ``rate`` is a share in [0, 1], rounded to the nearest number of people. With a
        threshold nobody at it is chosen, as in :func:`minimum_cut`.
    priority : array of shape (M,), optional
        Who comes first among tied people, higher first; such as the scores before smoothing. Then the row decides.
    tolerance : float
        Scores so close to the line cannot be told from it, as the ``error`` of a :class:`Smoothing`.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from ifair.graph import select
    >>> selection = select([0.9, 0.6, 0.6, 0.1], n=2)
    >>> selection.chosen, selection.tied
    (array([ True,  True, False, False]), array([False,  True,  True, False]))
    """
    values = check_floats(scores, "scores")
    if values.ndim != 1:
        raise IfairError(f"scores must be one-dimensional, got the shape {values.shape}")
    if sum(given is not None for given in (threshold, rate, n)) != 1:
        raise IfairError("give exactly one of threshold, rate and n")
    if threshold is not None:
        return Selection(values > threshold, float(threshold), np.abs(values - threshold) <= tolerance)
    if rate is not None:
        if not 0 <= rate <= 1:
            raise IfairError(f"rate must be a share from 0 to 1, got {rate}")
        n = math.floor(rate * len(values) + 0.5)
    assert n is not None
    if not isinstance(n, int | np.integer) or not 0 <= n <= len(values):
        raise IfairError(f"n must be from 0 to the number of people, {len(values):,}; got {n}")
    descending = np.sort(values)[::-1]
    nobody = np.zeros(len(values), dtype=bool)
    if n == 0:
        return Selection(nobody, float(descending[0]) if len(values) else math.inf, nobody)
    if n == len(values):
        return Selection(~nobody, -math.inf, nobody)
    last, following = float(descending[n - 1]), float(descending[n])
    if last - following > tolerance:
        return Selection(values >= last, 0.5 * (last + following), nobody)
    tied = np.abs(values - last) <= tolerance
    chosen = (values > last) & ~tied
    first = np.zeros(len(values)) if priority is None else check_floats(priority, "priority")
    if first.shape != values.shape:
        raise IfairError(f"priority must be of shape {values.shape}, one for each score; got {first.shape}")
    queue = np.flatnonzero(tied)
    queue = queue[np.lexsort((queue, -first[queue]))]
    chosen[queue[: n - np.count_nonzero(chosen)]] = True
    return Selection(chosen, last, tied)


def newcomer_scores(
    scores: ArrayLike,
    neighbour_scores: ArrayLike,
    strength: float,
    *,
    weights: ArrayLike | None = None,
    n_neighbors: int | None = None,
    penalty: str = "absolute",
) -> NDArray[np.floating[Any]]:
    """The smoothed score of new people, each by themselves, from their nearest people in a reference population.

    The minimiser of ``1/2 (s - p)^2 + (2 strength / k) sum_j w_j |s - s_j|``: the median of the 2k + 1 numbers
    s_1 <= ... <= s_k and ``p + (2 strength / k) (sum_{j > i} w_j - sum_{j <= i} w_j)``, i = 0 ... k. With squared
    differences it is a weighted mean.

    Parameters
    ----------
    scores : array of shape (Q,)
        What the model says of the newcomers.
    neighbour_scores : array of shape (Q, k)
        Smoothed scores of their nearest in the reference.
    strength : float
        That of the reference. At infinity, the median of the neighbours that is nearest to ``scores``, or their mean.
    weights : array of shape (Q, k), optional
        How much each neighbour counts; 0 for nobody (not within reach), whatever the score there. By default 1.
    n_neighbors : int, optional
        k of the rule, by default the number of columns.
    penalty : {"absolute", "squared"}

    Returns
    -------
    array of shape (Q,)

    Examples
    --------
    >>> from ifair.graph import newcomer_scores
    >>> newcomer_scores([0.9, 0.9], [[0.2, 0.3, 0.4], [0.8, 0.9, 0.9]], strength=0.1).round(3)
    array([0.7, 0.9])
    """
    _check_rule(strength, penalty)
    p, near = check_floats(scores, "scores"), np.asarray(neighbour_scores, dtype=np.float64)
    if p.ndim != 1 or near.ndim != 2 or len(near) != len(p):
        raise IfairError(
            f"one row of neighbour_scores per score is expected, got the shapes {near.shape} and {p.shape}"
        )
    weight = np.ones(near.shape) if weights is None else check_floats(weights, "weights")
    weight = weight if weight.shape == near.shape else np.broadcast_to(weight, near.shape)
    if weight.min(initial=0.0) < 0:
        raise IfairError("weights must not be negative")
    near = np.where(weight > 0, near, p[:, None])
    if not np.isfinite(near).all():
        raise IfairError("neighbour_scores holds missing or infinite values where the weight is not 0")
    if strength == 0 or near.shape[1] == 0:
        return p + 0
    if math.isinf(strength):
        return core.newcomer_limit(p, near, weight, penalty)
    pull = (2.0 * strength / (n_neighbors or near.shape[1])) * weight
    return core.newcomer_absolute(p, near, pull) if penalty == "absolute" else core.newcomer_squared(p, near, pull)


class NeighbourIndex:
    """A reference population, prepared once, in which the nearest of new people are found exactly.

    Parameters
    ----------
    reference : array or frame of shape (M, N)
        Scaled attributes that may count.
    weights : array of shape (N,), optional
        As of :func:`neighbour_graph`.
    reach : float, optional
        As of :func:`neighbour_graph`.

    Examples
    --------
    >>> from ifair.graph import NeighbourIndex
    >>> index, distance = NeighbourIndex([[0.0], [1.0], [5.0]], reach=2.0).nearest([[0.9], [4.0]], n_neighbors=2)
    >>> index
    array([[ 1,  0],
           [ 2, -1]])
    """

    def __init__(self, reference: Any, *, weights: ArrayLike | None = None, reach: float | None = None) -> None:
        self.weights, self.reach = weights, reach
        self._reference = Reference.from_records(_scale_columns(check_matrix(reference), weights))

    def nearest(self, X: Any, n_neighbors: int = 10, *, n_jobs: int | None = None) -> tuple[NDArray[np.intp], Floats]:
        """Rows of the reference, the nearest first, and their distances; -1 and infinity beyond reach.

        Parameters
        ----------
        X : array or frame of shape (Q, N)
        n_neighbors : int
            At most M.
        """
        n_reference = len(self._reference.copies.rows)
        if not 1 <= n_neighbors <= n_reference:
            raise IfairError(
                f"n_neighbors must be from 1 to the size of the reference, {n_reference}; got {n_neighbors}"
            )
        people = _scale_columns(check_matrix(X), self.weights)
        if people.shape[1] != len(self._reference.mean):
            raise IfairError(
                f"X has {people.shape[1]} columns that count, and the reference {len(self._reference.mean)}"
            )
        index, squared = self._reference.nearest(people, n_neighbors, n_jobs)
        if self.reach is not None:
            beyond = squared > squared_reach(self.reach)
            index, squared = np.where(beyond, -1, index), np.where(beyond, np.inf, squared)
        return index, np.sqrt(squared)


def _scale_columns(records: Any, weights: ArrayLike | None) -> Any:
    if weights is None:
        return records
    factor = check_floats(weights, "weights")
    if factor.shape != (records.shape[1],) or factor.min(initial=0.0) < 0:
        raise IfairError(
            f"weights must be {records.shape[1]} numbers, one per column, none negative; got shape {factor.shape}"
        )
    used = factor > 0
    if isinstance(records, np.ndarray):
        return records[:, used] * np.sqrt(factor[used])
    import torch

    keep, root = torch.from_numpy(used).to(records.device), torch.from_numpy(np.sqrt(factor[used])).to(records.device)
    return records[:, keep] * root


def _check_rule(strength: float, penalty: str = "absolute") -> None:
    check_choice("penalty", penalty, core.PENALTIES)
    if not strength >= 0:
        raise IfairError(f"strength must be a number that is not negative, or infinity; got {strength}")


def _columns(values: Any) -> list[Any]:
    return [values] if values.ndim == 1 else [values[:, c] + 0 for c in range(values.shape[1])]


def _restore_form(columns: list[Any], values: Any) -> Any:
    """Columns in the shape and kind of what they came from."""
    if is_tensor(values):
        import torch

        tensors = [torch.as_tensor(column, device=values.device) for column in columns]
        return tensors[0] if values.ndim == 1 else torch.stack(tensors, dim=1).reshape(values.shape)
    arrays = [to_host(column) for column in columns]
    return arrays[0] if np.ndim(values) == 1 else np.stack(arrays, axis=1).reshape(np.shape(values))
