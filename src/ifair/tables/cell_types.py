"""What cells of a table are: missing, numbers, booleans or text; decided for whole columns, or by a fitted model."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from ifair.errors import IfairError, count_words, name_setting

# A column of which so many cells, or so many different ones, are numbers is a column of numbers with mistakes in it.
NEARLY_ALL = 0.9
SHOWN_CELLS = 3
LONG_CELL = 40
# What people write where they have no value. Only an empty cell is missing unless they say so; these make us ask.
OFTEN_MISSING = frozenset(
    ["NA", "N/A", "n/a", "n.a.", "<NA>", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "Null", "null", "None"]
) | {"?", "-", "--", "."}
_TRUTH = {"true": True, "false": False}
_TRUTH_OR_DIGIT = {**_TRUTH, "1": True, "0": False, "1.0": True, "0.0": False}

MissingCounts = dict[str, dict[str, int]]
"""How many cells of each column have which of the spellings of a missing value."""


def mark_missing(frame: pd.DataFrame, spellings: Collection[str]) -> tuple[pd.DataFrame, MissingCounts]:
    """The table without the cells that spell a missing value (texts, and numbers such as ``"-999"``), and how many."""
    counts: MissingCounts = {}
    if not spellings:
        return frame, counts
    numbers = pd.to_numeric(pd.Series(list(spellings), dtype=object), errors="coerce")
    marked = frame.copy()
    for name, column in frame.items():
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            found = {text: column == number for text, number in zip(spellings, numbers) if not np.isnan(number)}
        elif is_text(column):
            found = {text: column == text for text in spellings}
        else:
            continue
        spelt = {text: int(cells.sum()) for text, cells in found.items() if cells.any()}
        if spelt:
            counts[str(name)] = spelt
            marked[name] = column.mask(pd.concat(list(found.values()), axis=1).any(axis=1).to_numpy(dtype=bool))
    return marked, counts


def is_text(column: pd.Series) -> bool:
    """Whether the cells of a column may be text."""
    return bool(is_object_dtype(column) or is_string_dtype(column))


def show_cell(cell: Any) -> str:
    """A cell as it is quoted in a message: its beginning, if it is long."""
    return f"{cell[:LONG_CELL]!r}..." if isinstance(cell, str) and len(cell) > LONG_CELL else repr(cell)


def describe_missing(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What was taken as missing besides empty cells, in a sentence per column."""
    return [f"column {name!r}: taken as missing, as asked: {_tell_rows(spelt)}" for name, spelt in counts.items()]


