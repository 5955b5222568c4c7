"""What each column of a table is for: which are protected, which is the outcome, which must stay out."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from ifair.errors import IfairError, check_known, suggest_name
from ifair.files import check_regular

SIMILARITY = ("reading", "weights", "ordered", "units", "caliper", "n_neighbors", "approximate")
"""Settings of a table ``[similarity]``; what is protected or a category is said by the roles."""


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
    weight : str or None
        Column of positive numbers: how many people a record stands for, in whatever unit. Never an attribute.
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
    similarity : mapping or None
        Parameters of :class:`ifair.Similarity`, who is like whom: ``{"weights": {"education": 2}}``.

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
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    similarity: Mapping[str, Any] | None = None

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "the roles") -> Self:
        """Roles of plain data, as `as_dict` gives it; an unknown key or a value of the wrong kind is refused."""
        many = {field.name for field in fields(cls) if field.default == ()}
        values: dict[str, Any] = {}
        for key, value in given.items():
            check_known(f"role (in {where})", key, cls.__slots__)
            if key in many:
                listed = [value] if isinstance(value, str) else value
                if not isinstance(listed, Sequence) or not all(isinstance(name, str) for name in listed):
                    raise IfairError(f"{where}: {key} must be a name or a list of names, got {value!r}")
                values[key] = tuple(listed)
            elif key == "similarity":
                values[key] = check_similarity(value, where)
            elif key != "positive" and value is not None and not isinstance(value, str):
                raise IfairError(f"{where}: {key} must be the name of one column, got {value!r}")
            else:
                values[key] = value
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: lists for tuples, and only the roles that are given."""
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value is not None and value != []}

    def list_texts(self) -> list[str]:
        """Columns of a CSV file to read as text, as it stands: codes, and those that nothing is computed from."""
        return [name for name in (*self.categorical, *self.ignore, self.id, self.query) if name is not None]

    def override(self, **flags: Any) -> Self:
        """These roles, but for the flags that are given: not None and not empty."""
        return replace(self, **{name: value for name, value in flags.items() if value is not None and value != ()})


def read_roles(path: str | Path) -> Roles:
    """Read roles from the table ``[roles]`` of a TOML file, and who is like whom from ``[similarity]``.

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

            [similarity]
            weights = { education = 2, zip = 0 }
            ordered = { education = ["school", "degree", "doctorate"] }
            units = { age = 10 }
            caliper = 1.5
            n_neighbors = 10

    Returns
    -------
    Roles
    """
    content = _read_toml(path)
    for key in content:
        if key not in ("roles", "similarity"):
            hint = suggest_name(key, ["roles", "similarity"])
            if key in Roles.__slots__:
                hint = ": roles stand below a line [roles]"
            raise IfairError(f"{path}: unknown key {key!r}{hint}")
    if not isinstance(content.get("roles"), dict):
        raise IfairError(f"{path} has no table [roles]")
    given = content["roles"]
    if "similarity" in content:
        given["similarity"] = content["similarity"]
    return Roles.from_dict(given, where=str(path))


def read_similarity(source: str | Path) -> dict[str, Any]:
    """What ``--similarity`` says: the name of a reading, or a TOML file with a table ``[similarity]``."""
    if source in ("attributes", "paper"):
        return {"reading": source}
    content = _read_toml(source)
    if not isinstance(content.get("similarity"), dict):
        raise IfairError(f"{source} has no table [similarity]")
    return check_similarity(content["similarity"], source)


def check_similarity(given: Any, where: str | Path) -> dict[str, Any]:
    """Parameters of a similarity; unknown ones are refused with the nearest."""
    if not isinstance(given, Mapping):
        raise IfairError(f"{where}: similarity must be a table of settings, got {given!r}")
    for key in given:
        check_known(f"setting of the similarity (in {where})", key, SIMILARITY)
    for key in ("weights", "ordered", "units"):
        if not isinstance(given.get(key, {}), Mapping):
            raise IfairError(
                f"{where}: {key} of the similarity must name columns, as in {{ age = 2 }}; got {given[key]!r}"
            )
    found = dict(given)
    return {**found, "caliper": None} if found.get("caliper") == "none" else found


def _read_toml(path: str | Path) -> dict[str, Any]:
    check_regular(Path(path))
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise IfairError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IfairError(f"{path} is not a TOML file ({error})") from error


def check_names(roles: Roles, columns: Collection[str]) -> None:
    """Refuse roles of columns that are not there, and columns with two roles."""
    for role, name in list_named(roles):
        check_known(f"{role} column", name, columns)
    if roles.target is not None and roles.target in roles.protected:
        raise IfairError(
            f"column {roles.target!r} is both the target and protected: a model that predicts it cannot be blind to it"
        )
    seen: dict[str, str] = {}
    for role, name in list_named(roles):
        if role in ("keep", "categorical"):
            continue
        if role.startswith("similarity"):
            if name in seen:
                raise IfairError(
                    f"{role} names column {name!r}, which is {seen[name]} and compares nobody; leave it out"
                )
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
    single = [(role, getattr(roles, role)) for role in ("target", "query", "score", "id", "weight")]
    alike = [
        (f"similarity {setting}", name)
        for setting in ("weights", "ordered", "units")
        for name in (roles.similarity or {}).get(setting) or ()
    ]
    several = [(role, name) for role in ("protected", "ignore", "keep", "categorical") for name in getattr(roles, role)]
    return [(role, name) for role, name in [*several, *single, *alike] if name is not None]
