"""The options that say what each column is for: the same for every verb that reads a table."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ifair.cli.output import INPUT


class FileOrName(click.Path):
    """A file, unless it is one of these names: as a path it is known as an input that no output may replace."""

    def __init__(self, *names: str) -> None:
        super().__init__(readable=False, path_type=Path)
        self._names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value in self._names else super().convert(value, param, ctx)


# In the order of --help; what is not said otherwise is the name of one column.
_OPTIONS: dict[str, dict[str, Any]] = {
    "protected": {"multiple": True, "help": "A column that must not count; repeat for several."},
    "target": {"help": "The outcome; it leaves the attributes."},
    "positive": {"metavar": "VALUE", "help": "The value of the target that is the good outcome."},
    "group": {
        "multiple": True,
        "metavar": "CONDITION",
        "help": "Who is in the protected group, such as sex=Female or 'age<=35'; repeated, all must hold. By default "
        "everyone without the most frequent value in a protected column.",
    },
    "query": {"help": "Which ranking a row belongs to; it is no attribute."},
    "score": {"help": "The score to rank by, no attribute; higher is better."},
    "id": {"help": "Names a row; carried along, never an attribute."},
    "weight": {"help": "How many people a row stands for, positive numbers; it is no attribute."},
    "ignore": {"multiple": True, "help": "A column to leave out; repeat for several."},
    "keep": {"multiple": True, "help": "An attribute although it looks like an identifier, a constant or free text."},
    "categorical": {"multiple": True, "help": "Codes of categories, such as postcodes; read as text."},
    "missing": {
        "multiple": True,
        "metavar": "VALUE",
        "help": "Stands for a missing value besides an empty cell, such as NA; repeat for several.",
    },
    "similarity": {
        "type": FileOrName("attributes", "paper"),
        "metavar": "FILE|attributes|paper",
        "help": "Who is like whom: a TOML file with a table [similarity], which --columns may hold too, or a name.",
    },
}


def roles_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for these roles; it gets what they and the file of roles say, as ``roles``.

    The file may hold other roles too.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run_command(*args: Any, columns: Path | None, **kwargs: Any) -> None:
            from ifair.tables.roles import Roles, read_roles, read_similarity

            flags = {name: kwargs.pop(f"role_{name}") for name in names}
            if flags.get("similarity") is not None:
                flags["similarity"] = read_similarity(flags["similarity"])
            roles = Roles() if columns is None else read_roles(columns)
            command(*args, roles=roles.override(**flags), **kwargs)

        decorated = click.option(
            "--columns",
            type=INPUT,
            metavar="ROLES.TOML",
            help="The roles of the columns, in a file; options on the command line come before it.",
        )(run_command)
        for name in reversed(names):
            flags = ("-p", "--protected") if name == "protected" else (f"--{name}",)
            decorated = click.option(*flags, f"role_{name}", **{"metavar": "COLUMN", **_OPTIONS[name]})(decorated)
        return decorated

    return decorate


def needs_protected(roles: Any) -> None:
    """Refuse to work without a protected column."""
    if not roles.protected:
        raise click.UsageError("name the columns that must not count: --protected COLUMN, or a file with --columns")
