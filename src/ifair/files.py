"""Writing files so that a reader never sees half of one."""

import os
import tempfile
from pathlib import Path


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
