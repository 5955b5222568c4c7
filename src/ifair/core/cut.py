"""The best way to decide about people who are alike: an exact minimum cut.

Maximise ``sum_i g_i y_i - strength * sum_ij W_ij |y_i - y_j|`` over y in {0, 1} and ordered pairs. The smallest
maximiser is ``{i: s_i > 0}``, s being the gains smoothed with absolute differences (Hochbaum 2001; Chambolle
and Darbon 2009). A computed s is within ``sqrt(gap)`` of the exact one, so nearly all people are decided; the few
others are settled by a maximum flow in whole numbers, where the decided ones only shift their neighbours' gains.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ifair.core.arrays import Array, Indices, Mask, to_host
from ifair.core.edges import Edges, components, on_host, to_kind_of
from ifair.core.smooth import smooth_absolute

GAPS = (1e-6, 1e-9, 1e-12)
"""Relative gaps to smooth to, one after the other, while more than FEW people are undecided."""

MOST_ITERATIONS = 10_000
FEW = 3000
LARGEST = 2**30
"""Capacities that a maximum flow in 32 bits can take."""

Ints = np.ndarray[Any, np.dtype[np.object_]]
"""Whole numbers of any size."""


def best_decision(gains: Array, edges: Edges, strength: float) -> Mask:
    """The smallest maximiser, exact for the numbers as they are: gains and ``2 * strength * W_ij`` in double precision.

    Edges may be on a device, where the gains are then smoothed.
    """
    there, edges = edges, on_host(edges)
    component = components(edges)
    if math.isinf(strength):
        return component_gains_are_positive(gains, component)
    if strength == 0 or len(edges.first) == 0:
        return gains > 0
    dual = None
    for tol in GAPS:
        sent = to_kind_of(there.weight, gains)
        smoothed = smooth_absolute(sent, there, strength, tol=tol, max_iter=MOST_ITERATIONS, start=dual)
        scores, dual = to_host(smoothed.scores), smoothed.dual
        error = score_errors(gains, edges, strength, to_host(dual), component)
        undecided = np.abs(scores) <= error
        if np.count_nonzero(undecided) <= FEW:
            break
    chosen = scores > error
    rest = np.flatnonzero(undecided)
    if len(rest):
        chosen[rest] = settle(gains, edges, strength, chosen, rest)
    return chosen


def component_gains_are_positive(gains: Array, component: Indices) -> Mask:
    """Whether the exact sum of the gains of everybody's component is positive: infinite strength."""
    order = np.argsort(component, kind="stable")
    parts = np.split(gains[order], np.cumsum(np.bincount(component))[:-1])
    return np.array([math.fsum(part) > 0 for part in parts], dtype=bool)[component]


def score_errors(gains: Array, edges: Edges, strength: float, dual: Array, component: Indices) -> Array:
    """How far each score may be from the exact one: the root of its component's gap, rounding included."""
    eps, n = float(np.finfo(np.float64).eps), edges.n_people
    a, b, box = edges.first, edges.second, 2.0 * strength * edges.weight
    flow = np.bincount(a, dual, minlength=n) - np.bincount(b, dual, minlength=n)
    scores = gains - flow
    # What rounding can do to a score, and by way of both ends of an edge to its part of the gap.
    degree = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    held = np.bincount(a, box, minlength=n) + np.bincount(b, box, minlength=n)
    rounding = 2 * eps * (degree + 2) * (np.abs(gains) + held)
    slope = scores[a] - scores[b]
    part = box * np.abs(slope) - dual * slope
    part = np.maximum(part, 0.0) + 2 * box * (rounding[a] + rounding[b]) + 8 * eps * box * np.abs(slope)
    gap = np.bincount(component[a], part, minlength=int(component.max()) + 1) * (1 + 1e-9)
    # Scores were drawn into the range of the gains, which only brings them nearer.
    return np.asarray(np.sqrt(gap)[component] + 2 * rounding)


