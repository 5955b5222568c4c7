"""Minimise objectives from several starts, of one fit or of many: when a search converges, goes on, or ends.

The searches themselves are those of :mod:`ifair.core.lbfgs`.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ifair.core.arrays import Array
from ifair.core.batch import Batch, form_batches, round_up
from ifair.core.lbfgs import VECTORS, Floats, Functions, Minimiser
from ifair.core.mapping import Packing, Parameters, mean_memberships
from ifair.core.objective import Losses, Objective, OneObjective
from ifair.core.problem import Problem, Progress, Result, Solution

PATIENCE = 10
"""Iterations over which the loss must fall by a relative ``tol``; single steps of L-BFGS are too uneven to judge."""

TRIAL_ITERATIONS = 100
"""After so many iterations only the best start goes on."""

FLAT = 1e-5
"""Largest slope, relative to the loss, at which a search that can go no further counts as converged."""

ENDED_EARLY = ("interrupted", "callback")
"""Why a descent stopped, where somebody asked for it: then nothing else is begun."""

MOST_SEARCHES = 1024
"""Searches under way at the same time, each by itself; every one has the memory of its past steps."""

IN_TURN = 25
"""Evaluations of a problem by itself before it is the next one's turn: its past steps stay in the processor's cache."""


def solve(problems: Sequence[Problem]) -> list[Result | None]:
    """Solve problems on the records of one engine, rehearsals first; see :func:`minimise_many`.

    On an accelerator those of one form are evaluated together.
    """
    if any(problem.rehearsal is not None for problem in problems):
        return _solve_after_rehearsal(problems)
    groups, packings, batch = _group([one.objective for one in problems], [one.packing for one in problems])
    room = [8 * VECTORS * packings[number].length for group in groups for number in group]
    most = max(1, problems[0].objective.engine.batch_bytes // max(room)) if room else MOST_SEARCHES
    packed = [replace(problem, packing=packing) for problem, packing in zip(problems, packings)]
    return minimise_many(packed, groups, batch, most=most)


def _group(
    objectives: Sequence[Objective], packings: Sequence[Packing]
) -> tuple[list[list[int]], list[Packing], Callable[[list[int]], Batch] | None]:
    """What :func:`form_batches` says; no groups where no engine has memory for them."""
    if any(objective.engine.batch_bytes for objective in objectives):
        return form_batches(objectives, packings)
    return [], list(packings), None


Fit = tuple[Objective, Packing, Parameters]
"""A fit at certain parameters."""
Found = TypeVar("Found")


def losses_at(fits: Sequence[Fit]) -> list[Losses]:
    """The losses of fits; of those that can be evaluated together at once."""
    return _map_together(
        fits,
        lambda objective, point: objective.value_and_grad(point, once=True)[0],
        lambda batch, theta: map(batch.name_losses, batch.engine.fetch(batch.values_and_grads(theta)[0])[0]),
    )


def mean_memberships_at(fits: Sequence[Fit], sample_weight: Array | None = None) -> list[Array]:
    """The mean memberships of fits, shape (K,), likewise."""
    return _map_together(
        fits,
        lambda objective, point: mean_memberships(objective.engine, objective.mapping, point, sample_weight),
        lambda batch, theta: batch.mean_memberships(theta, sample_weight),
    )


def _map_together(
    fits: Sequence[Fit],
    alone: Callable[[Objective, Parameters], Found],
    at_once: Callable[[Batch, Array], Iterable[Found]],
) -> list[Found]:
    groups, packings, batch = _group([objective for objective, _, _ in fits], [packing for _, packing, _ in fits])
    found: dict[int, Found] = {}
    for numbers in groups:
        assert batch is not None
        functions = batch(numbers)
        (theta,) = functions.engine.send(np.stack([packings[number].pack(fits[number][2]) for number in numbers]))
        found |= zip(numbers, at_once(functions, theta))
    return [
        found[number] if number in found else alone(objective, point)
        for number, (objective, _, point) in enumerate(fits)
    ]


def _solve_after_rehearsal(problems: Sequence[Problem]) -> list[Result | None]:
    """Solve the rehearsals, then the problems from their solutions; one that was called off is not begun."""
    rehearsed = iter(solve([problem.rehearsal for problem in problems if problem.rehearsal is not None]))
    results: dict[int, Result | None] = {}
    given: dict[int, Problem] = {}
    for number, problem in enumerate(problems):
        found = None if problem.rehearsal is None else next(rehearsed)
        if problem.rehearsal is None:
            given[number] = problem
        elif found is None:
            results[number] = None
        elif found[0].stopped in (*ENDED_EARLY, "undefined"):
            losses, _ = problem.objective.value_and_grad(found[0].parameters, once=True)
            results[number] = replace(found[0], losses=losses), [losses.total]
        else:
            given[number] = replace(problem, starts=[found[0].parameters], rehearsal=None)
    results |= zip(given, solve(list(given.values())))
    return [results[number] for number in range(len(problems))]


def minimise_many(
    problems: Sequence[Problem],
    groups: Sequence[list[int]] = (),
    batch: Callable[[list[int]], Functions] | None = None,
    *,
    most: int = MOST_SEARCHES,
) -> list[Result | None]:
    """Solve many problems at the same time.

    Every start of every problem is a search of its own, with its own steps and its own end: which others are under way
    changes nothing but rounding.

    Parameters
    ----------
    problems : sequence of Problem
    groups : sequence of list of int, optional
        Numbers of problems that are evaluated together. One that is in no group is evaluated by itself, one start
        after the other.
    batch : callable, optional
        From the numbers of problems of one group, one for every search, to their functions.
    most : int
        Searches under way at the same time. Those of one problem begin together; the others wait for their turn.

    Returns
    -------
    list of (Solution, list of float)
        Of every problem the best solution found, and the loss that each start reached; NaN for starts that were never
        begun. An interrupt ends all searches with the best that they have found so far; None is a problem that had no
        value yet.
    """
    fits = [_Fit(problem) for problem in problems]
    lines: list[_Line] = []
    for fit in (fits[number] for number in sorted({*range(len(fits))} - {*chain(*groups)})):
        one = fit.problem
        lines.append(_Line([([search], OneObjective(one.objective, one.packing)) for search in fit.searches], IN_TURN))
    for numbers in groups:
        assert batch is not None
        share = max(1, most // len(groups))
        lines.append(_Line([_form_group(fits, some, batch) for some in _divide_fits(fits, numbers, share)]))
    waiting, running = lines[most:], lines[:most]
    interrupted = False
    try:
        while running:
            running = [line for line in running if line.take_turn()]
            while waiting and len(running) < most:
                running.append(waiting.pop(0))
    except KeyboardInterrupt:
        interrupted = True
    for line in lines:
        line.collect()
    return [fit.result(interrupted) for fit in fits]


class _Search:
    """One start of a fit: knows its best loss, judges convergence, and says when to stop and why."""

    def __init__(self, fit: "_Fit", start: int) -> None:
        self.fit, self.start = fit, start
        self.group: _Group | None = None
        self.found: tuple[Floats, Any] | None = None
        self.best, self.iteration = np.inf, 0
        n_starts, max_iter = len(fit.problem.starts), fit.problem.max_iter
        self.begin(max_iter if n_starts == 1 else min(TRIAL_ITERATIONS, max_iter))

    def begin(self, limit: int) -> None:
        """Forget what was seen, and search until there have been so many iterations in all."""
        self.limit, self.stopped, self.before = limit, "", np.inf
        self.first_loss, self.history = np.nan, list[float]()

    def see(self, loss: float) -> None:
        if np.isnan(self.first_loss):
            self.first_loss = loss
        if loss < self.best or self.best == np.inf:
            self.best = loss

    def after_iteration(self, gradient_norm: float) -> str:
        """Why the search stops after another iteration; nothing where it goes on."""
        self.iteration += 1
        self.history.append(self.best)
        problem, fall = self.fit.problem, np.inf
        if len(self.history) > PATIENCE:
            before = self.history[-1 - PATIENCE]
            fall = (before - self.best) / self._scale_of(before)
        if problem.observer is not None:
            try:
                problem.observer(Progress(self.start, self.iteration, self.best, gradient_norm, fall))
            except StopIteration:
                return "callback"
        if fall <= problem.tol:
            return "converged"
        return "max_iter" if self.iteration >= self.limit else ""

    @property
    def may_go_on(self) -> bool:
        """Whether the search, tried for a while, may still turn out to be the best of its fit, which goes on."""
        beaten = any(search.best < self.best for search in self.fit.searches)  # never by one whose loss is no number
        return self.stopped == "max_iter" and not beaten and not self.fit.done

    def after_stall(self, value: float, gradient_norm: float) -> str:
        """Why the search stops where no step lowers the loss; nothing where it goes on from its best point.

        Line searches fail where the loss is flat, but also where it is not smooth. Then another point that they came
        by may be lower, and going on from there helps, for as long as it does.
        """
        if gradient_norm <= FLAT * self._scale_of(value):
            return "converged"
        gained = self.before - self.best > self.fit.problem.tol * abs(self.best)
        self.before = self.best
        return "" if gained and self.iteration < self.limit else "stalled"

    def _scale_of(self, loss: float) -> float:
        """What changes of a loss are compared with: itself, or a hundredth of the first one, if that is more.

        A loss that falls towards zero would never fall slowly, nor become flat.
        """
        return max(abs(loss), 0.01 * abs(self.first_loss), np.finfo(float).tiny)


class _Fit:
    """The searches of a problem: tried for a while, then the best one goes on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.searches = [_Search(self, start) for start in range(len(problem.starts))]
        self.done = False

    @property
    def restarts(self) -> list[float]:
        return [np.nan if search.best == np.inf else search.best for search in self.searches]

    @property
    def ended_early(self) -> str:
        return next((search.stopped for search in self.searches if search.stopped in ENDED_EARLY), "")

    def settle(self) -> None:
        """After a search has stopped: end the fit, or have its best search go on if all were tried."""
        if self.ended_early:
            self.done = True
            for search in self.searches:
                if search.group is not None:
                    search.group.stop(search, self.ended_early)
        elif all(search.stopped for search in self.searches):
            best = self._best
            self.done = best.stopped != "max_iter" or best.iteration >= self.problem.max_iter
            if not self.done and best.group is not None:
                best.begin(self.problem.max_iter)
                best.group.begin(best)

    @property
    def _best(self) -> _Search:
        """The search with the lowest loss; where none has a loss that is a number, the first."""
        return min(self.searches, key=lambda search: np.inf if np.isnan(search.best) else search.best)

    def result(self, interrupted: bool) -> Result | None:
        restarts, best = self.restarts, self._best
        if np.isnan(restarts).all():
            undefined = Solution(self.problem.starts[0], None, best.iteration, "undefined")
            return (undefined, restarts) if self.done or not interrupted else None
        assert best.found is not None
        theta, losses = best.found
        stopped = self.ended_early or (best.stopped if self.done else "interrupted")
        return Solution(self.problem.packing.unpack(theta), losses, best.iteration, stopped), restarts


