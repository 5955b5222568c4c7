"""A file is there whole or not at all."""

import os

import pytest

from ifair.files import replace_file, write_whole


def test_a_file_appears_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "file"
    with replace_file(path) as place:
        place.write_text("new")
        assert not path.exists()
        assert place.parent == path.parent
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, failure):
    path = tmp_path / "file"
    write_whole(path, "old")

    def fail():
        with replace_file(path) as place:
            place.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="permissions are set otherwise there")
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path):
    write_whole(tmp_path / "ours", "text")
    (tmp_path / "plain").write_text("text")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_writing_does_not_touch_the_umask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask belongs to all threads"))
    write_whole(tmp_path / "ours", "text")
