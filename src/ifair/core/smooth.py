"""Scores that differ little between people who are alike: total variation on a graph, and its squared sibling.

Both minimise ``1/2 sum_i (s_i - p_i)^2 + strength * sum_ij W_ij f(s_i - s_j)`` over ordered pairs, with ``f = |.|`` or
``f = (.)^2``. An undirected edge e = {a, b} stands for two ordered pairs, so it counts ``c_e = 2 strength W_ab``.

Absolute differences, by the dual. With ``D`` the differences along edges, ``(D s)_e = s_a - s_b``, the dual minimises
``1/2 |p - D' z|^2`` over the box ``|z_e| <= c_e``, and ``s = p - D' z``. For any z in the box the duality gap is

    gap(z) = sum_e (c_e |(D s)_e| - z_e (D s)_e),

a sum of nonnegative terms. It bounds the error, ``|s - s*|^2 <= gap``: the primal is strongly convex, so that
``P(s) - P* >= 1/2 |s - s*|^2``, and the dual is in ``s``, so that ``P* - d(z) >= 1/2 |s - s*|^2``; they add up to the
gap. Both hold for every connected component by itself.

Steps. A projected gradient step ``z <- clip(z + T D s)`` with a diagonal T converges, and may be accelerated, if
``D D' <= T^-1``. For any positive numbers v_e with sums ``V_a`` over the edges at a person, ``T_e = v_e / (V_a + V_b)``
will do: by Cauchy and Schwarz ``(D' z)_a^2 <= V_a sum_{e at a} z_e^2 / v_e``, and the sum over people counts every
edge at both ends, ``|D' z|^2 <= sum_e z_e^2 (V_a + V_b) / v_e``. With v = 1 these are ``1 / (deg_a + deg_b)``; here
``v = W``, so that an edge's step is in proportion to the box that it moves in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ifair.core.arrays import Array, Indices, namespace
from ifair.core.edges import Edges

CHECK_EVERY = 10
"""Iterations between two looks at the gap, for which a device is waited for."""


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Scores, how far they may be from the minimiser, and what certifies it."""

    scores: Array  # (M,)
    objective: float
    gap: float
    """At most so much is the objective above its minimum; for absolute differences ``|s - s*|^2 <= gap`` too."""
    n_iter: int
    converged: bool
    dual: Array | None = None  # (E,), absolute differences only


def smooth_absolute(
    p: Array, edges: Edges, strength: float, *, tol: float, max_iter: int, start: Array | None = None
) -> Smoothed:
    """Minimise ``1/2 |s - p|^2 + strength * sum_ij W_ij |s_i - s_j|``.

    Accelerated projected gradient on the dual, with a step of its own for every edge. The momentum starts anew when it
    points uphill. ``tol`` is the gap, as a share of the objective, at which to stop; ``start``, of shape (E,), a dual
    solution to start from.
    """
    xp, D = namespace(p), edges.operator()
    box = 2.0 * strength * edges.weight
    if len(box) == 0:
        return Smoothed(p + 0.0, 0.0, 0.0, 0, True, box)
    degree = D.sums(edges.weight)
    step = edges.weight / (degree[edges.first] + degree[edges.second])
    per_step, low = 1.0 / step, -box
    z = xp.zeros_like(box) if start is None else xp.minimum(xp.maximum(start, low), box)
    s = p - D.out_of(z)
    ahead, s_ahead, t = z + 0.0, s, 1.0  # where the momentum leads, and the scores there
    spare = xp.empty_like(box)
    on_host = xp is np

    def look() -> tuple[float, float]:
        slope = D.along(s, out=spare)
        total = (box * xp.abs(slope)).sum()
        gap, objective = total - (z * slope).sum(), 0.5 * ((s - p) ** 2).sum() + total
        return (float(gap), float(objective)) if on_host else tuple(xp.stack([gap, objective]).tolist())

    # Below this the gap is made of rounding.
    floor = 8 * float(np.finfo(np.float64).eps) * float(box.sum() * xp.abs(p).max())
    gap, objective = look()
    n_iter = 0
    while gap > max(tol * objective, floor) and n_iter < max_iter:
        for _ in range(CHECK_EVERY):
            n_iter += 1
            new = D.along(s_ahead, out=spare)
            new *= step
            new += ahead
            xp.maximum(new, low, out=new)
            xp.minimum(new, box, out=new)
            s_new = p - D.out_of(new)
            moved = xp.subtract(new, z, out=z)
            ahead -= new
            ahead *= per_step
            uphill: Any = _dot(ahead, moved) > 0
            t_next = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
            if on_host:
                momentum, t = (0.0, 1.0) if uphill else ((t - 1.0) / t_next, t_next)
            else:  # decided on the device, which is not waited for
                calm = 1.0 - uphill.double()
                momentum, t = calm * (t - 1.0) / t_next, calm * t_next + (1.0 - calm)
            s_ahead = s_new + momentum * (s_new - s)
            moved *= momentum
            xp.add(new, moved, out=ahead)
            z, spare, s = new, moved, s_new
        gap, objective = look()
    # Nobody's score leaves the range of all scores at the minimum; a solution that does is drawn back, to its good.
    s = xp.clip(s, p.min(), p.max())
    return Smoothed(s, objective, max(gap, 0.0), n_iter, gap <= max(tol * objective, floor), z)


