"""Searches in step: each ends where it would end alone, what they ask for comes together, and nothing hangs."""

import signal
import threading

import numpy as np
import pytest

from ifair.core.lockstep import Lockstep
from ifair.core.solve import minimise

from valleys import PACKING, VALLEYS, answered, out_of_luck, problems


def alone(problem, number):
    return minimise(VALLEYS[number], problem.starts, PACKING, max_iter=problem.max_iter, tol=problem.tol)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "ifair search"]


@pytest.mark.parametrize("most", [1, 2, 7, 1000])
@pytest.mark.parametrize("n_starts", [1, 3])
def test_every_problem_ends_where_it_ends_alone(monkeypatch, n_starts, most):
    monkeypatch.setattr("ifair.core.solve.TRIAL_ITERATIONS", 8)  # so that there is a second leg
    given = problems(n_starts)
    for number, (found, restarts) in enumerate(Lockstep(given, answered, most=most).run()):
        expected, expected_restarts = alone(given[number], number)
        np.testing.assert_array_equal(found.parameters.prototypes, expected.parameters.prototypes)
        np.testing.assert_array_equal(restarts, expected_restarts)
        assert (found.losses, found.n_iter, found.stopped) == (expected.losses, expected.n_iter, expected.stopped)


def recorded(given, **options):
    """The sizes of all calls of each form, and all that was asked, in order."""
    asked = {0: [], 1: []}

    def evaluate(form, questions):
        asked[form].append([(number, at.prototypes.tolist(), at.alpha.tolist()) for number, at in questions])
        return answered(form, questions)

    Lockstep(given, evaluate, **options).run()
    return asked


def test_questions_of_one_form_come_together():
    asked = recorded(problems())
    assert [len(questions) for questions in asked[0][:5]] == [9] * 5
    assert [len(questions) for questions in asked[1][:5]] == [6] * 5
    assert {number % 2 for questions in asked[1] for number, *_ in questions} == {1}
    assert all([q[0] for q in questions] == sorted(q[0] for q in questions) for questions in asked[0])


@pytest.mark.parametrize("most", [3, 1000])
def test_what_comes_together_is_the_same_every_time(most):
    first = recorded(problems(), most=most)
    assert all(recorded(problems(), most=most) == first for _ in range(3))


def test_no_more_searches_are_under_way_than_may_be():
    asked = recorded(problems(), most=4)
    assert max(len(questions) for form in asked.values() for questions in form) == 2  # two forms share the four


def test_an_error_in_an_evaluation_ends_everything():
    with pytest.raises(ZeroDivisionError, match="out of luck"):
        Lockstep(problems(), out_of_luck()).run()


def test_too_few_answers_are_an_error():
    with pytest.raises(ValueError, match="shorter"):
        Lockstep(problems(), lambda form, questions: answered(form, questions)[1:]).run()


@pytest.mark.parametrize("most", [2, 1000])
def test_an_error_of_an_observer_ends_everything(most):
    def observer(number):
        def told(progress):
            if number == 3 and progress.iteration == 4:
                raise LookupError("nobody there")

        return told

    with pytest.raises(LookupError, match="nobody there"):
        Lockstep(problems(observer=observer), answered, most=most).run()


def test_an_observer_calls_off_its_own_fit_and_no_other():
    def observer(number):
        def told(progress):
            if number == 2 and progress.iteration == 3:
                raise StopIteration

        return told

    given = problems(observer=observer)
    found = Lockstep(given, answered).run()
    assert [solution.stopped == "callback" for solution, _ in found] == [False, False, True, False, False]
    assert found[2][0].n_iter <= 3
    assert found[4][0].losses == alone(given[4], 4)[0].losses


def test_observers_hear_of_every_start_one_at_a_time():
    heard, inside = [], []

    def observer(number):
        def told(progress):
            inside.append(number)
            assert len(inside) == 1
            heard.append((number, progress.restart, progress.iteration))
            inside.pop()

        return told

    found = Lockstep(problems(observer=observer), answered).run()
    assert {(number, restart) for number, restart, _ in heard} == {(i, j) for i in range(5) for j in range(3)}
    assert max(iteration for number, _, iteration in heard if number == 4) >= found[4][0].n_iter
    assert len(heard) == len(set(heard))


def interrupted_after(n_calls, **options):
    calls = []

    def evaluate(form, questions):
        calls.append(form)
        if len(calls) > n_calls:
            raise KeyboardInterrupt
        return answered(form, questions)

    return Lockstep(problems(), evaluate, **options).run()


def test_an_interrupt_keeps_the_best_so_far():
    for solution, restarts in interrupted_after(8):
        assert solution.stopped == "interrupted"
        assert solution.losses.total == min(restarts)


def test_an_interrupt_before_the_first_value_leaves_nothing():
    assert interrupted_after(0) == [None] * 5


def test_problems_not_begun_before_an_interrupt_have_no_solution():
    found = interrupted_after(8, most=4)  # two searches of each form: one problem of each, not all of its starts
    assert [one is None for one in found] == [False, False, True, True, True]
    for solution, restarts in found[:2]:
        assert solution.stopped == "interrupted"
        assert solution.losses.total == np.nanmin(restarts)
        assert np.isnan(restarts[2])


def test_a_signal_while_searches_are_at_work_ends_them():
    main = threading.main_thread()

    def observer(number):
        def told(progress):
            if number == 1 and progress.restart == 0 and progress.iteration == 4:
                signal.pthread_kill(main.ident, signal.SIGINT)

        return told

    found = Lockstep(problems(max_iter=10_000, observer=observer), answered).run()
    assert all(solution.stopped in ("interrupted", "converged", "stalled") for solution, _ in found)
    assert any(solution.stopped == "interrupted" for solution, _ in found)


def test_nothing_to_solve_is_solved_at_once():
    assert Lockstep([], answered).run() == []
