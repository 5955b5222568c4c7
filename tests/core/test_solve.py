"""The solver: finds known minima, says honestly why it stopped, keeps the best."""

import numpy as np
import pytest

from ifair.core import solve
from ifair.core.objective import Losses
from ifair.core.parameters import Packing, Parameters
from ifair.core.solve import descend, minimise

PACKING = Packing(1, 2, np.zeros(2, dtype=bool))


class Bowl:
    """A quadratic with its minimum of ``bottom`` at prototypes (3, -1) and weights (0.25, 0)."""

    def __init__(self, bottom=1.0):
        self.bottom = bottom

    def value_and_grad(self, parameters):
        V, alpha = parameters.prototypes - [[3.0, -1.0]], parameters.alpha - [0.25, -0.5]
        value = self.bottom + float((V**2).sum() + (alpha**2).sum()) - 0.25
        return Losses(value, (value,)), Parameters(2 * V, 2 * alpha)


def start(a=0.0, b=0.0):
    return Parameters(np.array([[a, b]]), np.array([0.5, 0.5]))


def test_a_known_minimum_is_found_and_weights_stay_at_zero_or_above():
    solution = descend(Bowl(), start(), PACKING, max_iter=500, tol=0.0)
    np.testing.assert_allclose(solution.parameters.prototypes, [[3.0, -1.0]], atol=1e-5)
    np.testing.assert_allclose(solution.parameters.alpha, [0.25, 0.0], atol=1e-4)
    assert solution.losses.total == pytest.approx(1.0, abs=1e-6)


def test_packing_and_unpacking_are_inverse(rng):
    packing = Packing(3, 4, np.array([False, True, False, False]))
    alpha = rng.uniform(size=4)
    alpha[1] = 0.0
    parameters = Parameters(rng.normal(size=(3, 4)), alpha)
    again = packing.unpack(packing.pack(parameters))
    np.testing.assert_allclose(again.prototypes, parameters.prototypes)
    np.testing.assert_allclose(again.alpha, parameters.alpha)
    assert again.alpha[1] == 0.0
    assert len(packing.pack(parameters)) == 3 * 4 + 3


def test_stopping_at_the_limit_is_reported():
    solution = descend(Bowl(), start(), PACKING, max_iter=2, tol=1e-12)
    assert solution.stopped == "max_iter"
    assert solution.n_iter == 2


def test_convergence_is_judged_over_ten_iterations():
    solution = descend(Bowl(), start(), PACKING, max_iter=500, tol=1e-3)
    assert solution.stopped == "converged"


def test_an_observer_sees_every_iteration_and_may_stop():
    seen = []

    def observer(progress):
        seen.append(progress)
        if progress.iteration == 3:
            raise StopIteration

    solution = descend(Bowl(), start(), PACKING, max_iter=100, tol=0.0, observer=observer)
    assert [progress.iteration for progress in seen] == [1, 2, 3]
    assert solution.stopped == "callback"
    assert solution.losses.total == min(progress.loss for progress in seen)


def test_an_interrupt_keeps_the_best_so_far():
    def observer(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    solution, restarts = minimise(Bowl(), [start(), start(9.0)], PACKING, max_iter=100, tol=0.0, observer=observer)
    assert solution.stopped == "interrupted"
    assert np.isfinite(solution.losses.total)
    assert np.isnan(restarts[1])


def test_an_interrupt_before_the_first_value_is_an_interrupt():
    class Interrupted:
        def value_and_grad(self, parameters):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        descend(Interrupted(), start(), PACKING, max_iter=5, tol=0.0)


def test_an_interrupt_between_trials_and_the_second_leg_keeps_the_trials(monkeypatch):
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 2)
    legs = []
    whole = solve.descend

    def descend_twice(*args, **kwargs):
        legs.append(kwargs.get("first", 0))
        if len(legs) == 3:
            raise KeyboardInterrupt
        return whole(*args, **kwargs)

    monkeypatch.setattr(solve, "descend", descend_twice)
    solution, restarts = minimise(Bowl(), [start(), start(9.0)], PACKING, max_iter=100, tol=0.0)
    assert solution.stopped == "interrupted"
    assert solution.losses.total == min(restarts)


class TwoValleys:
    """Deep where the first coordinate is negative, shallow where it is positive."""

    def value_and_grad(self, parameters):
        x = parameters.prototypes[0, 0]
        centre, depth = (-5.0, 1.0) if x < 0 else (5.0, 2.0)
        value = depth + 0.01 * (x - centre) ** 4
        gradient = np.array([[0.04 * (x - centre) ** 3, 0.0]])
        return Losses(value, (value,)), Parameters(gradient, np.zeros(2))


def test_only_the_best_start_goes_on(monkeypatch):
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 3)
    iterations = {0: 0, 1: 0}

    def observer(progress):
        iterations[progress.restart] = progress.iteration

    solution, restarts = minimise(
        TwoValleys(), [start(8.0), start(-8.0)], PACKING, max_iter=60, tol=1e-9, observer=observer
    )
    assert iterations[0] <= 3
    assert iterations[1] > 3
    assert solution.losses.total == pytest.approx(1.0, abs=1e-3)
    assert restarts[1] < restarts[0]


def test_a_line_search_that_fails_is_called_stalled():
    class Wrong(Bowl):
        """A gradient that points uphill: no step can help."""

        def value_and_grad(self, parameters):
            losses, gradient = super().value_and_grad(parameters)
            return losses, -1.0 * gradient

    assert descend(Wrong(), start(), PACKING, max_iter=50, tol=1e-6).stopped == "stalled"
