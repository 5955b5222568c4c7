"""Files that a command writes."""

from pathlib import Path

import click

from ifair.files import write_whole


def write_text(path: Path, text: str) -> None:
    """Write a whole file or none; what stands in the way is told as an error of the command."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
