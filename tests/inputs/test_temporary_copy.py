"""Records decoded once: the same numbers from the temporary file, nothing left behind, and no harm without room."""

import errno
import os
import shutil
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from ifair.inputs import temporary_copy
from ifair.inputs.disk import DiskTable, MappedRecords, read_records
from ifair.inputs.parquet import ParquetRecords
from ifair.inputs.temporary_copy import TemporaryCopy

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'ifair[parquet]'")


@pytest.fixture(params=[np.float64, np.float32], ids=["double", "single"])
def X(request):
    values = np.random.default_rng(0).normal(size=(53, 4))
    values[7, 2] = np.nan
    return values.astype(request.param)


@pytest.fixture
def records(X, tmp_path):
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "x.parquet", row_group_size=9)
    (tmp_path / "room").mkdir()
    return Counted(tmp_path / "x.parquet", spool=tmp_path / "room")


def decoded(records):
    """The records as a fit reads them."""
    return DiskTable(records, lambda X: X, engine="local", n_jobs=1, beside={})._record_reader


class Counted(ParquetRecords):
    """Counts how often it is decoded."""

    walks = 0

    def chunks(self, rows):
        self.walks += 1
        return super().chunks(rows)


def test_records_are_decoded_once_into_a_file_of_their_size_that_is_gone_afterwards(X, records):
    with decoded(records) as kept:
        for rows in (20, 7, 53):
            np.testing.assert_array_equal(np.vstack(list(kept.chunks(rows))), X)
        np.testing.assert_array_equal(kept.take(np.array([52, 0, 0])), X[[52, 0, 0]])
        assert kept.is_complete
        assert (kept.shape, kept.dtype, kept.columns, len(kept)) == (X.shape, X.dtype, list("abcd"), 53)
        file = kept._file
        assert os.fstat(file.fileno()).st_size == X.nbytes
    assert records.walks == 1
    assert file.closed
    assert not kept.is_complete
    assert list(records.spool.iterdir()) == []


def test_a_walk_that_is_left_off_is_begun_again_and_what_is_done_to_chunks_is_not_written(X, records):
    with decoded(records) as kept:
        next(kept.chunks(20))
        assert not kept.is_complete
        np.testing.assert_array_equal(kept.take(np.array([40])), X[[40]])
        for chunk in kept.chunks(20):
            chunk[:] = 0.0
        assert kept.is_complete
        np.testing.assert_array_equal(np.vstack(list(kept.chunks(20))), X)


def test_without_room_every_walk_decodes(X, records, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Mock(free=X.nbytes))
    with pytest.warns(UserWarning, match=r"no temporary copy .* free .*spool=FOLDER"):
        kept = decoded(records)
    for _ in range(2):
        np.testing.assert_array_equal(np.vstack(list(kept.chunks(20))), X)
    assert records.walks == 2


def test_a_disk_that_fills_up_in_between_does_no_harm(X, records, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    file = Mock(write=Mock(side_effect=[None, None, full]), close=Mock(side_effect=full))
    monkeypatch.setattr(temporary_copy.tempfile, "TemporaryFile", Mock(return_value=file))
    with decoded(records) as kept:
        with pytest.warns(UserWarning, match="No space left on device"):
            np.testing.assert_array_equal(np.vstack(list(kept.chunks(10))), X)
        np.testing.assert_array_equal(np.vstack(list(kept.chunks(10))), X)
    assert records.walks == 2


def test_a_folder_that_cannot_be_written_to_does_no_harm(X, records, monkeypatch):
    refuse = Mock(side_effect=PermissionError(errno.EACCES, "Permission denied"))
    monkeypatch.setattr(temporary_copy.tempfile, "TemporaryFile", refuse)
    with decoded(records) as kept, pytest.warns(UserWarning, match="Permission denied"):
        np.testing.assert_array_equal(np.vstack(list(kept.chunks(10))), X)


def test_only_what_must_be_decoded_is_copied_and_only_if_allowed(X, records, tmp_path):
    np.save(tmp_path / "x.npy", X)
    for other in (read_records(tmp_path / "x.npy"), ParquetRecords(records.path, spool=False)):
        assert decoded(other) is other
    assert isinstance(read_records(tmp_path / "x.npy"), MappedRecords)
    assert isinstance(decoded(read_records(records.path)), TemporaryCopy)
    with pytest.raises(ValueError, match="spool must be True, False or a folder that exists, got 'nowhere'"):
        ParquetRecords(records.path, spool="nowhere")


def test_large_files_go_where_temporary_files_are_not_kept_in_memory(records, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(temporary_copy.tempfile, "tempdir", None)
    assert TemporaryCopy(records).folder == tmp_path
    monkeypatch.delenv("TMPDIR")
    if os.path.isdir("/var/tmp") and os.access("/var/tmp", os.W_OK):
        assert str(TemporaryCopy(records).folder) == "/var/tmp"
