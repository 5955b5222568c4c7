"""Searches in step in several processes: SciPy's L-BFGS holds Python's lock, so that threads alone take turns.

Every process has some problems of one form, which it solves in step; what its searches ask for comes here in one
message. When all processes of a form wait, their questions are answered in one call, as in
:class:`ifair.core.lockstep.Lockstep`, and the same ones come together.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from ifair.core.lockstep import Evaluate, Lockstep, Problem, Question
from ifair.core.solve import P, Solution


class _Worker(Generic[P]):
    """A process, the problems it solves, and what it is asking."""

    def __init__(self, form: Hashable, numbers: list[int]) -> None:
        self.form, self.numbers = form, numbers
        self.questions: list[Question[P]] | None = None
        ours, theirs = socket.socketpair()
        # Only what the searches need is loaded there, and nothing of the program that called.
        program = f"from ifair.core.crew import work; work({theirs.fileno()})"
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter, this package
                [sys.executable, "-c", program], pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        self.connection = Connection(ours.detach())

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.connection.close()


class Crew(Generic[P]):
    """Solve many problems in step, in several processes.

    Parameters
    ----------
    problems : sequence of Problem
        Without observers, which live in this process.
    evaluate : callable
        As for :class:`ifair.core.lockstep.Lockstep`.
    n_processes : int
        At least one a form is taken, and no more than there are problems.
    """

    def __init__(self, problems: Sequence[Problem[P]], evaluate: Evaluate[P], n_processes: int) -> None:
        self.problems, self.evaluate, self.n_processes = problems, evaluate, n_processes
        self._results: list[tuple[Solution[P], list[float]] | None] = [None] * len(problems)

    def run(self) -> list[tuple[Solution[P], list[float]] | None]:
        """What :meth:`ifair.core.lockstep.Lockstep.run` returns."""
        workers: list[_Worker[P]] = []
        with _noticed_interrupts() as interrupts:
            try:
                for form, numbers in shares(self.problems, self.n_processes):
                    workers.append(_Worker(form, numbers))
                    workers[-1].connection.send([self.problems[number] for number in numbers])
                try:
                    self._serve(workers, interrupts)
                except KeyboardInterrupt:
                    self._interrupt(workers)
            finally:
                for worker in workers:
                    worker.end()
        return self._results

    def _serve(self, workers: list[_Worker[P]], interrupts: list[int]) -> None:
        running = {id(worker.connection): worker for worker in workers}
        heard: deque[Any] = deque()
        while running:
            if interrupts:
                raise KeyboardInterrupt
            if not heard:
                heard.extend(wait([worker.connection for worker in running.values()], timeout=0.2))
                continue
            worker = running[id(heard.popleft())]
            if self._hear(worker):
                del running[id(worker.connection)]
            alike = [other for other in running.values() if other.form == worker.form]
            if alike and all(other.questions is not None for other in alike):
                self._answer(alike)

    def _hear(self, worker: _Worker[P]) -> bool:
        """Take what a process says: questions, or its results, which end it."""
        try:
            kind, said = worker.connection.recv()
        except (EOFError, ConnectionError) as error:
            raise RuntimeError(
                "a process that searched for solutions has ended without a result, for want of memory perhaps; "
                "n_jobs=1 searches in this process"
            ) from error
        if kind == "failed":
            raise said
        if kind == "asks":
            worker.questions = said
            return False
        for number, result in zip(worker.numbers, said, strict=True):
            self._results[number] = result
        return True

    def _answer(self, workers: list[_Worker[P]]) -> None:
        asked = [(worker.numbers[number], at, worker) for worker in workers for number, at in worker.questions or ()]
        asked.sort(key=lambda one: one[0])  # stable: starts of a problem stay in order
        answers = self.evaluate(workers[0].form, [(number, at) for number, at, _ in asked])
        for worker in workers:
            worker.questions = None
        for worker in workers:
            worker.connection.send(
                [answer for (*_, owner), answer in zip(asked, answers, strict=True) if owner is worker]
            )

    def _interrupt(self, workers: list[_Worker[P]]) -> None:
        """Have every process end with the best so far."""
        running = [worker for worker in workers if any(self._results[number] is None for number in worker.numbers)]
        for worker in running:
            if worker.questions is not None:
                worker.connection.send(KeyboardInterrupt)
        for worker in running:
            while not self._hear(worker):
                worker.connection.send(KeyboardInterrupt)


@contextmanager
def _noticed_interrupts() -> Iterator[list[int]]:
    """Interrupts that came while this was open, to be looked at between messages: half a message cannot be taken."""
    noticed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noticed
        return
    before = signal.signal(signal.SIGINT, lambda number, _: noticed.append(number))
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, before)


def shares(problems: Sequence[Problem[Any]], n_processes: int) -> list[tuple[Hashable, list[int]]]:
    """The problems of every process: of one form each, processes of forms by the number of searches."""
    by_form: dict[Hashable, list[int]] = {}
    for number, problem in enumerate(problems):
        by_form.setdefault(problem.form, []).append(number)
    searches = {form: sum(len(problems[number].starts) for number in numbers) for form, numbers in by_form.items()}
    total = sum(searches.values())
    dealt = []
    for form, numbers in by_form.items():
        n = min(len(numbers), max(1, round(n_processes * searches[form] / total)))
        dealt += [(form, numbers[first::n]) for first in range(n)]
    return dealt


def work(descriptor: int) -> None:
    """What a process of the crew does: solve the problems that come, asking for every value."""
    # An interrupt at the keyboard reaches all processes; the one that evaluates tells the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(descriptor) as connection:

        def evaluate(_: Hashable, questions: list[Question[Any]]) -> Sequence[tuple[Any, Any]]:
            connection.send(("asks", questions))
            answers: Any = connection.recv()
            if isinstance(answers, type):
                raise answers
            replies: Sequence[tuple[Any, Any]] = answers
            return replies

        try:
            results = Lockstep(connection.recv(), evaluate).run()
        except (EOFError, ConnectionError):
            return  # whoever asked is gone
        except Exception as error:
            connection.send(("failed", error))
        else:
            connection.send(("solved", results))
