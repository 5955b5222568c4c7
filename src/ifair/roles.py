"""What each column of a table is for: which are protected, which is the outcome, which must stay out."""

import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.data.columns import Doubt, cannot_count, suspicion
from ifair.data.conditions import group_of, is_measure, matching, refuse_measures
from ifair.data.dataset import Dataset
from ifair.data.doubts import about_attribute, about_protected, about_target, about_width
from ifair.data.errors import DataError, nearest, unknown
from ifair.data.tables import from_table, read_table
from ifair.errors import missing_file


@dataclass(frozen=True, slots=True)
class Roles:
    """What each column is for; a column without a role is an attribute.

    Attributes
    ----------
    protected : tuple of str
        Columns that must not count.
    target : str or None
        Column of the outcome.
    positive : object
        Value of the target that is the positive class. May be written as text: ``"1"`` finds 1.
    query : str or None
        Column that says which ranking a record belongs to.
    score : str or None
        Column of scores to rank by.
    id : str or None
        Column that names a record; carried along, never an attribute.
    ignore : tuple of str
        Columns to leave out.
    group : tuple of str
        Conditions such as ``"sex=Female"`` or ``"age<=35"``, all of which hold for members of the protected group.
        Without any, see :func:`ifair.data.from_table`.
    keep : tuple of str
        Columns that stay attributes although they look like identifiers, constants or free text.
    categorical : tuple of str
        Columns of numbers that are codes of categories.

    Examples
    --------
    >>> from ifair.roles import Roles
    >>> Roles(protected=("sex",), target="income", positive=">50K").as_dict()
    {'protected': ['sex'], 'target': 'income', 'positive': '>50K'}
    """

    protected: tuple[str, ...] = ()
    target: str | None = None
    positive: Any = None
    query: str | None = None
    score: str | None = None
    id: str | None = None
    ignore: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "the roles") -> Self:
        """Roles of plain data; an unknown key or a value of the wrong kind is refused.

        Parameters
        ----------
        given : mapping
            As `as_dict` gives it. One name may stand for a list of one.
        where : str
            Where it came from, for messages.
        """
        many = {field.name for field in fields(cls) if field.default == ()}
        values: dict[str, Any] = {}
        for key, value in given.items():
            if key not in {field.name for field in fields(cls)}:
                raise unknown(f"role (in {where})", key, [field.name for field in fields(cls)])
            if key in many:
                listed = [value] if isinstance(value, str) else value
                if not isinstance(listed, Sequence) or not all(isinstance(name, str) for name in listed):
                    raise DataError(f"{where}: {key} must be a name or a list of names, got {value!r}")
                values[key] = tuple(listed)
            elif key != "positive" and value is not None and not isinstance(value, str):
                raise DataError(f"{where}: {key} must be the name of one column, got {value!r}")
            else:
                values[key] = value
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: lists for tuples, and only the roles that are given."""
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value is not None and value != []}

    def overridden(self, **flags: Any) -> Self:
        """These roles, but for the flags that are given: not None and not empty."""
        return replace(self, **{name: value for name, value in flags.items() if value is not None and value != ()})


def read_roles(path: str | Path) -> Roles:
    """Read roles from the table ``[roles]`` of a TOML file.

    Parameters
    ----------
    path : str or Path
        A file such as::

            [roles]
            protected = ["race", "sex"]
            target = "income"
            positive = ">50K"
            ignore = ["notes"]

    Returns
    -------
    Roles
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise DataError(missing_file(Path(path))) from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a TOML file ({error})") from error
    for key in content:
        if key != "roles":
            hint = " Roles stand below a line [roles]." if key in Roles.__slots__ else ""
            raise DataError(f"{path}: unknown key {key!r}{nearest(key, ['roles'])}{hint}")
    if not isinstance(content.get("roles"), dict):
        raise DataError(f"{path} has no table [roles]")
    return Roles.from_dict(content["roles"], where=str(path))


def check_roles(frame: pd.DataFrame, roles: Roles) -> list[str]:
    """Refuse roles that cannot work, and say what was done about doubtful columns.

    Parameters
    ----------
    frame : DataFrame of shape (n_records, n_columns)
    roles : Roles

    Returns
    -------
    list of str
        One sentence for every column that was left out of the attributes unasked, and for every doubt.

    Raises
    ------
    DataError
        For a column that is not there, a column with two roles, and an outcome that cannot be read.
    """
    _check_names(frame.columns, roles)
    _check_one_role(roles)
    _check_kinds(frame, roles)
    if roles.target is not None:
        _check_target(frame[roles.target], roles)
    doubts = _doubts(frame, roles)
    warnings = [about_attribute(column, doubt) for column, doubt in doubts.items()]
    warnings += about_protected(frame, roles.protected, roles.keep)
    if roles.target is not None:
        warnings += about_target(frame[roles.target], is_class=roles.positive is not None)
    untold = [column for column in attributes(frame, roles) if column not in doubts]
    warnings += about_width(frame, untold, categorical=roles.categorical, protected=roles.protected)
    if not attributes(frame, roles, without_protected=True):
        raise DataError("no attribute is left besides the protected columns: nothing would remain to represent")
    return warnings


