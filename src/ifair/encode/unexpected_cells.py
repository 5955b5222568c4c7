"""How new records differ from those that an encoder learned from, cell by cell."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ifair.encode.encoder import Encoder

FAR = 10_000.0
"""Spreads from the mean: so far are hardly any of the people learned from, even of incomes with a long tail."""


class Cell(NamedTuple):
    """A cell that an encoder did not expect: its column, the position of its row, and what it holds."""

    column: str
    row: int
    value: Any


def list_column_contents(encoder: Encoder) -> dict[str, str]:
    """What each column held in `fit`: "numbers", "codes", "booleans", "text", "intervals" or "nothing".

    Codes are numbers that name categories.
    """
    return {
        attribute.name: "codes" if attribute.kind == "categorical" and attribute.holds == "numbers" else attribute.holds
        for attribute in encoder._plan
    }


def find_unreadable_cells(encoder: Encoder, frame: pd.DataFrame) -> list[Cell]:
    """The first cell of every column of numbers or booleans, as of `fit`, that cannot be read as one."""
    found = []
    for column, holds in list_column_contents(encoder).items():
        values = frame[column]
        if holds not in ("numbers", "codes", "booleans"):
            continue
        if is_numeric_dtype(values):
            fits = ~values.isin([np.inf, -np.inf])
        elif holds != "booleans":
            fits = pd.to_numeric(values, errors="coerce").notna()
        else:
            fits = values.astype(str).str.lower().isin(["true", "false", "1", "0"])
        wrong = (values.notna() & ~fits).to_numpy()
        if wrong.any():
            row = int(wrong.argmax())
            found.append(Cell(column, row, values.iloc[[row]].tolist()[0]))
    return found


class FarNumbers(NamedTuple):
    """Numbers of a column that are far from those of `fit`: how many people's, the furthest, and what `fit` saw."""

    people: int
    furthest: Cell
    distance: float
    mean: float
    spread: float


def find_far_numbers(encoder: Encoder, frame: pd.DataFrame) -> list[FarNumbers]:
    """The columns of numbers that hold some far from all that `fit` is likely to have seen.

    An encoder knows the mean and the spread of what it saw, and not the range; without scaling neither. Arguments as of
    :func:`find_unreadable_cells`.
    """
    if encoder.scale == "none":
        return []
    found = []
    for i, (source, end) in enumerate(zip(encoder._source, encoder._suffixes)):
        if end or encoder._plan[source].kind != "numeric":
            continue
        name, mean, spread = str(encoder.origin_[i]), float(encoder.mean_[i]), float(encoder.scale_[i])
        values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        distance = np.nan_to_num(np.abs(values - mean) / spread)
        if count := int((distance > FAR).sum()):
            row = int(distance.argmax())
            found.append(FarNumbers(count, Cell(name, row, float(values[row])), float(distance[row]), mean, spread))
    return found


def find_new_categories(encoder: Encoder, frame: pd.DataFrame) -> list[tuple[Cell, int]]:
    """Categories that `fit` never saw: the first cell of each, and how many rows have it.

    The encoder gives them 0 in every column of the attribute: their records have none of the known categories.
    Arguments as of :func:`find_unreadable_cells`.
    """
    found = []
    one_hot = iter(encoder._one_hot.categories_ if any(a.kind == "categorical" for a in encoder._plan) else ())
    for attribute in encoder._plan:
        if attribute.kind != "categorical":
            continue
        known = set(next(one_hot))
        codes, values = pd.factorize(frame[attribute.name])
        for code, value in enumerate(values.tolist()):  # 3, not np.int64(3)
            if value not in known:
                rows = np.flatnonzero(codes == code)
                found.append((Cell(attribute.name, int(rows[0]), value), len(rows)))
    return found
