"""The solver: finds known minima, says honestly why it stopped, keeps the best, for one problem and for many."""

import itertools
import signal
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusals import must_raise

from ifair.core import solve
from ifair.core.batch import round_up
from ifair.core.mapping import Packing, Parameters
from ifair.core.objective import Losses
from ifair.core.problem import Problem
from ifair.core.solve import minimise_many
from ifair.engines.engine import LocalEngine

PACKING = Packing(1, 2, np.zeros(2, dtype=bool))


def minimise(objective, starts, packing, **options):
    """The solution of one problem, and the losses that its starts reached."""
    (result,) = minimise_many([Problem(objective, starts, packing, **options)])
    return result


def descend(objective, one, packing, **options):
    """Where the search from one start ends."""
    return minimise(objective, [one], packing, **options)[0]


class Landscape:
    """What can be minimised as an objective is."""

    def forget(self):
        pass


class Bowl(Landscape):
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
    packing = Packing(3, 4, np.array([False, True, False, False]), {"log_odds": 3})
    alpha = rng.uniform(size=4)
    alpha[1] = 0.0
    parameters = Parameters(rng.normal(size=(3, 4)), alpha, {"log_odds": rng.normal(size=3)})
    again = packing.unpack(packing.pack(parameters))
    np.testing.assert_allclose(again.prototypes, parameters.prototypes)
    np.testing.assert_allclose(again.alpha, parameters.alpha)
    np.testing.assert_array_equal(again.extra["log_odds"], parameters.extra["log_odds"])
    assert again.alpha[1] == 0.0
    assert len(packing.pack(parameters)) == 3 * 4 + 3 + 3


def test_a_search_ends_at_the_limit_or_where_the_loss_hardly_falls_over_ten_iterations():
    solution = descend(Bowl(), start(), PACKING, max_iter=2, tol=1e-12)
    assert (solution.stopped, solution.n_iter) == ("max_iter", 2)
    assert descend(Bowl(), start(), PACKING, max_iter=500, tol=1e-3).stopped == "converged"


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


def test_an_interrupt_between_trials_and_the_second_leg_keeps_the_trials(monkeypatch):
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 2)
    ended = []

    class Interrupted(Bowl):
        def value_and_grad(self, parameters):
            if len(ended) == 2:
                raise KeyboardInterrupt
            return super().value_and_grad(parameters)

    def observer(progress):
        if progress.iteration == 2:
            ended.append(progress.restart)

    starts = [start(), start(9.0)]
    solution, restarts = minimise(Interrupted(), starts, PACKING, max_iter=100, tol=0.0, observer=observer)
    assert solution.stopped == "interrupted"
    assert solution.losses.total == min(restarts)
    assert solution.losses.total == Bowl().value_and_grad(solution.parameters)[0].total


class TwoValleys(Landscape):
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


def test_a_search_that_can_go_no_further_at_a_loss_of_nearly_zero_has_converged():
    class Exhausted(Bowl):
        """A gradient of rounding only, which points uphill, where all but rounding is gone from the loss."""

        def value_and_grad(self, parameters):
            losses, gradient = super().value_and_grad(parameters)
            if losses.total < 1e-12:
                losses, gradient = Losses(1e-16, (1e-16,)), Parameters(np.full((1, 2), 1e-11), np.zeros(2))
            return losses, gradient

    solution = descend(Exhausted(0.0), start(), PACKING, max_iter=50, tol=0.0)
    assert solution.losses.total == 1e-16
    assert solution.stopped == "converged"


class Unlucky(Bowl):
    """Values that are no numbers from some evaluation on, perhaps until the search comes back to its best point."""

    def __init__(self, first, *, for_good=False):
        super().__init__()
        self.first, self.for_good, self.seen, self.back = first, for_good, [], False

    def value_and_grad(self, parameters):
        losses, gradient = super().value_and_grad(parameters)
        best = min(self.seen, default=None)
        self.back |= len(self.seen) > self.first and losses.total == best
        self.seen.append(losses.total if len(self.seen) < self.first or self.back else np.inf)
        if len(self.seen) > self.first and (self.for_good or not self.back):
            losses = Losses(np.nan, (np.nan, 0.0))
        return losses, gradient


