"""The options that say what each column is for: the same for every verb that reads a table."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click


class FileOrName(click.Path):
    """A file, unless it is one of these names: as a path it is known as an input that no output may replace."""

    def __init__(self, *names: str) -> None:
        super().__init__(readable=False, path_type=Path)
        self._names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in self._names else super().convert(value, param, ctx)


# In the order of --help.
_OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "protected": (
        ("-p", "--protected"),
        {"multiple": True, "metavar": "COLUMN", "help": "A column that must not count; repeat for several."},
    ),
    "target": (("--target",), {"metavar": "COLUMN", "help": "The outcome; it leaves the attributes."}),
    "positive": (("--positive",), {"metavar": "VALUE", "help": "The value of the target that is the good outcome."}),
    "group": (
        ("--group",),
        {
            "multiple": True,
            "metavar": "CONDITION",
            "help": "Who is in the protected group, such as sex=Female or 'age<=35'; repeated, all must hold. "
            "By default whoever has another value than most in a protected column.",
        },
    ),
    "query": (("--query",), {"metavar": "COLUMN", "help": "Which ranking a row belongs to; it is no attribute."}),
    "score": (
        ("--score",),
        {"metavar": "COLUMN", "help": "The score to rank by, no attribute; higher is better."},
    ),
    "id": (("--id",), {"metavar": "COLUMN", "help": "Names a row; carried along, never an attribute."}),
    "weight": (
        ("--weight",),
        {"metavar": "COLUMN", "help": "How many people a row stands for, positive numbers; it is no attribute."},
    ),
    "ignore": (
        ("--ignore",),
        {"multiple": True, "metavar": "COLUMN", "help": "A column to leave out; repeat for several."},
    ),
    "keep": (
        ("--keep",),
        {
            "multiple": True,
            "metavar": "COLUMN",
            "help": "An attribute although it looks like an identifier, a constant or free text.",
        },
    ),
    "categorical": (
        ("--categorical",),
        {
            "multiple": True,
            "metavar": "COLUMN",
            "help": "Codes of categories, such as postcodes; read as text.",
        },
    ),
    "missing": (
        ("--missing",),
        {
            "multiple": True,
            "metavar": "VALUE",
            "help": "Stands for a missing value besides an empty cell, such as NA; repeat for several.",
        },
    ),
    "similarity": (
        ("--similarity",),
        {
            "type": FileOrName("attributes", "paper"),
            "metavar": "FILE|attributes|paper",
            "help": "Who is like whom: a TOML file with a table [similarity], which --columns may hold too, or a name.",
        },
    ),
}


def roles_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the roles' options and, as its argument ``roles``, what they and the roles file say.

    Parameters
    ----------
    *names : str
        Roles that the verb has options for; all of them by default. The file may hold the others too.

    Returns
    -------
    decorator
        The command gets ``roles``, a :class:`ifair.tables.Roles`, in place of the options.
    """
    chosen = names or tuple(_OPTIONS)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run_command(*args: Any, columns: Path | None, **kwargs: Any) -> None:
            flags = {name: kwargs.pop(f"role_{name}") for name in chosen}
            command(*args, roles=_roles(columns, flags), **kwargs)

        decorated = click.option(
            "--columns",
            type=click.Path(readable=False, path_type=Path),
            metavar="ROLES.TOML",
            help="The roles of the columns, in a file; options on the command line come before it.",
        )(run_command)
        for name in reversed(chosen):
            flags, options = _OPTIONS[name]
            decorated = click.option(*flags, f"role_{name}", **options)(decorated)
        return decorated

    return decorate


def _roles(path: Path | None, flags: dict[str, Any]) -> Any:
    from ifair.tables.roles import Roles, read_roles, read_similarity

    if flags.get("similarity") is not None:
        flags["similarity"] = read_similarity(flags["similarity"])
    return (Roles() if path is None else read_roles(path)).override(**flags)


def needs_protected(roles: Any) -> None:
    """Refuse to work without a protected column."""
    if not roles.protected:
        raise click.UsageError("name the columns that must not count: --protected COLUMN, or a file with --columns")
