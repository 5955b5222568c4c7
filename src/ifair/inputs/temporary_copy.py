"""Records decoded once, kept in a temporary file of plain numbers, and read from there as from a memory map."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from ifair.engines.streamed import ChunkReader
from ifair.errors import warn_user
from ifair.inputs.disk import MappedRecords

ROOM = 1.5
"""How many times the size of the copy must be free: a disk filled to the brim hurts everybody on it."""


class TemporaryCopy:
    """Records that are written down as they are first read, and read from there afterwards.

    Decoding Parquet takes several times as long as reading plain numbers, and a fit reads its records a hundred times.
    The first walk over all records decodes them and writes them to a temporary file; once it is complete, others read
    that file. What is read is the same, bit by bit. Without room on the disk every walk decodes.

    The file is in a folder, by default where TMPDIR says, else ``/var/tmp`` where there is one, which unlike ``/tmp``
    is meant to lie on a disk, else where temporary files go.

    Use as a context manager: the file ends with it. It has no name from the start, where the system allows that, so
    that nothing is left behind by a process that is killed.
    """

    def __init__(self, records: ChunkReader, folder: str | os.PathLike[str] | None = None) -> None:
        self.source = records
        self.folder = _default_folder() if folder is None else Path(folder)
        self.shape, self.dtype, self.columns = records.shape, records.dtype, records.columns
        self._file: IO[bytes] | None = None
        self._plain: MappedRecords | None = None
        self._may_write = self._there_is_room()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._plain, self._may_write = None, False
        self._discard()

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def is_complete(self) -> bool:
        """Whether all records have been written, and are read from there."""
        return self._plain is not None

    def chunks(self, rows: int) -> Iterator[NDArray[np.float64]]:
        if self._plain is not None:
            yield from self._plain.chunks(rows)
            return
        file = self._new_file()
        for chunk in self.source.chunks(rows):
            if self._may_write and file is not None:
                self._write(chunk, file)
            yield chunk
        if self._may_write and file is not None:
            self._plain = MappedRecords(np.memmap(file, self.dtype, "r", shape=self.shape))

    def take(self, indices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return (self.source if self._plain is None else self._plain).take(indices)

    def _there_is_room(self) -> bool:
        needed, free = self.shape[0] * self.shape[1] * self.dtype.itemsize, shutil.disk_usage(self.folder).free
        if needed == 0 or free >= ROOM * needed:
            return needed > 0
        self._warn(f"needs {needed / 1e9:.3g} GB, of {free / 1e9:.3g} GB free only {free / ROOM / 1e9:.3g} are taken")
        return False

    def _new_file(self) -> IO[bytes] | None:
        self._discard()  # what a walk that was left off has written
        if self._may_write:
            try:
                self._file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115  closed by _discard
            except OSError as error:
                self._give_up(error)
        return self._file

    def _write(self, chunk: NDArray[np.float64], file: IO[bytes]) -> None:
        try:
            file.write(np.ascontiguousarray(chunk, dtype=self.dtype).data)
            file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._may_write = False
        self._discard()
        self._warn(str(error))

    def _discard(self) -> None:
        if self._file is not None:
            # Closing tries once more to write what a full disk did not take.
            with suppress(OSError):
                self._file.close()
        self._file = None

    def _warn(self, why: str) -> None:
        warn_user(
            f"no temporary copy of the decoded records in {str(self.folder)!r}: {why}. Every evaluation decodes them "
            "again, which takes longer; ParquetRecords(path, spool=FOLDER) names another place, spool=False none."
        )


def _default_folder() -> Path:
    large = Path("/var/tmp")  # noqa: S108  files made there have no name
    if "TMPDIR" not in os.environ and large.is_dir() and os.access(large, os.W_OK):
        return large
    return Path(tempfile.gettempdir())
