"""What an error suggests: the name that was probably meant, and how to get a package that is missing."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

# Of files, which often share an ending: 0.8 lets one or two letters of a short name differ.
FILES_CUTOFF = 0.8


def nearest_name(name: object, known: Iterable[object], cutoff: float = 0.6) -> str | None:
    """The known name most like ``name``, whatever its case; None where nothing is like it.

    Examples
    --------
    >>> nearest_name("Aeg", ["age", "sex"]), nearest_name("zip", ["age", "sex"])
    ('age', None)
    """
    by_lower = {str(k).lower(): str(k) for k in known}
    close = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def no_file(path: Path) -> str:
    """Say why there is nothing to read at ``path``: it is a folder, or it is not there, with the file beside it."""
    if path.is_dir():
        return f"{path} is a folder; name a file"
    try:
        beside = [p.name for p in path.parent.iterdir() if p.is_file() and p.name != path.name]
    except OSError:
        beside = []
    near = nearest_name(path.name, beside, FILES_CUTOFF)
    return f"there is no file {path}" + (f", did you mean {near!r}?" if near else "")


def install(extra: str) -> str:
    """How to install an extra, from an index or in a clone."""
    return f"pip install 'ifair[{extra}]', or in a clone pip install -e '.[{extra}]'"
