"""Reading a table of people: pandas, polars, or a CSV or Parquet file, whole or some rows at a time.

Only an empty cell is missing unless the caller says otherwise; what the cells of a column are, `cell_types` settles.
"""

import json
import os
import shlex
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_object_dtype

from ifair.errors import IfairError, require_extra, shorten_error
from ifair.files import check_regular
from ifair.tables import csv_checks
from ifair.tables.cell_types import MissingCounts, infer_types, mark_missing

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
BLOCK_ROWS = 50_000


def read_table(table: Any, *, missing: Collection[str] = (), categorical: Collection[str] = ()) -> pd.DataFrame:
    """Give a table in memory, or the CSV or Parquet file of one, as a new pandas table with a plain index.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or LazyFrame, str or path
    missing : collection of str, optional
        Texts that stand for a missing value, such as ``["NA"]``. By default only an empty cell is missing.
    categorical : collection of str, optional
        Columns of a CSV file to read as text as it stands: ``007`` stays ``007``.

    Returns
    -------
    pandas.DataFrame of shape (n_records, n_columns)

    Raises
    ------
    IfairError
        Also for a column of a CSV file that is nearly all numbers: the message names the other cells.
    """
    return read_counted_table(table, missing=missing, text=categorical)[0]


def read_counted_table(
    table: Any, *, missing: Collection[str] = (), text: Collection[str] = (), doubtful: Collection[str] = ()
) -> tuple[pd.DataFrame, MissingCounts]:
    """A table as of :func:`read_table`, and how many cells were taken as missing because of ``missing``.

    Columns that are ``doubtful`` and nearly all numbers stay text, for the caller to refuse in its own words.
    """
    is_file = isinstance(table, str | os.PathLike)
    if is_file:
        frame = _read_file(Path(table), text)
    elif isinstance(table, pd.DataFrame):
        frame = table.reset_index(drop=True)
    elif (polars := sys.modules.get("polars")) and isinstance(table, (polars.DataFrame, polars.LazyFrame)):
        eager = table.collect() if isinstance(table, polars.LazyFrame) else table
        # Column by column, since polars' own conversion needs pyarrow.
        frame = pd.DataFrame({c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in eager})
    else:
        raise IfairError(
            "a table must be a pandas or polars table, or the path of a CSV or Parquet file; "
            f"got {type(table).__name__}"
        )
    where = str(table) if is_file else "the table"
    frame = _normalise(frame, where)
    if frame.empty:
        raise IfairError(f"{where} has no records")
    frame, counts = mark_missing(frame, missing)
    if not is_file or is_parquet(Path(table)):
        return frame, counts
    typed = infer_types(frame, text=[*text, *doubtful])
    for name in frame.columns.intersection(list(doubtful)):
        typed[name] = infer_types(frame[[name]], strict=False)[name]
    return typed, counts


def read_blocks(path: Path, rows: int = BLOCK_ROWS) -> Iterator[pd.DataFrame]:
    """Read a CSV or Parquet file some rows at a time, its cells as they stand.

    The index counts the rows of the file from 0. Of a CSV, all cells are text, empty ones NaN.
    """
    check_readable(path)
    blocks = _read_parquet_blocks(path, rows) if is_parquet(path) else _read_csv_blocks(path, rows)
    start = 0
    for block in blocks:
        if block.empty:  # pandas makes one of a file with nothing but a header
            continue
        yield _normalise(block, str(path)).set_axis(pd.RangeIndex(start, start + len(block)), axis=0)
        start += len(block)
    if start == 0:
        raise IfairError(f"{path} has no records")


