"""Files that several may want: written whole or not at all, and held by one process at a time."""

import os
import tempfile
from pathlib import Path
from typing import IO


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside ``path``, then move into place; a failure (an OSError) leaves the old file as it was.

    Parameters
    ----------
    path : Path
    content : str or bytes
        Text is written as UTF-8.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def hold(file: IO[str]) -> None:
    """Lock an open file for this process, or raise an OSError; the system lets go when the process ends, however."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
