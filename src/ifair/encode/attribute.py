"""One attribute of a table: what it holds, how its cells are read and an encoding of it read back; what is doubtful."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype

from ifair.errors import IfairError, name_setting, warn_user
from ifair.unsuitable_columns import count_many_categories, find_doubt, is_called_an_id

# What pandas finds in a column -> what we call it. Anything else cannot be encoded.
_HOLDS = {
    "integer": "numbers",
    "floating": "numbers",
    "mixed-integer-float": "numbers",
    "decimal": "numbers",
    "boolean": "booleans",
    "string": "text",
    "interval": "intervals",
}
_TIMES = {"datetime", "datetime64", "date", "time", "timedelta", "timedelta64", "period"}
# Everything downstream squares these numbers and adds the squares up.
LARGEST = 1e150
IQR_OF_NORMAL = 1.349
"""Interquartile range of a normal distribution in standard deviations: makes the unit of a normal column its own."""

# Below this, rounding may have made what was 0 before scaling.
_NOTHING = 1e-6


@dataclass(frozen=True, slots=True)
class Attribute:
    """What `fit` learned about one input column; plain values only, so that it can be written to any file."""

    name: str
    kind: str  # "numeric", "boolean", "categorical", or "empty": no value at all in fit
    holds: str
    dtype: str
    levels: tuple[Any, ...] = ()  # categories of a pandas category column, also those that no record has
    ordered: bool = False

    @classmethod
    def from_column(cls, column: pd.Series, name: str, *, is_categorical: bool) -> Self:
        """Decide how to encode a column of the training table; `is_categorical` overrules numbers."""
        holds = _infer_content(column, name)
        has_levels = isinstance(column.dtype, pd.CategoricalDtype)
        if holds == "nothing":
            kind = "empty"
        elif is_categorical or has_levels or holds in ("text", "intervals"):
            kind = "categorical"
        else:
            kind = "boolean" if holds == "booleans" else "numeric"
        levels = tuple(column.cat.categories) if has_levels else ()
        return cls(name, kind, holds, str(column.dtype), levels, has_levels and bool(column.cat.ordered))

    def read(self, column: pd.Series) -> NDArray[Any]:
        """Read cells as categories (objects, None where missing) or as floats (NaN), of shape (n_samples,)."""
        return self._read_choices(column) if self.kind == "categorical" else self._read_numbers(column)

    def _read_numbers(self, column: pd.Series) -> NDArray[np.float64]:
        if self.kind == "empty":
            return np.full(len(column), np.nan)
        self._check_content(column)
        try:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except OverflowError:
            raise IfairError(f"column {self.name!r} holds a number too large for float64") from None
        if (wrong := np.abs(values) > LARGEST).any():
            row = int(wrong.argmax())
            raise IfairError(
                f"column {self.name!r} holds {values[row]} in row {row + 1}: numbers must be finite, and at most "
                f"{LARGEST:g} in size because their squares are added up"
            )
        if self.kind == "boolean" and (wrong := ~np.isnan(values) & (values != 0) & (values != 1)).any():
            raise IfairError(f"column {self.name!r} held booleans in fit and now holds {values[wrong][0]}")
        return values

    def _read_choices(self, column: pd.Series) -> NDArray[np.object_]:
        self._check_content(column)
        values = np.array(column.astype(object), dtype=object)
        values[column.isna().to_numpy()] = None
        return values

    def list_categories(self, choices: NDArray[np.object_]) -> NDArray[np.object_]:
        """Distinct categories that records have, in the user's order if there is one, else sorted."""
        present = set(choices) - {None}
        in_order = [level for level in self.levels if level in present] if self.levels else sorted(present)
        categories = np.empty(len(in_order), dtype=object)
        categories[:] = in_order
        return categories

    def decode(self, block: NDArray[np.float64], categories: list[Any]) -> pd.Series:
        """Read the attribute back from its unscaled columns, in the user's own units and categories.

        There is one column per category (``categories`` says what each stands for), or the one of a number or boolean.
        One column more is the flag.
        """
        if self.kind == "categorical":
            chosen = np.array([*categories, None], dtype=object)[block.argmax(axis=1)]
            chosen[np.abs(block).max(axis=1) < _NOTHING] = None
            if self.dtype == "category":
                levels = [*self.levels, *(c for c in categories if c not in self.levels)]
                return pd.Series(pd.Categorical(chosen, categories=levels, ordered=self.ordered))
            return pd.Series(chosen.tolist(), dtype=self.dtype if self.holds == "text" else None)
        is_missing = block[:, 1] >= 0.5 if block.shape[1] > 1 else np.full(len(block), self.kind == "empty")
        if self.kind == "boolean":
            truth = (block[:, 0] >= 0.5).astype(object)
            truth[is_missing] = None
            return pd.Series(truth, dtype=self.dtype)
        return pd.Series(np.where(is_missing, np.nan, block[:, 0]))

    def _check_content(self, column: pd.Series) -> None:
        """Refuse a column that changed its nature, such as codes that were text and now are numbers."""
        holds = _infer_content(column, self.name)
        if holds in ("nothing", self.holds) or {holds, self.holds} == {"numbers", "booleans"}:
            return
        example = column.dropna().iloc[:1].tolist()[0]
        raise IfairError(f"column {self.name!r} held {self.holds} in fit and now holds {holds}, such as {example!r}")