class _Group:
    """Searches that are evaluated together."""

    def __init__(self, searches: Sequence[_Search], functions: Functions) -> None:
        self.searches, self.functions = list(searches), functions
        problems = [search.fit.problem for search in searches]
        thetas = [one.packing.pack(one.starts[search.start]) for one, search in zip(problems, searches)]
        self.minimiser = Minimiser(functions, np.stack(thetas))
        for search in searches:
            search.group = self
            self.begin(search)

    @property
    def is_live(self) -> bool:
        return any(not search.stopped for search in self.searches)

    @property
    def needed(self) -> list[int]:
        """Rows of searches that are under way, or may yet go on."""
        return [row for row, search in enumerate(self.searches) if not search.stopped or search.may_go_on]

    def begin(self, search: _Search) -> None:
        self.minimiser.begin(self.searches.index(search))

    def stop(self, search: _Search, why: str) -> None:
        search.stopped = search.stopped or why
        self.minimiser.end(self.searches.index(search))

    def advance(self) -> None:
        """One evaluation of every search that is under way."""
        live = [row for row, search in enumerate(self.searches) if not search.stopped]
        moved, ended = self.minimiser.advance()
        searches = self.minimiser
        evaluated, values, norms = (of.tolist() for of in (searches.evaluated, searches.value, searches.gradient_norm))
        for row in live:
            self.searches[row].see(evaluated[row])
        for row in moved:
            search = self.searches[row]
            if not search.stopped and (why := search.after_iteration(norms[row])):
                self.stop(search, why)
        for row in ended:
            search = self.searches[row]
            if not search.stopped and (why := search.after_stall(values[row], norms[row])):
                self.stop(search, why)
            elif not search.stopped:
                self.begin(search)
        for row in live:
            if self.searches[row].stopped and not self.searches[row].fit.done:
                self.searches[row].fit.settle()
        self._shrink()

    def _shrink(self) -> None:
        """Leave out searches that are over, once they are many."""
        needed = self.needed
        recorded = self.functions.engine.recorded
        size = round_up(max(len(needed), self.functions.fewest)) if recorded else len(needed)
        if not needed or size > SHRINK_BELOW * len(self.searches):
            return
        # Where a recording is for more than are left, some that are over stand in.
        others = [row for row in range(len(self.searches)) if row not in set(needed)]
        rows, over = sorted(needed + others[: size - len(needed)]), others[size - len(needed) :]
        self.collect(over)
        left, kept = [self.searches[row] for row in over], [self.searches[row] for row in rows]
        smaller = copy(self.minimiser)
        smaller.keep(rows)
        # At the same time: an interrupt in between would take the points of some searches for those of others.
        before, self.minimiser, self.searches = self.minimiser, smaller, kept
        before.close()
        for search in left:
            search.group = None

    def collect(self, rows: list[int] | None = None) -> None:
        """Fetch the best point of every search, or of these."""
        rows = list(range(len(self.searches))) if rows is None else rows
        thetas, losses = self.minimiser.best(rows)
        for row, theta, values in zip(rows, thetas, losses):
            if values[0] != np.inf:
                search = self.searches[row]
                search.best = float(values[0])
                search.found = theta.copy(), self.functions.name_losses(values)


