"""Records in Parquet files, decoded chunk by chunk."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.engines.engine import blocks
from ifair.engines.streamed import chunk_rows
from ifair.errors import IfairError, require_extra

BUFFER_BYTES = 2**16
"""Of every column that is being read; without a buffer the whole row group would be in memory."""

COLUMN_ROWS = 2**16
"""Values read at a time where one column is read alone."""


class ParquetRecords:
    """The rows of a Parquet file, or of all Parquet files in a folder in the order of their names.

    Parameters
    ----------
    path : str or path-like
    columns : sequence of str, or callable, optional
        The columns to read, in this order, or a function from the names of all columns to these; by default all. They
        must hold numbers.
    spool : bool, str or path-like, default=True
        Whether a fit, which reads the records over and over, may decode them into a temporary file of plain numbers
        once, see :class:`ifair.inputs.temporary_copy.TemporaryCopy`; or the folder where that file goes.

    Notes
    -----
    Memory is bounded by row groups of moderate size: what is held is a chunk, and the compressed pages being read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | Callable[[list[str]], Sequence[str]] | None = None,
        *,
        spool: bool | str | os.PathLike[str] = True,
    ) -> None:
        require_extra("Parquet", ["pyarrow"], "parquet")
        if not isinstance(spool, bool) and not Path(spool).is_dir():
            raise IfairError(f"spool must be True, False or a folder that exists, got {spool!r}")
        self.path, self.spool = Path(path), spool
        self.files = _find_files(self.path)
        opened = [_open_file(file) for file in self.files]
        schema = opened[0].schema_arrow
        self.all_columns: list[str] = list(schema.names)
        if callable(columns):
            columns = columns(self.all_columns)
        self.columns: list[str] = self.all_columns if columns is None else list(columns)
        kinds = [self._kind(schema, name) for name in self.columns]
        for file, parquet in zip(self.files, opened):
            _refuse_other_columns(file, parquet.schema_arrow, self.columns)
        self.shape: tuple[int, int] = (sum(parquet.metadata.num_rows for parquet in opened), len(self.columns))
        for parquet in opened:
            parquet.close()
        single = bool(kinds) and all(kind == "float" for kind in kinds)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def _kind(self, schema: Any, name: str) -> str:
        import pyarrow.types as kinds

        self._refuse_unknown(name)
        kind = schema.field(name).type
        if not (kinds.is_floating(kind) or kinds.is_integer(kind) or kinds.is_boolean(kind)):
            raise IfairError(
                f"column {name!r} of {self.files[0].name} holds {kind}, not numbers: encode the table first "
                "(ifair.Encoder does), or name the columns to read: ParquetRecords(path, columns=[...])"
            )
        return str(kind)

    def _refuse_unknown(self, name: str) -> None:
        if name not in self.all_columns:
            raise IfairError(f"{self.files[0].name} has no column {name!r}; it has {', '.join(self.all_columns)}")

    def __len__(self) -> int:
        return self.shape[0]

    def without(self, names: Sequence[str]) -> "ParquetRecords":
        """The same records without these columns."""
        kept = [name for name in self.columns if name not in names]
        return self if kept == self.columns else ParquetRecords(self.path, kept, spool=self.spool)

    def column(self, name: str) -> NDArray[Any]:
        """All values of one column of the files, of any type, whether it is one of `columns` or not."""
        import pyarrow as pa

        self._refuse_unknown(name)
        parts = []
        for file in self.files:
            with _open_file(file) as parquet:
                _refuse_other_columns(file, parquet.schema_arrow, [name])
                parts += [batch.column(0) for batch in parquet.iter_batches(COLUMN_ROWS, columns=[name])]
        # By way of pandas, which makes equal words one object.
        return pa.chunked_array(parts).to_pandas().to_numpy()

    def chunks(self, rows: int) -> Iterator[NDArray[np.float64]]:
        """All records in order, so many at a time; what is missing is NaN."""
        batches = self._batches(rows)
        batch, used = next(batches, None), 0
        for part in blocks(len(self), rows):
            chunk = np.empty((part.stop - part.start, self.shape[1]))
            filled = 0
            while filled < len(chunk):
                if batch is None:
                    raise OSError(f"{self.files[0].parent} lost records while it was read: do not write to it")
                n = min(len(chunk) - filled, batch.num_rows - used)
                for j, column in enumerate(batch.slice(used, n).columns):
                    chunk[filled : filled + n, j] = column.to_numpy(zero_copy_only=False)
                filled, used = filled + n, used + n
                if used == batch.num_rows:
                    batch, used = next(batches, None), 0
            yield chunk

    def _batches(self, rows: int) -> Iterator[Any]:
        for file in self.files:
            with _open_file(file) as parquet:
                for batch in parquet.iter_batches(rows, columns=self.columns, use_threads=False):
                    # Whatever the file's own order is.
                    yield batch.select(self.columns)

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The records at these positions, found in one walk through the files."""
        taken = np.empty((len(indices), self.shape[1]))
        order = np.argsort(indices, kind="stable")
        ordered, rows = indices[order], chunk_rows(self.shape[1])
        for part, chunk in zip(blocks(len(self), rows), self.chunks(rows)):
            first, last = np.searchsorted(ordered, [part.start, part.stop])
            taken[order[first:last]] = chunk[ordered[first:last] - part.start]
        return taken


def _find_files(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r} to read records from")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise IfairError(f"the folder {str(path)!r} holds no files that end in .parquet")
    return files


def _open_file(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file, buffer_size=BUFFER_BYTES, pre_buffer=False)
    except pa.ArrowInvalid as error:
        raise IfairError(f"{str(file)!r} is no Parquet file ({error}); tables on disk are .npy or Parquet") from error


def _refuse_other_columns(file: Path, schema: Any, columns: list[str]) -> None:
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise IfairError(f"{file.name} lacks {missing}, which other files of the folder have")
