"""Searches in step in several processes: as in one, and no process is left behind."""

import os
import signal

import numpy as np
import pytest

from ifair.core import crew
from ifair.core.crew import Crew, shares
from ifair.core.lockstep import Lockstep, Problem

from valleys import PACKING, answered, out_of_luck, problems, starts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are given sockets, which is done on POSIX only")


@pytest.fixture(autouse=True)
def processes(monkeypatch):
    """The processes that were started; they must have ended."""
    started = []
    popen = crew.subprocess.Popen

    def noted(*arguments, **options):
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(crew.subprocess, "Popen", noted)
    yield started
    assert all(process.poll() is not None for process in started)


def recorded(kind, *arguments):
    asked = {0: [], 1: []}

    def evaluate(form, questions):
        asked[form].append([(number, at.prototypes.tolist(), at.alpha.tolist()) for number, at in questions])
        return answered(form, questions)

    return kind(problems(), evaluate, *arguments).run(), asked


def test_several_processes_ask_the_same_together_and_end_the_same(processes):
    expected, asked = recorded(Lockstep)
    found, asked_too = recorded(Crew, 4)
    assert len(processes) == 4
    assert asked_too == asked
    for (solution, restarts), (other, other_restarts) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(solution.parameters.prototypes, other.parameters.prototypes)
        assert (solution.losses, solution.n_iter, solution.stopped) == (other.losses, other.n_iter, other.stopped)
        np.testing.assert_array_equal(restarts, other_restarts)


@pytest.mark.parametrize("n_processes", [1, 2, 3, 8, 100])
def test_every_problem_is_dealt_once_and_a_process_has_one_form(n_processes):
    given = [Problem("ab"[i % 3 == 0], starts(1 + i % 2, i), PACKING, 10, 0.0) for i in range(11)]
    dealt = shares(given, n_processes)
    assert sorted(number for _, numbers in dealt for number in numbers) == list(range(11))
    assert all({given[number].form for number in numbers} == {form} for form, numbers in dealt)
    assert 2 <= len(dealt) <= max(n_processes + 1, 2)


def test_an_error_in_an_evaluation_ends_everything():
    with pytest.raises(ZeroDivisionError, match="out of luck"):
        Crew(problems(), out_of_luck(), 2).run()


def test_an_error_in_a_process_is_raised_here():
    broken = Problem(0, starts(1, 0), Broken(), 10, 0.0)
    with pytest.raises(ValueError, match="invalid literal"):
        Crew([broken, *problems()[::2]], answered, 2).run()


class Broken:
    """A packing that cannot be made where it is sent."""

    def __reduce__(self):
        return int, ("no number",)


def test_a_process_that_is_killed_is_an_error(processes):
    calls = []

    def evaluate(form, questions):
        calls.append(form)
        if len(calls) == 3:
            processes[1].kill()
        return answered(form, questions)

    with pytest.raises(RuntimeError, match="ended without a result"):
        Crew(problems(), evaluate, 2).run()


def interrupted(n_calls, how):
    """Solve until so many questions of either form were answered; processes begin when they can."""
    calls = []

    def evaluate(form, questions):
        if min(calls.count(0), calls.count(1)) >= n_calls:
            how()
        calls.append(form)
        return answered(form, questions)

    return Crew(problems(), evaluate, 2).run()


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", [interrupt, lambda: signal.raise_signal(signal.SIGINT)], ids=["raised", "signal"])
def test_an_interrupt_keeps_the_best_so_far(how):
    before, stopped = signal.getsignal(signal.SIGINT), []
    for solution, restarts in interrupted(3, how):
        assert solution.losses.total == min(restarts)
        stopped.append(solution.stopped)
    assert "interrupted" in stopped
    assert set(stopped) <= {"interrupted", "converged", "stalled"}
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_before_the_first_value_leaves_nothing():
    assert interrupted(0, interrupt) == [None] * 5
