"""L-BFGS of many functions at once, each from its own point, with its own line search and its own end.

All vectors of the searches are rows of arrays that stay where the functions are evaluated. An evaluation is one call: it
takes steps along directions that are mixtures of remembered vectors, and returns losses and inner products, some
fifty numbers per search. From those the host finds the next step or, by the two-loop recursion in terms of inner
products, the next direction. So a device is waited for once per evaluation, and never sees a vector travel.

Steps, scaling and line search are those of L-BFGS-B without bounds: from the same start both take the same steps, up to
rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import Array, namespace, row_sums, zeros

MEMORY = 10
"""Past steps that are remembered; 30 gained nothing on the datasets tried."""

Floats = NDArray[np.float64]


class Functions(Protocol):
    """B functions of n variables, and the place where they are evaluated."""

    @property
    def n_losses(self) -> int:
        """Losses that are told of every function, with the one to minimise, which is the first."""

    @property
    def recorded(self) -> bool:
        """Whether :meth:`run` records what it is given, and may call it more than once the first time."""

    def send(self, theta: Floats) -> Array:
        """Points, shape (B, n), as an array of that place."""

    def fetch(self, array: Array) -> Floats:
        """An array of that place as a NumPy array."""

    def values_and_grads(self, theta: Array, live: Array) -> tuple[Array, Array]:
        """Losses, shape (B, n_losses), and gradients of the first, (B, n), in arrays of that place.

        Rows where ``live`` is false are not looked at.
        """

    def run(self, function: Callable[[Array], Array], orders: Floats) -> Floats:
        """Send ``orders``, call the function, and fetch what it returns."""

    def keep(self, rows: list[int]) -> Self:
        """Only these functions."""


# Columns of what the host orders: whether a row is evaluated at all, whether its last trial becomes the current point,
# whether the step there is remembered, whether the search begins at its best point; the slot and the length of the
# step. Then come the shares in its direction of the steps and the changes of the gradient remembered, and of the
# gradient.
LIVE, ACCEPT, LEARN, BEGIN, SLOT, LENGTH, MIXTURE = range(7)


class _State:
    """The vectors of B searches: current points, trials, gradients, what is remembered, and the best points so far."""

    def __init__(self, functions: Functions, x: Array, trial: Array, slope: Array, memory: Array, best: Array) -> None:
        self.functions, self.x, self.trial, self.slope, self.memory = functions, x, trial, slope, memory
        self.best = best  # points with their losses behind them, so that both change at the same time
        xp = namespace(x)
        self.rows = xp.arange(x.shape[0], device=x.device)

    @classmethod
    def at(cls, functions: Functions, theta: Floats) -> "_State":
        B, n = theta.shape
        x = functions.send(theta)
        best = functions.send(np.hstack([theta, np.full((B, functions.n_losses), np.inf)]))
        # Arrays of their own: all of them are written to.
        return cls(functions, x, x + 0.0, zeros((B, n), x), zeros((B, 2 * MEMORY + 1, n), x), best)

    def keep(self, rows: list[int]) -> "_State":
        arrays = (self.x, self.trial, self.slope, self.memory, self.best)
        xp = namespace(self.x)
        index = xp.asarray(rows, device=self.x.device)
        return _State(self.functions.keep(rows), *(xp.take(array, index, axis=0) for array in arrays))

    def step(self, orders: Array) -> Array:
        """Carry out the orders, evaluate, and report: losses, largest slope, inner products.

        Nothing here depends on values, except through masks: it can be recorded. A row that is not live keeps all that
        it has.
        """
        xp, n, m = namespace(orders), self.x.shape[1], MEMORY
        live, accept, learn, begin = (orders[:, i : i + 1] != 0.0 for i in (LIVE, ACCEPT, LEARN, BEGIN))
        slot = xp.astype(orders[:, SLOT], xp.int64)
        memory, gradient = self.memory, self.memory[:, -1]
        memory[self.rows, slot] = xp.where(learn, self.trial - self.x, memory[self.rows, slot])
        memory[self.rows, slot + m] = xp.where(learn, self.slope - gradient, memory[self.rows, slot + m])
        self.x[...] = xp.where(accept, self.trial, self.x)
        memory[:, -1] = xp.where(accept, self.slope, gradient)
        direction = (orders[:, None, MIXTURE:] @ memory)[:, 0]
        ahead = xp.where(begin, self.best[:, :n], self.x + orders[:, LENGTH, None] * direction)
        self.trial[...] = xp.where(live, ahead, self.trial)

        losses, slope = self.functions.values_and_grads(self.trial, live)
        self.slope[...] = xp.where(live, slope, self.slope)
        known = self.best[:, n : n + 1]
        better = live & ((losses[:, :1] < known) | (known == xp.inf))
        self.best[...] = xp.where(better, xp.concat([self.trial, losses], axis=1), self.best)

        s, y, gradient = self.trial - self.x, self.slope - memory[:, -1], memory[:, -1]
        last = xp.stack([y, self.slope], axis=1)
        products = memory @ last.mT
        own = xp.stack([s, y, self.slope], axis=1) @ last.mT
        B = s.shape[0]
        report = (
            losses,
            xp.max(xp.abs(self.slope), axis=1)[:, None],
            row_sums(gradient, s)[:, None],
            xp.reshape(own, (B, -1)),
            xp.reshape(products, (B, -1)),
        )
        return xp.concat(report, axis=1)


class Minimiser:
    """Searches for minima of B functions, all of which are evaluated at the same time.

    Parameters
    ----------
    functions : Functions
    theta : ndarray of shape (B, n)
        Where the searches begin.

    Attributes
    ----------
    evaluated : ndarray of shape (B,)
        The loss at the last evaluation of every search.
    value, gradient_norm : ndarray of shape (B,)
        Loss and largest slope at the current point of every search.
    ended : ndarray of bool, shape (B,)
        Where there is no lower point along the direction of steepest descent, as far as a line search can tell; or
        where the gradient is zero.
    """

    def __init__(self, functions: Functions, theta: Floats) -> None:
        B, m = len(theta), MEMORY
        self._state = _State.at(functions, theta)
        self.evaluated, self.value, self.gradient_norm = np.full(B, np.nan), np.full(B, np.nan), np.full(B, np.inf)
        self.ended = np.zeros(B, dtype=bool)
        self._orders = np.zeros((B, MIXTURE + 2 * m + 1))
        self._orders[:, LENGTH] = 1.0
        self._head = np.zeros(B, dtype=np.intp)  # the slot of the oldest step
        self._known = np.zeros((B, m), dtype=bool)  # like all below, the oldest step first
        self._sy, self._yy = np.zeros((B, m, m)), np.zeros((B, m, m))
        self._line_searches: dict[int, LineSearch] = {}
        self._rehearsed = False

    def __len__(self) -> int:
        return len(self.value)

    def begin(self, row: int) -> None:
        """Begin a search at its best point so far, with nothing remembered."""
        self._orders[row] = 0.0
        self._orders[row, [LIVE, BEGIN, LENGTH]] = 1.0
        self._known[row], self.ended[row] = False, False
        self._line_searches.pop(row, None)

    def end(self, row: int) -> None:
        """Leave a search where it is."""
        self._orders[row, : LENGTH] = 0.0
        self._line_searches.pop(row, None)

    def best(self) -> tuple[Floats, Floats]:
        """The best points so far, shape (B, n), and their losses, (B, n_losses); infinite where there are none yet."""
        best = self._state.functions.fetch(self._state.best)
        n = best.shape[1] - self._state.functions.n_losses
        return best[:, :n], best[:, n:]

    def keep(self, rows: list[int]) -> None:
        """Leave the other searches out for good."""
        self._state = self._state.keep(rows)
        for name in ("evaluated", "value", "gradient_norm", "ended", "_orders", "_head", "_known", "_sy", "_yy"):
            setattr(self, name, getattr(self, name)[rows])
        searches = self._line_searches
        self._line_searches = {i: searches[row] for i, row in enumerate(rows) if row in searches}
        self._rehearsed = False

    def advance(self) -> tuple[list[int], list[int]]:
        """Evaluate every live search once.

        Returns
        -------
        moved : list of int
            Searches that have come to a new point: an iteration.
        ended : list of int
            Searches, among them perhaps some of those, that are at an end; see ``ended``.
        """
        functions, step = self._state.functions, self._state.step
        if functions.recorded and not self._rehearsed:
            functions.run(step, np.zeros_like(self._orders))  # nobody is live: this leaves everything as it is
        self._rehearsed = True
        report = functions.run(step, self._orders)
        B, p = len(self), functions.n_losses
        live = self._orders[:, LIVE] == 1.0
        self.evaluated[live] = report[live, 0]
        slope_before, own, products = report[:, p + 1], report[:, p + 2 : p + 8], report[:, p + 8 :].reshape(B, -1, 2)
        begun = live & (self._orders[:, BEGIN] == 1.0)
        good = self._judge_steps(live & ~begun, slope_before, own)
        accepted = np.flatnonzero(begun | good)
        fell = report[:, 0] < self.value
        self.value[accepted], self.gradient_norm[accepted] = report[accepted, 0], report[accepted, p]
        self._orders[:, ACCEPT:LENGTH] = 0.0
        self._orders[accepted, ACCEPT] = 1.0
        self._learn(np.flatnonzero(good & (own[:, 0] > EPSILON * -slope_before)), own, products)
        self._turn(accepted, products[:, :, 1])
        # Nothing is known of the curvature at first, and the length of a gradient says little.
        self._orders[begun, LENGTH] = 1.0 / np.maximum(np.sqrt(own[begun, 5]), 1.0 / LONGEST)
        self.ended[accepted] = (self.gradient_norm[accepted] == 0.0) | (good & ~fell)[accepted]
        return np.flatnonzero(good).tolist(), np.flatnonzero(self.ended & live).tolist()

    def _judge_steps(self, searching: NDArray[np.bool_], slope_before: Floats, own: Floats) -> NDArray[np.bool_]:
        """Which trials are good enough; of the others a new length, or another direction, or the end."""
        length, value = self._orders[:, LENGTH], self.evaluated
        slope_before, slope = slope_before / length, own[:, 1] / length
        with np.errstate(invalid="ignore"):
            good = searching & (value <= self.value + DECREASE * length * slope_before)
            good &= (slope_before < 0.0) & (np.abs(slope) <= -CURVATURE * slope_before)
        for row in map(int, np.flatnonzero(searching & ~good)):
            search = self._line_searches.get(row)
            if search is None:
                search = LineSearch(float(self.value[row]), float(slope_before[row]), float(length[row]))
                self._line_searches[row] = search
            search.look(float(value[row]), float(slope[row]))
            if search.done:
                good[row] = True
            elif search.failed:
                self._fall_back(row)
            else:
                self._orders[row, LENGTH] = search.length
        for row in [row for row in self._line_searches if good[row]]:
            del self._line_searches[row]
        return good

    def _fall_back(self, row: int) -> None:
        """After a line search that failed: straight downhill, if that has not been tried."""
        self._line_searches.pop(row, None)
        if not self._known[row].any():
            self.ended[row] = True
            return
        self._known[row] = False
        self._orders[row, MIXTURE:], self._orders[row, -1], self._orders[row, LENGTH] = 0.0, -1.0, 1.0

    def _learn(self, rows: NDArray[np.intp], own: Floats, products: Floats) -> None:
        """Remember a step and the change of the gradient in place of the oldest ones."""
        if len(rows) == 0:
            return
        m, y, order, slots = MEMORY, products[rows, :, 0], self._slots(rows)[:, 1:], self._head[rows]
        for matrix, offset, corner in ((self._sy, 0, own[rows, 0]), (self._yy, m, own[rows, 2])):
            matrix[rows, :-1, :-1] = matrix[rows, 1:, 1:]
            matrix[rows, :-1, -1] = np.take_along_axis(y, order + offset, axis=1)
            matrix[rows, -1, -1] = corner
        self._yy[rows, -1, :-1] = self._yy[rows, :-1, -1]
        self._known[rows, :-1] = self._known[rows, 1:]
        self._known[rows, -1] = True
        products[rows, slots, 1], products[rows, slots + m, 1] = own[rows, 1], own[rows, 3]
        self._orders[rows, LEARN], self._orders[rows, SLOT] = 1.0, slots
        self._head[rows] = (slots + 1) % m

    def _turn(self, rows: NDArray[np.intp], by_gradient: Floats) -> None:
        """The next directions, as mixtures of what is remembered.

        The two-loop recursion, written in inner products, is two triangular systems.
        """
        if len(rows) == 0:
            return
        known, order = self._known[rows], self._slots(rows)
        both = known[:, :, None] & known[:, None, :]
        sy, yy = np.where(both, self._sy[rows], 0.0), np.where(both, self._yy[rows], 0.0)
        diagonal = np.einsum("bii->bi", sy)
        scale = np.where(known[:, -1], diagonal[:, -1] / np.where(known[:, -1], yy[:, -1, -1], 1.0), 1.0)[:, None]
        triangle = sy + np.where(known, 0.0, 1.0)[:, :, None] * np.eye(MEMORY)
        by_gradient = by_gradient[rows]
        by_s, by_y = (
            np.where(known, np.take_along_axis(by_gradient, order + offset, axis=1), 0.0) for offset in (0, MEMORY)
        )
        first = _solve(triangle, by_s)
        second = diagonal * first - scale * (by_y - np.vecdot(yy, first[:, None, :]))
        # Turned around, the transposed triangle is an upper one too, which needs no pivots.
        second = _solve(triangle[:, ::-1, ::-1].mT, second[:, ::-1])[:, ::-1]
        mixture = self._orders[rows, MIXTURE:]
        np.put_along_axis(mixture, order, -second, axis=1)
        np.put_along_axis(mixture, order + MEMORY, scale * first, axis=1)
        mixture[:, -1] = -scale[:, 0]
        self._orders[rows, MIXTURE:] = mixture
        self._orders[rows, LENGTH] = 1.0

    def _slots(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where what is remembered lies, the oldest first, shape (rows, MEMORY)."""
        return (self._head[rows, None] + np.arange(MEMORY)) % MEMORY


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    solution: Floats = np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0]
    return solution