def smooth_squared(p: Array, edges: Edges, strength: float, *, tol: float, max_iter: int) -> Smoothed:
    """Minimise ``1/2 |s - p|^2 + strength * sum_ij W_ij (s_i - s_j)^2``.

    The minimiser solves ``(I + 4 strength L) s = p`` with the Laplacian ``L = diag(W 1) - W``; conjugate gradients,
    scaled by the diagonal. The objective is strongly convex: it is at most ``1/2 |r|^2`` above its minimum, r being the
    residual.
    """
    xp, D = namespace(p), edges.operator()
    weight = 4.0 * strength * edges.weight
    work = xp.empty_like(weight)

    def laplacian(s: Array) -> Array:
        slope = D.along(s, out=work)
        slope *= weight
        return D.out_of(slope)

    diagonal = 1.0 + D.sums(weight)
    s = p + 0.0
    residual = -laplacian(s)
    scaled = residual / diagonal
    direction, product = scaled, float(_dot(residual, scaled))

    def look() -> tuple[float, float]:
        # 1/2 |s - p|^2 + 1/2 s' (4 strength L) s with 4 strength L s = p - s - residual.
        objective = 0.5 * float(_dot(s - p, s - p)) + 0.5 * float(_dot(s, p - s - residual))
        return 0.5 * float(_dot(residual, residual)), max(0.0, objective)

    gap, objective = look()
    n_iter = 0
    while gap > tol * objective and n_iter < max_iter:
        n_iter += 1
        image = direction + laplacian(direction)
        along = product / float(_dot(direction, image))
        s = s + along * direction
        residual = residual - along * image
        scaled = residual / diagonal
        product, before = float(_dot(residual, scaled)), product
        direction = scaled + (product / before) * direction
        gap, objective = look()
    if n_iter:  # the residual that was updated may have drifted from the true one
        residual = p - s - laplacian(s)
        gap, objective = look()
    return Smoothed(s, objective, gap, n_iter, gap <= 2 * tol * objective)


def _dot(a: Array, b: Array) -> Array:
    """``a @ b`` without the threads of BLAS, which take longer to wake than such a sum."""
    return np.einsum("i,i->", a, b) if isinstance(a, np.ndarray) else a @ b


def component_means(p: Array, component: Indices) -> Array:
    """Everybody's score is the mean of their connected component: what an infinite strength leaves."""
    size = np.bincount(component)
    return np.where(size[component] == 1, p, (np.bincount(component, p) / size)[component])


def newcomer_absolute(p: Array, near: Array, pull: Array) -> Array:
    """Minimise ``1/2 (s - p)^2 + sum_j pull_j |s - near_j|`` for every row.

    The derivative grows by 2 pull_j at near_j, so that the minimiser is the median of the 2 k + 1 numbers
    near_1 <= ... <= near_k and ``p + sum_{j > i} pull_j - sum_{j <= i} pull_j`` for i = 0 ... k.
    """
    row, order = np.arange(len(p))[:, None], np.argsort(near, axis=1, kind="stable")
    near, pull = near[row, order], pull[row, order]
    below = np.zeros((len(p), near.shape[1] + 1))
    np.cumsum(pull, axis=1, out=below[:, 1:])
    pulled = p[:, None] + (below[:, -1:] - 2.0 * below)
    return np.asarray(np.partition(np.concatenate([near, pulled], axis=1), near.shape[1], axis=1)[:, near.shape[1]])


def newcomer_squared(p: Array, near: Array, pull: Array) -> Array:
    """Minimise ``1/2 (s - p)^2 + sum_j pull_j (s - near_j)^2`` for every row: a weighted mean."""
    return np.asarray((p + 2.0 * np.einsum("ij,ij->i", pull, near)) / (1.0 + 2.0 * pull.sum(axis=1)))


def newcomer_limit(p: Array, near: Array, weight: Array, penalty: str) -> Array:
    """What an infinite strength leaves: a weighted mean, or the weighted median that is nearest to p."""
    total = weight.sum(axis=1)
    if penalty == "squared":
        return np.asarray(np.where(total > 0, (weight * near).sum(axis=1) / np.where(total > 0, total, 1.0), p))
    order = np.argsort(np.where(weight > 0, near, np.inf), axis=1, kind="stable")
    near = np.take_along_axis(near, order, axis=1)
    share = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1) / np.where(total > 0, total, 1.0)[:, None]
    rounding = 1e-12
    low = np.take_along_axis(near, np.argmax(share >= 0.5 - rounding, axis=1)[:, None], axis=1)[:, 0]
    high = np.take_along_axis(near, np.argmax(share > 0.5 + rounding, axis=1)[:, None], axis=1)[:, 0]
    return np.asarray(np.where(total > 0, np.clip(p, low, high), p))


PENALTIES: dict[str, Callable[..., Smoothed]] = {"absolute": smooth_absolute, "squared": smooth_squared}
