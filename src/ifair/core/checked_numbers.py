"""Tables and columns of a user as finite floats; of a frame, an error names the column."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.errors import IfairError


def check_matrix(X: Any, name: str = "X") -> NDArray[np.float64]:
    """Records as a finite float matrix, shape (M, N). A single column may come as a vector."""
    records = check_floats(X, name)
    if records.ndim == 1:
        records = records[:, None]
    if records.ndim != 2:
        raise IfairError(f"{name} must be two-dimensional, got the shape {records.shape}")
    return records


def check_floats(values: Any, name: str) -> NDArray[np.float64]:
    """Finite floats of any shape."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        where = _name_column(values, _is_no_number) or f", got the type {np.asarray(values).dtype}"
        raise IfairError(f"{name} must hold numbers{where}") from None
    if not np.isfinite(result).all():
        where = _name_column(values, lambda column: not np.isfinite(np.asarray(column, dtype=np.float64)).all())
        raise IfairError(f"{name} holds missing or infinite values{where}")
    return result


def _is_no_number(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return False


def _name_column(table: Any, is_wrong: Callable[[Any], bool]) -> str:
    """The first column of a frame that is wrong, and what helps; nothing of arrays."""
    wrong = [name for name in getattr(table, "columns", ()) if is_wrong(table[name])]
    return f": column {wrong[0]!r}; encode the table first, with ifair.Encoder" if wrong else ""