EPSILON = float(np.finfo(np.float64).eps)

DECREASE, CURVATURE = 1e-3, 0.9
"""The strong Wolfe conditions: share of the first slope by which a step must lower the loss, and that it may leave."""

NARROW = 0.1
"""Width of an interval around the minimum, relative to its end, in which any step will do."""

LONGEST = 1e10
MOST_TRIALS = 20


@dataclass(slots=True)
class _Trial:
    """A step along the direction, with the loss and its slope there."""

    length: float
    value: float
    slope: float

    def tilted(self, by: float) -> "_Trial":
        return _Trial(self.length, self.value - self.length * by, self.slope - by)


class LineSearch:
    """A step that meets the strong Wolfe conditions, by the method of Moré and Thuente (1994).

    Parameters
    ----------
    value, slope : float
        Loss and slope at the start; the slope must be negative.
    length : float
        The first step, which has been taken.

    Attributes
    ----------
    length : float
        The step to look at next.
    done, failed : bool
        Whether the step looked at last is taken, and whether no step could be found.
    """

    def __init__(self, value: float, slope: float, length: float) -> None:
        self.length, self.done, self.failed = length, False, slope >= 0.0
        self._start, self._trials = _Trial(0.0, value, slope), 0
        self._best = self._other = self._start
        self._bracketed, self._tilted = False, True
        self._low, self._high = 0.0, 5.0 * length
        self._width, self._width_before = LONGEST, 2.0 * LONGEST

    def look(self, value: float, slope: float) -> None:
        """Judge the step at ``length`` by its loss and slope, and choose another unless it is good."""
        self._trials += 1
        if self.failed:
            return
        if not isfinite(value) or not isfinite(slope):
            self.length = self._best.length + 0.1 * (self.length - self._best.length)
            self.failed = self._trials >= MOST_TRIALS
            return
        trial, start, tilt = _Trial(self.length, value, slope), self._start, DECREASE * self._start.slope
        low_enough = value <= start.value + trial.length * tilt
        if low_enough and slope >= 0.0:
            self._tilted = False
        self.done = (low_enough and abs(slope) <= -CURVATURE * start.slope) or self._is_narrow(trial.length)
        self.done |= trial.length == LONGEST and low_enough and slope <= tilt
        self.failed = not self.done and self._trials >= MOST_TRIALS
        if self.done or self.failed:
            return
        # Until a step is low enough, one looks for a minimum of the loss less the decrease that is wanted.
        tilt = tilt if self._tilted and value <= self._best.value and not low_enough else 0.0
        self._choose(trial, tilt)
        if self._bracketed:
            width = abs(self._other.length - self._best.length)
            if width >= 0.66 * self._width_before:
                self.length = self._best.length + 0.5 * (self._other.length - self._best.length)
            self._width_before, self._width = self._width, width
            self._low, self._high = sorted((self._best.length, self._other.length))
        else:
            ahead = self.length - self._best.length
            self._low, self._high = self.length + 1.1 * ahead, self.length + 4.0 * ahead
        self.length = min(max(self.length, 0.0), LONGEST)
        if self._is_narrow(self.length):
            self.length = self._best.length
        self.failed = self.length == 0.0

    def _is_narrow(self, length: float) -> bool:
        """Whether the interval is too small to be divided further."""
        inside = self._low < length < self._high
        return self._bracketed and (not inside or self._high - self._low <= NARROW * self._high)

    def _choose(self, trial: _Trial, tilt: float) -> None:
        """The next length by interpolation, and the interval in which the minimum is."""
        best, other, now = self._best.tilted(tilt), self._other.tilted(tilt), trial.tilted(tilt)
        opposite = now.slope * (best.slope / abs(best.slope)) < 0.0
        if now.value > best.value:
            # Higher: the minimum lies between.
            cubic = best.length + _cubic(best, now) * (now.length - best.length)
            fall = (best.value - now.value) / (now.length - best.length) + best.slope
            parabola = best.length + best.slope / fall / 2.0 * (now.length - best.length)
            closer = abs(cubic - best.length) < abs(parabola - best.length)
            self.length = cubic if closer else cubic + (parabola - cubic) / 2.0
            self._bracketed = True
        elif opposite:
            # Lower, and beyond the minimum.
            cubic, secant = self._beyond(now, best)
            self.length = cubic if abs(cubic - now.length) > abs(secant - now.length) else secant
            self._bracketed = True
        elif abs(now.slope) < abs(best.slope):
            # Lower, and flatter: the minimum lies ahead, where the cubic has one at all.
            share = _cubic(now, best)
            _, secant = self._beyond(now, best)
            edge = self._high if now.length > best.length else self._low
            cubic = now.length + share * (best.length - now.length) if share < 0.0 else edge
            cubic_is_closer = abs(cubic - now.length) < abs(secant - now.length)
            if self._bracketed:
                length = cubic if cubic_is_closer else secant
                limit = now.length + 0.66 * (other.length - now.length)
                self.length = min(limit, length) if now.length > best.length else max(limit, length)
            else:
                self.length = min(max(secant if cubic_is_closer else cubic, self._low), self._high)
        elif self._bracketed:
            self.length = now.length + _cubic(now, other) * (other.length - now.length)
        else:
            self.length = self._high if now.length > best.length else self._low
        if now.value > best.value:
            self._other = trial
        else:
            if opposite:
                self._other = self._best
            self._best = trial

    @staticmethod
    def _beyond(now: _Trial, best: _Trial) -> tuple[float, float]:
        """Minima of the cubic and of the parabola through both slopes."""
        back = best.length - now.length
        return now.length + _cubic(now, best) * back, now.length + now.slope / (now.slope - best.slope) * back


def _cubic(a: _Trial, b: _Trial) -> float:
    """Where on the way from a to b the cubic through both has its minimum, as a share of the way."""
    bend = 3.0 * (a.value - b.value) / (b.length - a.length) + a.slope + b.slope
    largest = max(abs(bend), abs(a.slope), abs(b.slope))
    root = largest * sqrt(max(0.0, (bend / largest) ** 2 - a.slope / largest * (b.slope / largest)))
    root = root if b.length > a.length else -root
    divisor = 2.0 * root - a.slope + b.slope
    return (root - a.slope + bend) / divisor if divisor != 0.0 else 0.0
