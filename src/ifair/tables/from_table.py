"""Your own table as a Dataset."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from ifair.datasets.dataset import Dataset, GroupRule, group_mask
from ifair.errors import IfairError, name_setting, unknown_name
from ifair.tables.groups import default_group
from ifair.tables.read import read_table


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
    missing: Collection[str] = (),
    categorical: Collection[str] = (),
) -> Dataset:
    """Take a table of people as a Dataset.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or LazyFrame, str or path
        The records, or a CSV (``.csv``, ``.tsv``, also gzipped) or Parquet (``.parquet``) file of them.
    target : str, default=None
        Column of the outcome: two values for classification, more numbers for a score. It leaves the attributes.
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
    missing, categorical : collection of str, optional
        What stands for a missing value, and columns to read as text; see :func:`ifair.data.read_table`.

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
    frame = read_table(table, missing=missing, categorical=categorical)
    names = (protected,) if isinstance(protected, str) else tuple(protected)
    for role, column in [("target", target), ("query", query), *(("protected", p) for p in names)]:
        if column is not None and column not in frame.columns:
            raise unknown_name(f"{role} column", column, frame.columns)
    given = [c for c in (target, query, *names) if c is not None]
    twice = [c for c in given if given.count(c) > 1]
    if twice:
        raise IfairError(f"column {twice[0]!r} cannot have two roles among target, query and protected")
    outcome = None if target is None else encode_outcome(frame[target], positive)
    ranking = None if query is None else frame[query].rename("query")
    frame = frame.drop(columns=[c for c in (target, query) if c is not None])
    for attribute in frame.columns:
        if is_object_dtype(frame[attribute]) or is_string_dtype(frame[attribute]):
            frame[attribute] = frame[attribute].astype("category")
    label = name or (Path(table).name if isinstance(table, (str, os.PathLike)) else "table")
    return Dataset(
        name=label,
        frame=frame,
        target=outcome,
        protected=names,
        group=default_group(frame, names) if group is None else group_mask(frame, group),
        query=ranking,
        description=f"{len(frame)} records of {label}",
        source=source or (str(table) if isinstance(table, (str, os.PathLike)) else "a table in memory"),
        positive=None if positive is None else str(positive),
    )


def encode_outcome(values: pd.Series, positive: Any = None) -> pd.Series:
    """An outcome as 0 and 1 where it has two values, as numbers where it has more."""
    missing = values.isna().to_numpy()
    if missing.any():
        raise IfairError(
            f"target {values.name!r} has {missing.sum()} missing values, the first in row {missing.argmax() + 1}; "
            "leave those records out"
        )
    found = values.unique().tolist()
    if positive is not None:
        if positive not in found:
            raise unknown_name(f"value of target {values.name!r}", positive, found)
        return (values == positive).astype("int64")
    if is_bool_dtype(values) or set(found) <= {0, 1}:
        return values.astype("int64")
    if is_numeric_dtype(values) and len(found) > 2:
        return values.astype("float64")
    shown = ", ".join(map(repr, sorted(found, key=str)[:5]))
    raise IfairError(
        f"target {values.name!r} holds {shown}: say which one is positive, such as {name_setting('positive', found[0])}"
    )
