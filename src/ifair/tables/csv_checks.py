"""CSV files before they are read: what is wrong with one, said so that it can be mended."""

import csv
import gzip
import json
import shlex
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from ifair.errors import IfairError, count_words, shorten_error

ENCODING = "utf-8-sig"
# What reading a file that is no CSV table, or a damaged one, may raise.
UNREADABLE = (ValueError, OSError, EOFError, OverflowError, zlib.error)
# Lines that tell one separator from another.
_LINES = 20
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_OF_PANDAS = "Error tokenizing data. C error: "
_QUOTE_CELLS = 'put cells that hold a separator in quotes, as in "a, b"'
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def separator_of(path: Path) -> str:
    """What separates the fields of a file, by its name."""
    return "\t" if ".tsv" in path.name.lower() else ","


def check_csv(path: Path) -> None:
    """Refuse, before any work, an empty file, another encoding or separator, and columns of the same name.

    pandas would call the second of two columns ``income`` ``income.1``, and take a line with other separators as one
    name: the header is looked at as it stands.
    """
    try:
        rows = _read_first_rows(path, separator_of(path))
    except csv.Error:
        return  # pandas reads some of what the standard library does not, or says what is wrong
    except UNREADABLE as error:
        raise explain_unreadable(path, error) from error
    if not rows:
        raise IfairError(f"{path} is empty")
    _refuse_other_separator(path, rows)
    refuse_repeated((name for name in rows[0] if name.strip()), str(path))


def refuse_uneven_lines(path: Path) -> None:
    """Refuse a file that has rows of more or fewer fields than its header, with the first of them."""
    uneven = _explain_uneven_line(path)
    if uneven is not None:
        raise IfairError(uneven)


def _explain_uneven_line(path: Path) -> str | None:
    """The first row that has more or fewer fields than the header, in words; None where there is none to be found."""
    with suppress(csv.Error, *UNREADABLE), _open(path, text=True) as file:
        lines = csv.reader(file, delimiter=separator_of(path))
        header = next((row for row in lines if _has_content(row)), [])
        for number, row in enumerate((row for row in lines if row), start=1):
            if len(row) != len(header) and _has_content(row):
                short = len(row) < len(header)
                mend = "write empty cells out, with their separators" if short else _QUOTE_CELLS
                return (
                    f"{path}: row {number:,} (line {lines.line_num:,}) has {count_words(len(row), 'field', 'fields')}, "
                    f"the header has {len(header)}; {mend}"
                )
    return None


def refuse_repeated(names: Iterable[Any], where: str) -> None:
    """Refuse columns of the same name, with their names."""
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    if len(repeated) == 1:
        raise IfairError(f"{where}: column {repeated[0]} occurs more than once; give every column its own name")
    if repeated:
        raise IfairError(f"{where}: columns {', '.join(repeated)} occur more than once; give every column its own name")


def explain_unreadable(path: Path, error: BaseException) -> IfairError:
    """What to say of a file that could not be read as CSV."""
    if not isinstance(error, UnicodeDecodeError):
        why = shorten_error(error).removeprefix(_OF_PANDAS)
        uneven = _explain_uneven_line(path) if why.startswith("Expected ") else None
        return IfairError(uneven or f"{path} is not a CSV table ({why})")
    with _open(path) as file:
        start = file.read(2)
    line = None if start in _UTF_16 else _find_line_not_utf8(path)
    where = "" if line is None else f" (line {line} is the first that does not decode)"
    return IfairError(
        f"{path} is not UTF-8{where}; save it as UTF-8 (for example with "
        f"{_suggest_encoding(path, 'utf16' if start in _UTF_16 else 'latin1')})"
    )


def _open(path: Path, *, text: bool = False) -> IO[Any]:
    make: Any = gzip.open if path.name.lower().endswith(".gz") else open
    options = {"encoding": ENCODING, "newline": ""} if text else {}
    return cast(IO[Any], make(path, "rt" if text else "rb", **options))


def _read_first_rows(path: Path, separator: str) -> list[list[str]]:
    with _open(path, text=True) as file:
        return [row for row in islice(csv.reader(file, delimiter=separator), _LINES) if _has_content(row)]


def _has_content(row: list[str]) -> bool:
    return len(row) > 1 or any(cell.strip() for cell in row)


def _refuse_other_separator(path: Path, rows: list[list[str]]) -> None:
    """Refuse a file whose first lines make a table only with another separator than its own."""
    own = separator_of(path)
    if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
        return
    for other, called in _SEPARATORS.items():
        with suppress(csv.Error):
            found = _read_first_rows(path, other)
            if other != own and len(found[0]) > max(1, len(rows[0])) and len({len(row) for row in found}) == 1:
                mend = _suggest_separator(path, other, found)
                raise IfairError(f"{path} is separated by {called}, not by {_SEPARATORS[own]}; {mend}")


def _suggest_separator(path: Path, separator: str, rows: list[list[str]]) -> str:
    """How to make a file of another separator readable, as a command that can be pasted."""
    name = path.name.split(".")[0]
    if separator == "\t":
        ending = ".tsv.gz" if path.name.lower().endswith(".gz") else ".tsv"
        return f"let its name end with .tsv: cp {_quote(path)} {_quote(path.with_name(name + ending))}"
    cells = [cell.strip() for row in rows[1:] for cell in row]
    # 1,5 in a table of semicolons is one and a half.
    decimal = ', decimal=","' if any(c.replace(",", "", 1).isdigit() and "," in c for c in cells) else ""
    # In double quotes, so that the shell's single ones around them can be read.
    old, new, sep = (json.dumps(text) for text in (str(path), str(path.with_name(name + "-commas.csv")), separator))
    program = f"import pandas; pandas.read_csv({old}, sep={sep}{decimal}).to_csv({new}, index=False)"
    return f"convert it first, for example with: python -c {shlex.quote(program)}"


def _find_line_not_utf8(path: Path) -> int | None:
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return None


def _suggest_encoding(path: Path, encoding: str) -> str:
    new = _quote(path.with_name(f"{path.name.split('.')[0]}-utf8{'.tsv' if separator_of(path) != ',' else '.csv'}"))
    if path.name.lower().endswith(".gz"):
        return f"gunzip -c {_quote(path)} | iconv -f {encoding} -t utf8 > {new}"
    return f"iconv -f {encoding} -t utf8 {_quote(path)} > {new}"


def _quote(path: Path) -> str:
    return shlex.quote(str(path))
