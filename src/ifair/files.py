"""Files: what may be written where; written whole or not at all; held by one process at a time."""

import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ifair.errors import IfairError, missing_file, name_setting

# What this library writes, by a word; the formats of results (see ``ifair.results``) are kinds too.
KINDS = {
    "table": "a table",
    "model": "a model file",
    "onnx": "an ONNX model",
    "page": "a page of ifair",
    "text": "plain text",
    "journal": "a journal",
    "ifair-tuning": "a tuning",
    "ifair-evidence": "the evidence of an audit",
    "ifair-reproduce": "the results of a reproduction",
}
# Made of somebody's table: new files of these kinds are for their owner alone.
PRIVATE = frozenset(KINDS) - {"ifair-reproduce"}
_HEAD = 4096
_PAGE_TITLE = re.compile(rb"<title>(Fairness report|ifair):")
_FORMAT = re.compile(rb'"format": ?"([a-z-]+)"')


def check_regular(path: Path) -> None:
    """Refuse to read what is not there, what may not be read, and what is no file: a folder, a pipe, a device."""
    if path.is_dir() or not path.exists():
        raise IfairError(missing_file(path))
    if not path.is_file():
        raise IfairError(f"cannot read {path}: it is a pipe or a device; save its content to a file first")
    if not os.access(path, os.R_OK):
        raise IfairError(f"cannot read {path}: permission denied")


def check_output(
    path: Path, kind: str | None = None, *, inputs: Mapping[str, Path] | None = None, force: bool = False
) -> None:
    """Refuse, before any work, a file that cannot be written, or that would destroy another.

    An existing file must be of the kind that will be written, one of `KINDS`, or empty; with ``force`` of any kind.
    The inputs are files that are read, or written besides, by what to call them; links to them are found out.
    """
    for name, other in (inputs or {}).items():
        both = path.exists() and other.exists()
        if path.samefile(other) if both else os.path.realpath(path) == os.path.realpath(other):
            raise IfairError(f"the output {path} would replace {name} ({other}); give it another name")
    place = _find_place(path)
    if not place.parent.is_dir():
        raise IfairError(f"cannot write {path}: there is no folder {place.parent}")
    if not os.access(place.parent, os.W_OK) or (place.exists() and not os.access(place, os.W_OK)):
        raise IfairError(f"cannot write {path}: permission denied in {place.parent}")
    if kind is not None and not force and place.exists():
        found = _recognise_kind(place)
        # A CSV table is plain text.
        if found not in (kind, None) and (found, kind) != ("text", "table"):
            raise IfairError(
                f"{path} is there already and is {KINDS.get(found, found)}, not {KINDS[kind]}: "
                f"give the output another name, or replace the file with {name_setting('force', True)}"
            )


def _find_place(path: Path) -> Path:
    """Where a file really lies, through symbolic links; what is there and no regular file is refused."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IfairError(f"cannot write {path}: it is a folder")
    if os.path.lexists(place) and not place.is_file():
        raise IfairError(f"cannot write {path}: it is a device, a pipe or a link to itself, not a file")
    return place


def _recognise_kind(path: Path) -> str | None:
    """What a file is, by its first bytes: one of `KINDS`, or words for what this library does not write.

    None where nothing would be lost or nothing is known against it: an empty file.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return None
    if head.startswith(b"PK\x03\x04"):
        return "model" if b"manifest.json" in head else "a zip archive"
    if head.startswith((b"PAR1", b"\x1f\x8b")):
        return "table"
    if head[0] == 0x08 and head[1:2] < b"\x20":
        return "onnx"
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "page" if _PAGE_TITLE.search(head) else "a page that ifair did not write"
    if start.startswith(b'{"op_code"'):
        return "journal"
    if start.startswith((b"{", b"[")):
        named = _FORMAT.search(head)
        return named[1].decode() if named and named[1].decode() in KINDS else "other JSON"
    return "binary data" if b"\0" in head else "text"


@contextmanager
def replace_file(path: Path, *, kind: str | None = None) -> Iterator[Path]:
    """A place beside ``path`` to write to; moved into place at the end, or removed if something went wrong.

    A failure, an interrupt too, leaves ``path`` as it was. Symbolic links are followed. A file that is there keeps its
    permissions; a new one gets those that the system gives, or its owner's alone where the kind is `PRIVATE`.
    """
    place = _find_place(path)
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    temporary = place.parent / f".{place.name}.{secrets.token_hex(8)}"
    # Not `tempfile`, which makes all files for their owner alone: here the system applies the process's umask.
    create_file(temporary, 0o600 if kind in PRIVATE or mode is not None else 0o666)
    try:
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)


def create_file(path: Path, mode: int = 0o600) -> None:
    """Make an empty file with these permissions, less what the umask takes away; an OSError if anything is there."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))


def write_whole(path: Path, content: str | bytes, *, kind: str | None = None) -> None:
    """Write beside ``path``, then move into place; a failure (an OSError) leaves the old file as it was."""
    with replace_file(path, kind=kind) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def hold(place: Path, kind: str, *, mark: Path, user: str, error: type[IfairError]) -> Iterator[None]:
    """Use a place, a "folder" or a "journal", that others must not use at the same time; the mark is locked meanwhile.

    The system lets go of it when the process ends, however it ends. What stands in the way is told as an ``error``,
    another ``user``, a "run" or a "search", too.
    """
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        file = mark.open("a+")
    except OSError as failure:
        raise error(f"cannot use the {kind} {place}: {failure.strerror}") from failure
    try:
        with file:
            if not _lock(file, mark):
                raise error(f"another {user} is using {place}; wait for it, or name another {kind}")
            try:
                yield
            finally:
                # While it is held, so that nobody else's is taken away; Windows removes no open file.
                if os.name != "nt":
                    mark.unlink(missing_ok=True)
    finally:
        if os.name == "nt":
            with suppress(OSError):  # held by another
                mark.unlink(missing_ok=True)


def _lock(file: IO[str], path: Path) -> bool:
    """Lock an open file for this process, unless another has it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            return True
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever ended between opening and locking took the file away: somebody may hold the next one of that name.
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
