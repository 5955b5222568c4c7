"""Labels and groups beside a table that is not in this process: columns of it, collections like it, or arrays here."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.engines.choose import is_collection, on_host
from ifair.engines.protocol import Engine
from ifair.errors import nearest_name


class Beside:
    """What belongs to the records of a table elsewhere, brought here: one value or a few a record.

    Parameters
    ----------
    tables : module
        That knows tables like this one.
    table : collection
        As the user gave it.
    records : collection
        The attributes among its columns.
    engine : Engine
        Holds the attributes.
    unchanged : ExitStack
        Keeps the table as it is; closed by `done`.
    """

    def __init__(self, tables: Any, table: Any, records: Any, engine: Engine, unchanged: ExitStack) -> None:
        self.tables, self.table, self.records, self.engine = tables, table, records, engine
        self.done = unchanged.close

    def __call__(self, what: Any, name: str) -> NDArray[Any]:
        """A collection cut like the table, the names of columns of the table, or an array of this process."""
        if is_collection(what) or column_names(columns_of(self.table), what):
            here: NDArray[Any] = self.tables.columns_here(self.engine, self.table, what, name)
        else:
            _refuse_other(self.table, what, name)
            here = np.asarray(on_host(what))
            if len(here) != self.engine.n_records:
                raise ValueError(f"{name} has {len(here)} entries, but X has {self.engine.n_records} records")
        if here.ndim == 1 and pd.isna(here).any():
            missing = int(np.flatnonzero(pd.isna(here))[0])
            raise ValueError(f"{name} has no value for record {missing}; fill it, or drop the record")
        return here

    def columns(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        """Some of the attributes."""
        chosen = self.tables.chosen(self.records, [int(j) for j in np.flatnonzero(mask)])
        return self(chosen, "protected").astype(np.float64)


def columns_of(table: Any) -> list[Any]:
    """The names of its columns, if they have names."""
    return list(getattr(table, "columns", ()))


def column_names(columns: Sequence[Any], what: Any) -> list[str]:
    """The names among those of columns that are meant by ``what``; none where it is something else."""
    names = [what] if isinstance(what, str) else what
    if isinstance(names, list | tuple) and names and all(isinstance(n, str) and n in columns for n in names):
        return list(names)
    return []


def _refuse_other(table: Any, what: Any, name: str) -> None:
    """Say what can be, where something else was given."""
    if isinstance(what, str):
        columns = columns_of(table)
        close = nearest_name(what, columns, cutoff=0.5) if columns else None
        hint = f"; did you mean {close!r}?" if close else ""
        raise ValueError(f"{name}={what!r} is no column of X{hint}")
    if type(what).__module__.startswith("pyspark.sql"):
        raise TypeError(
            f"{name} must be the name of a column of X, or an array of this process, got {type(what).__name__}: rows "
            "of two frames of Spark have no common order"
        )