class _Line:
    """Groups that take turns: one begins when all searches of those before have stopped."""

    def __init__(self, to_come: Sequence[tuple[Sequence[_Search], Functions]], in_turn: int = 1) -> None:
        self.to_come, self.groups = list(to_come), list[_Group]()
        self.in_turn, self.next_turn = in_turn, 1

    def take_turn(self) -> bool:
        """Evaluations, the first time one, so that all problems soon have a solution; False if nothing is left."""
        now, self.next_turn = self.next_turn, self.in_turn
        return all(self.advance() for _ in range(now))

    def advance(self) -> bool:
        """One evaluation; False if nothing is left to be done."""
        live = next((group for group in self.groups if group.is_live), None)
        while live is None and self.to_come:
            searches, functions = self.to_come.pop(0)
            if not all(search.fit.done for search in searches):
                live = _Group(searches, functions)
                self.groups.append(live)
        if live is None:
            return False
        live.advance()
        for group in [group for group in self.groups if all(search.fit.done for search in group.searches)]:
            group.collect()
            self.groups.remove(group)
            group.minimiser.close()
        return True

    def collect(self) -> None:
        for group in self.groups:
            group.collect()


def _form_group(
    fits: Sequence[_Fit], numbers: list[int], batch: Callable[[list[int]], Functions]
) -> tuple[list[_Search], Functions]:
    rows = [(number, search) for number in numbers for search in fits[number].searches]
    return [search for _, search in rows], batch([number for number, _ in rows])


def _divide_fits(fits: Sequence[_Fit], numbers: list[int], most: int) -> list[list[int]]:
    """Numbers of fits, divided so that no portion has more searches than may be, or else one fit."""
    portions: list[list[int]] = [[]]
    n_searches = 0
    for number in numbers:
        n_searches += len(fits[number].searches)
        if portions[-1] and n_searches > most:
            portions.append([])
            n_searches = len(fits[number].searches)
        portions[-1].append(number)
    return portions


SHRINK_BELOW = 0.75
"""Share of the searches of a group below which it is made smaller; every size takes time to set up."""