def settle(gains: Array, edges: Edges, strength: float, chosen: Mask, rest: Indices) -> Mask:
    """The smallest best decision about some people (``rest``), those about all others being given."""
    position = np.full(edges.n_people, -1, dtype=np.intp)
    position[rest] = np.arange(len(rest))
    box = 2.0 * strength * edges.weight
    near = (position[edges.first] >= 0) | (position[edges.second] >= 0)
    a, b = edges.first[near], edges.second[near]
    numbers = whole_numbers(np.concatenate([gains[rest], box[near]]))
    worth, capacity = numbers[: len(rest)].copy(), numbers[len(rest) :]
    inside = (position[a] >= 0) & (position[b] >= 0)
    for here, there in ((a, b), (b, a)):
        border = (position[here] >= 0) & (position[there] < 0)
        signed = np.where(chosen[there[border]], capacity[border], -capacity[border])
        np.add.at(worth, position[here[border]], signed)
    return maximum_closure(worth, position[a[inside]], position[b[inside]], capacity[inside])


def whole_numbers(values: Array) -> Ints:
    """Doubles times one power of two that makes all of them whole numbers: without any error."""
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = int(exponent[digits != 0].min(initial=0))
    pairs = zip(digits.tolist(), exponent.tolist())
    result = np.empty(len(values), dtype=object)
    result[:] = [digit << (power - lowest) if digit else 0 for digit, power in pairs]
    return result


def maximum_closure(worth: Ints, a: Indices, b: Indices, capacity: Ints) -> Mask:
    """The smallest y that maximises ``sum worth_i y_i - sum_e capacity_e |y_a - y_b|``, in whole numbers of any size.

    Who gains is supplied by a source, who loses drains into a sink; the people that the source still reaches when the
    flow is at its maximum are the smallest best set. SciPy's flow has 32 bits, so it is found in rounds: capacities
    rounded down to a unit, then what is left of them with a smaller unit. After a round a cut is left with less than
    one unit on each of its arcs, so that the rest of the flow is less than arcs times unit: larger capacities need not
    be told apart. The last unit is 1, and the flow exact.
    """
    n = len(worth)
    everyone = np.arange(n)
    # SciPy's flow before 1.15 takes no other integers.
    tail = np.concatenate([a, np.full(n, n), everyone]).astype(np.int32)
    head = np.concatenate([b, everyone, np.full(n, n + 1)]).astype(np.int32)
    zero = np.zeros(2 * n, dtype=object)
    forth = np.concatenate([capacity, np.maximum(worth, 0), np.maximum(-worth, 0)])
    back = np.concatenate([capacity, zero])
    left = sum(np.maximum(worth, 0).tolist())  # no more than this flows
    while left > 0:
        unit = 1 << max(0, left.bit_length() - LARGEST.bit_length() + 1)
        rounded = [(np.minimum(part, left) // unit).astype(np.int32) for part in (forth, back)]
        graph = sparse.coo_array(
            (np.concatenate(rounded), (np.concatenate([tail, head]), np.concatenate([head, tail]))),
            shape=(n + 2, n + 2),
        ).tocsr()
        flow = csgraph.maximum_flow(sparse.csr_matrix(graph), n, n + 1).flow
        moved = np.asarray(flow[tail, head]).ravel().astype(object) * unit
        forth, back = forth - moved, back + moved
        left = 0 if unit == 1 else 2 * len(tail) * unit
    open_forth, open_back = forth > 0, back > 0
    starts = np.concatenate([tail[open_forth], head[open_back]])
    ends = np.concatenate([head[open_forth], tail[open_back]])
    links = sparse.csr_array((np.ones(len(starts), dtype=np.int8), (starts, ends)), shape=(n + 2, n + 2))
    reached = np.zeros(n + 2, dtype=bool)
    reached[csgraph.breadth_first_order(links, n, return_predecessors=False)] = True
    return reached[:n]