@pytest.mark.parametrize("first", [1, 3, 5, 7])
def test_a_search_that_stalls_goes_on_from_its_best_point(first):
    unlucky = Unlucky(first)
    solution = descend(unlucky, start(40.0, -70.0), PACKING, max_iter=500, tol=1e-6)
    assert unlucky.back
    assert solution.losses.total == pytest.approx(1.0, abs=1e-6)
    assert solution.stopped == "converged"


def test_a_search_that_stalls_again_without_having_gained_ends():
    unlucky = Unlucky(5, for_good=True)
    solution = descend(unlucky, start(40.0, -70.0), PACKING, max_iter=500, tol=1e-6)
    assert solution.stopped == "stalled"
    assert len(unlucky.seen) < 150
    assert solution.losses.total == Bowl().value_and_grad(solution.parameters)[0].total


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_value_that_is_no_number_only_shortens_the_step(wrong):
    class Fenced(Bowl):
        def value_and_grad(self, parameters):
            losses, gradient = super().value_and_grad(parameters)
            if parameters.prototypes[0, 0] > 4.0:
                losses = Losses(wrong, (wrong, 0.0))
                gradient = Parameters(np.full((1, 2), wrong), np.full(2, wrong))
            return losses, gradient

    solution = descend(Fenced(), start(-300.0), PACKING, max_iter=500, tol=0.0)
    assert solution.losses.total == pytest.approx(1.0, abs=1e-6)


# Many problems at once.


class Valley(Landscape):
    """A curved valley with its bottom at prototypes (a, a^2)."""

    def __init__(self, a):
        self.a = a

    def value_and_grad(self, parameters):
        (x, y), alpha = parameters.prototypes[0], parameters.alpha
        value = (self.a - x) ** 2 + 20.0 * (y - x**2) ** 2 + float(((alpha - 0.5) ** 2).sum()) + 1.0
        gradient = [2.0 * (x - self.a) - 80.0 * x * (y - x**2), 40.0 * (y - x**2)]
        return Losses(value, (value, 0.0)), Parameters(np.array([gradient]), 2.0 * (alpha - 0.5))


VALLEYS = [Valley(a) for a in (0.5, 1.0, 1.5, -2.0, 3.0)]
GROUPS = [[0, 2, 4], [1, 3]]


def problems(n_starts=3, *, max_iter=300, observer=None):
    def starts(seed):
        rng = np.random.default_rng(seed)
        return [Parameters(rng.normal(size=(1, 2)), rng.uniform(0.1, 1.0, 2)) for _ in range(n_starts)]

    return [
        Problem(valley, starts(i), PACKING, max_iter, 1e-6, None if observer is None else observer(i))
        for i, valley in enumerate(VALLEYS)
    ]


class Together:
    """Valleys that are evaluated in one call; notes which ones."""

    n_losses, fewest = 3, 1

    def __init__(self, numbers, engine, asked, before):
        self.numbers, self.engine, self.asked, self.before = numbers, engine, asked, before

    def forget(self, function):
        self.engine.remembered.remove(function)

    def keep(self, rows):
        return Together([self.numbers[row] for row in rows], self.engine, self.asked, self.before)

    def name_losses(self, values):
        total, *terms = map(float, values)
        return Losses(total, tuple(terms))

    def values_and_grads(self, theta):
        self.before()
        self.asked.append([(number, *one) for number, one in zip(self.numbers, theta.tolist(), strict=True)])
        answers = [VALLEYS[i].value_and_grad(PACKING.unpack(one)) for i, one in zip(self.numbers, theta)]
        gradients = [PACKING.pack_gradient(gradient, one) for (_, gradient), one in zip(answers, theta)]
        return np.array([(losses.total, *losses.terms) for losses, _ in answers]), np.stack(gradients)


class Remembering(LocalEngine):
    """Knows what it has been asked to evaluate, until it is told to forget it."""

    def __init__(self, recorded):
        super().__init__(np.empty((0, 0)))
        self.recorded, self.remembered = recorded, set()

    def evaluate(self, function, *arrays):
        self.remembered.add(function)
        return function(*arrays)


