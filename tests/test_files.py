"""A file is there whole or not at all."""

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
