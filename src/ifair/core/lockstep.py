"""Many searches in step: each has a thread of its own, and what they ask for at the same time is evaluated together.

Every search is the one of :mod:`ifair.core.solve`, with its own steps and its own end. When all searches of one form
that are under way wait for a value, their questions are answered in one call, by the thread that called ``run``.
"""

import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any, Generic

from ifair.core.solve import Observer, P, Progress, Solution, Vectorised, descend, go_on, trial_iterations

MOST_SEARCHES = 1024
"""Searches under way at the same time; every one has a thread and the memory of its past steps."""


@dataclass(frozen=True, slots=True)
class Problem(Generic[P]):
    """A fit: its starts and when it ends, as for :func:`ifair.core.solve.minimise`.

    ``form`` says with which others it can be evaluated in one call.
    """

    form: Hashable
    starts: Sequence[P]
    packing: Vectorised[P]
    max_iter: int
    tol: float
    observer: Observer | None = None


Question = tuple[int, P]
"""The number of a problem, and parameters at which its value and gradient are wanted."""

Evaluate = Callable[[Any, list[Question[P]]], Sequence[tuple[Any, P]]]
"""From a form and questions of that form to their answers, in the same order."""


class _Abandoned(BaseException):
    """Raised in searches that are to end because something else went wrong."""


@dataclass(slots=True)
class _Form(Generic[P]):
    """The searches of one form: those to come, how many are under way, and what those that wait are asking."""

    name: Hashable
    to_come: deque["_Search[P]"] = field(default_factory=deque)
    running: int = 0
    waiting: dict[tuple[int, int], tuple["_Search[P]", P]] = field(default_factory=dict)
    asked: dict[tuple[int, int], tuple["_Search[P]", P]] = field(default_factory=dict)


class _Search(Generic[P]):
    """One start of one problem; for its descent the objective."""

    def __init__(self, lockstep: "Lockstep[P]", problem: int, start: int) -> None:
        self.lockstep, self.problem, self.start = lockstep, problem, start
        self.answers: SimpleQueue[Any] = SimpleQueue()

    def value_and_grad(self, parameters: P) -> tuple[Any, P]:
        self.lockstep.ask(self, parameters)
        answer = self.answers.get()
        if isinstance(answer, type):
            raise answer
        result: tuple[Any, P] = answer
        return result