def solve_together(given, *, asked=None, engine=None, before=lambda: None, **options):
    """Solve the problems in two batches; what each was asked comes into a dictionary."""
    asked, engine = {} if asked is None else asked, engine or Remembering(recorded=False)

    def batch(numbers):
        return Together(numbers, engine, asked.setdefault(numbers[0] % 2, []), before)

    return minimise_many(given, GROUPS, batch, **options)


def alone(problem):
    return minimise_many([replace(problem, observer=None)])[0]


WAYS = {
    "apart": minimise_many,
    "together": solve_together,
    "recorded": partial(solve_together, engine=Remembering(recorded=True)),
}


@pytest.mark.parametrize("n_starts", [1, 3])
def test_every_problem_ends_where_it_ends_alone(monkeypatch, n_starts):
    assert minimise_many([]) == []
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 8)  # so that there is a second leg
    given = problems(n_starts)
    expected_results = [alone(problem) for problem in given]
    for most, way in itertools.product((1, 2, 7, 1000), WAYS):
        results = WAYS[way](given, most=most)
        for (expected, expected_restarts), (found, restarts) in zip(expected_results, results, strict=True):
            np.testing.assert_array_equal(found.parameters.prototypes, expected.parameters.prototypes, f"{way}, {most}")
            np.testing.assert_array_equal(restarts, expected_restarts)
            assert (found.losses, found.n_iter, found.stopped) == (expected.losses, expected.n_iter, expected.stopped)


def test_searches_of_one_form_are_evaluated_together_and_leave_when_they_are_over():
    asked = {}
    solve_together(problems(), asked=asked)
    assert [len(rows) for rows in asked[0][:5]] == [9] * 5
    assert [len(rows) for rows in asked[1][:5]] == [6] * 5
    assert {number % 2 for rows in asked[1] for number, *_ in rows} == {1}
    sizes = [len(rows) for rows in asked[0]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 9


def test_of_every_fit_only_the_start_that_goes_on_is_evaluated_then(monkeypatch):
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 4)
    asked, tried = {}, set()

    def observer(number):
        def tell(progress):
            if number % 2 == 0 and progress.iteration <= 4:
                tried.add(len(asked[0]))
            if number == 2 and progress.iteration == 7:
                raise StopIteration  # its other starts are no longer there

        return tell

    found = solve_together(problems(observer=observer), asked=asked)
    assert {len(rows) for rows in asked[0][: min(tried)]} == {9}
    assert {len(rows) for rows in asked[0][max(tried) :]} <= {1, 2, 3}
    assert [solution.stopped for solution, _ in found] == ["converged", "converged", "callback", *["converged"] * 2]


def test_a_start_without_a_loss_does_not_end_the_others(monkeypatch):
    monkeypatch.setattr(solve, "TRIAL_ITERATIONS", 4)
    given = problems()
    nowhere = Parameters(np.full((1, 2), np.nan), np.ones(2))
    broken = [replace(one, starts=[nowhere, *one.starts]) for one in given]
    for (found, restarts), (expected, _) in zip(solve_together(broken), solve_together(given), strict=True):
        assert np.isnan(restarts[0])
        assert (found.losses, found.stopped) == (expected.losses, expected.stopped)


@pytest.mark.parametrize("way", [minimise_many, solve_together])
def test_a_problem_without_a_loss_at_any_start_is_told_and_the_others_are_solved(way):
    given = problems()
    expected = way(given)
    for nothing in (np.nan, np.inf):
        nowhere = Parameters(np.full((1, 2), nothing), np.ones(2))
        with np.errstate(invalid="ignore"):
            results = way([*given[:2], replace(given[2], starts=[nowhere, nowhere]), *given[3:]])
        assert results[2][0].stopped == "undefined"
        assert np.isnan(results[2][1]).all()
        for i in (0, 1, 3, 4):
            assert (results[i][0].losses, results[i][1]) == (expected[i][0].losses, expected[i][1])


def test_where_calls_are_recorded_sizes_are_few_and_only_what_is_still_called_is_remembered():
    asked, engine, most = {}, Remembering(recorded=True), []
    solve_together(problems(), asked=asked, engine=engine, before=lambda: most.append(len(engine.remembered)))
    assert {len(rows) for rows in asked[0]} <= {9, *(round_up(n) for n in range(1, 9))}
    assert max(most) == len(GROUPS)
    assert not engine.remembered


