"""What a command writes: the options that say where, checks before the work, and errors in words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.terminal_text import make_printable
from ifair.files import write_whole
from ifair.plain_data import format_json

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def output_option(
    help_text: str,
    default: str | None = None,
    *,
    required: bool | None = None,
    folder: bool = False,
    allow_dash: bool = False,
) -> Decorator:
    """The option ``-o, --output`` for a file or a folder; required, unless told otherwise, where it has no default."""
    settings: dict[str, Any] = {"required": default is None if required is None else required}
    if default is not None:
        settings |= {"default": Path(default), "show_default": True}
    kind = click.Path(file_okay=not folder, dir_okay=folder, path_type=Path, allow_dash=allow_dash)
    return click.option("-o", "--output", type=kind, help=help_text, **settings)


def echo_step(what: str, done: int, of: int) -> None:
    """Say on standard error what was done last, and how much is done."""
    click.echo(f"  {done:3d}/{of}  {make_printable(what)}", err=True)


def json_option(what: str) -> Decorator:
    """The flag ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what}.")


def echo_json(data: Any) -> None:
    """Print data for scripts: every verb's ``--json``."""
    click.echo(format_json(data, indent=2))


def is_standard_output(output: Path, as_json: bool) -> bool:
    """Whether a table goes to standard output, which cannot hold JSON as well."""
    prints = str(output) == "-"
    if prints and as_json:
        raise click.UsageError("standard output cannot hold the table and JSON; give --output a file")
    return prints


def prepare_model_output(table: Path, output: Path, as_json: bool) -> bool:
    """Refuse, before any work, what a model could not make of a table; whether it goes to standard output."""
    prints = is_standard_output(output, as_json)
    if not prints and output.exists() and table.exists() and output.samefile(table):
        raise click.UsageError("the output would replace the table; give it another name")
    needs("a model file", "skops")
    needs_for_tables(table, None if prints else output)
    from ifair.tables.write import check_table_output

    if not prints:
        check_table_output(output)
    return prints


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Tell what stands in the way of a file as an error of the command."""
    try:
        yield
    except BrokenPipeError:
        # Whoever reads standard output has seen enough; click ends the command quietly.
        raise
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a whole file or none."""
    with explain_write_errors(path):
        write_whole(path, text)