def suggest_complete(path: Path, column: str, missing: Collection[str] = ()) -> str:
    """How to leave out the rows in which a column is empty, as a command that can be pasted."""
    stem, dot, ending = path.name.partition(".")
    old, new = (
        json.dumps(str(name), ensure_ascii=False) for name in (path, path.with_name(f"{stem}-complete{dot}{ending}"))
    )
    dropped = f"dropna(subset=[{json.dumps(column, ensure_ascii=False)}])"
    if is_parquet(path):
        program = f"pandas.read_parquet({old}).{dropped}.to_parquet({new}, index=False)"
    else:
        sep = ', sep="\\t"' if csv_checks.separator_of(path) == "\t" else ""
        empty = json.dumps(["", *missing], ensure_ascii=False)
        read = f"pandas.read_csv({old}, dtype=str, keep_default_na=False, na_values={empty}{sep})"
        program = f"{read}.{dropped}.to_csv({new}, index=False{sep})"
    return f"for example with: python -c {shlex.quote(f'import pandas; {program}')}"


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name."""
    return path.name.lower().endswith(PARQUET)


def _normalise(frame: pd.DataFrame, where: str) -> pd.DataFrame:
    """The table with text for column names, none of them twice, and with floats for databases' exact decimals."""
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        if is_object_dtype(column) and infer_dtype(column) == "decimal":
            frame.isetitem(i, column.to_numpy(dtype=np.float64, na_value=np.nan))
    frame.columns = [str(c) for c in frame.columns]
    csv_checks.refuse_repeated(frame.columns, where)
    return frame


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, that may not be read, or of a kind that is not read."""
    check_regular(path)
    if not path.name.lower().endswith((*CSV, *PARQUET)):
        raise IfairError(f"{path} is neither CSV ({', '.join(CSV)}) nor Parquet ({', '.join(PARQUET)})")


def _read_file(path: Path, text: Collection[str]) -> pd.DataFrame:
    check_readable(path)
    if is_parquet(path):
        require_extra("Parquet", ["pyarrow"], "parquet")
        try:
            return pd.read_parquet(path)
        except Exception as error:  # pyarrow raises classes of its own, which cannot be named without it
            raise IfairError(f"{path} is not a Parquet table ({shorten_error(error)})") from error
    csv_checks.check_csv(path)
    try:
        frame = pd.read_csv(path, low_memory=False, dtype=dict.fromkeys(text, "object"), **_csv_options(path))
    except csv_checks.UNREADABLE as error:
        raise csv_checks.explain_unreadable(path, error) from error
    _refuse_uneven_lines(frame, path)
    return frame


def _read_csv_blocks(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    csv_checks.check_csv(path)
    checked = False
    try:
        with pd.read_csv(path, chunksize=rows, dtype="object", low_memory=False, **_csv_options(path)) as reader:
            for block in reader:
                checked = checked or _refuse_uneven_lines(block, path)
                yield block
    except IfairError:
        raise
    except csv_checks.UNREADABLE as error:
        raise csv_checks.explain_unreadable(path, error) from error


def _csv_options(path: Path) -> dict[str, Any]:
    # A missing value is an empty cell, and nothing else.
    missing = {"keep_default_na": False, "na_values": [""]}
    # pandas before 3 rounds the last digit otherwise; later ones do not, and warn of the option.
    exact = {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}
    sep, encoding = csv_checks.separator_of(path), csv_checks.ENCODING
    return {"sep": sep, "encoding": encoding, "on_bad_lines": "error", **missing, **exact}


def _refuse_uneven_lines(frame: pd.DataFrame, path: Path) -> bool:
    """Refuse lines of more fields than the header, or of fewer; whether the whole file was looked at.

    pandas takes what stands before the named columns as an index, and fills short lines up with empty cells: only
    where the last cell is empty need the file be looked at.
    """
    if not isinstance(frame.index, pd.RangeIndex):
        csv_checks.refuse_uneven_lines(path)
        raise IfairError(f"{path} has lines with more fields than its header")
    if frame.shape[1] < 2 or not frame.iloc[:, -1].isna().any():
        return False
    csv_checks.refuse_uneven_lines(path)
    return True


def _read_parquet_blocks(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    require_extra("Parquet", ["pyarrow"], "parquet")
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise IfairError(f"{path} is not a Parquet table ({shorten_error(error)})") from error
    with file:
        for batch in file.iter_batches(batch_size=rows):
            yield batch.to_pandas()
