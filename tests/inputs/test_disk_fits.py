"""Fits and transforms of tables on disk: the results of tables in memory, in a fraction of the memory."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from quiet import fit_quietly
from refusals import must_raise

from ifair import LFR, IFair
from ifair.engines.engine import LocalEngine
from ifair.inputs.parquet import ParquetRecords
from ifair.inputs.table import ColumnStatistics
from ifair.models import starts

M, N, K = 5500, 5, 3  # several chunks, of two blocks each
FORMS = ["memory map", "path of an array", "path of a folder", "reader", "reader that decodes anew"]
NAMED = FORMS[2:]


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
    frame[:2100].to_parquet(folder / "parquet" / "1.parquet", row_group_size=900)
    frame[2100:].to_parquet(folder / "parquet" / "2.parquet")
    return {
        "memory map": np.load(folder / "x.npy", mmap_mode="r"),
        "path of an array": str(folder / "x.npy"),
        "path of a folder": folder / "parquet",
        "reader": ParquetRecords(folder / "parquet", spool=folder),
        "reader that decodes anew": ParquetRecords(folder / "parquet", spool=False),
    }


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("ifair.engines.streamed.CHUNK_BYTES", 8 * N * 2500)


def fitted(X, **options):
    model = IFair(K, protected=[1], max_iter=4, n_restarts=2, random_state=0, **{"pairs": 20, **options})
    return fit_quietly(model, X)


@pytest.fixture(scope="module")
def in_memory(X):
    """What is learned in memory with some options, which are learned with once."""
    return cache(partial(fitted, X))


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
def test_a_fit_from_disk_is_that_from_memory_bit_by_bit(on_disk, in_memory, form, options):
    expected, actual = in_memory(**options), fitted(on_disk[form], **options)
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(actual.alpha_, expected.alpha_)
    np.testing.assert_array_equal(actual.shares_, expected.shares_)
    assert actual.loss_ == expected.loss_


def test_starts_of_a_large_table_are_drawn_from_a_sample_wherever_it_is(X, people, on_disk, monkeypatch):
    monkeypatch.setattr(starts, "SAMPLED", 500)
    expected, actual = fitted(X), fitted(on_disk["path of a folder"])
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    tables, beside = (X, on_disk["path of a folder"]), (people["y"], people["gender"])
    assert_same_lfr(*(fitted_lfr(table, *beside) for table in tables))
    there = SimpleNamespace(n_records=M, statistics=ColumnStatistics(np.zeros(N), np.abs(X).max(axis=0)))
    first = starts.draw_sample(LocalEngine(X), there, K, np.random.RandomState(0)).X
    assert first.shape == (500, N)
    assert len({tuple(row) for row in first} & {tuple(row) for row in X}) == 500


@pytest.mark.parametrize("form", FORMS)
def test_records_on_disk_are_represented_as_those_in_memory(X, on_disk, form):
    model = fitted(on_disk[form])
    named = pd.DataFrame(X, columns=list("abcde")) if form in NAMED else X
    expected = model.transform(named)
    # A frame lies in memory column by column, which changes the rounding of products.
    np.testing.assert_allclose(model.transform(on_disk[form]), expected, rtol=0 if named is X else 1e-12)
    np.testing.assert_allclose(model.membership(on_disk[form]), model.membership(named), rtol=1e-12)
    for table in (on_disk[form], named):
        parts = list(model.transform_blocks(table, rows=2048))
        assert [len(part) for part in parts] == [2048, 2048, M - 2 * 2048]
        np.testing.assert_allclose(np.vstack(parts), expected, rtol=1e-12)


def test_names_of_parquet_columns_are_kept_and_can_be_protected(on_disk):
    model = fitted(on_disk["path of a folder"]).set_params(protected="b")
    assert list(model.feature_names_in_) == list("abcde")
    fit_quietly(model, on_disk["path of a folder"])
    np.testing.assert_array_equal(model.protected_mask_, [False, True, False, False, False])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(ParquetRecords(on_disk["path of a folder"], columns=["a", "b", "c", "e", "d"]))


def test_single_precision_on_disk_gives_single_precision_and_few_records_are_compared_in_all_pairs(X, tmp_path):
    single = X[:300].astype(np.float32)
    np.save(tmp_path / "x.npy", single)
    expected, actual = fitted(single, pairs="all"), fitted(tmp_path / "x.npy", pairs="all")
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    represented = actual.transform(tmp_path / "x.npy")
    assert represented.dtype == np.float32
    np.testing.assert_array_equal(represented, expected.transform(single))


@pytest.mark.parametrize("pairs", ["all", 60_000])
def test_all_pairs_of_many_records_on_disk_are_refused(tmp_path, pairs):
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", shape=(60_000, 2))
    with pytest.raises(ValueError, match=r"60,000 x 60,000 pairs.*pairs=1000.*moments"):
        IFair(2, pairs=pairs).fit(mapped)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_missing_is_found_wherever_it_is(X, in_memory, tmp_path, value):
    bad = X.copy()
    bad[4654, 3] = value
    np.save(tmp_path / "bad.npy", bad)
    where = r"NaN or infinity: .* in the record at index 4654, column 3"
    must_raise(ValueError, where, fitted, tmp_path / "bad.npy")
    must_raise(ValueError, where, in_memory().transform, tmp_path / "bad.npy")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (50, "column 2 holds values as large as 1e\\+70"),
        (2, "n_prototypes=3 needs at least 3 records"),
        (1, "minimum of 2 is required"),
    ],
)
def test_tables_that_cannot_work_are_refused_as_in_memory(X, in_memory, tmp_path, rows, message):
    np.save(tmp_path / "bad.npy", np.where(np.arange(N) == 2, 1e70, X[:50]) if rows == 50 else X[:rows])
    must_raise(ValueError, message, fitted, tmp_path / "bad.npy")
    np.save(tmp_path / "narrow.npy", X[:9, :3])
    must_raise(ValueError, "expecting 5 features", in_memory().transform, tmp_path / "narrow.npy")


# ---- LFR ----


@pytest.fixture(scope="module")
def people(X):
    """Labels and groups that have to do with the records."""
    rng = np.random.default_rng(1)
    gender = rng.choice(["f", "m"], size=M)
    y = np.where(X[:, 0] - X[:, 0].mean() + (gender == "f") + rng.normal(size=M) > 0, "hired", "not")
    return pd.DataFrame(X, columns=list("abcde")).assign(y=y, gender=gender, old=rng.random(M) < 0.3)


@pytest.fixture(scope="module")
def people_on_disk(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    people[:2700].to_parquet(folder / "1.parquet", row_group_size=1200)
    people[2700:].to_parquet(folder / "2.parquet")
    return folder


def fitted_lfr(X, y, sensitive_features=None, **options):
    model = LFR(K, max_iter=4, n_restarts=2, random_state=0, **options)
    return fit_quietly(model, X, y, sensitive_features=sensitive_features)


def assert_same_lfr(actual, expected):
    for name in ("prototypes_", "alpha_", "label_chances_", "shares_", "classes_"):
        np.testing.assert_array_equal(getattr(actual, name), getattr(expected, name), err_msg=name)
    assert (actual.loss_, actual.fairness_loss_) == (expected.loss_, expected.fairness_loss_)
    assert actual.group_labels_ == expected.group_labels_


@pytest.fixture(scope="module")
def lfr_in_memory(X, people):
    return fitted_lfr(X, people["y"], people["gender"])


@pytest.mark.parametrize("form", FORMS)
def test_an_lfr_from_disk_is_that_from_memory_bit_by_bit(on_disk, people, lfr_in_memory, form):
    expected = lfr_in_memory
    assert expected.fairness_loss_ > 0
    assert_same_lfr(fitted_lfr(on_disk[form], people["y"], people["gender"], n_jobs=2), expected)


@pytest.mark.parametrize("named", ["gender", ["gender"], ["gender", "old"]], ids=str)
def test_labels_and_groups_may_be_columns_of_a_parquet_table(X, people, people_on_disk, named):
    expected = fitted_lfr(X, people["y"], people[named])
    chosen = ParquetRecords(people_on_disk, columns=["a", "b", "c", "d", "e", "old"])
    actual = fitted_lfr(chosen, "y", named) if "old" in named else fitted_lfr(chosen.without(["old"]), "y", named)
    assert_same_lfr(actual, expected)


def test_named_columns_are_no_part_of_the_table_at_a_path(X, people, people_on_disk):
    actual = fitted_lfr(people_on_disk, "y", ["gender", "old"])
    assert list(actual.feature_names_in_) == list("abcde")
    assert_same_lfr(actual, fitted_lfr(X, people["y"], people[["gender", "old"]]))
    must_raise(ValueError, r"column 'gender' .* not numbers", fitted_lfr, people_on_disk, "y", "old")
    # Of the table it reads the columns that it knows.
    known = pd.DataFrame(X, columns=list("abcde"))
    np.testing.assert_allclose(actual.transform(people_on_disk), actual.transform(known), rtol=1e-12)
    np.testing.assert_array_equal(actual.predict(people_on_disk), actual.predict(known))
    assert sum(len(block) for block in actual.transform_blocks(people_on_disk)) == M


def test_protected_columns_on_disk_tell_groups_apart(X, tmp_path, people):
    coded = X.copy()
    rng = np.random.default_rng(2)
    coded[:, 1], coded[:, 3] = rng.integers(0, 3, size=M) - 1.0, np.arange(M) > M - 200  # the last group comes late
    np.save(tmp_path / "coded.npy", coded)
    for protected in ([1], [1, 3]):
        expected = fitted_lfr(coded, people["y"], protected=protected)
        assert len(expected.group_labels_) == 3 * len(protected)
        assert_same_lfr(fitted_lfr(tmp_path / "coded.npy", people["y"], protected=protected), expected)


def test_labels_and_groups_of_records_on_disk_are_checked(X, on_disk, people, tmp_path):
    folder, y, gender = on_disk["path of a folder"], people["y"], people["gender"]

    def refused(message, *given):
        must_raise(ValueError, message, fitted_lfr, *given)

    refused("has no column 'hired'; it has a, b, c, d, e", folder, "hired", gender)
    refused(r"1\.parquet has no column 'sex'", folder, y, "sex")
    for table in (X, on_disk["memory map"], on_disk["path of an array"]):
        refused("'y' names a column, which is read from Parquet files only", table, "y", gender)
        refused("'gender' names a column", table, y, "gender")
    refused("inconsistent numbers of samples", folder, y[:-1], gender)
    refused(r"sensitive_features has \[\d+\] entries", folder, y, gender[:-1])
    refused("Input y contains NaN: the record at index 5 has no label", folder, y.where(np.arange(M) != 5), gender)
    refused("only one class", folder, np.full(M, "hired"), gender)
    refused("Only binary classification", folder, np.arange(M) % 3, gender)
    people.assign(y=y.where(np.arange(M) != 7)).drop(columns="gender").to_parquet(tmp_path / "gap.parquet")
    refused("Input y contains NaN: the record at index 7", tmp_path / "gap.parquet", "y", "old")


# ---- memory ----

# In a process of its own, whose peak is its own too: fit, represent everything, and say what that took.
MEASURED = """
import json, sys, warnings
from pathlib import Path
import numpy as np
from ifair import LFR, IFair
from ifair.engines import streamed

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))

