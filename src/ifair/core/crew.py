"""Searches in step in several processes: SciPy's L-BFGS holds Python's lock, so that threads alone take turns.

Every process has some problems of one form, which it solves in step; what its searches ask for comes here in one
message, with the numbers in memory that both share. When all processes of a form wait, their questions are answered in
one call, as in :class:`ifair.core.lockstep.Lockstep`, and the same ones come together.
"""

import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from ifair.core.arrays import Array
from ifair.core.lockstep import Evaluate, Lockstep, Problem, Question
from ifair.core.parameters import Parameters
from ifair.core.solve import Solution

Result = tuple[Solution[Parameters], list[float]]


class Slots:
    """Room for the parameters of every search of a process, and for the gradients that come back, in shared memory.

    Parameters
    ----------
    descriptor : int
        Of a file, which is made large enough.
    n_slots : int
    shape : tuple of int
        (K, N).
    """

    def __init__(self, descriptor: int, n_slots: int, shape: tuple[int, int]) -> None:
        K, N = self.shape = shape
        self.n_values = K * N
        size = 8 * 2 * n_slots * (K + 1) * N
        os.truncate(descriptor, size)
        both = np.frombuffer(mmap.mmap(descriptor, size), np.float64).reshape(2, n_slots, (K + 1) * N)
        self.parameters, self.gradients = both

    def put(self, into: Array, slot: int, what: Parameters) -> None:
        into[slot, : self.n_values] = what.prototypes.ravel()
        into[slot, self.n_values :] = what.alpha

    def get(self, of: Array, slot: int) -> Parameters:
        """A view: good until the next message."""
        return Parameters(of[slot, : self.n_values].reshape(self.shape), of[slot, self.n_values :])


class _Worker:
    """A process, the problems it solves, and which of them are asking."""

    def __init__(self, form: Hashable, numbers: list[int], problems: Sequence[Problem[Parameters]]) -> None:
        self.form, self.numbers = form, numbers
        self.asking: list[int] | None = None
        given = [problems[number] for number in numbers]
        n_slots, shape = sum(len(problem.starts) for problem in given), given[0].starts[0].prototypes.shape
        ours, theirs = socket.socketpair()
        memory = _memory()
        try:
            self.slots = Slots(memory, n_slots, shape)
            # Only what the searches need is loaded there, and nothing of the program that called.
            program = f"from ifair.core.crew import work; work({theirs.fileno()}, {memory}, {n_slots}, {shape})"
            environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter, this package
                [sys.executable, "-c", program],
                pass_fds=[theirs.fileno(), memory],
                env=environment,
                stdin=subprocess.DEVNULL,
            )
        finally:
            theirs.close()
            os.close(memory)
        self.connection = Connection(ours.detach())
        self.connection.send(given)

    def questions(self) -> list[Question[Parameters]]:
        slots = self.slots
        asking = enumerate(self.asking or ())
        return [(self.numbers[number], slots.get(slots.parameters, slot)) for slot, number in asking]

    def answer(self, answers: Sequence[tuple[Any, Parameters]]) -> None:
        self.asking = None
        for slot, (_, gradient) in enumerate(answers):
            self.slots.put(self.slots.gradients, slot, gradient)
        self.connection.send([losses for losses, _ in answers])

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.connection.close()


def _memory() -> int:
    """The descriptor of a file that is in memory, where there is such a thing."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ifair")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Crew:
    """Solve many problems in step, in several processes.

    Parameters
    ----------
    problems : sequence of Problem
        Without observers, which live in this process.
    evaluate : callable
        As for :class:`ifair.core.lockstep.Lockstep`; it must not keep the parameters that it is given.
    n_processes : int
        At least one a form is taken, and no more than there are problems.
    """

    def __init__(
        self, problems: Sequence[Problem[Parameters]], evaluate: Evaluate[Parameters], n_processes: int
    ) -> None:
        self.problems, self.evaluate, self.n_processes = problems, evaluate, n_processes
        self._results: list[Result | None] = [None] * len(problems)

    def run(self) -> list[Result | None]:
        """What :meth:`ifair.core.lockstep.Lockstep.run` returns."""
        workers: list[_Worker] = []
        with _noticed_interrupts() as interrupts:
            try:
                for form, numbers in shares(self.problems, self.n_processes):
                    workers.append(_Worker(form, numbers, self.problems))
                try:
                    self._serve(workers, interrupts)
                except KeyboardInterrupt:
                    self._interrupt(workers)
            finally:
                for worker in workers:
                    worker.end()
        return self._results

    def _serve(self, workers: list[_Worker], interrupts: list[int]) -> None:
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
            if alike and all(other.asking is not None for other in alike):
                self._answer(alike)

    def _hear(self, worker: _Worker) -> bool:
        """Take what a process says: who asks, or its results, which end it."""
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
            worker.asking = said
            return False
        for number, result in zip(worker.numbers, said, strict=True):
            self._results[number] = result
        return True

    def _answer(self, workers: list[_Worker]) -> None:
        asked = [(*question, worker) for worker in workers for question in worker.questions()]
        asked.sort(key=lambda one: one[0])  # stable: starts of a problem stay in order
        answers = self.evaluate(workers[0].form, [(number, at) for number, at, _ in asked])
        for worker in workers:
            worker.answer([answer for (*_, asker), answer in zip(asked, answers, strict=True) if asker is worker])

    def _interrupt(self, workers: list[_Worker]) -> None:
        """Have every process end with the best so far."""
        running = [worker for worker in workers if any(self._results[number] is None for number in worker.numbers)]
        for worker in running:
            if worker.asking is not None:
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


def work(descriptor: int, memory: int, n_slots: int, shape: tuple[int, int]) -> None:
    """What a process of the crew does: solve the problems that come, asking for every value."""
    # An interrupt at the keyboard reaches all processes; the one that evaluates tells the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    slots = Slots(memory, n_slots, shape)
    with Connection(descriptor) as connection:

        def evaluate(_: Hashable, questions: list[Question[Parameters]]) -> list[tuple[Any, Parameters]]:
            for slot, (_, parameters) in enumerate(questions):
                slots.put(slots.parameters, slot, parameters)
            connection.send(("asks", [number for number, _ in questions]))
            losses: Any = connection.recv()
            if isinstance(losses, type):
                raise losses
            return [(one, slots.get(slots.gradients, slot)) for slot, one in enumerate(losses)]

        try:
            results = Lockstep(connection.recv(), evaluate).run()
        except (EOFError, ConnectionError):
            return  # whoever asked is gone
        except Exception as error:
            connection.send(("failed", error))
        else:
            connection.send(("solved", results))
