"""The one error that reading data raises."""

from collections.abc import Iterable

from ifair.errors import nearest_name


class DataError(ValueError):
    """A file or table that cannot be used as asked, with what to do about it.

    Raised for a file that is missing, altered, cut short or of another format, and for a column name
    that the table does not have.
    """


def nearest(name: object, known: Iterable[object]) -> str:
    """Return ``", did you mean 'age'?"`` for the known name nearest to ``name``, or nothing."""
    near = nearest_name(name, known)
    return "" if near is None else f", did you mean {near!r}?"


def unknown(kind: str, name: object, known: Iterable[object]) -> DataError:
    """The error for a name that is not among those known."""
    known = list(known)
    listed = ", ".join(map(repr, known[:20])) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    return DataError(f"no {kind} {name!r}{nearest(name, known) or '.'} Known: {listed}")


def short(error: BaseException) -> str:
    """What an error of another library says, in one line."""
    return " ".join(str(error).split())[:200]