def _infer_content(column: pd.Series, name: str) -> str:
    """Say "numbers", "booleans", "text", "intervals" or "nothing"; refuse everything else."""
    present = column.dropna()  # infer_dtype would not skip every kind of missing value beside text
    if present.empty:
        return "nothing"
    has_levels = isinstance(column.dtype, pd.CategoricalDtype)
    found = infer_dtype(column.cat.categories if has_levels else present)
    if found in _HOLDS:
        return _HOLDS[found]
    if found in _TIMES:
        raise IfairError(
            f"column {name!r} holds dates or times, which have no natural scale: turn it into a number (such "
            "as years since a date) or into text (such as the name of the month)"
        )
    examples = {type(value).__name__: value for value in present}
    shown = " and ".join(f"{kind} ({value!r})" for kind, value in list(examples.items())[:3])
    raise TypeError(
        f"column {name!r} holds {shown}: the cells of a column in the input argument must be uniformly "
        "strings, or numbers, or booleans; convert it first, for instance with astype(str)"
    )


def check_attributes(
    frame: pd.DataFrame, attributes: Sequence[Attribute], *, listed: Collection[int], lumped: bool
) -> None:
    """Refuse text that names people, and warn of what hardly describes them.

    Columns of pandas categories were declared to be categories by whoever made them, and are taken as they are, as are
    those at the positions that the user ``listed``. Where rare categories are ``lumped``, their number is the user's
    choice.
    """
    for position, attribute in enumerate(attributes):
        column, name = frame.iloc[:, position], attribute.name
        if attribute.levels or attribute.kind not in ("categorical", "numeric"):
            continue
        if attribute.kind == "numeric":
            named = is_called_an_id(name) and column.nunique() > 1
            if named and (doubt := find_doubt(column.rename(name))) and doubt.leave_out:
                warn_user(f"column {name!r} {doubt.reason}: encoded as a number; drop it if it names people")
            continue
        doubt = find_doubt(column) if attribute.holds == "text" and position not in listed else None
        if doubt is not None and doubt.names_people:
            raise IfairError(
                f"column {name!r} {doubt.reason}: it names people, and would make {column.nunique()} columns; "
                f"{doubt.advice or 'drop it'}, or encode it all the same with {name_setting('categorical', [name])}"
            )
        if doubt is not None and doubt.advice:
            warn_user(f"column {name!r} {doubt.reason}: encoded as categories; {doubt.advice}")
        elif not lumped and (many := count_many_categories(column)):
            warn_user(
                f"column {name!r} has {many} categories, which make {many} columns: kept; lump rare ones with "
                "max_categories or min_frequency, or drop it"
            )


def robust_size(values: NDArray[np.float64]) -> float:
    """A typical difference that outliers and rare values do not move.

    Examples
    --------
    >>> robust_size(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 6.0]))
    5.0
    """
    if len(values) == 0:
        return 1.0
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    if high > low:
        return float((high - low) / IQR_OF_NORMAL)
    away = np.abs(values - middle)
    return float(away[away > 0].mean()) if (away > 0).any() else 1.0
