"""What the user reads: text from files shown, never obeyed; errors as one line and an exit code, 1 or 2 for usage."""

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import ParameterSource

from ifair.errors import IfairError, MissingExtra, missing_file, parameters_as_flags


@contextmanager
def clear_errors() -> Iterator[None]:
    """Show errors that speak to the user, and those of files at large, as one line, and exit with 1.

    Parameters are named as flags. All other errors are mistakes of this program and keep their trace.
    """
    try:
        with parameters_as_flags():
            yield
    except click.UsageError:
        # Click's own words about the command line that was typed.
        raise
    except BrokenPipeError:
        # See `end_with_reader`.
        raise
    except (click.ClickException, OSError, IfairError, MissingExtra) as error:
        _drop_unwritten()
        raise click.ClickException(make_one_line(_explain(error))) from error


def _explain(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    return _explain_os_error(error) if isinstance(error, OSError) else str(error)


@contextmanager
def end_with_reader() -> Iterator[None]:
    """Exit quietly with 141, as shells report it, when whoever reads standard output has seen enough."""
    try:
        yield
    except BrokenPipeError:
        _drop_unwritten()
        raise SystemExit(141) from None


def _drop_unwritten() -> None:
    """Let what a stream cannot take go nowhere, or Python would complain at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _explain_os_error(error: OSError) -> str:
    if not error.filename:
        return error.strerror or str(error)
    path = Path(str(error.filename))
    if isinstance(error, FileNotFoundError | IsADirectoryError):
        return missing_file(path)
    reason = "permission denied" if isinstance(error, PermissionError) else error.strerror
    return f"cannot use {path}: {reason}"


def list_given() -> dict[str, str]:
    """The parameters that were given on the command line, by name, each with its first flag."""
    context = click.get_current_context()
    return {
        str(parameter.name): parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    }


def prepare_streams() -> None:
    """Make standard input, output and error safe to use, whoever started the program, and with whatever locale.

    Where one of them is closed, its number is taken: the next file to be opened would get it, and with it whatever a
    library prints. What a locale cannot write is written out, as in ``\\xe4``.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_utf8() -> None:
    """Let standard output hold a table, in UTF-8 whatever the locale; refuse if it is closed."""
    if sys.stdout is None:
        raise IfairError("standard output is closed; give --output a file")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="\n")


def warn(*lines: object) -> None:
    """Say on standard error what the user should know."""
    for line in lines:
        click.echo(f"Warning: {make_printable(line)}", err=True)


@contextmanager
def tell_warnings(besides: str = "", *, without: type[Warning] | tuple[()] = ()) -> Iterator[None]:
    """Say on standard error what the library warns of within it, and ``besides``; but for one category."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    warn(*(f"{one.message}{besides}" for one in caught if not issubclass(one.category, without)))


def make_printable(text: object, *, lines: bool = False) -> str:
    r"""What a stranger may have written, with everything that a terminal would act on written out, as in ``\x1b``.

    ``lines`` keeps line ends: for text of several lines that was put together here.

    Examples
    --------
    >>> print(make_printable("\x1b[31mage\n"))
    \x1b[31mage\n
    """
    kept = "\n" if lines else ""
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in str(text))


def make_one_line(text: object) -> str:
    """What an error says, as one line that can be printed."""
    return make_printable(" ".join(str(text).splitlines()))
