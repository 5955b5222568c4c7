"""Fits and transforms of tables on disk: the results of tables in memory, in a fraction of the memory."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from ifair import IFair
from ifair.engines.parquet import ParquetRecords
from ifair.models import starts

M, N, K = 30_000, 5, 3  # several chunks
FORMS = ["memory map", "path of an array", "path of a folder", "reader"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(M, N)) + 10.0 * rng.normal(size=N)


@pytest.fixture(scope="module")
def on_disk(X, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    np.save(folder / "x.npy", X)
    (folder / "parquet").mkdir()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame[:7000].to_parquet(folder / "parquet" / "1.parquet", row_group_size=3000)
    frame[7000:].to_parquet(folder / "parquet" / "2.parquet")
    return {
        "memory map": np.load(folder / "x.npy", mmap_mode="r"),
        "path of an array": str(folder / "x.npy"),
        "path of a folder": folder / "parquet",
        "reader": ParquetRecords(folder / "parquet"),
    }


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("ifair.engines.records.CHUNK_BYTES", 8 * N * 5000)


def fitted(X, **options):
    model = IFair(K, protected=[1], max_iter=4, n_restarts=2, random_state=0, **{"pairs": 20, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": "moments", "n_jobs": 2},
        {"init": "principal", "freeze_protected": True},
        {"fairness_weight": 0.0, "pairs": 5},
    ],
    ids=lambda options: "-".join(options) or "landmarks",
)
@pytest.mark.parametrize("form", FORMS)
def test_a_fit_from_disk_is_that_from_memory_bit_by_bit(X, on_disk, form, options):
    expected, actual = fitted(X, **options), fitted(on_disk[form], **options)
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(actual.alpha_, expected.alpha_)
    np.testing.assert_array_equal(actual.shares_, expected.shares_)
    assert actual.loss_ == expected.loss_


def test_starts_of_a_large_table_are_drawn_from_a_sample_wherever_it_is(X, on_disk, monkeypatch):
    monkeypatch.setattr(starts, "SAMPLED", 500)
    expected, actual = fitted(X), fitted(on_disk["path of a folder"])
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    first = starts.sampled(_engine(X), X, K, np.zeros(N), np.random.RandomState(0))
    assert first.shape == (500, N)
    assert len({tuple(row) for row in first} & {tuple(row) for row in X}) == 500


def _engine(X):
    from ifair.engines.local import LocalEngine

    return LocalEngine(X)


@pytest.mark.parametrize("form", FORMS)
def test_records_on_disk_are_represented_as_those_in_memory(X, on_disk, form):
    model = fitted(on_disk[form])
    named = pd.DataFrame(X, columns=list("abcde")) if form in ("path of a folder", "reader") else X
    expected = model.transform(named)
    # A frame lies in memory column by column, which changes the rounding of products.
    np.testing.assert_allclose(model.transform(on_disk[form]), expected, rtol=0 if named is X else 1e-12)
    np.testing.assert_allclose(model.membership(on_disk[form]), model.membership(named), rtol=1e-12)
    parts = list(model.transform_blocks(on_disk[form], rows=8192))
    assert [len(part) for part in parts] == [8192, 8192, 8192, M - 3 * 8192]
    np.testing.assert_allclose(np.vstack(parts), expected, rtol=1e-12)


def test_blocks_of_a_table_in_memory_are_represented_too(X):
    model = fitted(pd.DataFrame(X, columns=list("abcde")))
    parts = list(model.transform_blocks(pd.DataFrame(X, columns=list("abcde")), rows=20_000))
    np.testing.assert_allclose(np.vstack(parts), model.transform(pd.DataFrame(X, columns=list("abcde"))), rtol=1e-12)


def test_names_of_parquet_columns_are_kept_and_can_be_protected(on_disk):
    model = fitted(on_disk["path of a folder"]).set_params(protected="b")
    assert list(model.feature_names_in_) == list("abcde")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(on_disk["path of a folder"])
    np.testing.assert_array_equal(model.protected_mask_, [False, True, False, False, False])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(ParquetRecords(on_disk["path of a folder"], columns=["a", "b", "c", "e", "d"]))


def test_single_precision_on_disk_gives_single_precision(X, tmp_path):
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected, actual = fitted(X.astype(np.float32)), fitted(mapped)
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    represented = actual.transform(mapped)
    assert represented.dtype == np.float32
    np.testing.assert_array_equal(represented, expected.transform(X.astype(np.float32)))


@pytest.mark.parametrize("pairs", ["all", 60_000])
def test_all_pairs_of_many_records_on_disk_are_refused(tmp_path, pairs):
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", shape=(60_000, 2))
    with pytest.raises(ValueError, match=r"60,000 x 60,000 pairs.*pairs=1000.*moments"):
        IFair(2, pairs=pairs).fit(mapped)


def test_all_pairs_of_few_records_on_disk_are_computed(X, tmp_path):
    np.save(tmp_path / "x.npy", X[:300])
    expected = fitted(X[:300], pairs="all")
    np.testing.assert_array_equal(fitted(tmp_path / "x.npy", pairs="all").prototypes_, expected.prototypes_)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_missing_is_found_wherever_it_is(X, tmp_path, value):
    bad = X.copy()
    bad[23_456, 3] = value
    np.save(tmp_path / "bad.npy", bad)
    where = r"NaN or infinity: .* in record 23456, column 3"
    with pytest.raises(ValueError, match=where):
        fitted(tmp_path / "bad.npy")
    with pytest.raises(ValueError, match=where):
        fitted(X).transform(tmp_path / "bad.npy")


def test_tables_that_cannot_work_are_refused_as_in_memory(X, tmp_path):
    np.save(tmp_path / "large.npy", np.where(np.arange(N) == 2, 1e70, X[:50]))
    with pytest.raises(ValueError, match="column 2 holds values as large as 1e\\+70"):
        fitted(tmp_path / "large.npy")
    np.save(tmp_path / "few.npy", X[:2])
    with pytest.raises(ValueError, match="n_prototypes=3 needs at least 3 records"):
        fitted(tmp_path / "few.npy")
    np.save(tmp_path / "one.npy", X[:1])
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        fitted(tmp_path / "one.npy")
    np.save(tmp_path / "narrow.npy", X[:9, :3])
    with pytest.raises(ValueError, match="expecting 5 features"):
        fitted(X).transform(tmp_path / "narrow.npy")


# ---- memory ----

# In a process of its own, whose peak is its own too: fit, represent everything, and say what that took.
MEASURED = """
import json, sys, warnings
from pathlib import Path
import numpy as np
from ifair import IFair

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))

