"""What estimators with prototypes have in common: mapping records, names, readable prototypes, progress."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from inspect import Parameter, signature
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from ifair.core.arrays import namespace
from ifair.core.mapping import Mapping, mean_memberships
from ifair.core.parameters import Parameters
from ifair.core.solve import Differentiable, Progress, Solution, Vectorised
from ifair.core.solve_scipy import minimise
from ifair.encode import Encoder
from ifair.engines.choose import is_elsewhere, is_tensor, on_disk, on_host, open_engine, open_streamed, require_torch
from ifair.engines.local import LocalEngine
from ifair.engines.protocol import Engine, blocks
from ifair.engines.records import Records
from ifair.engines.streamed import StreamedEngine, prefetched
from ifair.models.checks import check_is_here, check_tensor, positive_integer
from ifair.models.disk import check_columns, check_finite
from ifair.models.elsewhere import mapped_elsewhere, workers_of
from ifair.models.progress import ProgressBar

P = TypeVar("P")

# Records that `transform` handles at a time: they stay in a core's cache.
TRANSFORM_ROWS = 1024


class PrototypeModel(TransformerMixin, BaseEstimator):
    """A transformer that represents records as mixtures of learned prototypes.

    Subclasses have the parameters below; their `fit` opens an engine, searches, and keeps what was learned.
    """

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

    @contextmanager
    def _opened(
        self, X: NDArray[np.floating[Any]] | Records, table: Any, centre: NDArray[np.float64] | None = None
    ) -> Iterator[tuple[Engine, NDArray[np.float64]]]:
        """An engine with the records less their mean, and the mean; ``X`` is ``table`` as validated.

        Distances do not change when everything moves, but rounding errors do. The mean of records on disk, which is
        known from their check, is given.
        """
        threads = effective_n_jobs(self.n_jobs)
        with threadpool_limits(1, user_api="blas"):
            if isinstance(X, np.ndarray):
                centre = X.mean(axis=0, dtype=np.float64)
                opened = open_engine(self.engine, X - centre, given=table, threads=threads, workers=workers_of(self))
            else:
                assert centre is not None
                opened = open_streamed(X, centre, threads=threads)
            with opened as engine:
                yield engine, centre

    def _search(
        self, objective: Differentiable[P], starts: Sequence[P], packing: Vectorised[P]
    ) -> tuple[Solution[P], list[float]]:
        with observed(self, len(starts)) as observer:
            return minimise(objective, starts, packing, max_iter=self.max_iter, tol=self.tol, observer=observer)

    def _keep(
        self,
        engine: Engine,
        learned: Parameters,
        centre: NDArray[np.float64],
        solution: Solution[Any],
        restarts: list[float],
        stacklevel: int = 5,
    ) -> None:
        """Set the attributes that every fit has; warn of a search that did not converge, on behalf of fit's caller."""
        self.prototypes_ = np.asarray(learned.prototypes + centre)
        self.alpha_ = np.asarray(learned.alpha)
        self.shares_ = mean_memberships(engine, self._mapping(), learned)
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.stopped == "converged"
        self.restarts_ = np.array(restarts)
        warn_unless_converged(self, solution, stacklevel)

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
        return self._map(X, as_membership=True)

    def transform(self, X: Any) -> Any:
        """Represent records (Def. 3).

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
        return self._map(X, as_membership=self.output == "membership")

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
        check_is_fitted(self)
        positive_integer("rows", rows)
        for block in self._blocks(X, rows):
            yield self.transform(block)

    def _blocks(self, X: Any, rows: int) -> Iterator[Any]:
        """A table so many records at a time, in memory."""
        records = self._on_disk(X)
        if records is None:
            for part in blocks(len(X), rows):
                yield _safe_indexing(X, part)
            return
        check_columns(self, records, reset=False)
        for chunk in prefetched(records.chunks(rows)):
            block = chunk.astype(records.dtype, copy=False)
            yield block if records.columns is None else pd.DataFrame(block, columns=records.columns)

    def _map(self, X: Any, *, as_membership: bool) -> Any:
        check_is_fitted(self)
        if is_elsewhere(self.engine, X):
            return mapped_elsewhere(self, X, as_membership=as_membership)
        records = self._on_disk(X)
        if records is not None:
            check_columns(self, records, reset=False)
            X = records
        elif is_tensor(X):
            X = check_tensor(self, X)
        else:
            X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        # Columns of weight 0 are not looked at, so that they cannot matter even by a rounding error.
        seen: Any = np.flatnonzero(self.alpha_) if not self.alpha_.all() else slice(None)
        centre = self.prototypes_.mean(axis=0)[seen]
        mapping = self._mapping()
        shape = (X.shape[0], len(self.prototypes_) if as_membership else X.shape[1])
        on_device = {} if records is not None else {"device": X.device}
        result = (np if records is not None else namespace(X)).empty(shape, dtype=X.dtype, **on_device)

        # Products of a block are too small to share among threads: whole blocks are shared instead. Setting that up
        # takes milliseconds, which a single block is not worth.
        several = X.shape[0] > TRANSFORM_ROWS
        with (
            threadpool_limits(1, user_api="blas") if several else nullcontext(),
            self._where_it_is(X) as engine,
        ):
            V, alpha, prototypes, centre = engine.send(
                self.prototypes_[:, seen] - centre, self.alpha_[seen], self.prototypes_, centre
            )
            if not isinstance(seen, slice):
                (seen,) = engine.send(seen)

            def represent(block: NDArray[np.floating[Any]], rows: slice) -> None:
                if records is not None:
                    check_finite(block, rows.start, records.columns)
                U = mapping.memberships(block[:, seen] - centre, Parameters(V, alpha))
                result[rows] = U if as_membership else U @ prototypes

            for _ in engine.map(represent):
                pass
        return result

    def _on_disk(self, X: Any) -> Records | None:
        """Records to represent, where they are on disk; of a table at a path only the columns that `fit` saw."""
        fitted = getattr(self, "feature_names_in_", None)

        def columns(names: list[str]) -> list[str]:
            return list(fitted) if fitted is not None and set(fitted) <= set(names) else names

        return on_disk(X, "local", columns)

    def _where_it_is(self, X: Any) -> Engine:
        """An engine that reads records where they are: mapping them is less work than moving them."""
        if is_tensor(X):
            require_torch("torch")
            from ifair.engines.torch import TorchEngine

            return TorchEngine(X)
        threads = effective_n_jobs(self.n_jobs)
        if isinstance(X, np.ndarray):
            return LocalEngine(X, threads=threads, block_rows=TRANSFORM_ROWS)
        return StreamedEngine(X, threads=threads, block_rows=TRANSFORM_ROWS)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: those of the table, or ``prototype0``, ... for memberships."""
        check_is_fitted(self)
        if self.output == "membership":
            return np.array([f"prototype{k}" for k in range(len(self.prototypes_))], dtype=object)
        names: NDArray[np.object_] = _check_feature_names_in(self, input_features)
        return names

    def prototypes_frame(self, encoder: Encoder | None = None) -> pd.DataFrame:
        """The prototypes as a table one can read.

        Parameters
        ----------
        encoder : Encoder, optional
            The fitted encoder whose output this was fitted on; prototypes are then in the units and categories of
            the original table.

        Returns
        -------
        DataFrame with one row a prototype
            ``share``, its part of the population, then the attributes; largest share first.

        Notes
        -----
        Representations are mixtures of prototypes and lie between them, so that prototypes themselves often lie
        outside the range of the data: an age of -20 stands for "as young as it gets". `archetypes` describes the people
        that a prototype stands for.
        """
        check_is_fitted(self)
        return self._readable(self.prototypes_, range(len(self.prototypes_)), encoder, {"share": self.shares_})

    def archetypes(self, X: Any, encoder: Encoder | None = None) -> pd.DataFrame:
        """Whom each prototype stands for: the average of the records that have most of it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Records such as those fitted on.
        encoder : Encoder, optional
            The fitted encoder that made ``X``, for the units and categories of the original table.

        Returns
        -------
        DataFrame with one row a prototype that some record has most of
            ``share``, the mean membership; ``followers``, how many records have more of this prototype than of any
            other; then the mean of every number, and the most frequent category, among them. Largest share first.
        """
        check_is_here(self, X, "archetypes")
        X = on_host(X)
        U = self.membership(X)
        records = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        strongest = U.argmax(axis=1)
        followed = np.unique(strongest)
        means = np.stack([records[strongest == k].mean(axis=0) for k in followed])
        counts = np.bincount(strongest, minlength=U.shape[1])[followed]
        return self._readable(means, followed, encoder, {"share": U.mean(axis=0)[followed], "followers": counts})

    def _readable(
        self, rows: NDArray[np.floating[Any]], numbers: Iterable[int], encoder: Encoder | None, first: dict[str, Any]
    ) -> pd.DataFrame:
        """Rows in the columns fitted on, as a table that begins with the columns ``first``, sorted by share."""
        frame = pd.DataFrame(rows, columns=[str(name) for name in _check_feature_names_in(self)])
        if encoder is not None:
            frame = encoder.decode(frame)
        frame = frame.set_axis(pd.Index([f"prototype{k}" for k in numbers], name="prototype"), axis=0)
        for position, (name, values) in enumerate(first.items()):
            # Beside an attribute of the same name, the order of columns tells them apart.
            frame.insert(position, name, values, allow_duplicates=True)
        return frame.iloc[np.argsort(-first["share"], kind="stable")]


@contextmanager
def observed(estimator: Any, n_starts: int) -> Iterator[Callable[[Progress], None]]:
    """Tell the estimator's progress bar and callback of every iteration."""
    bar = ProgressBar(n_starts, estimator.max_iter) if estimator.verbose else None

    def observer(progress: Progress) -> None:
        if bar is not None:
            bar(progress)
        if estimator.callback is not None:
            estimator.callback(progress.iteration, progress.loss, progress.gradient_norm)

    try:
        yield observer
    finally:
        if bar is not None:
            bar.close()


def warn_unless_converged(estimator: Any, solution: Solution[Any], stacklevel: int) -> None:
    """Warn of a fit that ended before `tol` was reached, and say why."""
    reason = {
        "max_iter": f"stopped at max_iter={estimator.max_iter} before it converged; raise max_iter, or tol",
        "stalled": "stopped where no step lowers the loss any more, short of converging; try another random_state",
        "interrupted": f"was interrupted after {solution.n_iter} iterations and keeps the best solution so far",
        "callback": f"was ended by its callback after {solution.n_iter} iterations",
    }.get(solution.stopped)
    if reason:
        warnings.warn(
            f"{type(estimator).__name__} {reason} (loss {solution.losses.total:.6g}).",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
