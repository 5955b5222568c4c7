"""Writing a table of people, whole or some rows at a time: CSV or Parquet, there when all of it is there."""

import gzip
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TextIO

import pandas as pd

from ifair.errors import IfairError, require_extra
from ifair.files import check_output, replace_file
from ifair.tables.csv_checks import separator_of
from ifair.tables.read import CSV, PARQUET, is_parquet


class BlockWriter:
    """Write a CSV or Parquet file, as its ending tells, block by block; it appears when all of it is there.

    With a ``stream``, write CSV there instead.
    """

    def __init__(self, path: Path, stream: TextIO | None = None) -> None:
        if stream is None:
            check_table_name(path)
            check_output(path)
        self._path, self._stream = path, stream
        self._columns: list[str] | None = None
        self._parquet: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            if self._stream is None:
                self._place = opening.enter_context(replace_file(self._path, kind="table"))
                if not is_parquet(self._path):
                    make = gzip.open if self._path.name.lower().endswith(".gz") else open
                    # newline="": pandas writes its own line ends.
                    file: Any = make(self._place, "wt", encoding="utf-8", newline="")
                    self._stream = opening.enter_context(file)
            self._open = opening.pop_all()
        return self

    def write(self, block: pd.DataFrame) -> None:
        """Append rows; all blocks have the same columns. The index is not written."""
        if self._columns is not None and list(block.columns) != self._columns:
            raise IfairError(f"a block has the columns {list(block.columns)}, the first had {self._columns}")
        first, self._columns = self._columns is None, list(block.columns)
        if self._stream is not None:
            block.to_csv(self._stream, index=False, header=first, sep=separator_of(self._path), lineterminator="\n")
            return
        import pyarrow
        from pyarrow import parquet

        if first:
            table = pyarrow.Table.from_pandas(block, preserve_index=False)
            self._parquet = self._open.enter_context(parquet.ParquetWriter(self._place, table.schema))
        else:
            table = pyarrow.Table.from_pandas(block, schema=self._parquet.schema, preserve_index=False)
        self._parquet.write_table(table)

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)


def check_table_name(path: Path) -> None:
    """Refuse, before any work, a table of a kind that its name does not tell, or that lacks a package."""
    if not path.name.lower().endswith((*CSV, *PARQUET)):
        raise IfairError(f"cannot tell the format of {path}: end it with {', '.join((*CSV, *PARQUET))}")
    if is_parquet(path):
        require_extra("Parquet", ["pyarrow"], "parquet")
