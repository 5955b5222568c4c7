"""What a command writes: the options that say where, checks before the work, the one way to write, errors in words."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs_for_tables
from ifair.cli.terminal_text import warn, write_utf8
from ifair.files import check_output, write_whole
from ifair.plain_data import format_json

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FORCE = "ifair.force"
INPUT = click.Path(readable=False, path_type=Path)
"""A file that is read; whether it can be is told in our words."""
OUTPUT = click.Path(dir_okay=False, path_type=Path)


def output_option(
    help_text: str,
    default: str | None = None,
    *,
    required: bool | None = None,
    folder: bool = False,
    allow_dash: bool = False,
) -> Decorator:
    """The options ``-o, --output`` for a file or a folder, required where it has no default, and ``--force``."""
    settings: dict[str, Any] = {"required": default is None if required is None else required}
    if default is not None:
        settings["default"] = Path(default)
    kind = click.Path(file_okay=not folder, dir_okay=folder, path_type=Path, allow_dash=allow_dash)
    return join_options(click.option("-o", "--output", type=kind, help=help_text, **settings), force_option)


def join_options(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order of ``--help``."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


force_option = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({FORCE: value}),
    help="Replace an existing file, also one of another kind.",
)
"""Known to :func:`prepare_output`."""


def prepare_output(path: Path, kind: str, *others: Path) -> None:
    """Refuse, before any work, an output that could not be written or that would destroy something.

    The kind is one of :data:`ifair.files.KINDS`; the others are what the command writes besides. Refused is also a file
    that the command line names for something else.
    """
    context = click.get_current_context()
    names = {parameter.name: parameter for parameter in context.command.params}
    named = {}
    for name, value in context.params.items():
        if isinstance(value, Path) and value is not path and name in names:
            is_option = isinstance(names[name], click.Option)
            named[max(names[name].opts, key=len) if is_option else f"the input {name.upper()}"] = value
    named |= {f"the output {other.name}": other for other in others}
    check_output(path, kind, inputs=named, force=bool(context.meta.get(FORCE)))


def jobs_option(what: str, *names: str) -> Decorator:
    """The option ``--jobs``; ``names`` is what the command calls it, if anything else."""

    def refuse_none(_context: click.Context, _option: click.Parameter, jobs: int) -> int:
        if jobs == 0:
            raise click.BadParameter("0 of them do nothing; 1 for one, -1 for one per core")
        return jobs

    help_text = f"{what}; -1 for one per core."
    return click.option("--jobs", *names, type=int, default=-1, callback=refuse_none, help=help_text)


def json_option(what: str) -> Decorator:
    """The flag ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what}.")


def echo_json(data: Any) -> None:
    """Print data for scripts: every verb's ``--json``."""
    click.echo(format_json(data, indent=2))


missing_option = click.option(
    "--missing",
    multiple=True,
    metavar="VALUE",
    help="Stands for a missing value besides an empty cell; repeat for several. By default as in fit.",
)
trusted_option = click.option(
    "--trusted",
    multiple=True,
    metavar="TYPE",
    help="A type in the model file that you vouch for, such as my_models.Scorer; repeat for several.",
)
"""Of verbs that take a model."""


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Tell what stands in the way of a file as an error of the command."""
    try:
        yield
    except BrokenPipeError:
        # Whoever reads standard output has seen enough.
        raise
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


class TableOutput:
    """Where a table goes that a command makes of another: to a file, or as CSV to standard output.

    One that could not be written is refused here, before any work.
    """

    def __init__(self, table: Path, path: Path, as_json: bool) -> None:
        self.path, self.prints, self._as_json = path, str(path) == "-", as_json
        if self.prints and as_json:
            raise click.UsageError("standard output cannot hold the table and JSON; give --output a file")
        if self.prints:
            write_utf8()
        needs_for_tables(table, None if self.prints else path)
        if not self.prints:
            from ifair.tables.write import check_table_name

            check_table_name(path)
            prepare_output(path, "table")

    @staticmethod
    def find_free_names(added: Iterable[str], taken: Iterable[str]) -> list[str]:
        """What to call columns that a command adds, so that none is called like one that is taken; changes are told."""
        wanted, taken = list(added), set(taken)
        used = {*taken, *wanted}
        names = []
        for name in wanted:
            free = name
            if name in taken:
                tries = (f"ifair_{name}{end}" for end in chain([""], map("_{}".format, count(2))))
                free = next(one for one in tries if one not in used)
                used.add(free)
                warn(f"the table has a column {name!r}: the added one is called {free!r}")
            names.append(free)
        return names

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A writer of blocks; the table is there when all of it is."""
        from ifair.tables.write import BlockWriter

        with explain_write_errors(self.path), BlockWriter(self.path, sys.stdout if self.prints else None) as writer:
            yield writer

    def write(self, rows: Any, what: str, facts: dict[str, Any], text: str) -> None:
        """Write all rows, and say so: as JSON, or in words, beside the table where that goes to standard output."""
        with self.open() as writer:
            writer.write(rows)
        if self._as_json:
            echo_json({"output": str(self.path), **facts})
            return
        click.echo(text, err=self.prints)
        if not self.prints:
            click.echo(f"\n{what}: {self.path}")


def write_text(path: Path, text: str, kind: str) -> None:
    """Write a whole file or none, of one of :data:`ifair.files.KINDS`."""
    with explain_write_errors(path):
        write_whole(path, text, kind=kind)