class Lockstep(Generic[P]):
    """Solve many problems in step.

    Parameters
    ----------
    problems : sequence of Problem
    evaluate : callable
        Called with a form and the questions of its searches, by order of problem and start.
    most : int, default=MOST_SEARCHES
        Searches under way at the same time, shared among the forms; the others begin when those of their form end.

    Notes
    -----
    Which questions come together depends on no clock: results are the same every time.
    """

    def __init__(self, problems: Sequence[Problem[P]], evaluate: Evaluate[P], *, most: int = MOST_SEARCHES) -> None:
        self.problems, self.evaluate, self.most = problems, evaluate, most
        self._forms: dict[Hashable, _Form[P]] = {problem.form: _Form(problem.form) for problem in problems}
        self._tried: list[list[Solution[P] | None]] = [[None] * len(problem.starts) for problem in problems]
        self._left = [len(problem.starts) for problem in problems]
        self._called_off = [False] * len(problems)
        self._results: list[tuple[Solution[P], list[float]] | None] = [None] * len(problems)
        for i, problem in enumerate(problems):
            self._forms[problem.form].to_come.extend(_Search(self, i, j) for j in range(self._left[i]))
        self._threads: list[threading.Thread] = []
        self._under_way = 0
        self._ready: SimpleQueue[_Form[P] | None] = SimpleQueue()
        self._lock, self._telling = threading.RLock(), threading.Lock()
        self._ending: type[BaseException] | None = None
        self._error: BaseException | None = None

    def run(self) -> list[tuple[Solution[P], list[float]] | None]:
        """Of every problem what :func:`ifair.core.solve.minimise` returns.

        An interrupt ends all searches with the best they have found so far; None is a problem that had no value yet.
        An error in one search, or in the evaluation, ends all of them and is raised.
        """
        try:
            with self._lock:
                for form in self._forms.values():
                    for _ in range(min(max(1, self.most // len(self._forms)), len(form.to_come))):
                        self._begin_next(form)
            while self._threads and (ready := self._ready.get()) is not None:
                self._answer(ready)
        except KeyboardInterrupt:
            self._end(KeyboardInterrupt)
        except BaseException:
            self._end(_Abandoned)
            raise
        finally:
            for thread in self._threads:
                thread.join()
        if self._error is not None:
            raise self._error
        return [self._result_of(i) for i in range(len(self.problems))]

    def _result_of(self, i: int) -> tuple[Solution[P], list[float]] | None:
        if self._results[i] is None and any(one is not None for one in self._tried[i]):
            # Interrupted before all starts were tried: the best of those that were.
            problem = self.problems[i]
            best, restarts = go_on(_Search(self, i, 0), self._tried[i], problem.packing, max_iter=0, tol=problem.tol)
            return replace(best, stopped="interrupted"), restarts
        return self._results[i]

    # What the threads of searches do.

    def ask(self, search: _Search[P], parameters: P) -> None:
        """Put a question; the answer comes to the search."""
        with self._lock:
            if self._ending is not None:
                raise self._ending
            form = self._form_of(search)
            form.waiting[search.problem, search.start] = search, parameters
            self._check(form)

    def _search(self, search: _Search[P]) -> None:
        try:
            self._descend(search)
        except (KeyboardInterrupt, _Abandoned):
            pass  # before its first value: there is nothing to keep
        except BaseException as error:
            self._error = self._error or error
            self._end(_Abandoned)
        finally:
            self._leave(search)

    def _descend(self, search: _Search[P]) -> None:
        number, problem, packing = search.problem, self.problems[search.problem], self.problems[search.problem].packing
        observer = None if problem.observer is None else self._told(number, problem.observer)
        found = descend(
            search,
            problem.starts[search.start],
            packing,
            max_iter=trial_iterations(len(problem.starts), problem.max_iter),
            tol=problem.tol,
            restart=search.start,
            observer=observer,
        )
        tried = self._tried[number]
        with self._lock:
            tried[search.start] = found
            self._left[number] -= 1
            if self._left[number] > 0:
                return
        # The last start to end goes on as the best one.
        self._results[number] = go_on(
            search, tried, packing, max_iter=problem.max_iter, tol=problem.tol, observer=observer
        )

    def _told(self, number: int, observer: Observer) -> Observer:
        """Observers are told one at a time. One that calls off a fit calls off all its starts."""

        def told(progress: Progress) -> None:
            with self._telling:
                if self._called_off[number]:
                    raise StopIteration
                try:
                    observer(progress)
                except StopIteration:
                    self._called_off[number] = True
                    raise

        return told

    def _leave(self, search: _Search[P]) -> None:
        with self._lock:
            self._under_way -= 1
            form = self._form_of(search)
            form.running -= 1
            # Of the same form, whose others wait: which of them come together must not depend on the clock.
            if form.to_come:
                self._begin_next(form)
            self._check(form)
            if self._under_way == 0:
                self._ready.put(None)

    # What either does; the lock is held.

    def _form_of(self, search: _Search[P]) -> _Form[P]:
        return self._forms[self.problems[search.problem].form]

    def _begin_next(self, form: _Form[P]) -> None:
        search = form.to_come.popleft()
        thread = threading.Thread(target=self._search, args=(search,), name="ifair search", daemon=True)
        self._threads.append(thread)
        thread.start()
        form.running += 1
        self._under_way += 1

    def _check(self, form: _Form[P]) -> None:
        """Have a form answered when everybody waits."""
        if form.running and len(form.waiting) == form.running:
            self._ready.put(form)

    # What the thread that called ``run`` does.

    def _answer(self, form: _Form[P]) -> None:
        with self._lock:
            form.asked, form.waiting = form.waiting, {}
        in_order = sorted(form.asked)
        questions = [(problem, form.asked[problem, start][1]) for problem, start in in_order]
        if questions:
            for key, answer in zip(in_order, self.evaluate(form.name, questions), strict=True):
                # First the answer, then the note that it was given: an interrupt in between does no harm.
                form.asked[key][0].answers.put(answer)
                del form.asked[key]

    def _end(self, kind: type[BaseException]) -> None:
        """Raise this in every search that waits, and in others when they ask; begin no more."""
        with self._lock:
            self._ending = self._ending or kind
            for form in self._forms.values():
                form.to_come.clear()
                for search, _ in (*form.asked.values(), *form.waiting.values()):
                    search.answers.put(self._ending)
                form.waiting.clear()
