"""Tables larger than memory: read and written some rows at a time."""

import gzip
import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import pandas as pd

from ifair.data.csv_files import ENCODING, UNREADABLE, check_csv, not_a_table, refuse_repeated, separator_of
from ifair.data.errors import DataError, short
from ifair.data.tables import CSV, PARQUET, plain_numbers, readable
from ifair.errors import install_hint
from ifair.files import replacing

BLOCK_ROWS = 50_000


def read_blocks(path: Path, rows: int = BLOCK_ROWS, *, text: Collection[str] = ()) -> Iterator[pd.DataFrame]:
    """Read a CSV or Parquet file some rows at a time.

    Parameters
    ----------
    path : Path
    rows : int
        Most rows of a block.
    text : collection of str
        Columns of text: in a CSV, a block of them may look like numbers. Columns that are not there are passed over.

    Yields
    ------
    DataFrame
        The blocks; the index counts the rows of the file from 0.
    """
    readable(path)
    blocks = _parquet_blocks(path, rows) if _is(path, PARQUET) else _csv_blocks(path, rows, text)
    start = 0
    for block in blocks:
        block = plain_numbers(block)
        block.columns = [str(c) for c in block.columns]
        refuse_repeated(block.columns, str(path))
        yield block.set_axis(pd.RangeIndex(start, start + len(block)), axis=0)
        start += len(block)
    if start == 0:
        raise DataError(f"{path} has no records")


def _csv_blocks(path: Path, rows: int, text: Collection[str]) -> Iterator[pd.DataFrame]:
    # Names that the file lacks would be refused as dtypes: a default for all others is what pandas offers instead.
    options: dict[str, Any] = {"sep": separator_of(path), "encoding": ENCODING, "on_bad_lines": "error"}
    check_csv(path)
    try:
        header = pd.read_csv(path, nrows=0, **options)
        types: Any = {name: "object" for name in text if name in header.columns}
        with pd.read_csv(path, chunksize=rows, dtype=types, low_memory=False, **options) as reader:
            for block in reader:
                if not isinstance(block.index, pd.RangeIndex):
                    raise DataError(f"{path} has lines with more fields than its header")
                yield block
    except DataError:
        raise
    except UNREADABLE as error:
        raise not_a_table(path, error) from error


def _parquet_blocks(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    pyarrow, parquet = _pyarrow()
    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a Parquet table ({short(error)})") from error
    with file:
        for batch in file.iter_batches(batch_size=rows):
            yield batch.to_pandas()


class BlockWriter:
    """Write a CSV or Parquet file block by block; it appears when all of it is there.

    Parameters
    ----------
    path : Path
        The file to write, of a kind that its ending tells.
    stream : text stream, optional
        Write CSV there instead.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with BlockWriter(Path(folder) / "out.csv") as out:
    ...         for start in (0, 2):
    ...             out.write(pd.DataFrame({"row": [start, start + 1]}))
    ...     (Path(folder) / "out.csv").read_text().split()
    ['row', '0', '1', '2', '3']
    """

    def __init__(self, path: Path, stream: TextIO | None = None) -> None:
        if stream is None:
            writable(path)
        self._path, self._stream = path, stream
        self._columns: list[str] | None = None
        self._parquet: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            if self._stream is None:
                self._place = opening.enter_context(replacing(self._path))
                if not _is(self._path, PARQUET):
                    make = gzip.open if self._path.name.lower().endswith(".gz") else open
                    # newline="": pandas writes its own line ends.
                    file: Any = make(self._place, "wt", encoding="utf-8", newline="")
                    self._stream = opening.enter_context(file)
            self._open = opening.pop_all()
        return self

    def write(self, block: pd.DataFrame) -> None:
        """Append rows; all blocks have the same columns. The index is not written."""
        if self._columns is not None and list(block.columns) != self._columns:
            raise DataError(f"a block has the columns {list(block.columns)}, the first had {self._columns}")
        first, self._columns = self._columns is None, list(block.columns)
        if self._stream is not None:
            block.to_csv(self._stream, index=False, header=first, sep=separator_of(self._path), lineterminator="\n")
            return
        pyarrow, parquet = _pyarrow()
        if first:
            table = pyarrow.Table.from_pandas(block, preserve_index=False)
            self._parquet = self._open.enter_context(parquet.ParquetWriter(self._place, table.schema))
        else:
            table = pyarrow.Table.from_pandas(block, schema=self._parquet.schema, preserve_index=False)
        self._parquet.write_table(table)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)


def writable(path: Path) -> None:
    """Refuse, before any work, a file that could not be written."""
    if not _is(path, (*CSV, *PARQUET)):
        raise DataError(f"cannot tell the format of {path}: end it with {', '.join((*CSV, *PARQUET))}")
    if _is(path, PARQUET):
        _pyarrow()
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise DataError(f"cannot write {path}: {'it is a folder' if path.is_dir() else 'permission denied'}")


def _is(path: Path, endings: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(endings)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow, parquet
