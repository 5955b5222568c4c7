"""Records on disk: what is read is what was written, memory maps are left as they were, bad files are named."""

import threading

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.engines.streamed import CHUNK_BYTES, chunk_rows, prefetch
from ifair.inputs.disk import MappedRecords, find_records, is_mapped, read_records
from ifair.inputs.parquet import ParquetRecords


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(53, 4))


@pytest.fixture
def written(X, tmp_path):
    """The same table in every form on disk."""
    np.save(tmp_path / "c.npy", X)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_parquet(tmp_path / "one.parquet", row_group_size=9)
    (tmp_path / "many" / "deeper").mkdir(parents=True)
    frame[:0].to_parquet(tmp_path / "many" / "0.parquet")
    frame[:20].to_parquet(tmp_path / "many" / "1.parquet")
    # The order of columns is that of the first file.
    frame[20:][["d", "b", "a", "c"]].to_parquet(tmp_path / "many" / "deeper" / "2.parquet", row_group_size=5)
    return tmp_path


FORMS = ["c.npy", "f.npy", "one.parquet", "many"]


@pytest.mark.parametrize("form", FORMS)
def test_chunks_are_the_table_and_records_are_taken_in_the_order_asked_for(X, written, form):
    records = read_records(written / form)
    assert records.shape == X.shape
    assert len(records) == len(X)
    for rows in (1, 7, 20, 53, 100):
        chunks = list(records.chunks(rows))
        assert [len(chunk) for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)
        np.testing.assert_array_equal(np.vstack(chunks), X)
        chunks[0][:] = 0.0  # a chunk belongs to its reader
    for indices in ([5], [52, 0, 17, 17, 3], []):
        np.testing.assert_array_equal(records.take(np.array(indices, dtype=int)), X[indices])


def test_parquet_columns_are_chosen_by_name_and_order(X, written):
    records = ParquetRecords(written / "many", columns=["c", "a"])
    assert records.columns == ["c", "a"]
    np.testing.assert_array_equal(next(records.chunks(53)), X[:, [2, 0]])


def test_whole_numbers_flags_and_missing_values_become_doubles(tmp_path):
    pd.DataFrame({"n": [1, 2], "flag": [True, False], "gap": [0.5, None]}).to_parquet(tmp_path / "t.parquet")
    (chunk,) = ParquetRecords(tmp_path / "t.parquet").chunks(5)
    np.testing.assert_array_equal(chunk, [[1, 1, 0.5], [2, 0, np.nan]])


def test_single_precision_is_remembered_and_read_as_double(X, tmp_path):
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    pd.DataFrame(X.astype(np.float32), columns=list("abcd")).to_parquet(tmp_path / "x.parquet")
    for name in ("x.npy", "x.parquet"):
        records = read_records(tmp_path / name)
        assert records.dtype == np.float32
        assert next(records.chunks(53)).dtype == np.float64


def test_an_array_is_known_to_be_mapped_however_it_is_cut(X, written):
    mapped = np.load(written / "c.npy", mmap_mode="r")
    assert is_mapped(mapped)
    assert is_mapped(mapped[3:20, 1:])
    assert is_mapped(np.asarray(mapped))
    assert not is_mapped(X)
    assert not is_mapped(mapped[[1, 2]])  # a copy
    assert not is_mapped(mapped[0])
    np.testing.assert_array_equal(next(MappedRecords(mapped[3:20, 1:]).chunks(99)), X[3:20, 1:])


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_changes_made_to_a_map_survive_being_read(written, mode):
    mapped = np.load(written / "c.npy", mmap_mode=mode)
    mapped[4] = 7.0
    for _ in range(2):
        (chunk,) = MappedRecords(mapped).chunks(53)
        np.testing.assert_array_equal(chunk[4], 7.0)


def test_chunks_are_whole_blocks_of_bounded_size():
    assert chunk_rows(50) % 1024 == 0
    assert 8 * 50 * chunk_rows(50) <= CHUNK_BYTES
    assert chunk_rows(10**6) == 1024


def test_the_next_item_is_made_while_this_one_is_used():
    made = [threading.Event() for _ in range(3)]

    def items():
        for i in range(3):
            made[i].set()
            yield i

    coming = prefetch(items())
    assert next(coming) == 0
    assert made[1].wait(timeout=10)
    assert not made[2].is_set()
    assert list(coming) == [1, 2]


def test_an_error_of_the_reader_reaches_the_caller_and_leaves_no_thread():
    def items():
        yield 1
        raise OSError("the disk is gone")

    before = threading.active_count()
    must_raise(OSError, "the disk is gone", list, prefetch(items()))
    left = prefetch(iter(range(5)))
    next(left)
    left.close()
    assert threading.active_count() == before


def test_what_cannot_be_read_is_named(tmp_path):
    for nowhere in ("nowhere", "nowhere.npy"):
        must_raise(FileNotFoundError, nowhere, read_records, tmp_path / nowhere)
    must_raise(ValueError, r"no files that end in \.parquet", read_records, tmp_path)
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    must_raise(ValueError, r"no Parquet file.*\.npy or Parquet", read_records, tmp_path / "text.csv")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    must_raise(ValueError, r"flat\.npy must hold a table of numbers", read_records, tmp_path / "flat.npy")
    pd.DataFrame({"a": [1.0], "job": ["nurse"]}).to_parquet(tmp_path / "words.parquet")
    must_raise(ValueError, r"column 'job' .* not numbers: encode", read_records, tmp_path / "words.parquet")
    must_raise(ValueError, "no column 'b'; it has a, job", ParquetRecords, tmp_path / "words.parquet", columns=["b"])


def test_files_of_a_folder_must_have_the_same_columns_and_a_device_does_not_read_them(written, tmp_path):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "many" / "3.parquet")
    must_raise(ValueError, r"3\.parquet lacks \['b', 'c', 'd'\]", ParquetRecords, tmp_path / "many")
    with pytest.raises(ValueError, match="engine='torch' keeps all records on the device"):
        find_records(written / "one.parquet", "torch")
    assert find_records(np.load(written / "c.npy", mmap_mode="r"), "torch") is None  # copied to the device as ever
