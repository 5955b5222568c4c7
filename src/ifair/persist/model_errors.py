"""What can be wrong with a model on its way into or out of production, told so that one can act on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ifair.hints import install


class ModelFileError(ValueError):
    """A model cannot be written to, or read from, a file; the message names the file and says what to do."""


class ConversionError(ValueError):
    """A model cannot be converted to ONNX; the message names the step or option."""


class ModelFileWarning(UserWarning):
    """A model file can be used, but with care; the message says why."""


@contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Put the name of the file in front of what went wrong."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error.__cause__


def refuse_without(package: str, extra: str, purpose: str, error: ImportError) -> NoReturn:
    """Say which extra to install for an optional package."""
    raise ImportError(f"{purpose} needs {package}; install it with: {install(extra)}") from error
