"""Writing files so that a reader never sees half of one."""

import os
import tempfile
from pathlib import Path

import click


def write_text(path: Path, text: str) -> None:
    """Write ``text`` beside ``path``, then move it into place; a failure leaves the old file as it was."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
