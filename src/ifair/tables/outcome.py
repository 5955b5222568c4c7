"""The outcome of a table as numbers."""

from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.errors import IfairError, check_known, name_setting


def encode_outcome(values: pd.Series, positive: Any = None, *, classes: bool = False, how: str = "") -> pd.Series:
    """An outcome as 0 and 1 where it has two values, as numbers where it has more.

    ``classes``: more than two that are no numbers stay as they are, unless one of them is positive. ``how`` to leave
    out records without an outcome is told where there are any.
    """
    missing = values.isna().to_numpy()
    if missing.any():
        held = f"{missing.sum()} missing {'value' if missing.sum() == 1 else 'values'}"
        raise IfairError(
            f"target {values.name!r} has {held}, the first in row {missing.argmax() + 1}; leave those records out{how}"
        )
    found = values.unique().tolist()
    if positive is not None:
        check_known(f"value of target {values.name!r}", positive, found)
        return (values == positive).astype("int64")
    if is_bool_dtype(values) or set(found) <= {0, 1}:
        return values.astype("int64")
    if is_numeric_dtype(values) and len(found) > 2:
        return values.astype("float64")
    if classes and len(found) > 2:
        return values.astype(str)
    shown = ", ".join(map(repr, sorted(found, key=str)[:5])) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    against = "" if len(found) == 2 else ", against all others"
    raise IfairError(
        f"target {values.name!r} holds {shown}: say which one is positive{against}, such as "
        f"{name_setting('positive', found[0])}"
    )


def name_outcomes(values: pd.Series, positive: Any = None) -> tuple[str | None, str | None]:
    """What a table calls the two outcomes; None where it is 1 or 0, and for several others than the positive one.

    Examples
    --------
    >>> name_outcomes(pd.Series(["yes", "no", "no"]), "yes")
    ('yes', 'no')
    >>> name_outcomes(pd.Series(["A", "B", "C"]), "A")
    ('A', None)
    """
    if positive is None:
        return ("True", "False") if is_bool_dtype(values) else (None, None)
    others = [value for value in values.dropna().unique().tolist() if value != positive]
    return str(positive), str(others[0]) if len(others) == 1 else None
