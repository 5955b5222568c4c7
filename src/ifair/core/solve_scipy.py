"""One fit by SciPy's L-BFGS-B, from several starts; its rules are those of :mod:`ifair.core.solve`.

The batched L-BFGS takes the same steps up to rounding, but more time between them. In 45 fits of German Credit (334
records; K = 5, 10, 20; mu = 0.1, 1, 10; five seeds) it ended 0.06 % lower on average and took 3.4 % longer per
evaluation; on 1,500 records of COMPAS and of Census 0.1 and 0.5 % longer; for LFR, whose evaluations take 0.9 ms there,
17 % longer. And searches that differ by rounding drift apart: with it for single fits the smoke profile of the paper
gave measures up to 0.012 apart, and more for LFR: 0.021 where the setting was given, and 0.027 in the mean AUC under
"most useful", for another setting was chosen in one of two splits. So single fits, and all published numbers, stay with
SciPy.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic

import numpy as np
from scipy.optimize import minimize

from ifair.core.arrays import Array
from ifair.core.lbfgs import MEMORY
from ifair.core.solve import (
    ENDED_EARLY,
    FLAT,
    PATIENCE,
    TRIAL_ITERATIONS,
    Differentiable,
    Observer,
    P,
    Progress,
    Solution,
    Vectorised,
)


class _Run(Generic[P]):
    """One descent: evaluates, remembers the best, and judges convergence."""

    def __init__(
        self,
        objective: Differentiable[P],
        packing: Vectorised[P],
        tol: float,
        restart: int,
        first: int,
        observer: Observer | None,
    ) -> None:
        self.objective, self.packing, self.tol = objective, packing, tol
        self.restart, self.iteration, self.observer = restart, first, observer
        self.best: tuple[Any, Array] | None = None
        self.first_loss = np.nan
        self.history: list[float] = []
        self.gradient_norm = np.inf
        self.stopped = ""

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        losses, gradient = self.objective.value_and_grad(self.packing.unpack(theta))
        if self.best is None:
            self.first_loss = losses.total
        if self.best is None or losses.total < self.best[0].total:
            self.best = (losses, theta.copy())
        flat = self.packing.pack_gradient(gradient, theta)
        self.gradient_norm = float(np.max(np.abs(flat), initial=0.0))
        return losses.total, flat

    def after_iteration(self, theta: Array) -> None:
        assert self.best is not None
        self.iteration += 1
        loss = self.best[0].total
        self.history.append(loss)
        if self.observer is not None:
            try:
                self.observer(Progress(self.restart, self.iteration, loss, self.gradient_norm))
            except StopIteration:
                self.stopped = "callback"
                raise
        if len(self.history) > PATIENCE:
            before = self.history[-1 - PATIENCE]
            # A loss that falls towards zero would never fall slowly: below a hundredth of the first one that counts.
            if before - loss <= self.tol * max(abs(before), 0.01 * abs(self.first_loss)):
                self.stopped = "converged"
                raise StopIteration


def descend(
    objective: Differentiable[P],
    start: P,
    packing: Vectorised[P],
    *,
    max_iter: int,
    tol: float,
    restart: int = 0,
    first: int = 0,
    observer: Observer | None = None,
) -> Solution[P]:
    """Minimise from one start, for at most ``max_iter`` iterations.

    Parameters
    ----------
    objective : Differentiable
    start : P
    packing : Vectorised
    max_iter : int
    tol : float
        Converged when the loss fell by less than this share of itself (or of a hundredth of the first loss, if that
        is more) over the last ten iterations.
    restart, first : int
        What the observer is told: which start this is, and how many iterations it has had before.
    observer : callable, optional
    """
    run = _Run(objective, packing, tol, restart, first, observer)
    theta = packing.pack(start)
    try:
        while True:
            before = run.best[0].total if run.best else np.inf
            stopped = _lbfgs(run, theta, max_iter - (run.iteration - first))
            assert run.best is not None
            losses, theta = run.best
            # A line search fails where curvature learned elsewhere misleads it: forget it and go on, while that helps.
            gained = before - losses.total > tol * abs(losses.total)
            if stopped != "stalled" or not gained or run.iteration - first >= max_iter:
                break
    except KeyboardInterrupt:
        if run.best is None:
            raise
        stopped = "interrupted"
    assert run.best is not None
    losses, theta = run.best
    return Solution(packing.unpack(theta), losses, run.iteration, stopped)


def _lbfgs(run: _Run[P], theta: Array, max_iter: int) -> str:
    """Run L-BFGS and say why it stopped."""
    options = {"maxiter": max_iter, "maxfun": 20 * max_iter + 100, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    result = minimize(run.evaluate, theta, jac=True, method="L-BFGS-B", callback=run.after_iteration, options=options)
    if run.stopped or result.status == 1:
        return run.stopped or "max_iter"
    # Without tolerances of its own SciPy goes on until no step lowers the loss: right only where it is flat.
    slope = np.max(np.abs(result.jac), initial=0.0)
    return "converged" if slope <= FLAT * max(abs(result.fun), np.finfo(float).tiny) else "stalled"


def minimise(
    objective: Differentiable[P],
    starts: Sequence[P],
    packing: Vectorised[P],
    *,
    max_iter: int,
    tol: float,
    observer: Observer | None = None,
) -> tuple[Solution[P], list[float]]:
    """Try every start for a while, then go on with the best one.

    Returns
    -------
    solution : Solution
        The best one found.
    restarts : list of float
        The loss that each start reached; starts that were never begun are NaN.
    """
    trial = max_iter if len(starts) == 1 else min(TRIAL_ITERATIONS, max_iter)
    tried: list[Solution[P] | None] = [None] * len(starts)
    for i, start in enumerate(starts):
        tried[i] = one = descend(objective, start, packing, max_iter=trial, tol=tol, restart=i, observer=observer)
        if one.stopped in ENDED_EARLY:
            break
    restarts = [np.nan if one is None else one.losses.total for one in tried]
    best = int(np.nanargmin(restarts))
    solution = tried[best]
    assert solution is not None
    ended_early = [one.stopped for one in tried if one is not None and one.stopped in ENDED_EARLY]
    if ended_early:
        return replace(solution, stopped=ended_early[0]), restarts
    if solution.stopped == "max_iter" and solution.n_iter < max_iter:
        try:
            solution = descend(
                objective,
                solution.parameters,
                packing,
                max_iter=max_iter - solution.n_iter,
                tol=tol,
                restart=best,
                first=solution.n_iter,
                observer=observer,
            )
        except KeyboardInterrupt:
            # Before the first value of the second leg: what the trials found is still the best.
            solution = replace(solution, stopped="interrupted")
        restarts[best] = solution.losses.total
    return solution, restarts
