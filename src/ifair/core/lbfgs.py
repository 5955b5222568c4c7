"""L-BFGS of many functions at once, each from its own point, with its own line search and its own end.

All vectors of the searches are rows of arrays that stay where the functions are evaluated. An evaluation is one call:
it takes steps along directions that are mixtures of remembered vectors, and returns losses and inner products, some
fifty numbers per search. From those the host finds the next step or, by the two-loop recursion in terms of inner
products, the next direction. So a device is waited for once per evaluation, and never sees a vector travel.

Steps, scaling and line search are those of L-BFGS-B without bounds: from the same start both take the same steps, up to
rounding.
"""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import Array, Mask, namespace, row_sums, zeros
from ifair.engines.engine import Engine

MEMORY = 10
"""Past steps that are remembered; 30 gained nothing on the datasets tried."""

Floats = NDArray[np.float64]


class Functions(Protocol):
    """B functions of n variables."""

    @property
    def engine(self) -> Engine:
        """Where they are evaluated, and points and gradients stay."""

    @property
    def n_losses(self) -> int:
        """Losses that are told of every function, with the one to minimise, which is the first."""

    @property
    def fewest(self) -> int:
        """Functions that a recording is for at least."""

    def values_and_grads(self, theta: Array) -> tuple[Array, Array]:
        """Losses, shape (B, n_losses), and gradients of the first, (B, n), at points of shape (B, n)."""

    def name_losses(self, values: Floats) -> Any:
        """What ``value_and_grad`` of an objective says of its losses, from a row of them."""

    def keep(self, rows: list[int]) -> Self:
        """Only these functions."""

    def forget(self, function: Any) -> None:
        """Drop what was recorded of evaluations, in this function of the engine or otherwise: there are no more."""


# Columns of what the host orders: whether a row is evaluated at all, whether its last trial becomes the current point,
# whether the step there is remembered, whether the search begins at its best point, in which place a step is
# remembered, the length of the step, and the share of the gradient in its direction, downhill. Then come the shares of
# past steps and changes of the gradient.
LIVE, ACCEPT, LEARN, BEGIN, PLACE, LENGTH, SCALE, MIXTURE = range(8)

# Rows of what is remembered of a search: past steps, each with the change of the gradient, a new one in the place of
# the oldest; the step to the trial, with its change; the gradients at the trial and at the current point.
PAST = 2 * MEMORY
STEP, CHANGE, SLOPE, GRADIENT = range(PAST, PAST + 4)

VECTORS = GRADIENT + 1 + 3
"""What a search holds: what it remembers, its point, the trial, and the best point so far."""


