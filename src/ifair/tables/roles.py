"""What each column of a table is for: which are protected, which is the outcome, which must stay out."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from ifair.errors import IfairError, suggest_name, unknown_name
from ifair.files import check_regular


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
        Columns of numbers that are codes of categories. Of a CSV file they are read as text, as it stands.
    missing : tuple of str
        What stands for a missing value besides an empty cell, such as ``"NA"``, in any column.

    Examples
    --------
    >>> from ifair.tables import Roles
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
    missing: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "the roles") -> Self:
        """Roles of plain data, as `as_dict` gives it; an unknown key or a value of the wrong kind is refused."""
        many = {field.name for field in fields(cls) if field.default == ()}
        values: dict[str, Any] = {}
        for key, value in given.items():
            if key not in {field.name for field in fields(cls)}:
                raise unknown_name(f"role (in {where})", key, [field.name for field in fields(cls)])
            if key in many:
                listed = [value] if isinstance(value, str) else value
                if not isinstance(listed, Sequence) or not all(isinstance(name, str) for name in listed):
                    raise IfairError(f"{where}: {key} must be a name or a list of names, got {value!r}")
                values[key] = tuple(listed)
            elif key != "positive" and value is not None and not isinstance(value, str):
                raise IfairError(f"{where}: {key} must be the name of one column, got {value!r}")
            else:
                values[key] = value
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: lists for tuples, and only the roles that are given."""
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value is not None and value != []}

    def override(self, **flags: Any) -> Self:
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
            missing = ["NA", "?"]

    Returns
    -------
    Roles
    """
    check_regular(Path(path))
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise IfairError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IfairError(f"{path} is not a TOML file ({error})") from error
    for key in content:
        if key != "roles":
            hint = " Roles stand below a line [roles]." if key in Roles.__slots__ else ""
            raise IfairError(f"{path}: unknown key {key!r}{suggest_name(key, ['roles'])}{hint}")
    if not isinstance(content.get("roles"), dict):
        raise IfairError(f"{path} has no table [roles]")
    return Roles.from_dict(content["roles"], where=str(path))


def check_names(roles: Roles, columns: Iterable[str]) -> None:
    """Refuse roles of columns that are not there, and columns with two roles."""
    known = list(columns)
    for role, name in list_named(roles):
        if name not in known:
            raise unknown_name(f"{role} column", name, known)
    if roles.target is not None and roles.target in roles.protected:
        raise IfairError(
            f"column {roles.target!r} is both the target and protected: a model that predicts it cannot be blind to it"
        )
    seen: dict[str, str] = {}
    for role, name in list_named(roles):
        if role in ("keep", "categorical"):
            continue
        if name in seen:
            both = f"{role} twice" if seen[name] == role else f"both {seen[name]} and {role}"
            raise IfairError(f"column {name!r} cannot be {both}; give it one role")
        seen[name] = role
    for name in roles.keep:
        if seen.get(name) == "ignore":
            raise IfairError(f"column {name!r} cannot be both kept and ignored")


def list_named(roles: Roles) -> list[tuple[str, str]]:
    """Every column named in the roles, with its role."""
    single = [(role, getattr(roles, role)) for role in ("target", "query", "score", "id")]
    several = [(role, name) for role in ("protected", "ignore", "keep", "categorical") for name in getattr(roles, role)]
    return [(role, name) for role, name in [*several, *single] if name is not None]
