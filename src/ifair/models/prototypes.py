"""What estimators with prototypes have in common: mapping records, names, readable prototypes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ifair.core.arrays import namespace
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Losses
from ifair.core.solve import Solution
from ifair.encode import Encoder
from ifair.engines.engine import Engine
from ifair.errors import IfairError
from ifair.inputs.table import RowMap, Table, open_table
from ifair.metrics.individual import consistency
from ifair.models.fitting import FLOATS, Fits, Task, fit_together
from ifair.models.validation import check_positive_integer
from ifair.similarity import Similarity


class PrototypeModel(TransformerMixin, BaseEstimator):
    """A transformer that represents records by learned prototypes.

    Subclasses have the parameters below, and say what is checked, minimised and kept.
    """

    _looks_at: ClassVar[tuple[str, ...]] = ("sample_weight",)
    """What is fitted to besides the table, by the names of :class:`ifair.models.fitting.Fits`."""

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

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work, before any data are looked at."""
        raise NotImplementedError

    def _examine(self, table: Table, X: Any) -> Any:
        """Refuse a table that cannot be fitted; what :meth:`_task` must know of it besides."""
        raise NotImplementedError

    def _weights(self, n_features: int, report: bool = False) -> tuple[float | None, ...]:
        """The weights of the terms, in the order of the terms.

        None for a term that is left out of the search; losses that are only reported have it too.
        """
        raise NotImplementedError

    def _task(self, engine: Engine, table: Table, known: Any) -> Task:
        """What is to be minimised, and from where."""
        raise NotImplementedError

    def _keep_losses(self, solution: Solution, reported: Losses) -> None:
        """Set the attributes that only fits of this model have."""
        raise NotImplementedError

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

    def consistency_bound(
        self, X: Any, *, neighbours: Any = None, n_neighbors: int = 10, similarity: Similarity | None = None
    ) -> float:
        """How consistent every model trained on the nearest prototypes is at least, whatever it learns.

        The share of everybody's neighbours who have the same prototype, averaged over people. Needs
        ``output="nearest"``, which may also be set after fitting: ``model.set_params(output="nearest")``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The people that the model will decide about, such as those fitted on.
        neighbours : int array of shape (n_samples, k), optional
            Everybody's neighbours in X, as of :func:`ifair.metrics.nearest_neighbours` or
            ``Similarity.neighbours(people).indices``. -1 stands for nobody within reach; people without any neighbour
            are left out. By default those nearest on the unprotected columns.
        n_neighbors : int, default=10
            How many to search, where they are not given.
        similarity : Similarity, optional
            Searches the neighbours: one that is fitted, and whose attributes are columns of X.

        Returns
        -------
        float
            In [0, 1]; NaN, with a warning, if nobody has a neighbour.

        Notes
        -----
        For any function f of the output with values in [0, 1], or with labels that agree or do not,
        :func:`ifair.metrics.consistency` of ``f(transform(X))`` with the same neighbours is no less than this.

        *Proof.* yNN is the mean over people i, of those who have neighbours, of the mean of ``1 - |y_i - y_j|`` over
        their neighbours j, where ``|y_i - y_j|`` is 0 or 1 for labels and half the sum of differences for class
        probabilities. If i and j have one prototype, the rows ``z_i`` and ``z_j`` that f gets are equal, so that
        ``y_i = f(z_i) = f(z_j) = y_j``, and the pair adds 1. If not, it adds at least 0, as no two outcomes are more
        than 1 apart. The means of these lower limits are the value returned. A function that gives every prototype a
        label of its own attains it: no larger number holds for every model.

        The model must see the output and nothing else of the people, and say the same of equal rows. Scores of
        another range than [0, 1] need ``score_range``.

        Examples
        --------
        >>> import numpy as np
        >>> from ifair import IFair
        >>> X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], 20, axis=0)
        >>> model = IFair(n_prototypes=3, output="nearest", init="k-means", random_state=0).fit(X)
        >>> model.consistency_bound(X)
        1.0
        """
        if self.output != "nearest":
            raise IfairError(
                f"output={self.output!r} tells everybody apart, so that models on it can be as inconsistent as they "
                "like; consistency_bound needs output='nearest': model.set_params(output='nearest')"
            )
        search = neighbours is None and similarity is None
        if search and not hasattr(self, "protected_mask_"):
            check_is_fitted(self)
            raise IfairError("this model's file is older than protected_mask_: give neighbours of the people in X")
        if neighbours is not None and similarity is not None:
            raise IfairError("give either neighbours or similarity, which searches them, not both")
        with self._open_to_map(X, here="consistency_bound") as table:
            rows = table.map(self._representer("nearest"))
            records = table.load_columns(~self.protected_mask_) if search else None
        if similarity is not None:
            neighbours = similarity.neighbours(X, n_neighbors=n_neighbors).indices
        _, prototype = np.unique(rows, axis=0, return_inverse=True)
        return consistency(prototype, records, k=n_neighbors, neighbours=neighbours, kind="label", n_jobs=self.n_jobs)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: those of the table, or ``prototype0``, ... for memberships."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(self._representer(self.output).output_names(names), dtype=object)

    def prototypes_frame(self, encoder: Encoder | None = None) -> pd.DataFrame:
        """The prototypes as a table one can read.

        Parameters
        ----------
        encoder : Encoder, optional
            The fitted encoder whose output this was fitted on; prototypes are then in the units and categories of
            the original table.

        Returns
        -------
        DataFrame with one row per prototype
            ``share``, its part of the population, then the attributes; largest share first.

        Notes
        -----
        Representations are mixtures of prototypes and lie between them, so that prototypes themselves often lie
        outside the range of the data: an age of -20 stands for "as young as it gets". `archetypes` describes the people
        that a prototype stands for.
        """
        check_is_fitted(self)
        return self._make_readable(self.prototypes_, range(len(self.prototypes_)), encoder, {"share": self.shares_})

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
        DataFrame with one row per prototype that some record has most of
            ``share``, the mean membership; ``followers``, how many records have more of this prototype than of any
            other; then the mean of every number, and the most frequent category, among them. Largest share first.
        """
        with self._open_to_map(X, here="archetypes") as table:
            U, records = table.map(self._representer("membership")), table.load_records()
        strongest = U.argmax(axis=1)
        followed = np.unique(strongest)
        means = np.stack([records[strongest == k].mean(axis=0) for k in followed])
        counts = np.bincount(strongest, minlength=U.shape[1])[followed]
        return self._make_readable(means, followed, encoder, {"share": U.mean(axis=0)[followed], "followers": counts})

    def _make_readable(
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