class _State:
    """The vectors of B searches: current points, trials, what is remembered, and the best points so far."""

    def __init__(self, functions: Functions, x: Array, trial: Array, memory: Array, best: Array) -> None:
        self.functions, self.x, self.trial, self.memory = functions, x, trial, memory
        self.best = best  # points with their losses behind them, so that both change at the same time

    @classmethod
    def at(cls, functions: Functions, theta: Floats) -> "_State":
        B, n = theta.shape
        best = np.hstack([theta, np.full((B, functions.n_losses), np.inf)])
        # Arrays of their own: all of them are written to.
        x, trial, best = functions.engine.send(theta.copy(), theta.copy(), best)
        return cls(functions, x, trial, zeros((B, GRADIENT + 1, n), x), best)

    def keep(self, rows: list[int]) -> "_State":
        arrays = self.x, self.trial, self.memory, self.best
        return _State(self.functions.keep(rows), *(_take_rows(array, rows) for array in arrays))

    def step(self, orders: Array) -> tuple[Array]:
        """Carry out the orders, evaluate, and report: losses, largest slope, inner products.

        Nothing here depends on values on a device, except through masks: it can be recorded. A row that is not live
        keeps all that it has.
        """
        xp, n = namespace(orders), self.x.shape[1]
        flags = orders[:, :PLACE] != 0.0
        live, accept, learn, begin = (_where(flags[:, i]) for i in (LIVE, ACCEPT, LEARN, BEGIN))
        x, trial, memory, best = self.x, self.trial, self.memory, self.best
        _remember(memory, learn, orders[:, PLACE])
        _put(memory[:, GRADIENT], accept, memory[:, SLOPE])
        _put(x, accept, trial)
        direction = (orders[:, None, MIXTURE:] @ memory[:, :PAST])[:, 0]
        direction -= orders[:, SCALE, None] * memory[:, GRADIENT]
        direction *= orders[:, LENGTH, None]
        _put(trial, live, x + direction)
        _put(trial, begin, best[:, :n])

        losses, memory[:, SLOPE] = self.functions.values_and_grads(trial)
        memory[:, STEP] = trial - x
        memory[:, CHANGE] = memory[:, SLOPE] - memory[:, GRADIENT]
        better = _where(flags[:, LIVE] & ((losses[:, 0] < best[:, n]) | (best[:, n] == xp.inf)))
        if better is not NOWHERE:
            _put(best, better, xp.concat([trial, losses], axis=1))
        largest = xp.max(xp.abs(memory[:, SLOPE]), axis=1)
        descent = row_sums(memory[:, GRADIENT], memory[:, STEP])
        products = memory[:, CHANGE:GRADIENT] @ memory.mT
        flat = xp.reshape(products, (products.shape[0], -1))
        return (xp.concat([losses, largest[:, None], descent[:, None], flat], axis=1),)


def _take_rows(array: Array, rows: list[int]) -> Array:
    """These rows of an array, in an array of their own."""
    xp = namespace(array)
    return xp.take(array, xp.asarray(rows, dtype=xp.int64, device=array.device), axis=0)


def _where(mask: Any) -> Any:
    """Where a mask is true: rows of NumPy arrays, of all rows a slice, which is faster; on a device the mask itself."""
    if not isinstance(mask, np.ndarray):
        return mask
    if len(mask) == 1:
        return slice(None) if mask[0] else NOWHERE
    return slice(None) if mask.all() else mask.nonzero()[0]


NOWHERE = slice(0)


def _put(target: Array, where: Any, values: Array) -> None:
    """Replace rows of ``target``."""
    if isinstance(target, np.ndarray):
        if where is not NOWHERE:
            target[where] = values[where]
    else:
        mask = where[(..., *(None,) * (target.ndim - 1))]  # type: ignore[unreachable]
        target[...] = namespace(target).where(mask, values, target)


def _remember(memory: Array, where: Any, place: Array) -> None:
    """Write the last step and its change over the oldest ones, which are in this place."""
    if isinstance(memory, np.ndarray):
        if where is not NOWHERE:
            rows, at = _index(where, place)
            memory[rows, 2 * at], memory[rows, 2 * at + 1] = memory[rows, STEP], memory[rows, CHANGE]
        return
    xp = namespace(memory)  # type: ignore[unreachable]
    rows, at = xp.arange(memory.shape[0], device=memory.device), 2 * xp.astype(place, xp.int64)
    for to, values in ((at, memory[:, STEP]), (at + 1, memory[:, CHANGE])):
        memory[rows, to] = xp.where(where[:, None], values, memory[rows, to])


def _index(where: Any, place: Array) -> tuple[Any, Any]:
    """Rows, and the place of each, to index with; of a single row slice and number, which are faster than arrays."""
    if len(place) == 1:
        return where, int(place[0])
    return np.arange(len(place))[where], place[where].astype(np.intp)


