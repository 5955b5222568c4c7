"""Strict reading: a file is exactly what its format says, or there is a clear error."""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ifair.errors import IfairError

# No field of the known files is longer; one that is comes from a damaged or hostile file.
LONGEST_FIELD = 10_000

Columns = dict[str, Sequence[str]]


def decode(content: bytes, where: str) -> str:
    """Decode a UTF-8 text file, refusing binary content."""
    if b"\0" in content:
        raise IfairError(f"{where}: not a text file (it holds NUL bytes)")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IfairError(f"{where}: not UTF-8 text (byte {error.start} does not decode)") from error
    if not text.strip():
        raise IfairError(f"{where}: the file is empty")
    return text


def read_plain(content: bytes, where: str, names: Sequence[str], separator: str | None) -> Columns:
    """Read lines without quotes or header into columns of text; blank lines are skipped.

    ``separator=None`` splits at runs of blanks.
    """
    lines = [line.strip() for line in decode(content, where).split("\n")]
    lines = [line for line in lines if line]
    if separator is None:
        separator = " "
        lines = [separator.join(line.split()) for line in lines]
    for number, line in enumerate(lines, start=1):
        if line.count(separator) != len(names) - 1:
            found = line.count(separator) + 1
            raise IfairError(f"{where}, record {number}: {found} fields instead of {len(names)}")
    if max(map(len, lines)) > LONGEST_FIELD:
        raise IfairError(f"{where}: a line of more than {LONGEST_FIELD:,} characters")
    # One split for all lines: a list for each of 48,842 lines would take four times as long.
    cells = separator.join(lines).split(separator)
    return {name: cells[place :: len(names)] for place, name in enumerate(names)}


def read_csv(content: bytes, where: str, names: Sequence[str]) -> Columns:
    """Read the named columns of a CSV file with a header line into columns of text.

    Columns that are not named go no further: this is where personal data stays behind. Of columns with the
    same name the first counts.
    """
    rows = read_rows(content, where)
    header = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in names if name not in header]
    if missing:
        raise IfairError(f"{where}: not the expected table, it has no column {', '.join(missing[:5])}")
    records = [row for row in rows[1:] if row]
    if not records:
        raise IfairError(f"{where}: the table has no records")
    for number, row in enumerate(records, start=1):
        if len(row) != len(header):
            raise IfairError(f"{where}, record {number}: {len(row)} fields instead of {len(header)}")
    columns: Columns = {}
    for name in names:
        place = header.index(name)
        columns[name] = [row[place] for row in records]
        if max(map(len, columns[name])) > LONGEST_FIELD:
            raise IfairError(f"{where}: column {name!r} has a field of more than {LONGEST_FIELD:,} characters")
    return columns


def read_rows(content: bytes, where: str, *, strict: bool = True) -> list[list[str]]:
    """The fields of every line of a CSV file, as text."""
    try:
        return list(csv.reader(io.StringIO(decode(content, where), newline=""), strict=strict))
    except csv.Error as error:
        raise IfairError(f"{where}: not a CSV table ({error})") from error


def parse_numbers(columns: Columns, name: str, where: str, low: float, high: float, blank: bool = False) -> pd.Series:
    """Turn a column of text into numbers of a known range; ``blank`` reads empty cells as missing."""
    texts = pd.Series(columns[name], dtype=object)
    parsed = pd.to_numeric(texts, errors="coerce").astype("float64")
    wrong = ~parsed.between(low, high)
    if blank:
        wrong &= texts != ""
    if wrong.any():
        raise _misfit(columns[name], wrong.to_numpy(), name, where, f"not a number from {low:g} to {high:g}")
    whole = bool((parsed == parsed.round()).all())
    return parsed.astype("int64") if whole else parsed


def parse_categories(
    columns: Columns, name: str, where: str, known: Collection[str], missing: Iterable[str] = ()
) -> pd.Series:
    """Turn a column of text into categories of a known set; texts in ``missing`` become missing values.

    A mapping as ``known`` also translates: from its keys, as in the file, to its values.
    """
    readable = known if isinstance(known, dict) else {k: k for k in known}
    codes, present = pd.factorize(np.array(columns[name], dtype=object))
    allowed = {*readable, *missing}
    strange = np.array([text not in allowed for text in present])
    if strange.any():
        expected = f"none of its {len(readable)} known values"
        raise _misfit(columns[name], strange[codes], name, where, expected)
    order = [key for key in readable if key in set(present)]
    place = np.array([order.index(text) if text in readable else -1 for text in present], dtype=np.intp)
    labels = pd.Index([readable[key] for key in order])
    return pd.Series(pd.Categorical.from_codes(place[codes], categories=labels))


def parse_attributes(columns: Columns, where: str, known: dict[str, Any], missing: Iterable[str] = ()) -> pd.DataFrame:
    """The columns of numbers of a known range, a pair, and those of categories of a known set, side by side."""
    parts = {}
    for name, held in known.items():
        if isinstance(held, tuple):
            parts[name] = parse_numbers(columns, name, where, *held)
        else:
            parts[name] = parse_categories(columns, name, where, held, missing)
    return pd.DataFrame(parts)


def _misfit(texts: Sequence[str], wrong: np.ndarray, name: str, where: str, expected: str) -> IfairError:
    row = int(wrong.argmax())
    return IfairError(f"{where}: {name!r} is {texts[row][:40]!r} in record {row + 1}, {expected}")
