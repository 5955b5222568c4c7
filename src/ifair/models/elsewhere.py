"""Fit and transform tables that are not in this process, but on the workers of a Dask cluster or in files."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from ifair.engines.choose import require_dask
from ifair.engines.protocol import Engine
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
    require_dask(estimator.engine)
    from ifair.engines import tables
    from ifair.engines.cluster import open_client
    from ifair.engines.dask import DaskEngine

    table = tables.as_collection(X)
    n_features = validate_data(estimator, tables.blank(table), dtype=FLOATS).shape[1]
    check_warm_start(estimator, n_features)
    client, resources = open_client(estimator.engine.partition(":")[2], workers_of(estimator))
    with resources:
        shards, totals = tables.load(client, table)
        check_largest(estimator, sum(shards.rows), totals.largest, totals.dtype)
        centre = totals.sums / sum(shards.rows)
        with threadpool_limits(1, user_api="blas"), DaskEngine(shards, client, centre=centre) as engine:
            del shards  # the engine lets go of them at the end, and so must everybody
            sample = np.arange(engine.n_records)
            if engine.n_records > SAMPLE:
                sample = drawn(engine.n_records, SAMPLE, check_random_state(estimator.random_state))
            yield engine, engine.take(sample) + centre, centre


def mapped_elsewhere(estimator: Any, X: Any, *, as_membership: bool) -> Any:
    """Representations or memberships of a collection, as a collection: nothing is computed yet."""
    require_dask(estimator.engine)
    from ifair.engines import tables

    table = tables.as_collection(X)
    dtype = validate_data(estimator, tables.blank(table), dtype=FLOATS, reset=False).dtype
    mapper = copy(estimator).set_params(callback=None, verbose=False, n_jobs=1, engine="local")
    n_columns = len(estimator.prototypes_) if as_membership else table.shape[1]
    if not tables.is_frame(table):
        return table.map_blocks(
            _map_array, mapper, as_membership, n_columns, dtype=dtype, chunks=(table.chunks[0], (n_columns,))
        )
    names = [f"prototype{k}" for k in range(n_columns)] if as_membership else list(table.columns)
    meta = pd.DataFrame(np.empty((0, n_columns), dtype=dtype), columns=names, index=table._meta.index)
    return table.map_partitions(_map_frame, mapper, as_membership, names, meta=meta)


def _map_array(block: Any, mapper: Any, as_membership: bool, n_columns: int) -> NDArray[np.floating[Any]]:
    if len(block) == 0:
        return np.empty((0, n_columns), dtype=block.dtype)
    mapped: NDArray[np.floating[Any]] = mapper._map(block, as_membership=as_membership)
    return mapped


def _map_frame(part: pd.DataFrame, mapper: Any, as_membership: bool, names: list[str]) -> pd.DataFrame:
    if len(part) == 0:
        return pd.DataFrame(np.empty((0, len(names))), columns=names, index=part.index)
    return pd.DataFrame(mapper._map(part, as_membership=as_membership), columns=names, index=part.index)