class Minimiser:
    """Searches for minima of B functions, all of which are evaluated at the same time, from points of shape (B, n).

    Attributes
    ----------
    evaluated : ndarray of shape (B,)
        The loss at the last evaluation of every search.
    value, gradient_norm : ndarray of shape (B,)
        Loss and largest slope at the current point of every search.
    """

    def __init__(self, functions: Functions, theta: Floats) -> None:
        B, m = len(theta), MEMORY
        self._state = _State.at(functions, theta)
        self.evaluated, self.value, self.gradient_norm = np.full(B, np.nan), np.full(B, np.nan), np.full(B, np.inf)
        self._orders = np.zeros((B, MIXTURE + PAST))
        self._orders[:, LENGTH] = 1.0
        # Inner products of what is remembered: of steps with changes the diagonal, and the inverse of those of a step
        # with changes no older than itself, a triangle but for the places; of changes with each other all; and the
        # scale of the Hessian's inverse.
        self._diagonal, self._inverse, self._changes = np.zeros((B, m)), np.zeros((B, m, m)), np.zeros((B, m, m))
        self._scale = np.ones(B)
        self._line_searches: dict[int, LineSearch] = {}
        self._rehearsed = False

    def begin(self, row: int) -> None:
        """Begin a search at its best point so far, with nothing remembered."""
        self._orders[row] = 0.0
        self._orders[row, [LIVE, BEGIN, LENGTH]] = 1.0
        self._forget(row)

    def end(self, row: int) -> None:
        """Leave a search where it is."""
        self._orders[row, :LENGTH] = 0.0
        self._line_searches.pop(row, None)

    def best(self, rows: list[int]) -> tuple[Floats, Floats]:
        """The best points so far of some searches, shape (B, n), and their losses, (B, n_losses); infinite where there
        are none yet."""
        (best,) = self._state.functions.engine.fetch(_take_rows(self._state.best, rows))
        n = best.shape[1] - self._state.functions.n_losses
        return best[:, :n], best[:, n:]

    def keep(self, rows: list[int]) -> None:
        """Leave the other searches out for good."""
        self._state = self._state.keep(rows)
        for name in ("evaluated", "value", "gradient_norm", "_orders", "_diagonal", "_inverse", "_changes", "_scale"):
            setattr(self, name, getattr(self, name)[rows])
        searches = self._line_searches
        self._line_searches = {i: searches[row] for i, row in enumerate(rows) if row in searches}
        self._rehearsed = False

    def close(self) -> None:
        """Drop what was recorded: nothing is evaluated any more."""
        self._state.functions.forget(self._state.step)

    def advance(self) -> tuple[list[int], list[int]]:
        """Evaluate every live search once.

        Returns
        -------
        moved : list of int
            Searches that have come to a new point: an iteration.
        ended : list of int
            Searches, among them perhaps some of those, that are at an end: no line search finds a lower point, not even
            along the steepest descent, or there is none, for the gradient is zero.
        """
        engine, step, p = self._state.functions.engine, self._state.step, self._state.functions.n_losses
        if engine.recorded and not self._rehearsed:
            engine.evaluate(step, np.zeros_like(self._orders))  # nobody is live: this leaves everything as it is
        self._rehearsed = True
        (report,) = engine.evaluate(step, self._orders)
        live, begun = self._orders[:, LIVE] == 1.0, self._orders[:, BEGIN] == 1.0
        losses, norms, descent = report[:, 0], report[:, p], report[:, p + 1]
        by_change, by_slope = report[:, p + 2 : p + 3 + GRADIENT], report[:, p + 3 + GRADIENT :]
        self.evaluated[live] = losses[live]
        good, ended = self._judge_steps(live & ~begun, descent, by_slope[:, STEP])
        accepted = begun | good
        ended |= accepted & (norms == 0.0) | good & ~(losses < self.value)
        self._orders[:, ACCEPT:PLACE] = 0.0
        # A step is remembered if the loss is convex along it. The first point of a search is no step.
        self._learn(_where(good & (by_change[:, STEP] > EPSILON * np.abs(descent))), by_change, by_slope)
        rows = _where(accepted)
        self.value[rows], self.gradient_norm[rows] = losses[rows], norms[rows]
        self._turn(rows, by_slope[rows])
        # Nothing is known of the curvature at first, and the length of a gradient says little.
        for row in begun.nonzero()[0]:
            self._orders[row, LENGTH] = 1.0 / max(sqrt(by_slope[row, SLOPE]), 1.0 / LONGEST)
        return good.nonzero()[0].tolist(), ended.nonzero()[0].tolist()

    def _judge_steps(self, searching: Mask, before: Floats, after: Floats) -> tuple[Mask, Mask]:
        """Which trials are good enough, and which searches are at an end; of others a new length, or direction.

        ``before`` and ``after`` are the slopes along the direction, times the length of the step.
        """
        length, value = self._orders[:, LENGTH], self.evaluated
        low_enough = value <= self.value + DECREASE * before
        good = searching & low_enough & (before < 0.0) & (np.abs(after) <= -CURVATURE * before)
        ended = np.zeros_like(good)
        for row in (searching & ~good).nonzero()[0].tolist():
            search = self._line_searches.get(row)
            if search is None:
                search = LineSearch(float(self.value[row]), float(before[row] / length[row]), float(length[row]))
                self._line_searches[row] = search
            search.look(float(value[row]), float(after[row] / length[row]))
            if search.done:
                good[row] = True
            elif not search.failed:
                length[row] = search.length
            elif self._inverse[row].any():
                # What is remembered misleads: straight downhill.
                self._forget(row)
                self._orders[row, LENGTH], self._orders[row, SCALE], self._orders[row, MIXTURE:] = 1.0, 1.0, 0.0
            else:
                ended[row] = True
        for row in [row for row in self._line_searches if good[row]]:
            del self._line_searches[row]
        return good, ended

    def _forget(self, row: int) -> None:
        self._line_searches.pop(row, None)
        self._inverse[row], self._scale[row] = 0.0, 1.0

    def _learn(self, where: Any, by_change: Floats, by_slope: Floats) -> None:
        """Remember a step and the change of the gradient in place of the oldest ones."""
        if where is NOWHERE:
            return
        orders, inverse, changes = self._orders, self._inverse, self._changes
        rows, place = _index(where, (orders[:, PLACE] + 1.0) % MEMORY)
        by_change = by_change[rows]
        curvature, size = by_change[:, STEP], by_change[:, CHANGE]
        # The inverse of a triangle, when its first row and column go and others come at the end.
        inverse[rows, place] = inverse[rows, :, place] = 0.0
        inverse[rows, :, place] = np.vecdot(inverse[rows], (by_change[:, :PAST:2] / -curvature[:, None])[:, None])
        inverse[rows, place, place] = 1.0 / curvature
        changes[rows, place] = changes[rows, :, place] = by_change[:, 1:PAST:2]
        changes[rows, place, place] = size
        self._diagonal[rows, place] = curvature
        self._scale[rows] = curvature / size
        orders[rows, PLACE], orders[rows, LEARN] = place, 1.0
        by_slope[rows, 2 * place], by_slope[rows, 2 * place + 1] = by_slope[rows, STEP], by_slope[rows, CHANGE]

    def _turn(self, rows: Any, by_slope: Floats) -> None:
        """Accept trials, and turn in the next direction: the two-loop recursion, in terms of inner products."""
        inverse, scale = self._inverse[rows], self._scale[rows]
        first = np.vecdot(inverse, by_slope[:, None, :PAST:2])
        rest = by_slope[:, 1:PAST:2] - np.vecdot(self._changes[rows], first[:, None, :])
        second = np.vecdot(inverse.mT, (self._diagonal[rows] * first - scale[:, None] * rest)[:, None, :])
        self._orders[rows, MIXTURE::2], self._orders[rows, MIXTURE + 1 :: 2] = -second, scale[:, None] * first
        self._orders[rows, SCALE] = scale
        self._orders[rows, ACCEPT] = self._orders[rows, LENGTH] = 1.0


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

    def tilt_slope(self, by: float) -> "_Trial":
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
        best, other, now = self._best.tilt_slope(tilt), self._other.tilt_slope(tilt), trial.tilt_slope(tilt)
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