@pytest.mark.parametrize("most", [3, 1000])
def test_what_comes_together_is_the_same_every_time_and_no_more_than_may_be(most):
    asked = [{} for _ in range(3)]
    for one in asked:
        solve_together(problems(), asked=one, most=most)
    assert asked[0] == asked[1] == asked[2]
    searches = max(len(rows) for rows in (*asked[0][0], *asked[0][1]))
    assert searches == (3 if most == 3 else 9)  # those of one problem come together


def raising(error, call):
    """A function that raises from this call on."""
    calls = itertools.count(1)

    def before(*_):
        if next(calls) >= call:
            raise error

    return before


def told(number, iteration, tell):
    """Observers, of which that of one problem tells of an iteration."""
    return lambda i: lambda progress: (i, progress.iteration) == (number, iteration) and tell(progress)


@pytest.mark.parametrize("most", [2, 1000])
def test_an_error_of_an_evaluation_or_an_observer_ends_everything(most):
    out_of_luck = raising(ZeroDivisionError("out of luck"), 7)
    must_raise(ZeroDivisionError, "out of luck", solve_together, problems(), before=out_of_luck, most=most)
    observed = problems(observer=told(3, 4, raising(LookupError("nobody there"), 1)))
    must_raise(LookupError, "nobody there", solve_together, observed, most=most)


def test_an_observer_calls_off_its_own_fit_and_no_other():
    given = problems(observer=told(2, 3, raising(StopIteration, 1)))
    for found in (solve_together(given), minimise_many(given)):
        assert [solution.stopped == "callback" for solution, _ in found] == [False, False, True, False, False]
        assert found[2][0].n_iter <= 3
        assert found[4][0].losses == alone(given[4])[0].losses


def test_observers_hear_of_every_start_once_per_iteration():
    heard = []

    def observer(number):
        return lambda progress: heard.append((number, progress.restart, progress.iteration))

    found = solve_together(problems(observer=observer))
    assert {(number, restart) for number, restart, _ in heard} == {(i, j) for i in range(5) for j in range(3)}
    assert max(iteration for number, _, iteration in heard if number == 4) >= found[4][0].n_iter
    assert len(heard) == len(set(heard))


def test_an_interrupt_keeps_the_best_so_far_of_every_problem():
    for number, (solution, restarts) in enumerate(solve_together(problems(), before=raising(KeyboardInterrupt, 9))):
        assert solution.stopped == "interrupted"
        assert solution.losses.total == min(restarts)
        assert solution.losses == VALLEYS[number].value_and_grad(solution.parameters)[0]


def test_an_interrupt_while_a_group_is_made_smaller_mixes_no_searches_up(monkeypatch):
    keep = solve.Minimiser.keep

    def interrupted(self, rows):
        keep(self, rows)
        raise KeyboardInterrupt

    monkeypatch.setattr(solve.Minimiser, "keep", interrupted)
    found = solve_together(problems())
    assert any(solution.stopped == "interrupted" for solution, _ in found)
    for number, (solution, _) in enumerate(found):
        assert solution.losses == VALLEYS[number].value_and_grad(solution.parameters)[0]


def test_problems_without_a_value_before_an_interrupt_have_no_solution():
    assert solve_together(problems(), before=raising(KeyboardInterrupt, 1)) == [None] * 5
    found = solve_together(problems(), before=raising(KeyboardInterrupt, 9), most=4)  # one problem of each form
    assert [one is None for one in found] == [False, False, True, True, True]
    for solution, restarts in found[:2]:
        assert solution.stopped == "interrupted"
        assert solution.losses.total == np.nanmin(restarts)


def test_a_signal_while_searches_are_at_work_ends_them():
    observer = told(1, 4, lambda progress: progress.restart == 0 and signal.raise_signal(signal.SIGINT))
    found = solve_together(problems(max_iter=10_000, observer=observer))
    assert all(solution.stopped in ("interrupted", "converged", "stalled") for solution, _ in found)
    assert any(solution.stopped == "interrupted" for solution, _ in found)


def test_numbers_are_rounded_up_to_few_others_and_by_at_most_a_third():
    rungs = {n: round_up(n) for n in range(1, 1025)}
    assert all(n <= rung <= n * 4 / 3 for n, rung in rungs.items())
    assert len(set(rungs.values())) <= 36
