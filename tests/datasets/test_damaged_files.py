"""Damaged files: a clear error, never a stack trace from the depths, never a silently wrong frame."""

import hashlib

import pytest
from damage import damage
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from refusals import must_raise

from ifair.data import DataError, from_table, load
from ifair.datasets.about import DataFile
from ifair.datasets.local_files import read_verified
from ifair.datasets.registry import find_files

BOUNDED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
PUBLISHED = b"39, State-gov, 77516, Bachelors\n" * 20


@given(rng=st.randoms(use_true_random=False))
@BOUNDED
def test_no_altered_byte_passes_the_checksum(rng, tmp_path):
    file = DataFile("adult.data", hashlib.sha256(PUBLISHED).hexdigest(), len(PUBLISHED))
    path = tmp_path / "adult.data"
    path.write_bytes(PUBLISHED)
    assert read_verified(path, file) == PUBLISHED
    path.write_bytes(damaged := damage(PUBLISHED, rng))
    if damaged != PUBLISHED:
        must_raise(DataError, r"adult\.data is not the published file", read_verified, path, file)


@pytest.mark.data
@pytest.mark.parametrize("damaged", [0, -1])
@pytest.mark.parametrize("name", ["compas", "census", "airbnb", "xing"])
def test_a_loader_reads_no_file_but_the_published_one(real_data, tmp_path, monkeypatch, name, damaged):
    files = find_files(name)
    for file in files:
        (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file.path).symlink_to(real_data / file.path)
    (tmp_path / files[damaged].path).unlink()
    (tmp_path / files[damaged].path).write_bytes(PUBLISHED)
    monkeypatch.setenv("IFAIR_DATA", str(tmp_path))
    must_raise(DataError, f"{files[damaged].name} is not the published file", load, name)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of columns that hold nothing to learn from
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(str.encode),
        st.lists(st.text('ab1,;"\n\x00é ', max_size=12), max_size=8).map(
            lambda lines: "\n".join(["sex,age", *lines]).encode()
        ),
    )
)
@example(content=b"sex,\n\x00,\x00\n,")
@BOUNDED
def test_any_bytes_as_a_users_csv_give_a_dataset_or_a_clear_error(content, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    try:
        dataset = from_table(path, protected="sex")
    except DataError:
        return
    assert len(dataset.frame) == len(dataset.group) > 0
