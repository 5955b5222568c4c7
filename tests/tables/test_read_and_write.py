"""Tables in blocks: what is read and written does not depend on where blocks end."""

from decimal import Decimal

import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError
from ifair.tables.read import read_blocks, read_table
from ifair.tables.write import BlockWriter

ENDINGS = ["csv", "tsv", "csv.gz", "parquet"]


@pytest.fixture
def people(rng):
    numbers = rng.normal(size=23) * 10.0 ** rng.integers(-20, 20, 23)
    return pd.DataFrame({"id": [f"{i:03d}" for i in range(23)], "x": numbers, "job": rng.choice(["a", 'b, "c"\n'], 23)})


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("rows", [1, 7, 23, 100])
def test_blocks_written_and_read_give_the_table(tmp_path, people, ending, rows):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"people.{ending}"
    with BlockWriter(path) as writer:
        for start in range(0, len(people), 5):
            writer.write(people.iloc[start : start + 5])
    blocks = list(read_blocks(path, rows))
    assert max(map(len, blocks)) <= rows
    whole = pd.concat(blocks)
    assert whole.index.tolist() == list(range(23))
    types = {"id": str, "x": float, "job": str}
    pd.testing.assert_frame_equal(whole.astype(types), people.astype(types), rtol=1e-15, atol=0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_or_a_block_with_other_columns_leaves_the_old_file_and_nothing_else(tmp_path, people, ending):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"people.{ending}"
    path.write_text("old")

    def write(*blocks):
        with BlockWriter(path) as writer:
            for block in blocks:
                writer.write(block)
            raise KeyboardInterrupt

    must_raise(KeyboardInterrupt, None, write, people)
    must_raise(DataError, "the first had", write, people, people[["x", "id", "job"]])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_decimals_of_parquet_are_numbers_and_no_table_or_columns_of_the_same_name_are_refused(tmp_path):
    pyarrow, path = pytest.importorskip("pyarrow"), tmp_path / "pay.parquet"
    pd.DataFrame({"pay": [Decimal("10.25"), None, Decimal("3.5")]}).to_parquet(path)
    for table in (read_table(path), pd.concat(read_blocks(path, 2))):
        assert table["pay"].dtype == float
        assert table["pay"].fillna(-1).tolist() == [10.25, -1, 3.5]
    pyarrow.parquet.write_table(pyarrow.table([[1, 2], [3, 4]], names=["pay", "pay"]), path)
    must_raise(DataError, "'pay'", list, read_blocks(path))
    path.write_bytes(b"PAR1 nonsense")
    for read in (read_table, lambda path: list(read_blocks(path))):
        must_raise(DataError, "is not a Parquet table", read, path)
