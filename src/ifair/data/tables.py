"""Your own table as a Dataset: pandas, polars, or a CSV or Parquet file."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from ifair.data.csv_files import ENCODING, UNREADABLE, check_csv, not_a_table, refuse_repeated, separator_of
from ifair.data.dataset import Dataset, GroupRule, group_mask
from ifair.data.errors import DataError, short, unknown
from ifair.errors import install_hint, missing_file

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")


def from_table(
    table: Any,
    *,
    target: str | None = None,
    protected: Sequence[str] | str,
    query: str | None = None,
    positive: Any = None,
    group: GroupRule | None = None,
    name: str | None = None,
    source: str | None = None,
) -> Dataset:
    """Take a table of people as a Dataset.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or LazyFrame, str or path
        The records, or a CSV (``.csv``, ``.tsv``, also gzipped) or Parquet (``.parquet``) file of them.
    target : str, default=None
        Column of the outcome: two values for classification, more numbers for a score. It leaves the
        attributes.
    protected : str or sequence of str
        Columns that must not count.
    query : str, default=None
        Column that says which ranking a record belongs to. It leaves the attributes.
    positive : object, default=None
        The value of the target that is the positive class. Not needed for 0 and 1, or false and true.
    group : mapping, callable or array of bool, default=None
        Who belongs to the protected group: ``{"sex": "female"}``, a function of the attributes, or a mask. By
        default all who have, in any protected column, true or another value than the most frequent one. A
        protected column of numbers, such as an age, has no such default.
    name : str, default=None
        A name for messages; the file's name by default.
    source : str, default=None
        Where the records come from; the path of the file by default.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pandas as pd
    >>> from ifair.data import from_table
    >>> people = pd.DataFrame({"sex": ["f", "m", "m"], "hired": ["no", "yes", "no"], "age": [41, 30, 25]})
    >>> from_table(people, target="hired", positive="yes", protected="sex")
    <Dataset table: 3 records x 2 attributes, target 'hired', protected ['sex'] (33.3% in the group)>
    """
    frame = read_table(table)
    names = (protected,) if isinstance(protected, str) else tuple(protected)
    for role, column in [("target", target), ("query", query), *(("protected", p) for p in names)]:
        if column is not None and column not in frame.columns:
            raise unknown(f"{role} column", column, frame.columns)
    given = [c for c in (target, query, *names) if c is not None]
    twice = [c for c in given if given.count(c) > 1]
    if twice:
        raise DataError(f"column {twice[0]!r} cannot have two roles among target, query and protected")
    outcome = None if target is None else _outcome(frame[target], positive)
    ranking = None if query is None else frame[query].rename("query")
    frame = frame.drop(columns=[c for c in (target, query) if c is not None])
    for attribute in frame.columns:
        if is_object_dtype(frame[attribute]) or is_string_dtype(frame[attribute]):
            frame[attribute] = frame[attribute].astype("category")
    label = name or (Path(table).name if isinstance(table, (str, os.PathLike)) else "table")
    return Dataset(
        name=label,
        frame=frame,
        # A table without an outcome is enough to learn a representation; Dataset says so.
        target=cast(pd.Series, outcome),
        protected=names,
        group=_minority(frame, names) if group is None else group_mask(frame, group),
        query=ranking,
        description=f"{len(frame)} records of {label}",
        source=source or (str(table) if isinstance(table, (str, os.PathLike)) else "a table in memory"),
    )


def read_table(table: Any) -> pd.DataFrame:
    """Give a table in memory, or the CSV or Parquet file of one, as a new pandas table with a plain index."""
    if isinstance(table, (str, os.PathLike)):
        frame = _read_file(Path(table))
    elif isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=True)
    elif (polars := sys.modules.get("polars")) and isinstance(table, (polars.DataFrame, polars.LazyFrame)):
        eager = table.collect() if isinstance(table, polars.LazyFrame) else table
        # Column by column, since polars' own conversion needs pyarrow.
        frame = pd.DataFrame({c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in eager})
    else:
        raise DataError(
            "a table must be a pandas or polars table, or the path of a CSV or Parquet file; "
            f"got {type(table).__name__}"
        )
    frame = plain_numbers(frame)
    frame.columns = [str(c) for c in frame.columns]
    refuse_repeated(frame.columns, str(table) if isinstance(table, (str, os.PathLike)) else "the table")
    if frame.empty:
        raise DataError("the table has no records")
    return frame


def plain_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with exact decimals, which databases like to write, as floats."""
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        if is_object_dtype(column) and infer_dtype(column) == "decimal":
            frame.isetitem(i, column.to_numpy(dtype=np.float64, na_value=np.nan))
    return frame


def readable(path: Path) -> None:
    """Refuse a file that is not there, that may not be read, or of a kind that is not read."""
    if path.is_dir() or not path.exists():
        raise DataError(missing_file(path))
    if not os.access(path, os.R_OK):
        raise DataError(f"cannot read {path}: permission denied")
    if not path.name.lower().endswith((*CSV, *PARQUET)):
        raise DataError(f"{path} is neither CSV ({', '.join(CSV)}) nor Parquet ({', '.join(PARQUET)})")


def _read_file(path: Path) -> pd.DataFrame:
    readable(path)
    if path.name.lower().endswith(PARQUET):
        try:
            return pd.read_parquet(path)
        except ImportError as error:
            raise DataError(f"reading Parquet needs pyarrow: {install_hint('parquet')}") from error
        except Exception as error:  # pyarrow raises classes of its own, which cannot be named without it
            raise DataError(f"{path} is not a Parquet table ({short(error)})") from error
    check_csv(path)
    try:
        frame = pd.read_csv(path, sep=separator_of(path), encoding=ENCODING, on_bad_lines="error", low_memory=False)
    except UNREADABLE as error:
        raise not_a_table(path, error) from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise DataError(f"{path} has lines with more fields than its header")
    return frame


def _outcome(values: pd.Series, positive: Any) -> pd.Series:
    """0 and 1 for two values, numbers as they are."""
    if values.isna().any():
        raise DataError(f"target {values.name!r} has {values.isna().sum()} missing values; leave those records out")
    found = values.unique().tolist()
    if positive is not None:
        if positive not in found:
            raise unknown(f"value of target {values.name!r}", positive, found)
        return (values == positive).astype("int64")
    if is_bool_dtype(values) or set(found) <= {0, 1}:
        return values.astype("int64")
    if is_numeric_dtype(values) and len(found) > 2:
        return values.astype("float64")
    shown = ", ".join(map(repr, found[:5]))
    raise DataError(f"target {values.name!r} holds {shown}: say which one is positive, such as positive={found[0]!r}")


def _minority(frame: pd.DataFrame, protected: Sequence[str]) -> npt.NDArray[np.bool_]:
    mask = np.zeros(len(frame), dtype=bool)
    for column in protected:
        values = frame[column]
        if values.isna().all():
            raise DataError(f"protected column {column!r} holds no value")
        if is_bool_dtype(values):
            mask |= values.to_numpy(dtype=bool, na_value=False)
        elif is_numeric_dtype(values) and values.nunique() > 2:
            raise DataError(
                f"protected column {column!r} holds numbers: say who is protected, "
                f"such as group=lambda people: people[{column!r}] < {values.median():g}"
            )
        else:
            mask |= (values.notna() & (values != values.value_counts().idxmax())).to_numpy(dtype=bool)
    return mask
