"""Files that a command writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ifair.files import write_whole


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Show what stands in the way of writing a file as an error of the command."""
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