def warn_of_words(frame: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """A sentence for every column of text in which a word that often means a missing value is a value of its own."""
    lines = []
    for name in (column for column in columns if is_text(frame[column])):
        counts = frame[name].value_counts().to_dict()
        words = {word: count for word, count in counts.items() if isinstance(word, str) and word in OFTEN_MISSING}
        if words:
            lines.append(
                f"column {name!r}: {_tell_rows(words)} is taken as a value like any other; "
                f"{name_setting('missing', list(words))} takes it as missing"
            )
    return lines


def _tell_rows(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{text!r} ({count_words(count, 'row', 'rows')})" for text, count in counts.items())


def infer_types(frame: pd.DataFrame, *, text: Collection[str] = (), strict: bool = True) -> pd.DataFrame:
    """Columns of text become numbers or booleans where all cells are, but for those that are to stay ``text``.

    NaN is a missing cell; the index counts rows from 0. With ``strict``, columns are refused that are nearly all
    numbers, or all numbers or booleans but for words that often stand for a missing value; otherwise they stay text.
    """
    typed = {}
    for name, column in frame.items():
        typed[name] = column
        if name in text or not is_text(column):
            continue
        found = infer_dtype(column, skipna=True)
        if found in ("integer", "mixed-integer-float"):  # larger than any integer of the machine
            typed[name] = pd.Series([_to_float(cell) for cell in column], index=column.index)
        elif found == "string":
            typed[name] = _infer_text(column, strict=strict)
        elif found == "empty":
            typed[name] = column.astype("float64")
    return pd.DataFrame(typed, index=frame.index, columns=frame.columns)


def apply_types(frame: pd.DataFrame, contents: Mapping[str, str]) -> pd.DataFrame:
    """Columns of text as what a model learned from: the result for a row depends on that row alone.

    That is "numbers", "codes" (numbers that name categories) or "booleans", by column; all others are left as they are.
    Cells that cannot be read so stay text, in a column of objects.
    """
    typed = {}
    for name, column in frame.items():
        typed[name] = column
        held = contents.get(str(name))
        if held is None or not is_text(column) or infer_dtype(column, skipna=True) not in ("string", "empty"):
            continue
        if held == "numbers":
            numbers = pd.to_numeric(column.astype(object), errors="coerce").astype("float64")
            is_wrong = numbers.isna() & column.notna()
            typed[name] = numbers.astype(object).where(~is_wrong, column) if is_wrong.any() else numbers
        elif held == "codes":
            # Each by itself: in a column with gaps, pandas would round whole numbers to floats.
            typed[name] = column.map(_to_number, na_action="ignore").astype(object)
        elif held == "booleans":
            typed[name] = column.map(_to_truth, na_action="ignore").astype(object)
    return pd.DataFrame(typed, index=frame.index, columns=frame.columns)


def _infer_text(column: pd.Series, *, strict: bool) -> pd.Series:
    counts = column.value_counts()
    different = pd.Series(counts.index.to_numpy(dtype=object), dtype=object)
    is_number = pd.to_numeric(different, errors="coerce").notna().to_numpy()
    if is_number.all():
        return pd.to_numeric(column.astype(object))
    is_truth = different.str.lower().isin(_TRUTH).to_numpy()
    if is_truth.all():
        truth = column.map(_to_truth, na_action="ignore")
        return truth.astype(object) if column.isna().any() else truth.astype(bool)
    if strict:
        is_word = different.isin(OFTEN_MISSING).to_numpy()
        if is_truth.any() and (is_truth | is_word).all():
            _refuse_cells(column, set(different[is_word]), "true and false")
        # Of the cells that are no words, and of the different ones.
        shares = [
            weights[is_number].sum() / max(1, weights[is_number | ~is_word].sum())
            for weights in (np.ones(len(counts)), counts.to_numpy())
        ]
        if is_number.any() and max(shares) >= NEARLY_ALL:
            _refuse_cells(column, set(different[~is_number]), "numbers")
    return column


def _refuse_cells(column: pd.Series, wrong: set[str], held: str) -> None:
    rows = np.flatnonzero(column.isin(wrong).to_numpy())
    first = list(dict.fromkeys(column.iloc[rows]))[:SHOWN_CELLS]
    shown = ", ".join(f"row {row + 1} ({show_cell(column.iloc[row])})" for row in rows[:SHOWN_CELLS])
    more = f" and {len(rows) - SHOWN_CELLS} more" if len(rows) > SHOWN_CELLS else ""
    as_missing = name_setting("missing", [cell for cell in first if len(cell) <= LONG_CELL] or ["VALUE"])
    as_categories = name_setting("categorical", [column.name])
    raise IfairError(
        f"column {column.name!r} holds {held}, but not in {shown}{more}: mend such cells, or take them as missing with "
        f"{as_missing}, or the column as categories with {as_categories}"
    )


def _to_float(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def _to_number(cell: str) -> Any:
    """A whole number exactly, another as a float, and what is none as the text it is."""
    try:
        return int(cell)
    except ValueError:
        number = pd.to_numeric(cell, errors="coerce")
        return cell if np.isnan(number) else int(number) if float(number).is_integer() else float(number)


def _to_truth(cell: str) -> Any:
    return _TRUTH_OR_DIGIT.get(cell.strip().lower(), cell)
