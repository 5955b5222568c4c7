"""What tables on the workers of a cluster have in common: they stay there, and only what a fit must know comes here."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.core.arrays import limit_products, to_host
from ifair.engines.sharded import ShardedEngine
from ifair.errors import IfairError, nearest_name
from ifair.inputs.disk import check_finite
from ifair.inputs.partitions import map_partitions
from ifair.inputs.table import ColumnStatistics, Floats, RowMap, Table, Validate, find_names, is_collection, map_array


class ClusterTable(Table):
    """A collection whose parts lie on workers.

    Columns that ``beside`` names are not among the attributes. ``here`` is a method that needs the records in this
    process: an error then.
    """

    def __init__(self, X: Any, validate: Validate, *, here: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.whole = X
        if here is not None:
            self._refuse_method(here)
        self._unchanged = self._resources.enter_context(ExitStack())
        self._named = [name for what in self.beside.values() for name in find_names(self._whole_columns, what)]
        self.records = self._as_numbers()
        validated = validate(self._blank(rows=2))
        self.n_features, self.dtype = validated.shape[1], validated.dtype

    @property
    def _whole_columns(self) -> list[Any]:
        """The names of all columns, if they have names."""
        return list(getattr(self.whole, "columns", ()))

    @abstractmethod
    def _as_numbers(self) -> Any:
        """The attributes: a two-dimensional collection of numbers."""

    @property
    @abstractmethod
    def _to_map(self) -> Any:
        """The attributes as a collection whose partitions can be mapped; its columns may have other names."""

    @abstractmethod
    def _blank(self, rows: int) -> Any:
        """A table in this process with the columns and types of the records, and zeros in it."""

    @abstractmethod
    def _load_engine(self) -> tuple[ShardedEngine, "PartStatistics"]:
        """An engine with the records less their mean, and what is known of them as they are."""

    @abstractmethod
    def _gather_columns(self, what: Any, name: str) -> NDArray[Any]:
        """A collection beside the table, or columns of the table by their names, in this process."""

    @abstractmethod
    def _choose_columns(self, positions: list[int]) -> Any:
        """Some of the attributes, in a form that `_gather_columns` takes."""

    @cached_property
    def _engine_and_statistics(self) -> tuple[ShardedEngine, "PartStatistics"]:
        with limit_products():
            return self._load_engine()

    @property
    def n_records(self) -> int:
        return self._engine_and_statistics[1].n_records

    @property
    def statistics(self) -> ColumnStatistics:
        return ColumnStatistics(self._engine_and_statistics[1].mean, self._engine_and_statistics[1].largest)

    @contextmanager
    def open_engine(self) -> Iterator[ShardedEngine]:
        # What stands beside the records has come by now.
        self._unchanged.close()
        with limit_products():
            yield self._engine_and_statistics[0]

    def load_records(self) -> Floats:
        engine, statistics = self._engine_and_statistics
        return engine.take(np.arange(engine.n_records)) + statistics.mean

    def load_columns(self, mask: NDArray[np.bool_]) -> Floats:
        chosen = self._choose_columns([int(j) for j in np.flatnonzero(mask)])
        return self._load_beside(chosen, "protected").astype(np.float64)

    def labels(self, name: str) -> NDArray[Any]:
        """A collection cut like the table, the names of columns of the table, or an array of this process."""
        return self._load_beside(self.beside[name], name)

    def _load_beside(self, what: Any, name: str) -> NDArray[Any]:
        if is_collection(what) or find_names(self._whole_columns, what):
            values = self._gather_columns(what, name)
        else:
            self._refuse_other(what, name)
            values = np.asarray(to_host(what))
            if len(values) != self.n_records:
                raise IfairError(f"{name} has {len(values)} entries, but X has {self.n_records} records")
        if values.ndim == 1 and pd.isna(values).any():
            missing = int(np.flatnonzero(pd.isna(values))[0])
            raise IfairError(f"{name} has no value for the record at index {missing}; fill it, or drop the record")
        return values

    def _refuse_other(self, what: Any, name: str) -> None:
        """Say what can be, where something else was given."""
        if what is None:
            raise IfairError(f"{name} is None: pass values, or the name of a column of X")
        if isinstance(what, str):
            columns = self._whole_columns
            close = nearest_name(what, columns, cutoff=0.5) if columns else None
            hint = f"; did you mean {close!r}?" if close else ""
            raise IfairError(f"{name}={what!r} is no column of X{hint}")
        if type(what).__module__.startswith("pyspark.sql"):
            raise TypeError(
                f"{name} must be the name of a column of X, or an array of this process, got {type(what).__name__}: "
                "rows of two frames of Spark have no common order"
            )

    def shrink_labels(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """They go to every worker: a byte per record is often enough."""
        return numbers.astype(np.min_scalar_type(int(numbers.max())))

    def _refuse_method(self, method: str) -> NoReturn:
        raise TypeError(
            f"{method} takes tables of this process, got {type(self.whole).__name__}: call it partition by partition "
            "(map_blocks, map_partitions or mapInPandas of the collection), or on a sample"
        )

    def map(self, function: RowMap) -> Any:
        """A collection like this one: nothing is computed yet."""
        columns = list(getattr(self.records, "columns", range(self.n_features)))
        on_part = partial(map_part, function=function, columns=columns, dtype=self.dtype)
        return map_partitions(self._to_map, on_part, function.output_names(columns), self.dtype)

    def map_blocks(self, function: RowMap, rows: int) -> NoReturn:
        self._refuse_method("transform_blocks")


class PartStatistics(NamedTuple):
    """What must be known of some records, at least one, before a fit."""

    n_records: int
    sums: NDArray[np.float64]
    """Of every column, shape (N,)."""
    largest: NDArray[np.float64]
    """Largest absolute value of every column, shape (N,); NaN or infinite where there is such a value."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of every column, shape (N,)."""
        return self.sums / self.n_records


def measure_part(block: Floats) -> PartStatistics | None:
    """The statistics of a block of records; None where it is empty."""
    if len(block) == 0:
        return None
    largest = np.maximum(block.max(axis=0), -block.min(axis=0)).astype(np.float64)
    return PartStatistics(len(block), block.sum(axis=0, dtype=np.float64), largest)


def join_statistics(parts: Iterable[PartStatistics | None]) -> PartStatistics | None:
    """Those of several parts as one, added in their order; None where there is no record."""
    filled = [part for part in parts if part is not None]
    if not filled:
        return None
    n_records, sums, largest = zip(*filled)
    return PartStatistics(sum(n_records), np.sum(sums, axis=0), np.max(largest, axis=0))


def check_statistics(parts: Iterable[PartStatistics | None], names: Sequence[Any]) -> PartStatistics:
    """Those of a whole table, of columns with these names; refuses what cannot be fitted."""
    whole = join_statistics(parts)
    if whole is None:
        raise IfairError("X has no records: all its partitions are empty")
    wrong = np.flatnonzero(~np.isfinite(whole.largest))
    if len(wrong):
        raise IfairError(
            f"Input X contains NaN or infinity, in column {names[wrong[0]]!r}"
            + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else "")
            + ": fill or drop what is missing first (ifair.Encoder does)"
        )
    return whole


def map_part(part: Any, function: RowMap, columns: list[Any], dtype: np.dtype[Any]) -> Floats:
    """On a worker: the function of the records of a partition, a frame or an array."""
    X = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "to_numpy") else np.asarray(part, dtype=dtype)
    check_finite(X, 0, columns)
    return map_array(X, function)
