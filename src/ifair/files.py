"""Files that several may want: written whole or not at all, and held by one process at a time."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ifair.errors import IfairError


def check_writable(path: Path) -> None:
    """Refuse, before any work, a file that could not be written."""
    if not path.parent.is_dir():
        raise IfairError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise IfairError(f"cannot write {path}: it is a folder")
    if not os.access(path.parent, os.W_OK):
        raise IfairError(f"cannot write {path}: permission denied in {path.parent}")


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A place beside ``path`` to write to; moved into place at the end, or removed if something went wrong.

    A failure, an interrupt too, leaves ``path`` as it was.

    Yields
    ------
    Path
        An empty file in the same folder, with the permissions that the system gives a new file.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    # Not `tempfile`, which makes files for their owner alone: here the system applies the process's umask.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside ``path``, then move into place; a failure (an OSError) leaves the old file as it was."""
    with replace_file(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def hold(file: IO[str]) -> None:
    """Lock an open file for this process, or raise an OSError; the system lets go when the process ends, however."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