def left_out(frame: pd.DataFrame, roles: Roles) -> dict[str, str]:
    """Columns without a role that are no attributes, and why: as asked, or because of what they hold."""
    asked = dict.fromkeys(roles.ignore, "as asked")
    doubts = {name: doubt.reason for name, doubt in _doubts(frame, roles).items() if doubt.leave_out}
    return {name: (asked | doubts)[name] for name in frame.columns if name in asked or name in doubts}


def attributes(frame: pd.DataFrame, roles: Roles, *, without_protected: bool = False) -> list[str]:
    """The columns that describe people, in the order of the table: those that a representation is learned of."""
    out = {roles.target, roles.query, roles.score, roles.id, *left_out(frame, roles)}
    if without_protected:
        out |= set(roles.protected)
    return [name for name in frame.columns if name not in out]


def dataset(
    table: Any, roles: Roles, *, name: str | None = None, source: str | None = None, needs_group: bool = True
) -> Dataset:
    """A table with roles as a Dataset: attributes, outcome, protected group and queries.

    Parameters
    ----------
    table : DataFrame, or path of a CSV or Parquet file
    roles : Roles
    name : str, optional
        For messages; the file's name by default.
    source : str, optional
        Where the records come from; the path of the file by default.
    needs_group : bool, default=True
        False: where the roles do not say who the protected group is and it does not follow from the values (a
        protected age), nobody is in it, instead of an error.

    Returns
    -------
    Dataset
    """
    frame = read_table(table)
    check_roles(frame, roles)
    if isinstance(table, str | Path):
        name, source = name or Path(table).name, source or str(table)
    chosen = frame[[*attributes(frame, roles), *(c for c in (roles.target, roles.query) if c is not None)]]
    positive = None if roles.target is None else matching(roles.positive, frame[roles.target])
    group: Any = group_of(frame, roles.group) if roles.group else None
    if group is None and needs_group:
        refuse_measures(frame, roles.protected)
    elif group is None and any(is_measure(frame[column]) for column in roles.protected):
        group = np.zeros(len(frame), dtype=bool)
    return from_table(
        chosen,
        target=roles.target,
        protected=roles.protected,
        query=roles.query,
        positive=positive,
        group=group,
        name=name,
        source=source,
    )


def _named(roles: Roles) -> list[tuple[str, str]]:
    """Every column named in the roles, with its role."""
    single = [(role, getattr(roles, role)) for role in ("target", "query", "score", "id")]
    several = [(role, name) for role in ("protected", "ignore", "keep", "categorical") for name in getattr(roles, role)]
    return [(role, name) for role, name in [*several, *single] if name is not None]


def _check_names(columns: Iterable[str], roles: Roles) -> None:
    known = list(columns)
    for role, name in _named(roles):
        if name not in known:
            raise unknown(f"{role} column", name, known)


def _check_one_role(roles: Roles) -> None:
    if roles.target is not None and roles.target in roles.protected:
        raise DataError(
            f"column {roles.target!r} is both the target and protected: a model that predicts it cannot be blind to it"
        )
    seen: dict[str, str] = {}
    for role, name in _named(roles):
        if role in ("keep", "categorical"):
            continue
        if name in seen:
            both = f"{role} twice" if seen[name] == role else f"both {seen[name]} and {role}"
            raise DataError(f"column {name!r} cannot be {both}; give it one role")
        seen[name] = role
    for name in roles.keep:
        if seen.get(name) == "ignore":
            raise DataError(f"column {name!r} cannot be both kept and ignored")


def _check_kinds(frame: pd.DataFrame, roles: Roles) -> None:
    out = {roles.query, roles.score, roles.id, *roles.ignore}
    for column in frame.columns:
        if column not in out and (held := cannot_count(frame[column])):
            raise DataError(f"column {column!r} holds {held}, or leave it out with --ignore {shlex.quote(column)}")


def _check_target(values: pd.Series, roles: Roles) -> None:
    if values.isna().any():
        row = int(values.isna().to_numpy().argmax()) + 1
        raise DataError(
            f"target {values.name!r} has {int(values.isna().sum())} missing values, the first in row {row}; "
            "leave those records out"
        )
    found = values.unique().tolist()
    if len(found) < 2:
        raise DataError(f"target {values.name!r} is {found[0]!r} for everybody: there is nothing to predict")
    about_target(values, is_class=roles.positive is not None)  # before a positive value of it is asked for
    if roles.positive is not None:
        matching(roles.positive, values)
        return
    if is_bool_dtype(values) or set(found) == {0, 1} or (is_numeric_dtype(values) and len(found) > 2):
        return
    shown = ", ".join(map(repr, sorted(found, key=str)[:5]))
    such_as = shlex.quote(str(found[0]))
    raise DataError(f"target {values.name!r} holds {shown}: say which one is positive, such as --positive {such_as}")


def _doubts(frame: pd.DataFrame, roles: Roles) -> dict[str, Doubt]:
    """Columns without a role that hardly are attributes."""
    known = {name for _, name in _named(roles)}
    found = {name: suspicion(frame[name]) for name in frame.columns if name not in known}
    return {name: doubt for name, doubt in found.items() if doubt is not None}
