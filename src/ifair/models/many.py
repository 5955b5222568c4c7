"""Many fits at once: a grid of weights and prototypes, with all restarts and splits, as one batched problem."""

from collections.abc import Hashable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ifair.core.batch import most_at_once
from ifair.core.objective import Objective
from ifair.core.pairs import Landmarks
from ifair.engines.engine import Engine
from ifair.errors import IfairError
from ifair.inputs.table import Table
from ifair.models.lfr import LFR
from ifair.models.prototypes import Fits, PrototypeModel, Task, fit_together

Model = TypeVar("Model", bound=PrototypeModel)


def fit_many(
    models: Sequence[Model], X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
) -> list[Model]:
    """Fit many models at once, to one table or several; each takes the steps of its own `fit`, to rounding.

    Every start of every model is a search of its own, with its own end. On an accelerator (``engine="torch"``) all of
    them are evaluated in one call, which costs little more than that of one model as long as the table is small;
    elsewhere, and for orders other than p = 2, this takes as long as one fit after the other.

    Parameters
    ----------
    models : sequence of IFair or LFR
        Different ones. They may differ in all their parameters. Those that share the formulas, and so all but weights,
        starts, `tol` and the like, are evaluated together; of more than 4,096 records those of different
        `n_prototypes` in turns. With landmarks, those with the same ones: give them the same `random_state`.
    X : array-like, DataFrame or Tensor of shape (n_samples, n_features)
        As for :meth:`IFair.fit`. Tables on disk, of Dask or of Spark are taken too. A list with one array or DataFrame
        for every model fits each to its own, such as the training parts of several splits: those with the same number
        of columns are searched together, too.
    y, sensitive_features : array-like of shape (n_samples,), optional
        Labels and groups for the LFR models, as for :meth:`LFR.fit`; IFair ignores them. Like the weights, they are
        lists with one for every model where X is.
    sample_weight : array-like of shape (n_samples,), optional
        How many people every record stands for, as for :meth:`IFair.fit`.

    Returns
    -------
    list of IFair or LFR
        The models themselves.

    Notes
    -----
    `fit` has the same solver. Where fits are evaluated together sums are rounded differently: searches drift apart over
    hundreds of iterations, and end as far from each other as `tol` and several minima allow. From the same starts, in
    45 fits of German Credit that differed by rounding only, the losses were 0.1 % apart in the median and 0.6 % at the
    95th percentile, in both directions.

    A model's `callback` hears of the iterations of all its starts as they come. Progress bars (`verbose`) are not
    shown. After an interrupt all models that have a solution keep their best so far; if some have none yet,
    KeyboardInterrupt is raised. A model whose loss is not a finite number at any of its starts is named by an error
    after all others are fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair import IFair, fit_many
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> grid = [IFair(4, fairness_weight=mu, protected=[2], n_restarts=1, random_state=0) for mu in (0.1, 1.0, 10.0)]
    >>> [round(model.utility_loss_, 1) for model in fit_many(grid, X)] == [
    ...     round(model.fit(X).utility_loss_, 1) for model in grid
    ... ]
    True
    """
    models = list(models)
    beside = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
    given = _give_each(len(models), {"X": X, **beside})
    _check_models(models, given)
    for model in models:
        model._check_parameters()
    places = [(model.engine, model.n_jobs) for model in models]
    for place in dict.fromkeys(places):
        of_tables: dict[Hashable, Fits] = {}
        for model, one, other in zip(models, given, places):
            if other == place:
                of_tables.setdefault(tuple(map(id, one.values())), Fits([], **one)).models.append(model)
        together = places.count(place) > 1
        fit_together(list(of_tables.values()), partial(_make_tasks, together=together))
    return models


def _give_each(n_models: int, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """What every model is fitted to: the same, or its own of a list."""
    X = arguments["X"]
    if not (isinstance(X, list) and X and all(getattr(table, "ndim", None) == 2 for table in X)):
        return [arguments] * n_models
    for name, values in arguments.items():
        if values is not None and not (isinstance(values, list) and len(values) == n_models):
            found = f"a list of {len(values)}" if isinstance(values, list) else type(values).__name__
            raise IfairError(f"{name} must be a list with one for each of the {n_models} models, as X is; got {found}")
    return [{name: values and values[i] for name, values in arguments.items()} for i in range(n_models)]


def _check_models(models: Sequence[Any], given: Sequence[dict[str, Any]]) -> None:
    for number, (model, one) in enumerate(zip(models, given)):
        if not isinstance(model, PrototypeModel):
            raise TypeError(f"fit_many fits IFair and LFR models, got {type(model).__name__}: fit that one on its own")
        if any(model is other for other in models[:number]):
            raise IfairError("fit_many got the same model twice; sklearn.base.clone makes another like it")
        if isinstance(model, LFR) and one["y"] is None:
            raise IfairError("LFR needs labels: pass y to fit_many")


def _make_tasks(
    models: Sequence[PrototypeModel], engine: Engine, table: Table, known: Sequence[Any], *, together: bool
) -> list[Task]:
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
