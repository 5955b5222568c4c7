"""Estimators with prototypes: how one or many of them are fitted to their tables, and how they represent records."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, signature
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ifair.core.arrays import namespace
from ifair.core.mapping import Mapping, Packing, Parameters
from ifair.core.objective import Losses, Objective
from ifair.core.problem import Observer, Problem, Progress, Result, Solution
from ifair.core.solve import losses_at, mean_memberships_at, solve
from ifair.engines.engine import Engine
from ifair.errors import IfairError, warn_user
from ifair.inputs.table import RowMap, Table, open_table
from ifair.models.progress import ProgressBar
from ifair.models.validation import check_positive_integer

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


class PrototypeModel(TransformerMixin, BaseEstimator, ABC):
    """A transformer that represents records by learned prototypes.

    Subclasses have the parameters below, and say what is checked, minimised and kept.
    """

    _looks_at: ClassVar[tuple[str, ...]] = ("sample_weight",)
    """What is fitted to besides the table, by the names of :class:`Fits`."""

    p: float
    squared: bool
    output: str
    max_iter: int
    tol: float
    engine: str
    n_jobs: int | None
    prototypes_: NDArray[np.floating[Any]]
    alpha_: NDArray[np.floating[Any]]
    shares_: NDArray[np.floating[Any]]
    protected_mask_: NDArray[np.bool_]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a model; parameters that are younger than it get their defaults."""
        parameters = signature(type(self).__init__).parameters.values()
        defaults = {one.name: one.default for one in parameters if one.default is not Parameter.empty}
        super().__setstate__({**defaults, **state})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _mapping(self) -> Mapping:
        return Mapping(float(self.p), bool(self.squared))

    def _open_to_map(self, X: Any, here: str | None = None) -> Table:
        """A table with the columns fitted on; in this process, if the method named ``here`` needs that."""
        check_is_fitted(self)
        validate = partial(validate_data, self, dtype=FLOATS, reset=False)
        known = getattr(self, "feature_names_in_", None)
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "known_columns": known, "here": here}
        return open_table(X, self.engine, validate, to_map=True, **options)

    def _representer(self, output: str) -> RowMap:
        return Representer(self._mapping(), self.prototypes_, self.alpha_, output)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work, before any data are looked at."""

    @abstractmethod
    def _examine(self, table: Table, X: Any) -> Any:
        """Refuse a table that cannot be fitted; what :meth:`_task` must know of it besides."""

    @abstractmethod
    def _weights(self, n_features: int, report: bool = False) -> tuple[float | None, ...]:
        """The weights of the terms, in the order of the terms.

        None for a term that is left out of the search; losses that are only reported have it too.
        """

    @abstractmethod
    def _task(self, engine: Engine, table: Table, known: Any) -> Task:
        """What is to be minimised, and from where."""

    @abstractmethod
    def _keep_losses(self, solution: Solution, reported: Losses) -> None:
        """Set the attributes that only fits of this model have."""

    def _fit(self, X: Any, **beside: Any) -> Self:
        self._check_parameters()
        fit_together([Fits([self], X, **beside)], show_progress=True)
        return self

    def _conclude(
        self, table: Table, task: Task, solution: Solution, restarts: list[float], reported: Losses, shares: Any
    ) -> None:
        """Keep what a search has found, what is reported of it, and the shares of the prototypes."""
        self._keep_losses(solution, reported)
        self.protected_mask_ = task.protected
        learned = solution.parameters
        self.prototypes_ = np.asarray(learned.prototypes + table.statistics.mean)
        self.alpha_ = np.asarray(learned.alpha)
        self.shares_ = shares
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.stopped == "converged"
        self.restarts_ = np.array(restarts)

    def membership(self, X: Any) -> Any:
        """The share of every prototype in every record (Def. 8).

        Parameters
        ----------
        X : array-like, DataFrame or Tensor of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_prototypes)
            Rows sum to 1. A tensor on the same device where X is one.
        """
        with self._open_to_map(X) as table:
            return table.map(self._representer("membership"))

    def transform(self, X: Any) -> Any:
        """Represent records (Def. 3): as mixtures of prototypes, or what else `output` says.

        Parameters
        ----------
        X : array-like, DataFrame (also of Dask or Spark), Tensor, Array of Dask, or path; shape (n_samples, n_features)
            Of a table on disk, as in `fit`. `transform_blocks` is for results that do not fit in memory either.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_prototypes) where `output` is "membership"
            A tensor on the same device where X is one. For a collection of Dask or a data frame of Spark the same
            kind of thing, computed when it is asked for.
        """
        with self._open_to_map(X) as table:
            return table.map(self._representer(self.output))

    def transform_blocks(self, X: Any, rows: int = 16_384) -> Iterator[Any]:
        """Represent records so many at a time, for results too large to hold.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features), or path
            As for `transform`.
        rows : int, default=16,384
            Records at a time.

        Yields
        ------
        ndarray of shape (at most ``rows``, n_features), or (..., n_prototypes) where `output` is "membership"
            What `transform` returns, for one part of the records after the other.

        Examples
        --------
        >>> import numpy as np
        >>> from ifair import IFair
        >>> X = np.random.default_rng(0).normal(size=(60, 3))
        >>> model = IFair(n_prototypes=4, random_state=0).fit(X)
        >>> [len(block) for block in model.transform_blocks(X, rows=25)]
        [25, 25, 10]
        """
        check_positive_integer("rows", rows)
        with self._open_to_map(X) as table:
            yield from table.map_blocks(self._representer(self.output), rows)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: those of the table, or ``prototype0``, ... for memberships."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(self._representer(self.output).output_names(names), dtype=object)


@dataclass(frozen=True)
class Representer:
    """Maps records to what an estimator's ``output`` says: a mixture, shares of prototypes, or the nearest one."""

    mapping: Mapping
    prototypes: NDArray[np.floating[Any]]
    alpha: NDArray[np.floating[Any]]
    output: str

    @property
    def n_outputs(self) -> int:
        return self.prototypes.shape[0 if self.output == "membership" else 1]

    def output_names(self, columns: Sequence[str]) -> list[str]:
        if self.output == "membership":
            return [f"prototype{k}" for k in range(len(self.prototypes))]
        return list(columns)

    def prepare(self, engine: Engine) -> Callable[[Any], Any]:
        # Columns of weight 0 are not looked at, so that they cannot matter even by a rounding error.
        columns = np.flatnonzero(self.alpha)
        centre = self.prototypes.mean(axis=0)[columns]
        V, alpha, prototypes, centre, seen = engine.send(
            self.prototypes[:, columns] - centre, self.alpha[columns], self.prototypes, centre, columns
        )

        def represent(block: Any) -> Any:
            if len(seen) == block.shape[1]:
                records = block - centre
            else:
                records = namespace(block).take(block, seen, axis=1)
                records -= centre
            learned = Parameters(V, alpha)
            if self.output == "nearest":
                return prototypes[self.mapping.nearest(records, learned)]
            U = self.mapping.memberships_anywhere(records, learned)
            return U if self.output == "membership" else U @ prototypes

        return represent


def make_tasks(models: Sequence[PrototypeModel], engine: Engine, table: Table, known: Sequence[Any]) -> list[Task]:
    """The tasks of models on a table, of which each knows what :meth:`PrototypeModel._examine` has found."""
    return [model._task(engine, table, about) for model, about in zip(models, known)]


def fit_together(
    fits: Sequence[Fits], make_tasks: Callable[..., list[Task]] = make_tasks, *, show_progress: bool = False
) -> None:
    """Fit models of one engine: every start is a search, and all of them are solved together.

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
            tasks += make_tasks(one.models, engine, table, known)
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