warnings.simplefilter("ignore")
path, pairs, in_memory = sys.argv[1], sys.argv[2], sys.argv[3] == "memory"
import pyarrow.parquet
before = status("VmRSS")
X = np.load(path) if in_memory else path
pairs = int(pairs) if pairs.isdigit() else pairs
model = IFair(5, protected=[0], pairs=pairs, n_restarts=1, max_iter=2, random_state=0).fit(X)
mean = sum(block.sum(axis=0) for block in model.transform_blocks(X)) / (len(X) if in_memory else int(sys.argv[4]))
learned = (model.shares_ @ model.prototypes_).tolist()
print(json.dumps({"before": before, "peak": status("VmHWM"), "loss": model.loss_, "means": [mean.tolist(), learned]}))
"""


def measured(path, pairs, n_records, where="disk"):
    command = [sys.executable, "-c", MEASURED, str(path), str(pairs), where, str(n_records)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(folder, n_records, n_columns, parquet):
    """Random records, written block by block."""
    rng, left = np.random.default_rng(0), n_records
    names = [f"c{j}" for j in range(n_columns)]
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_records, n_columns)}
    with open(folder / "x.npy", "wb") as array:
        np.lib.format.write_array_header_1_0(array, header)
        while left:
            block = rng.normal(size=(min(left, 100_000), n_columns))
            array.write(block.tobytes())
            if parquet:
                file = folder / "parquet" / f"{n_records - left:09d}.parquet"
                file.parent.mkdir(exist_ok=True)
                pd.DataFrame(block, columns=names).to_parquet(file, compression=None)
            left -= len(block)


def needs_linux():
    if not sys.platform.startswith("linux"):
        pytest.skip("peak memory is read from /proc")


def test_a_table_on_disk_takes_a_fraction_of_its_size_in_memory(tmp_path):
    """160 MB on disk; in memory the table, its centred copy and their checks take several times that."""
    needs_linux()
    n_records, n_columns = 400_000, 50
    write(tmp_path, n_records, n_columns, parquet=True)
    sizes = {where: measured(tmp_path / "x.npy", "moments", n_records, where) for where in ("disk", "memory")}
    sizes["parquet"] = measured(tmp_path / "parquet", "moments", n_records)
    above = {name: size["peak"] - size["before"] for name, size in sizes.items()}
    assert above["memory"] > 320, above
    assert above["disk"] < 150, above
    assert above["parquet"] < 250, above  # pages of every column are decoded at a time
    assert len({size["loss"] for size in sizes.values()}) == 1
    np.testing.assert_allclose(*sizes["disk"]["means"], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "pairs"), [("x.npy", 20), ("parquet", "moments")])
def test_two_gigabytes_are_fitted_and_represented_in_less_than_one(tmp_path, form, pairs):
    needs_linux()
    n_records = 5_000_000
    write(tmp_path, n_records, 50, parquet=form == "parquet")
    on_disk = sum(file.stat().st_size for file in (tmp_path / "parquet").glob("*")) if form == "parquet" else None
    assert (on_disk or (tmp_path / form).stat().st_size) > 1.9e9
    took = measured(tmp_path / form, pairs, n_records)
    assert took["peak"] < 1000, took
    # Mean memberships are summed up in the fit, mean representations afterwards: both saw every record.
    np.testing.assert_allclose(*took["means"], rtol=1e-9)
