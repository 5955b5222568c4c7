"""A file is there whole or not at all, and nothing else is lost by writing it."""

import os

import pytest
from archives import zipped
from refusals import must_raise

from ifair.errors import IfairError
from ifair.files import KINDS, PRIVATE, check_output, check_regular, replace_file, write_whole

posix = pytest.mark.skipif(os.name == "nt", reason="permissions and special files are other ones there")


def test_a_file_appears_when_all_of_it_is_written_and_the_umask_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask belongs to all threads"))
    path = tmp_path / "file"
    with replace_file(path) as place:
        place.write_text("new")
        assert not path.exists()
        assert place.parent == path.parent
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failure_and_text_that_cannot_be_written_leave_what_was_there(tmp_path, failure):
    path = tmp_path / "file"
    write_whole(path, "old")

    def fail():
        with replace_file(path) as place:
            place.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail()
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@posix
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_new_file_about_people_is_its_owners_alone_and_an_existing_one_keeps_its_permissions(tmp_path, kind):
    ours, plain = tmp_path / "ours", tmp_path / "plain"
    write_whole(ours, "text", kind=kind)
    plain.write_text("text")
    left = plain.stat().st_mode & 0o777
    assert ours.stat().st_mode & 0o777 == (left & 0o600 if kind in PRIVATE else left)
    for mode in (0o600, 0o640, 0o664):
        plain.chmod(mode)
        write_whole(plain, f"new {mode}", kind=kind)
        assert (plain.read_text(), plain.stat().st_mode & 0o777) == (f"new {mode}", mode)


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_one_and_what_it_points_to_is_written(tmp_path, exists):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


@posix
def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/null")
    for name in ("pipe", "loop", "folder", "device"):
        before = (tmp_path / name).lstat()
        for write in (check_output, lambda path: write_whole(path, "new")):
            must_raise(IfairError, r"cannot write .*(a folder|not a file)", write, tmp_path / name)
        must_raise(IfairError, r"pipe or a device|there is no file|is a folder", check_regular, tmp_path / name)
        assert (tmp_path / name).lstat().st_ino == before.st_ino


CONTENTS = {
    "model": zipped(("manifest.json", "{}")),
    "a zip archive": zipped(("letters.txt", "dear")),
    "table": b"PAR1\0\0",
    "onnx": b"\x08\x08\x12\x08skl2onnx",
    "page": b"<!doctype html>\n<html><title>Fairness report: people</title>",
    "a page": b"<!DOCTYPE html>\n<title>My home page</title>",
    "journal": b'{"op_code": 0}\n',
    "ifair-tuning": b'{\n "format": "ifair-tuning"\n}',
    "ifair-evidence": b'{"format": "ifair-evidence"}',
    "other JSON": b'{"name": "package", "format": "other"}',
    "text": b"to do: everything\n",
    "binary": b"\x7fELF\0\0",
    "nothing": b"",
}


@pytest.mark.parametrize("found", CONTENTS)
def test_a_file_of_another_kind_is_replaced_by_force_alone_and_an_empty_one_may_become_anything(tmp_path, found):
    path = tmp_path / "file"
    path.write_bytes(CONTENTS[found])
    for kind in KINDS:
        if found in (kind, "nothing") or (kind, found) == ("table", "text"):
            check_output(path, kind)
            continue
        must_raise(IfairError, f"is there already and is .*, not {KINDS[kind]}.*force=True", check_output, path, kind)
        check_output(path, kind, force=True)
