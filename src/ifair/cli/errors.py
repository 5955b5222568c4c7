"""What the user did wrong, as a message and an exit code: 1 for data and models, 2 for usage."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ifair.cli.printable_text import make_one_line, make_printable
from ifair.hints import no_file


@contextmanager
def clear_errors() -> Iterator[None]:
    """Show errors of data, of model files and of files at large as one line, and exit with 1."""
    try:
        yield
    except click.UsageError:
        # Click's own words about the command line that was typed.
        raise
    except click.ClickException as error:
        raise click.ClickException(make_one_line(error.format_message())) from error
    except BrokenPipeError:
        # Whoever reads standard output has seen enough; click ends the command quietly.
        raise
    except OSError as error:
        raise click.ClickException(make_one_line(_about_file(error))) from error
    except (ValueError, ImportError) as error:
        if not _is_told(error):
            raise
        raise click.ClickException(make_one_line(error)) from error


def _is_told(error: Exception) -> bool:
    """Whether an error speaks to the user; all others are mistakes of this program and keep their trace."""
    # The classes can only have been raised once the modules that define them are there.
    homes = {"ifair.data.errors": "DataError", "ifair.persist.model_errors": "ModelFileError"}
    told = tuple(getattr(sys.modules[home], name) for home, name in homes.items() if home in sys.modules)
    return isinstance(error, told) or "pip install 'ifair[" in str(error)


def _about_file(error: OSError) -> str:
    if not error.filename:
        return error.strerror or str(error)
    path = Path(str(error.filename))
    if isinstance(error, FileNotFoundError | IsADirectoryError):
        return no_file(path)
    reason = "permission denied" if isinstance(error, PermissionError) else error.strerror
    return f"cannot use {path}: {reason}"


def warn(lines: Iterable[object]) -> None:
    """Say on standard error what the user should know."""
    for line in lines:
        click.echo(f"Warning: {make_printable(line)}", err=True)
