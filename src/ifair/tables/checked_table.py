"""A table with the roles of its columns, checked before any work: what is refused, left out and warned about."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.datasets.dataset import Dataset, GroupRule, group_mask
from ifair.errors import IfairError, check_known, name_setting
from ifair.tables import column_warnings
from ifair.tables.cell_types import describe_missing, is_text, warn_of_words
from ifair.tables.groups import default_group, find_value, is_measure, match_conditions
from ifair.tables.outcome import encode_outcome, name_outcomes
from ifair.tables.read import read_counted_table, suggest_complete
from ifair.tables.roles import Roles, check_names, list_named
from ifair.tables.telling_columns import warn_of_copies
from ifair.unsuitable_columns import Doubt, find_doubt


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """A table whose roles can work; see :func:`check_table`.

    Attributes
    ----------
    frame : pandas.DataFrame of shape (n_records, n_columns)
        The table as it was read, all columns included.
    roles : Roles
    doubts : dict of str to Doubt
        Columns without a role that hardly are attributes.
    warnings : list of str
        One sentence for every column that was left out of the attributes unasked, and for every doubt.
    name, source : str or None
        What to call the table, and where its records come from.
    classes : bool
        Whether an outcome of more than two classes keeps them.
    """

    frame: pd.DataFrame
    roles: Roles
    doubts: dict[str, Doubt]
    warnings: list[str]
    name: str | None = None
    source: str | None = None
    classes: bool = False

    @cached_property
    def left_out(self) -> dict[str, str]:
        """Columns without a role that are no attributes, and why: as asked, or because of what they hold."""
        reasons = dict.fromkeys(self.roles.ignore, "as asked")
        reasons |= {name: doubt.reason for name, doubt in self.doubts.items() if doubt.leave_out}
        return {name: reasons[name] for name in self.frame.columns if name in reasons}

    @cached_property
    def attributes(self) -> list[str]:
        """The columns that describe people, in the order of the table: those that a representation is learned of."""
        roles = self.roles
        others = {roles.target, roles.query, roles.score, roles.id, roles.weight, *self.left_out}
        return [name for name in self.frame.columns if name not in others]

    def to_dataset(self, *, group: GroupRule | None = None, needs_group: bool = True) -> Dataset:
        """The attributes, the outcome, the protected group, the queries, the ids and the weights.

        Parameters
        ----------
        group : mapping, callable or array of bool, optional
            Who is protected, where the roles do not say it.
        needs_group : bool, default=True
            False: where nothing says who the protected group is and it does not follow from the values (a protected
            age), nobody is in it, instead of an error.

        Returns
        -------
        Dataset
        """
        frame, roles = self.frame, self.roles
        people = frame[self.attributes].copy()
        texts = [column for column in people.columns if is_text(people[column])]
        # From here on they are categories: whoever encodes them need not doubt them again.
        people = people.astype(dict.fromkeys(texts, "category"))
        if roles.group:
            member = match_conditions(frame, roles.group)
        elif group is not None:
            member = group_mask(people, group)
        elif needs_group or not any(is_measure(frame[column]) for column in roles.protected):
            member = default_group(people, roles.protected)
        else:
            member = np.zeros(len(frame), dtype=bool)
        name, target, yes, no = self.name or "table", None, None, None
        if roles.target is not None:
            outcome = frame[roles.target]
            positive = find_value(roles.positive, outcome)
            target = encode_outcome(outcome, positive, classes=self.classes)
            yes, no = name_outcomes(outcome, positive)
        return Dataset(
            name=name,
            frame=people,
            target=target,
            protected=roles.protected,
            group=member,
            query=None if roles.query is None else frame[roles.query].rename("query"),
            ids=None if roles.id is None else frame[roles.id],
            weight=None if roles.weight is None else check_weight(frame[roles.weight]),
            description=f"{len(frame)} records of {name}",
            source=self.source or "a table in memory",
            positive=yes,
            negative=no,
        )


def check_table(
    table: Any,
    roles: Roles,
    *,
    name: str | None = None,
    source: str | None = None,
    classes: bool = False,
    besides: Mapping[str, str] | None = None,
) -> CheckedTable:
    """Read a table, and refuse roles that cannot work.

    Parameters
    ----------
    table : DataFrame, or path of a CSV or Parquet file
    roles : Roles
    name : str, optional
        For messages; the file's name by default.
    source : str, optional
        Where the records come from; the path of the file by default.
    classes : bool, default=False
        Take an outcome of more than two classes, where none of them is named as the positive one.
    besides : mapping of str to str, optional
        Columns that must be there and are no attributes, by what to call their use in messages, such as ``--scores``.

    Returns
    -------
    CheckedTable

    Raises
    ------
    IfairError
        For a column that is not there, a column with two roles, a column that no encoder could read, and an outcome
        or a protected column that nothing can be learned from.
    """
    besides = besides or {}
    roles = roles.override(ignore=list(dict.fromkeys([*roles.ignore, *besides.values()]))) if besides else roles
    weight = [] if roles.weight is None else [roles.weight]
    frame, marked = read_counted_table(table, missing=roles.missing, text=roles.list_texts(), doubtful=weight)
    if isinstance(table, str | os.PathLike):
        name, source = name or Path(table).name, source or os.fspath(table)
    for use, column in besides.items():
        check_known("column", column, frame.columns, f" for {use}")
    check_names(roles, frame.columns)
    unread = {roles.query, roles.score, roles.id, roles.weight, *roles.ignore}
    for column in frame.columns:
        if column not in unread and (held := column_warnings.explain_unusable(frame[column])):
            raise IfairError(f"column {column!r} holds {held}, or leave it out with {name_setting('ignore', [column])}")
    if roles.weight is not None:
        if roles.query is not None:
            raise IfairError(
                f"weight column {roles.weight!r}: people in rankings count by their places, and weights of them are "
                "not offered; leave the weights out"
            )
        check_weight(frame[roles.weight])
    how = f", such as table.dropna(subset=[{roles.target!r}])"
    if roles.target is not None and isinstance(table, str | os.PathLike):
        how = f", {suggest_complete(Path(table), roles.target, roles.missing)}"
    of_target = [] if roles.target is None else _check_target(frame[roles.target], roles.positive, classes, how)
    uncounted = {c for c, weight in ((roles.similarity or {}).get("weights") or {}).items() if weight == 0}
    with_role = {c for role, c in list_named(roles) if not (role.startswith("similarity") and c in uncounted)}
    found = {column: find_doubt(frame[column]) for column in frame.columns if column not in with_role}
    doubts = {column: doubt for column, doubt in found.items() if doubt is not None}
    out = {*roles.ignore, roles.id, roles.weight, *(column for column, doubt in doubts.items() if doubt.leave_out)}
    warnings = [*describe_missing(marked), *warn_of_words(frame, [c for c in frame.columns if c not in out])]
    warnings += [column_warnings.warn_of_attribute(column, doubt) for column, doubt in doubts.items()]
    warnings += [*column_warnings.warn_of_protected(frame, roles.protected, roles.keep, roles.group), *of_target]
    checked = CheckedTable(frame, roles, doubts, warnings, name, source, classes)
    if set(checked.attributes) <= set(roles.protected):
        raise IfairError("no attribute is left besides the protected columns: nothing would remain to represent")
    undoubted = [column for column in checked.attributes if column not in doubts]
    options = {"categorical": roles.categorical, "protected": roles.protected}
    warnings += column_warnings.warn_of_width(frame, undoubted, **options)
    warnings += warn_of_copies(frame, checked.attributes, roles.protected, roles.target)
    warnings += column_warnings.warn_of_repeats(frame, roles.id, roles.query)
    numbers = [*checked.attributes, *filter(None, [roles.target])]
    warnings += column_warnings.warn_of_far_values(frame, numbers, categorical=roles.categorical)
    return checked


MOST_CODES = 10
"""Different numbers that may be codes of classes, one of which is positive; more of them measure something."""

NAMED_ROWS = 3
"""Rows that an error about a column names, at most."""


def check_weight(values: pd.Series) -> pd.Series:
    """How many people every record stands for, as numbers; refuses what is none, or not above 0."""
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if len(bad):
        shown = "; ".join(
            f"row {row + 1} is empty" if pd.isna(values.iloc[row]) else f"row {row + 1} holds {values.iloc[row]!s:.40}"
            for row in bad[:NAMED_ROWS]
        )
        more = f"; and {len(bad) - NAMED_ROWS} more" if len(bad) > NAMED_ROWS else ""
        raise IfairError(
            f"weight column {values.name!r} must hold positive numbers: {shown}{more}. Give everybody one, and "
            "leave out people who count nothing"
        )
    return numbers


def _check_target(values: pd.Series, positive: Any, classes: bool, how: str) -> list[str]:
    """Refuse an outcome that nothing can be learned about; doubts about it otherwise."""
    name = str(values.name)
    if values.isna().any():
        encode_outcome(values, how=how)  # says where
    first, *others = values.unique().tolist()
    if not others:
        raise IfairError(f"target {name!r} is {first!r} for everybody: there is nothing to predict")
    if positive is not None and is_numeric_dtype(values) and not is_bool_dtype(values) and len(others) >= MOST_CODES:
        raise IfairError(
            f"target {name!r} holds {len(others) + 1:,} different numbers, and {name_setting('positive', positive)} "
            "would be one of them against all others: numbers are predicted as numbers; for yes or no make a column "
            "of two values"
        )
    lines = column_warnings.warn_of_target(name, find_doubt(values), is_class=positive is not None)
    encode_outcome(values, find_value(positive, values), classes=classes)
    return lines
