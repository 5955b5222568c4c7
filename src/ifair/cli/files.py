"""Writing files so that a reader never sees half of one."""

import os
import tempfile
from pathlib import Path

import click


def write_text(path: Path, text: str) -> None:
    """Write ``text`` beside ``path``, then move it into place; a full disk leaves the old file as it was."""
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(text)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
