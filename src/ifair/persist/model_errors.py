"""What can be wrong with a model on its way into or out of production, told so that one can act on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ifair.errors import IfairError


class ModelFileError(IfairError):
    """A model cannot be written to, or read from, a file; the message names the file and says what to do."""


class ConversionError(IfairError):
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
