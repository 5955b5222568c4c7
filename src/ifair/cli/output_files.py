"""Files that a command writes."""

import os
from pathlib import Path

import click

from ifair.files import write_whole


def check_writable(path: Path) -> None:
    """Refuse, before any work, a file that could not be written."""
    if not path.parent.is_dir():
        raise click.ClickException(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise click.ClickException(f"cannot write {path}: permission denied in {path.parent}")


def write_text(path: Path, text: str) -> None:
    """Write a whole file or none; what stands in the way is told as an error of the command."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
