"""Reading a table of people: pandas, polars, or a CSV or Parquet file, whole or some rows at a time.

What counts as a missing value, and how a column of text becomes one of numbers, is settled here and nowhere else.
"""

import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_object_dtype

from ifair.errors import IfairError, missing_file, require_extra, shorten_error
from ifair.tables.csv_checks import ENCODING, UNREADABLE, check_csv, explain_unreadable, refuse_repeated, separator_of

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
BLOCK_ROWS = 50_000


def read_table(table: Any) -> pd.DataFrame:
    """Give a table in memory, or the CSV or Parquet file of one, as a new pandas table with a plain index.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame or LazyFrame, str or path

    Returns
    -------
    pandas.DataFrame of shape (n_records, n_columns)
    """
    if isinstance(table, (str, os.PathLike)):
        frame = _read_file(Path(table))
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
    frame = _normalise(frame, str(table) if isinstance(table, (str, os.PathLike)) else "the table")
    if frame.empty:
        raise IfairError("the table has no records")
    return frame


def read_blocks(path: Path, rows: int = BLOCK_ROWS, *, text: Collection[str] = ()) -> Iterator[pd.DataFrame]:
    """Read a CSV or Parquet file some rows at a time.

    ``text`` names columns of text: in a CSV, a block of them may look like numbers.

    Yields
    ------
    DataFrame
        The blocks; the index counts the rows of the file from 0.
    """
    check_readable(path)
    blocks = _read_parquet_blocks(path, rows) if is_parquet(path) else _read_csv_blocks(path, rows, text)
    start = 0
    for block in blocks:
        yield _normalise(block, str(path)).set_axis(pd.RangeIndex(start, start + len(block)), axis=0)
        start += len(block)
    if start == 0:
        raise IfairError(f"{path} has no records")


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
    refuse_repeated(frame.columns, where)
    return frame


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, that may not be read, or of a kind that is not read."""
    if path.is_dir() or not path.exists():
        raise IfairError(missing_file(path))
    if not os.access(path, os.R_OK):
        raise IfairError(f"cannot read {path}: permission denied")
    if not path.name.lower().endswith((*CSV, *PARQUET)):
        raise IfairError(f"{path} is neither CSV ({', '.join(CSV)}) nor Parquet ({', '.join(PARQUET)})")


def _read_file(path: Path) -> pd.DataFrame:
    check_readable(path)
    if is_parquet(path):
        require_extra("Parquet", ["pyarrow"], "parquet")
        try:
            return pd.read_parquet(path)
        except Exception as error:  # pyarrow raises classes of its own, which cannot be named without it
            raise IfairError(f"{path} is not a Parquet table ({shorten_error(error)})") from error
    check_csv(path)
    try:
        frame = pd.read_csv(path, low_memory=False, **_csv_options(path))
    except UNREADABLE as error:
        raise explain_unreadable(path, error) from error
    _refuse_long_lines(frame, path)
    return frame


def _read_csv_blocks(path: Path, rows: int, text: Collection[str]) -> Iterator[pd.DataFrame]:
    check_csv(path)
    options = _csv_options(path)
    try:
        # Names that the file lacks would be refused as dtypes.
        header = pd.read_csv(path, nrows=0, **options)
        types: Any = {name: "object" for name in text if name in header.columns}
        with pd.read_csv(path, chunksize=rows, dtype=types, low_memory=False, **options) as reader:
            for block in reader:
                _refuse_long_lines(block, path)
                yield block
    except IfairError:
        raise
    except UNREADABLE as error:
        raise explain_unreadable(path, error) from error


def _csv_options(path: Path) -> dict[str, Any]:
    # pandas before 3 rounds the last digit otherwise.
    exact = {"float_precision": "round_trip"}
    return {"sep": separator_of(path), "encoding": ENCODING, "on_bad_lines": "error", **exact}


def _refuse_long_lines(frame: pd.DataFrame, path: Path) -> None:
    """pandas takes what stands before the named columns as an index."""
    if not isinstance(frame.index, pd.RangeIndex):
        raise IfairError(f"{path} has lines with more fields than its header")


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