warnings.simplefilter("ignore")
path, pairs, in_memory = sys.argv[1], sys.argv[2], sys.argv[3] == "memory"
streamed.CHUNK_BYTES = int(sys.argv[5])
import pyarrow.parquet
before = status("VmRSS")
X = np.load(path) if in_memory else path
options = {"protected": [0], "n_restarts": 1, "max_iter": 2, "random_state": 0}
if pairs == "lfr":
    y = np.arange(int(sys.argv[4])) % 2
    model = LFR(5, **options | {"protected": None}).fit(X, y, sensitive_features=y[::-1])
else:
    model = IFair(5, pairs=int(pairs) if pairs.isdigit() else pairs, **options).fit(X)
mean = sum(block.sum(axis=0) for block in model.transform_blocks(X)) / (len(X) if in_memory else int(sys.argv[4]))
learned = (model.shares_ @ model.prototypes_).tolist()
print(json.dumps({"before": before, "peak": status("VmHWM"), "loss": model.loss_, "means": [mean.tolist(), learned]}))
"""


def measured(path, pairs, n_records, where="disk", chunk=8 * 2**20):
    command = [sys.executable, "-c", MEASURED, str(path), str(pairs), where, str(n_records), str(chunk)]
    # Arrow's own allocators keep what was freed, some 60 MB: what is measured is what is held.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(target, n_records, n_columns, rows=100_000):
    """Random records, written block by block: an array, or a folder of Parquet files."""
    rng = np.random.default_rng(0)
    starts = range(0, n_records, rows)
    parts = (rng.normal(size=(min(n_records - start, rows), n_columns)) for start in starts)
    if target.suffix == ".npy":
        with open(target, "wb") as file:
            header = {"descr": "<f8", "fortran_order": False, "shape": (n_records, n_columns)}
            np.lib.format.write_array_header_1_0(file, header)
            for part in parts:
                file.write(part.tobytes())
        return target
    target.mkdir()
    names = [f"c{j}" for j in range(n_columns)]
    for start, part in zip(starts, parts):
        pd.DataFrame(part, columns=names).to_parquet(target / f"{start:09d}.parquet", compression=None)
    return target


@pytest.fixture
def room(tmp_path):
    """A folder for large files, which pytest would keep for a while."""
    yield tmp_path
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()


needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_records", "rows", "chunk", "disk", "parquet"),
    [
        ("moments", 80_000, 10_000, 2**20, 110, None),
        ("moments", 200_000, 25_000, 2 * 2**20, 110, 150),
        ("moments", 400_000, 100_000, 8 * 2**20, 150, 250),
        ("lfr", 400_000, 100_000, 8 * 2**20, 250, 250),
    ],
)
def test_a_table_on_disk_takes_a_fraction_of_its_size_in_memory(room, kind, n_records, rows, chunk, disk, parquet):
    """32 to 160 MB on disk; in memory the table, its centred copy and their checks take several times that."""
    array = write(room / "x.npy", n_records, 50, rows)
    sizes = {where: measured(array, kind, n_records, where, chunk) for where in ("disk", "memory")}
    if parquet:
        sizes["parquet"] = measured(write(room / "parquet", n_records, 50, rows), kind, n_records, chunk=chunk)
    above = {name: size["peak"] - size["before"] for name, size in sizes.items()}
    assert above["memory"] > max(2 * 8 * 50 * n_records / 1e6, disk + 20), above
    assert above["disk"] < disk, above
    assert not parquet or above["parquet"] < parquet, above  # pages of every column are decoded at a time
    assert len({size["loss"] for size in sizes.values()}) == 1
    np.testing.assert_allclose(*sizes["disk"]["means"], rtol=1e-9)


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize(("form", "pairs"), [("x.npy", 20), ("parquet", "moments"), ("parquet", "lfr")])
def test_two_gigabytes_are_fitted_and_represented_in_less_than_one(room, form, pairs):
    n_records = 5_000_000  # 50 columns of doubles: 2 GB
    took = measured(write(room / form, n_records, 50), pairs, n_records)
    assert took["peak"] < 1000, took
    # Mean memberships are summed up in the fit, mean representations afterwards: both saw every record.
    np.testing.assert_allclose(*took["means"], rtol=1e-9)
