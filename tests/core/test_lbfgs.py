"""L-BFGS of many functions at once: known minima, the steps of SciPy's L-BFGS-B, and a line search that is robust."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ifair.core.lbfgs import CURVATURE, DECREASE, GRADIENT, MEMORY, LineSearch, Minimiser
from ifair.engines.engine import LocalEngine

from devices import open_torch


def quadratic(n, condition):
    scales = np.geomspace(1.0, condition, n)
    return lambda x: (0.5 * x @ (scales * x) + 1.0, scales * x)


def rosenbrock(steepness):
    def function(x):
        off = x[1:] - x[:-1] ** 2
        gradient = np.zeros_like(x)
        gradient[:-1] = -4.0 * steepness * off * x[:-1] - 2.0 * (1.0 - x[:-1])
        gradient[1:] += 2.0 * steepness * off
        return steepness * (off**2).sum() + ((1.0 - x[:-1]) ** 2).sum() + 1.0, gradient

    return function


class Several:
    """Functions of NumPy vectors, evaluated on an engine."""

    n_losses = 1

    def __init__(self, functions, engine):
        self.functions, self.engine = functions, engine

    def values_and_grads(self, theta):
        values, gradients = zip(*(function(x) for function, x in zip(self.functions, np.asarray(theta), strict=True)))
        return self.engine.send(np.array(values)[:, None], np.stack(gradients))

    def keep(self, rows):
        return Several([self.functions[row] for row in rows], self.engine)


HERE = LocalEngine(np.empty((0, 0)))


def begin(functions, starts, engine=HERE):
    minimiser = Minimiser(Several(functions, engine), starts)
    for row in range(len(functions)):
        minimiser.begin(row)
    return minimiser


def search(functions, starts, n_evaluations=400, engine=HERE):
    """The losses of every search after each of its iterations, and how many evaluations it took."""
    minimiser = begin(functions, starts, engine)
    losses, evaluations, live = [[] for _ in functions], [0] * len(functions), set(range(len(functions)))
    while live and max(evaluations) < n_evaluations:
        for row in live:
            evaluations[row] += 1
        moved, ended = minimiser.advance()
        for row in moved:
            losses[row].append(float(minimiser.value[row]))
        for row in ended:
            minimiser.end(row)
            live.discard(row)
    return losses, evaluations, minimiser.best(list(range(len(functions))))[0]


def scipy_losses(function, start, n_iterations):
    losses = []

    def callback(intermediate_result):
        losses.append(float(intermediate_result.fun))

    options = {"maxiter": n_iterations, "maxfun": 10_000, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    result = minimize(function, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
    return losses, result


VALLEYS = [rosenbrock(steepness) for steepness in (1.0, 10.0, 100.0)]


@pytest.mark.parametrize("kind", ["quadratics", "rosenbrock"])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_searches_take_the_steps_of_scipy(rng, kind, n):
    functions = [quadratic(n, c) for c in (1.0, 1e3)] if kind == "quadratics" else VALLEYS
    starts = rng.normal(size=(len(functions), n))
    losses, evaluations, best = search(functions, starts)
    for i, function in enumerate(functions):
        expected, result = scipy_losses(function, starts[i], len(losses[i]))
        n_same = min(len(expected), len(losses[i]), 40)
        np.testing.assert_allclose(losses[i][:n_same], expected[:n_same], rtol=1e-7)
        assert losses[i][-1] == pytest.approx(result.fun, rel=1e-7)
        assert evaluations[i] <= 1.5 * result.nfev + 50
        np.testing.assert_allclose(best[i], result.x, atol=1e-4)


def test_a_search_does_not_depend_on_the_others(rng):
    functions, starts = VALLEYS, rng.normal(size=(3, 6))
    together, _, _ = search(functions, starts)
    for i, function in enumerate(functions):
        ((alone, *_), *_) = search([function], starts[i : i + 1])
        assert together[i] == alone


def test_searches_on_torch_take_the_same_steps(rng):
    functions, starts = VALLEYS, rng.normal(size=(3, 6))
    on_torch = search(functions, starts, engine=open_torch(np.empty((0, 0)), 1, 1))
    for there, here in zip(on_torch[0], search(functions, starts)[0]):
        np.testing.assert_allclose(there[:20], here[:20], rtol=1e-8)


def test_a_step_that_rounding_turns_uphill_is_nothing_to_learn_from(monkeypatch):
    engine = LocalEngine(np.empty((0, 0)))
    minimiser = begin([quadratic(2, 1.0)], np.ones((1, 2)), engine)
    minimiser.advance()
    value = float(minimiser.value[0])

    def report(loss, descent):
        """Of a trial along which the gradient does not change."""
        told = np.zeros((1, 3 + 2 * (GRADIENT + 1)))
        told[0, :3] = loss, 1.0, descent
        return (told,)

    # Too high at first; then lower, on a step so short that no more than rounding is left of its slope.
    trials = iter([report(value + 1.0, -1.0), report(value - 1.0, 1e-20)])
    monkeypatch.setattr(engine, "evaluate", lambda *_: next(trials))
    assert minimiser.advance() == ([], [])
    assert minimiser.advance() == ([0], [])
    monkeypatch.undo()
    minimiser.advance()
    assert np.isfinite(minimiser.evaluated).all()


def test_searches_left_out_change_nothing_for_the_others(rng):
    functions, starts = VALLEYS, rng.normal(size=(3, 6))
    expected = search(functions, starts)[0][2]
    minimiser, losses, row = begin(functions, starts), [], 2
    for i in range(60):
        if i == 17:
            minimiser.keep([2, 0])
            row = 0
        if row in minimiser.advance()[0]:
            losses.append(float(minimiser.value[row]))
    assert losses == expected[: len(losses)]


def test_a_row_that_is_not_live_keeps_all_that_it_has(rng):
    functions, starts = VALLEYS, rng.normal(size=(3, 6))
    minimiser = begin(functions, starts)
    for _ in range(9):
        minimiser.advance()
    state = minimiser._state
    before = [array.copy() for array in (state.x, state.trial, state.memory, state.best)]
    state.step(np.zeros_like(minimiser._orders))
    for old, new in zip(before, (state.x, state.trial, state.memory, state.best)):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    "curve",
    [
        lambda t: (-t / (t**2 + 2.0), (t**2 - 2.0) / (t**2 + 2.0) ** 2),
        lambda t: (t**2 - 3.0 * t, 2.0 * t - 3.0),
        lambda t: (np.sqrt(1.0 + t**2) - 0.5 * t, t / np.sqrt(1.0 + t**2) - 0.5),
        lambda t: (t**4 - 8.0 * t, 4.0 * t**3 - 8.0),
    ],
    ids=["More and Thuente's first", "a parabola", "a hyperbola", "a fourth power"],
)
@pytest.mark.parametrize("length", [1e-3, 1e-1, 1.0, 10.0, 1e3])
def test_a_line_search_ends_at_a_step_that_meets_the_wolfe_conditions(curve, length):
    value, slope = curve(0.0)
    line = LineSearch(value, slope, length)
    while not (line.done or line.failed):
        step = line.length
        line.look(*curve(step))
    assert line.done
    assert curve(step)[0] <= value + DECREASE * step * slope
    assert abs(curve(step)[1]) <= CURVATURE * abs(slope)


def test_a_line_search_uphill_fails():
    assert LineSearch(1.0, 0.5, 1.0).failed
