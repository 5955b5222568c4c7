"""Models with prototypes, one or many, are fitted to their tables: every start is a search, solved together."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
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
from ifair.core.solve import Observer, Problem, Progress, Result, Solution, solve
from ifair.engines.engine import Engine
from ifair.errors import IfairError, warn_user
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


class Fits(NamedTuple):
    """Models of one engine, whose parameters are checked, with the one table that they are fitted to."""

    models: list[Any]
    X: Any
    y: Any = None
    sensitive_features: Any = None
    sample_weight: Any = None


def fit_together(fits: Sequence[Fits], *, show_progress: bool = False) -> None:
    """Fit models of one engine.

    After an interrupt models keep their best solution so far; KeyboardInterrupt is raised if some have none yet. A fit
    whose loss is no number at any start is refused when the others are done.
    """
    models = [model for one in fits for model in one.models]
    with ExitStack() as stack:
        tables, tasks = list[Table](), list[Task]()
        for one in fits:
            table = stack.enter_context(_open(one))
            known = [model._examine(table, one.X) for model in one.models]
            engine = stack.enter_context(table.open_engine())
            tables.append(table)
            tasks += _make_tasks(one.models, engine, table, known, together=len(models) > 1)
        with ExitStack() as watched:
            observers = [watched.enter_context(_observe(*one, show_progress)) for one in zip(models, tasks)]
            found = solve([_pose(model, task, one) for model, task, one in zip(models, tasks, observers)])
        ended = iter(zip(models, tasks, found))
        for one, table in zip(fits, tables):
            _conclude(table, list(islice(ended, len(one.models))))
    for model, result in zip(models, found):
        if result is None:
            raise KeyboardInterrupt
        _check_defined(model, *result)


def _open(fits: Fits) -> Table:
    """The table of models, with what they look at beside it. Sets the attributes of all that tell its columns."""
    first, *others = fits.models

    def validate(table: Any) -> NDArray[np.floating[Any]]:
        validated = validate_data(first, table, dtype=FLOATS, ensure_min_samples=2)
        names = getattr(first, "feature_names_in_", None)
        for model in others:
            model.n_features_in_ = first.n_features_in_
            if names is not None:
                model.feature_names_in_ = names
            elif hasattr(model, "feature_names_in_"):
                del model.feature_names_in_
        return validated

    beside = {name: getattr(fits, name) for model in fits.models for name in model._looks_at}
    return open_table(fits.X, first.engine, validate, n_jobs=first.n_jobs, beside=beside)


def _conclude(table: Table, ended: Sequence[tuple[Any, Task, Result | None]]) -> None:
    """Have the models of a table keep what their searches have found."""
    done = [(model, task, one) for model, task, one in ended if one is not None and one[0].stopped != "undefined"]
    reached = [(task, solution) for _, task, (solution, _) in done]
    fits = [(task.objective, task.packing, solution.parameters) for task, solution in reached]
    shares = mean_memberships_at(fits, reached[0][0].sample_weight if reached else None)
    for (model, task, one), reported, share in zip(done, _report_losses(reached), shares):
        model._conclude(table, task, *one, reported, share)
        _warn_unless_converged(model, one[0])


def _check_defined(model: Any, solution: Solution, restarts: list[float]) -> None:
    """Refuse a fit whose loss was no number at any start."""
    if solution.stopped == "undefined":
        raise IfairError(
            f"the loss of {' '.join(repr(model).split())} is not a finite number at any of its {len(restarts)} starts: "
            "numbers of X or of `init`, or weights, are so large that powers of them overflow"
        )


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


def _report_losses(reached: Sequence[tuple[Task, Solution]]) -> list[Losses]:
    """The losses that fits report of their solutions: those that were minimised, where there are no others."""
    found = iter(losses_at([(task.reported, task.packing, one.parameters) for task, one in reached if task.reported]))
    return [next(found) if task.reported else one.losses for task, one in reached]


def _make_tasks(models: Sequence[Any], engine: Engine, table: Table, known: list[Any], *, together: bool) -> list[Task]:
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
        batched = together and most_at_once(task.objective, task.packing) > 1
        tasks.append(_with_others(task) if batched else task)
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
