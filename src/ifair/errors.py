"""Errors and warnings that speak to the user: what is wrong, the name probably meant, and what to install."""

import shlex
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["IfairError", "MissingExtra"]

# Of files, which often share an ending: 0.8 lets one or two letters of a short name differ.
FILES_CUTOFF = 0.8
# Packages that pip knows by another name than `import` does.
_PIP_NAMES = {"faiss": "faiss-cpu"}
_FLAGS: ContextVar[bool] = ContextVar("_FLAGS", default=False)


class IfairError(ValueError):
    """What was asked for cannot be done; the message names the parameter, column, value or file and says what to do.

    The command line shows it as one line. Any other ValueError is a mistake of this library and keeps its trace.
    """


class ModelFileError(IfairError):
    """A model cannot be written to, or read from, a file; the message names the file and says what to do."""


class ConversionError(IfairError):
    """A model cannot be converted to ONNX; the message names the step or option."""


class ModelFileWarning(UserWarning):
    """A model file can be used, but with care; the message says why."""


class MissingExtra(ImportError):
    """A package is missing that one of ifair's extras brings; the message says how to install it.

    Attributes
    ----------
    extra : str
        Name of the extra, as in ``pip install 'ifair[extra]'``; several are separated by commas.
    packages : tuple of str
        Import names of the packages that are missing.
    """

    # The defaults let the error travel between processes: pickle restores the attributes after the message.
    def __init__(self, message: str, *, extra: str = "", packages: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.extra = extra
        self.packages = tuple(packages)


def require_extra(what: str, packages: Iterable[str], extra: str) -> None:
    """Refuse to begin what would fail for want of a package.

    Examples
    --------
    >>> require_extra("Parquet", ["no_such_package"], "parquet")
    Traceback (most recent call last):
    ...
    ifair.errors.MissingExtra: Parquet needs no_such_package, not installed here: pip install 'ifair[parquet]', ...
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        names = " and ".join(_PIP_NAMES.get(package, package) for package in missing)
        message = f"{what} needs {names}, not installed here: {install_hint(extra)}"
        raise MissingExtra(message, extra=extra, packages=missing)


def install_hint(extra: str) -> str:
    """How to install an extra, from an index or in a clone."""
    return f"pip install 'ifair[{extra}]', or in a clone pip install -e '.[{extra}]'"


def nearest_name(name: object, known: Iterable[object], cutoff: float = 0.6) -> str | None:
    """The known name most like ``name``, whatever its case; None where nothing is like it.

    Examples
    --------
    >>> nearest_name("aEG", ["Age", "sex"]), nearest_name("zip", ["Age", "sex"])
    ('Age', None)
    """
    by_lower = {str(k).lower(): str(k) for k in known}
    close = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def suggest_name(name: object, known: Iterable[object], cutoff: float = 0.6) -> str:
    """``", did you mean 'age'?"`` for the known name nearest to ``name``, or nothing."""
    near = nearest_name(name, known, cutoff)
    return "" if near is None else f", did you mean {near!r}?"


def unknown_name(kind: str, name: object, known: Iterable[object], where: str = "") -> IfairError:
    """The error for a name that is not among those known.

    Examples
    --------
    >>> unknown_name("column", "aeg", ["age", "sex"])
    IfairError("no column 'aeg', did you mean 'age'? Known: 'age', 'sex'")
    >>> unknown_name("value", "man", ["female", "male"], " in column 'sex'")
    IfairError("no value 'man' in column 'sex'. Known: 'female', 'male'")
    """
    known = list(known)
    listed = ", ".join(map(repr, known[:20])) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    return IfairError(f"no {kind} {name!r}{where}{suggest_name(name, known) or '.'} Known: {listed}")


def check_known(kind: str, name: object, known: Collection[Any], where: str = "") -> None:
    """Refuse a name that is not among those known."""
    if name not in known:
        raise unknown_name(kind, name, known, where)


def check_choice(parameter: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value of a parameter that takes one of a few."""
    if not isinstance(value, str) or value not in choices:
        raise unknown_choice(parameter, value, choices)


def unknown_choice(parameter: str, value: object, choices: Iterable[str]) -> IfairError:
    """The error for a value that is none of the few that a parameter takes."""
    return IfairError(f"{parameter} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def name_setting(parameter: str, value: object) -> str:
    """A parameter with a value that would help, as whoever reads the message would write it.

    Examples
    --------
    >>> name_setting("keep", ["home town"])
    "keep=['home town']"
    >>> with parameters_as_flags():
    ...     name_setting("keep", ["home town"])
    "--keep 'home town'"
    >>> with parameters_as_flags():
    ...     name_setting("force", True)
    '--force'
    """
    if not _FLAGS.get():
        return f"{parameter}={value!r}"
    if value is True:
        return f"--{parameter}"
    values = value if isinstance(value, list) else [value]
    return " ".join(f"--{parameter} {shlex.quote(str(one))}" for one in values)


@contextmanager
def parameters_as_flags() -> Iterator[None]:
    """Name parameters in messages as the flags of the command line, ready to be pasted into a shell."""
    token = _FLAGS.set(True)
    try:
        yield
    finally:
        _FLAGS.reset(token)


def missing_file(path: Path) -> str:
    """Say why there is nothing to read at ``path``: it is a folder, or it is not there, with the file beside it."""
    if path.is_dir():
        return f"{path} is a folder; name a file"
    try:
        beside = [p.name for p in path.parent.iterdir() if p.is_file() and p.name != path.name]
    except OSError:
        beside = []
    return f"there is no file {path}{suggest_name(path.name, beside, FILES_CUTOFF)}"


def shorten_error(error: BaseException) -> str:
    """What an error of another library says, in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn on behalf of the first caller that is not part of ifair."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def count_words(count: int, one: str, many: str) -> str:
    """So many of something, in words that go with the number.

    Examples
    --------
    >>> count_words(1, "person has", "people have"), count_words(1500, "person has", "people have")
    ('1 person has', '1,500 people have')
    """
    return f"{count:,} {one if count == 1 else many}"


def format_given(number: float) -> str:
    """A number as somebody gave it, without the exponent that large ones get.

    Examples
    --------
    >>> format_given(71234.0), format_given(0.1), format_given(1234567.5)
    ('71234', '0.1', '1234567.5')
    """
    return f"{number:.15g}"


def format_rounded(number: float) -> str:
    """A number to four digits, or to the nearest whole one if it is large, which needs no exponent to be read.

    Examples
    --------
    >>> format_rounded(0.123456), format_rounded(71234.5678)
    ('0.1235', '71,235')
    """
    return f"{number:,.0f}" if 1e3 <= abs(number) < 1e15 else f"{number:.4g}"


def join_words(words: Sequence[str]) -> str:
    """A list as people write it.

    Examples
    --------
    >>> join_words(["one"]), join_words(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
