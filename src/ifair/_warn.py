"""Warnings that point at the user's line, however deep in the package they are found."""

import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn on behalf of the first caller that is not part of ifair."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
