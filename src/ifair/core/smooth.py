"""Scores that differ little between people who are alike: total variation on a graph, and its squared sibling.

Both minimise ``1/2 sum_i (s_i - p_i)^2 + strength * sum_ij W_ij f(s_i - s_j)`` over ordered pairs, with ``f = |.|`` or
``f = (.)^2``. An undirected edge e = {a, b} stands for two ordered pairs, so it counts ``c_e = 2 strength W_ab``.

Absolute differences, by the dual. With ``D`` the differences along edges, ``(D s)_e = s_a - s_b``, the dual is to minimise
``1/2 |p - D' z|^2`` over the box ``|z_e| <= c_e``, and ``s = p - D' z``. For any z in the box the duality gap is

    gap(z) = sum_e (c_e |(D s)_e| - z_e (D s)_e),

a sum of nonnegative terms. It bounds the error, ``|s - s*|^2 <= gap``: the primal is strongly convex, so that
``P(s) - P* >= 1/2 |s - s*|^2``, and the dual is in ``s``, so that ``P* - d(z) >= 1/2 |s - s*|^2``; the two add up to the
gap. Both hold for every connected component by itself.

Steps. A projected gradient step ``z <- clip(z + T D s)`` with a diagonal T converges, and may be accelerated, if
``D D' <= T^-1``. For any positive numbers v_e with sums ``V_a`` over the edges at a person, ``T_e = v_e / (V_a + V_b)``
will do: by Cauchy and Schwarz ``(D' z)_a^2 <= V_a sum_{e at a} z_e^2 / v_e``, and summing over people counts edge e twice,
``|D' z|^2 <= sum_e z_e^2 (V_a + V_b) / v_e``. With v = 1 these are ``1 / (deg_a + deg_b)``; with ``v = c`` an edge's step
is in proportion to the box that it moves in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ifair.core.arrays import Array, Indices, namespace

CHECK_EVERY = 10
"""Iterations between two looks at the gap, for which a device is waited for."""


@dataclass(frozen=True, slots=True)
class Edges:
    """An undirected graph of M people: every edge once, with its weight ``W_ab = W_ba``."""

    first: Indices  # (E,)
    second: Indices  # (E,)
    weight: Array  # (E,), positive
    n_people: int

    def operator(self) -> "Differences":
        return Differences(self) if isinstance(self.weight, np.ndarray) else TensorDifferences(self)


class Differences:
    """``D s``, the differences along edges, and ``D' z``, what flows out of people."""

    def __init__(self, edges: Edges) -> None:
        self.first, self.second = edges.first, edges.second
        n_edges = len(edges.first)
        columns = np.concatenate([np.arange(n_edges), np.arange(n_edges)])
        signs = np.concatenate([np.ones(n_edges), -np.ones(n_edges)])
        rows = np.concatenate([self.first, self.second])
        self._flows = sparse.csr_array((signs, (rows, columns)), shape=(edges.n_people, n_edges))
        self._buffer = np.empty(n_edges)

    def along(self, s: Array, out: Array) -> Array:
        np.take(s, self.first, out=out, mode="clip")
        out -= np.take(s, self.second, out=self._buffer, mode="clip")
        return out

    def out_of(self, z: Array) -> Array:
        return self._flows @ z

    def sums(self, values: Array) -> Array:
        """The sum of the edges' values at every person."""
        n = self._flows.shape[0]
        return np.bincount(self.first, values, minlength=n) + np.bincount(self.second, values, minlength=n)


class TensorDifferences(Differences):
    """The same on a device of PyTorch."""

    def __init__(self, edges: Edges) -> None:
        self.first, self.second = edges.first, edges.second
        self._n_people = edges.n_people

    def along(self, s: Any, out: Any) -> Any:
        return namespace(s).subtract(s[self.first], s[self.second], out=out)

    def out_of(self, z: Any) -> Any:
        return z.new_zeros(self._n_people).index_add_(0, self.first, z).index_add_(0, self.second, z, alpha=-1)

    def sums(self, values: Any) -> Any:
        return values.new_zeros(self._n_people).index_add_(0, self.first, values).index_add_(0, self.second, values)


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
    points uphill.

    Parameters
    ----------
    p : float64 array of shape (M,)
    edges : Edges
        Arrays of the same kind, on the same device.
    strength : float
        Finite.
    tol : float
        Stop at a gap of so much of the objective.
    start : array of shape (E,), optional
        A dual solution to start from.
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

    gap, objective = look()
    n_iter = 0
    while gap > tol * objective and n_iter < max_iter:
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
            uphill = ahead @ moved > 0
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
    return Smoothed(s, objective, max(gap, 0.0), n_iter, gap <= tol * objective, z)


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
    direction, product = scaled, float(residual @ scaled)
    n_iter, gap, objective = 0, 0.5 * float(residual @ residual), _squared_objective(p, s, residual)
    while gap > tol * objective and n_iter < max_iter:
        n_iter += 1
        image = direction + laplacian(direction)
        along = product / float(direction @ image)
        s = s + along * direction
        residual = residual - along * image
        scaled = residual / diagonal
        product, before = float(residual @ scaled), product
        direction = scaled + (product / before) * direction
        gap, objective = 0.5 * float(residual @ residual), _squared_objective(p, s, residual)
    if n_iter:  # the residual that was updated may have drifted from the true one
        residual = p - s - laplacian(s)
        gap, objective = 0.5 * float(residual @ residual), _squared_objective(p, s, residual)
    return Smoothed(s, objective, gap, n_iter, gap <= 2 * tol * objective)


def _squared_objective(p: Array, s: Array, residual: Array) -> float:
    """``1/2 |s - p|^2 + 1/2 s' (4 strength L) s`` with ``4 strength L s = p - s - residual``."""
    return max(0.0, 0.5 * float((s - p) @ (s - p)) + 0.5 * float(s @ (p - s - residual)))


def component_means(p: Array, component: Indices) -> Array:
    """Everybody's score is the mean of their connected component: what an infinite strength leaves."""
    size = np.bincount(component)
    return np.asarray((np.bincount(component, p) / size)[component])


Smoother = Callable[..., Smoothed]
PENALTIES: dict[str, Smoother] = {"absolute": smooth_absolute, "squared": smooth_squared}
