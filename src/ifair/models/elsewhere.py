"""Fit and transform tables that are not in this process, but on the workers of a Dask or Spark cluster, or in files."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from ifair.engines.choose import is_spark_frame, require_dask, require_spark
from ifair.engines.protocol import Engine
from ifair.models.beside import Beside, column_names, columns_of
from ifair.models.checks import check_largest, check_warm_start
from ifair.models.starts import drawn

SAMPLE = 20_000
"""Records that come to this process, from which starts are drawn."""

FLOATS = [np.float64, np.float32]


def workers_of(estimator: Any) -> int | None:
    """Processes of a cluster on this machine: unlike threads, as many as there are cores unless asked otherwise."""
    return None if estimator.n_jobs is None else effective_n_jobs(estimator.n_jobs)


@contextmanager
def opened_elsewhere(estimator: Any, X: Any) -> Iterator[tuple[Engine, NDArray[np.float64], NDArray[np.float64]]]:
    """An engine with the records less their mean, some of the records as they are, and the mean.

    Validates the table as it comes, without having it here.
    """
    tables = _tables_of(estimator.engine, X)
    table = tables.as_collection(X)
    n_features = validate_data(estimator, tables.blank(table), dtype=FLOATS).shape[1]
    check_warm_start(estimator, n_features)
    address = estimator.engine.partition(":")[2]
    with (
        threadpool_limits(1, user_api="blas"),
        tables.opened(table, address, workers_of(estimator)) as (engine, whole),
    ):
        check_largest(estimator, whole.rows, whole.largest, whole.dtype)
        sample = np.arange(engine.n_records)
        if engine.n_records > SAMPLE:
            sample = drawn(engine.n_records, SAMPLE, check_random_state(estimator.random_state))
        yield engine, engine.take(sample) + whole.centre, whole.centre


@contextmanager
def labelled_elsewhere(
    estimator: Any, X: Any, *beside: Any
) -> Iterator[tuple[Engine, NDArray[np.float64], NDArray[np.float64], Beside]]:
    """As :func:`opened_elsewhere`, and what brings labels and groups here.

    Columns that ``beside`` names are not among the attributes.
    """
    tables = _tables_of(estimator.engine, X)
    with ExitStack() as unchanged:
        table = unchanged.enter_context(tables.unchanging(tables.found(X)))
        named = [name for what in beside for name in column_names(columns_of(table), what)]
        records = tables.without(table, list(dict.fromkeys(named)))
        with opened_elsewhere(estimator, records) as (engine, sample, centre):
            yield engine, sample, centre, Beside(tables, table, records, engine, unchanged)


def _tables_of(engine: str, X: Any) -> Any:
    """The module that knows tables like this one."""
    if is_spark_frame(X):
        require_spark("spark")
        from ifair.engines import spark_tables

        return spark_tables
    require_dask(engine)
    from ifair.engines import tables

    return tables


def mapped_elsewhere(estimator: Any, X: Any, *, as_membership: bool) -> Any:
    """Representations or memberships of a collection, as a collection: nothing is computed yet."""
    tables = _tables_of(estimator.engine, X)
    table = tables.as_collection(X)
    dtype = validate_data(estimator, tables.blank(table), dtype=FLOATS, reset=False).dtype
    mapper = copy(estimator).set_params(callback=None, verbose=False, n_jobs=1, engine="local")
    if is_spark_frame(table):
        return _mapped_on_spark(table, mapper, dtype, as_membership=as_membership)
    n_columns = len(estimator.prototypes_) if as_membership else table.shape[1]
    if not tables.is_frame(table):
        return table.map_blocks(
            _map_array, mapper, as_membership, n_columns, dtype=dtype, chunks=(table.chunks[0], (n_columns,))
        )
    names = _names(mapper, table, as_membership=as_membership)
    meta = pd.DataFrame(np.empty((0, n_columns), dtype=dtype), columns=names, index=table._meta.index)
    return table.map_partitions(_map_frame, mapper, as_membership, names, meta=meta)


def _names(mapper: Any, table: Any, *, as_membership: bool) -> list[str]:
    return [f"prototype{k}" for k in range(len(mapper.prototypes_))] if as_membership else list(table.columns)


def _mapped_on_spark(table: Any, mapper: Any, dtype: Any, *, as_membership: bool) -> Any:
    from pyspark.sql.types import DoubleType, FloatType, StructField, StructType

    from ifair.engines.spark_session import quiet
    from ifair.engines.spark_tables import numbered

    columns, names = list(table.columns), _names(mapper, table, as_membership=as_membership)
    kind = FloatType() if dtype == np.float32 else DoubleType()

    def represent(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in parts:
            yield _map_frame(part.set_axis(columns, axis=1), mapper, as_membership, names)

    schema = StructType([StructField(name, kind, False) for name in names])
    with quiet():
        return numbered(table).mapInPandas(represent, schema)


def _map_array(block: Any, mapper: Any, as_membership: bool, n_columns: int) -> NDArray[np.floating[Any]]:
    if len(block) == 0:
        return np.empty((0, n_columns), dtype=block.dtype)
    mapped: NDArray[np.floating[Any]] = mapper._map(block, as_membership=as_membership)
    return mapped


def _map_frame(part: pd.DataFrame, mapper: Any, as_membership: bool, names: list[str]) -> pd.DataFrame:
    if len(part) == 0:
        return pd.DataFrame(np.empty((0, len(names))), columns=names, index=part.index)
    # A model fitted without names has said so once, here; not again in every partition.
    records = part if hasattr(mapper, "feature_names_in_") else part.to_numpy()
    return pd.DataFrame(mapper._map(records, as_membership=as_membership), columns=names, index=part.index)
