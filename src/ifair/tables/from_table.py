"""Your own table as a Dataset."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ifair.datasets.dataset import Dataset, GroupRule
from ifair.errors import warn_user
from ifair.tables.checked_table import check_table
from ifair.tables.read import read_table
from ifair.tables.roles import Roles


def from_table(
    table: Any,
    *,
    target: str | None = None,
    protected: Sequence[str] | str,
    query: str | None = None,
    positive: Any = None,
    group: GroupRule | str | Sequence[str] | None = None,
    name: str | None = None,
    source: str | None = None,
    missing: Collection[str] = (),
    categorical: Collection[str] = (),
    id: str | None = None,
    weight: str | None = None,
    ignore: Collection[str] = (),
    keep: Collection[str] = (),
) -> Dataset:
    """Take a table of people as a Dataset, with the checks of the command line.

    Identifiers, constants and free text are left out of the attributes, with a warning for each that says so.

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
    group : mapping, callable, array of bool or conditions, default=None
        Who belongs to the protected group: ``{"sex": "female"}``, a function of the attributes, a mask, or
        conditions as on the command line, all of which hold: ``["sex=female", "age<=35"]``. By default all who
        have, in any protected column, true or another value than the most frequent one. A protected column of
        numbers, such as an age, has no such default.
    name : str, default=None
        A name for messages; the file's name by default.
    source : str, default=None
        Where the records come from; the path of the file by default.
    missing, categorical : collection of str, optional
        What stands for a missing value, and columns to read as text; see :func:`ifair.data.read_table`.
    id : str, default=None
        Column that names a record. It leaves the attributes, and is kept as ``ids`` of the Dataset.
    weight : str, default=None
        Column of positive numbers: how many people a record stands for, in whatever unit. It leaves the attributes.
    ignore, keep : collection of str, optional
        Columns to leave out; columns that stay attributes although they look like identifiers, constants or free text.

    Returns
    -------
    Dataset

    Raises
    ------
    IfairError
        For a column that is not there or has two roles, a column that no encoder could read, and an outcome or a
        protected column that nothing can be learned from.

    Examples
    --------
    >>> import pandas as pd
    >>> from ifair.data import from_table
    >>> people = pd.DataFrame({"sex": ["f", "m", "m"], "hired": ["no", "yes", "no"], "age": [41, 30, 25]})
    >>> from_table(people, target="hired", positive="yes", protected="sex")
    <Dataset table: 3 records x 2 attributes, target 'hired', protected ['sex'] (33.3% in the group)>
    """
    conditions: Any = [group] if isinstance(group, str) else group
    is_text = isinstance(conditions, Sequence) and all(isinstance(one, str) for one in conditions)
    many = {"protected": protected, "ignore": ignore, "keep": keep, "missing": missing, "categorical": categorical}
    roles = Roles.from_dict(
        {
            **{role: names if isinstance(names, str) else list(names) for role, names in many.items()},
            "group": list(conditions) if is_text else [],
            "target": target,
            "positive": positive,
            "query": query,
            "id": id,
            "weight": weight,
        }
    )
    if isinstance(table, str | os.PathLike):
        name, source = name or Path(table).name, source or str(table)
    # What stands for a missing value was asked for here, and is no news.
    frame = read_table(table, missing=roles.missing, categorical=roles.list_texts())
    checked = check_table(frame, roles, name=name, source=source)
    dataset = checked.to_dataset(group=None if is_text else conditions)
    for line in checked.warnings:
        warn_user(line)
    return dataset
