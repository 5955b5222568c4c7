"""Models with prototypes, one or many, are fitted to one table: every start of each is a search, solved together."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from ifair.core.batch import losses_at, mean_memberships_at, most_at_once
from ifair.core.mapping import Packing, Parameters
from ifair.core.objective import Losses, Objective
from ifair.core.pairs import Landmarks
from ifair.core.solve import Observer, Problem, Progress, Solution, solve
from ifair.engines.engine import Engine
from ifair.errors import warn_user
from ifair.inputs.table import Table, open_table
from ifair.models.progress import ProgressBar

FLOATS = [np.float64, np.float32]


class Task(NamedTuple):
    """A search: what is minimised, from which starts; the protected columns; and what reports losses, if another."""

    objective: Objective
    starts: list[Parameters]
    packing: Packing
    protected: NDArray[np.bool_]
    reported: Objective | None
    rehearsed: Objective | None = None
    """The objective on a sample of the records, where a search there comes first."""
    sample_weight: Any = None
    """The weights of the records, of the engine's kind; None where everyone counts once."""


def fit_together(models: Sequence[Any], X: Any, beside: dict[str, Any], *, show_progress: bool = False) -> None:
    """Fit models of one engine, whose parameters are checked; labels, groups and weights are ``beside`` the table.

    After an interrupt models keep their best solution so far; KeyboardInterrupt is raised if some have none yet.
    """

    def validate(table: Any) -> NDArray[np.floating[Any]]:
        validated = validate_data(models[0], table, dtype=FLOATS, ensure_min_samples=2)
        names = getattr(models[0], "feature_names_in_", None)
        for model in models[1:]:
            model.n_features_in_ = models[0].n_features_in_
            if names is not None:
                model.feature_names_in_ = names
            elif hasattr(model, "feature_names_in_"):
                del model.feature_names_in_
        return validated

    with open_table(X, models[0].engine, validate, n_jobs=models[0].n_jobs, beside=beside) as table:
        known = [model._examine(table, X) for model in models]
        with table.open_engine() as engine:
            tasks = _make_tasks(models, engine, table, known)
            with ExitStack() as watched:
                observers = [
                    watched.enter_context(_observe(model, task, show_progress)) for model, task in zip(models, tasks)
                ]
                found = solve([_pose(model, task, one) for model, task, one in zip(models, tasks, observers)])
            ended = [(model, task, one) for model, task, one in zip(models, tasks, found) if one is not None]
            done, solutions = [task for _, task, _ in ended], [solution for _, _, (solution, _) in ended]
            shares = mean_memberships_at(
                [task.objective for task in done],
                [task.packing for task in done],
                [one.parameters for one in solutions],
                done[0].sample_weight if done else None,
            )
            for (model, task, one), reported, share in zip(ended, _report_losses(done, solutions), shares):
                model._conclude(table, task, *one, reported, share)
                _warn_unless_converged(model, one[0])
    if None in found:
        raise KeyboardInterrupt


def _pose(model: Any, task: Task, observer: Observer | None) -> Problem:
    one = Problem(task.objective, task.starts, task.packing, model.max_iter, model.tol, observer)
    return one if task.rehearsed is None else replace(one, rehearsal=replace(one, objective=task.rehearsed))


@contextmanager
def _observe(model: Any, task: Task, show_progress: bool) -> Iterator[Observer | None]:
    """Tell the model's progress bar and callback of every iteration; None where it has neither."""
    bar = None
    if show_progress and model.verbose:
        bar = ProgressBar(len(task.starts), model.max_iter, model.tol, rehearses=task.rehearsed is not None)

    def observer(progress: Progress) -> None:
        if bar is not None:
            bar(progress)
        if model.callback is not None:
            model.callback(progress.iteration, progress.loss, progress.gradient_norm)

    try:
        yield observer if bar or model.callback else None
    finally:
        if bar is not None:
            bar.close()


def _warn_unless_converged(model: Any, solution: Solution) -> None:
    """Warn of a fit that ended before `tol` was reached, and say why."""
    reason = {
        "max_iter": f"stopped at max_iter={model.max_iter} before it converged; raise max_iter, or tol",
        "stalled": "stopped where no step lowers the loss any more, short of converging; try another random_state",
        "interrupted": f"was interrupted after {solution.n_iter} iterations and keeps the best solution so far",
        "callback": f"was ended by its callback after {solution.n_iter} iterations",
    }.get(solution.stopped)
    if reason:
        message = f"{type(model).__name__} {reason} (loss {solution.losses.total:.6g})."
        warn_user(message, ConvergenceWarning)


def _report_losses(tasks: Sequence[Task], solutions: Sequence[Solution]) -> list[Losses]:
    """The losses that fits report of their solutions: those that were minimised, where there are no others."""
    fits = [(task.reported, task.packing, one.parameters) for task, one in zip(tasks, solutions) if task.reported]
    found = iter(losses_at(*zip(*fits)) if fits else ())
    return [next(found) if task.reported else one.losses for task, one in zip(tasks, solutions)]


def _make_tasks(models: Sequence[Any], engine: Engine, table: Table, known: list[Any]) -> list[Task]:
    """The tasks of the models; what only depends on their common parameters and seed is drawn once."""
    tasks: list[Task] = []
    drawn: dict[Hashable, Task] = {}
    for model, about in zip(models, known):
        same = _draws(model, about[0] if isinstance(about, tuple) else about)
        if same is not None and same in drawn:
            weights, reported = (model._weights(table.n_features, report) for report in (False, True))
            task = drawn[same]
            task = task._replace(
                objective=_with_weights(task.objective, weights),
                reported=task.reported and _with_weights(task.reported, reported),
                rehearsed=task.rehearsed and _with_weights(task.rehearsed, weights),
            )
        else:
            drawn[same] = task = model._task(engine, table, about)
        together = len(models) > 1 and most_at_once(task.objective, task.packing) > 1
        tasks.append(_with_others(task) if together else task)
    return tasks


def _with_weights(objective: Objective, weights: tuple[float | None, ...]) -> Objective:
    return objective.with_weights(*(weight for weight in weights if weight is not None))


def _draws(model: Any, protected: NDArray[np.bool_]) -> Hashable | None:
    """What two models must share to have the same starts and landmarks; None where that cannot be told."""
    told = isinstance(model.init, str) and isinstance(model.alpha_init, str) and not getattr(model, "warm_start", False)
    if not told or not isinstance(model.random_state, Integral):
        return None
    own = {name: value for name, value in model.get_params(deep=False).items() if name not in MAY_DIFFER}
    left_out = tuple(weight is None for weight in model._weights(len(protected)))
    return type(model), tuple(own.items()), protected.tobytes(), left_out


# Parameters that change neither starts nor landmarks; protected columns are looked at by themselves.
MAY_DIFFER = (
    "utility_weight",
    "reconstruct_weight",
    "target_weight",
    "fairness_weight",
    "protected",
    "output",
    "max_iter",
    "tol",
    "callback",
    "verbose",
    "n_jobs",
)


def _with_others(task: Task) -> Task:
    """The task such that it can be evaluated with others.

    With a fairness loss also where it does not count, if nothing is drawn for it: a fit without would be evaluated
    apart, which takes longer than to evaluate the loss in vain.
    """
    if task.reported is None or len(task.reported.terms) == len(task.objective.terms):
        return task
    drawn = any(isinstance(term, Landmarks) for _, term in task.reported.terms)
    return task if drawn else task._replace(objective=task.reported)
