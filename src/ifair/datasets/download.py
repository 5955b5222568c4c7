"""Fetching a file from its public source: streamed, checked, and only then moved into place."""

import errno
import gzip
import hashlib
import os
import shutil
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path

from ifair.datasets.about import DataFile, Origin
from ifair.datasets.local_files import Report, cache_folder, gunzip, list_places, locate
from ifair.errors import IfairError
from ifair.files import replace_file

TIMEOUT = 30.0
# The largest archive that carries a file has 28 MB.
ARCHIVE_LIMIT = 100_000_000
_SCRATCH = ".fetch-"


class _OriginError(Exception):
    """One origin did not give the file; the next one may."""


def fetch_file(file: DataFile, report: Report | None = None) -> Path:
    """Make sure that a file is under ``IFAIR_DATA`` or in the cache; ``report`` gets a line of text for every step."""
    present = locate(file)
    if present is not None:
        return present
    say = report or (lambda _: None)
    destination = cache_folder() / file.path
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        for old in destination.parent.glob(_SCRATCH + "*"):
            # Left behind by processes that were killed; nothing ever reads it.
            if time.time() - old.stat().st_mtime > 86_400:
                shutil.rmtree(old, ignore_errors=True)
        # Every fetch works in a folder of its own on the same disk: two processes cannot mix their bytes,
        # and the move at the end is atomic. Whatever goes wrong, the folder goes away with all that is in
        # it.
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=destination.parent) as scratch:
            made = _assemble(file, Path(scratch), say) if file.parts else _download(file, Path(scratch), say)
            try:
                with replace_file(destination) as place:
                    os.replace(made, place)
            except PermissionError:
                # Windows refuses while another process reads the file, which that process has just fetched
                # itself.
                if locate(file) is None:
                    raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
        reason = "the disk is full" if full else error.strerror or str(error)
        raise IfairError(
            f"{file.path} cannot be written to {destination.parent}: {reason}. Nothing was left behind. "
            f"Set IFAIR_CACHE to a folder with room, or IFAIR_DATA to one that holds the file."
        ) from error
    say(f"{file.path}: in place at {destination}")
    return destination


def explain_missing(file: DataFile, attempts: Sequence[str]) -> IfairError:
    """The error for a file that is neither here nor to be had: where it was looked for, where to get it."""
    lines = [f"{file.path} is not on this machine and was not downloaded."]
    lines += [f"  looked for: {path}" for path in list_places(file)]
    lines += [f"  download: {attempt}" for attempt in attempts]
    for wanted in file.parts or (file,):
        for number, origin in enumerate(wanted.origins):
            packed = ", unpack it" if origin.url.endswith(".gz") else ""
            inside = f" and take {origin.member} out of it" if origin.member else packed
            lines.append(f"  {'     or' if number else 'by hand'}: get {origin.url}{inside}")
        lines.append(f"           check that it has sha256 {wanted.sha256}")
        lines.append(f"           and put it at {cache_folder() / wanted.path}")
    if file.parts:
        lines.append(f"           ifair then makes {file.name} from it")
    lines.append("  or set IFAIR_DATA to a folder that holds the file under the same relative path.")
    return IfairError("\n".join(lines))


def _download(file: DataFile, scratch: Path, say: Report, whole: DataFile | None = None) -> Path:
    """Try one origin after the other; return the checked file in the scratch folder."""
    attempts = []
    for number, origin in enumerate(file.origins):
        say(f"{file.path}: fetching {origin.url}")
        target = scratch / f"{number}-{file.name}"
        try:
            if origin.member is None and not origin.url.endswith(".gz"):
                _stream(origin.url, target, file.size)
            else:
                packed = scratch / f"{number}-archive"
                _stream(origin.url, packed, ARCHIVE_LIMIT)
                target.write_bytes(_unpack(packed, origin, file))
            with open(target, "rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != file.sha256:
                size = target.stat().st_size
                raise _OriginError(f"wrong checksum: {size:,} bytes with sha256 {found} instead of {file.sha256}")
            return target
        except _OriginError as error:
            attempts.append(f"{origin.url}: {error}")
            say(f"{file.path}: {error}")
            target.unlink(missing_ok=True)
    raise explain_missing(whole or file, attempts or ["no public address is known"])


def _assemble(file: DataFile, scratch: Path, say: Report) -> Path:
    """Make a file that is not published itself from the published ones."""
    assert file.assemble is not None, f"{file.path} has parts but no way to assemble them"
    contents = []
    for part in file.parts:
        # The published files hold free text about people: they are read, and go away with the scratch folder.
        path = locate(part) or _download(part, scratch, say, whole=file)
        contents.append(path.read_bytes())
    content = file.assemble(contents, file.name)
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise IfairError(f"{file.name} made from its published parts has sha256 {found} instead of {file.sha256}")
    target = scratch / file.name
    target.write_bytes(gzip.compress(content, 9, mtime=0))
    return target


def _stream(url: str, target: Path, limit: int) -> None:
    """Copy a URL to a file, in pieces, giving up beyond ``limit`` bytes. Local errors remain OSErrors."""
    if url.partition(":")[0] not in ("https", "http", "file"):
        raise _OriginError("not a web address")
    request = urllib.request.Request(url, headers={"User-Agent": "ifair"})  # noqa: S310 - checked above
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310 - checked above
    except (OSError, HTTPException, ValueError) as error:
        raise _OriginError(_name_reason(error)) from error
    done = 0
    with response, open(target, "wb") as out:
        announced = response.headers.get("Content-Length")
        while True:
            try:
                piece = response.read(1 << 16)
            except (OSError, HTTPException) as error:
                raise _OriginError(f"broke off after {done:,} bytes ({_name_reason(error)})") from error
            if not piece:
                break
            done += len(piece)
            if done > limit:
                raise _OriginError(f"larger than the expected {limit:,} bytes")
            out.write(piece)
    if announced is not None and announced.isdigit() and done < int(announced):
        raise _OriginError(f"broke off after {done:,} of {int(announced):,} bytes")


def _unpack(packed: Path, origin: Origin, file: DataFile) -> bytes:
    """Read a gzip file, or a member of a zip archive: nothing else in it is looked at, and no name becomes a path."""
    try:
        if origin.member is None:
            content = gunzip(packed.read_bytes(), file.size)
        else:
            with zipfile.ZipFile(packed) as archive, archive.open(origin.member) as member:
                content = member.read(file.size + 1)
    except Exception as error:  # a damaged or hostile archive fails in many ways
        raise _OriginError(f"the archive cannot be read ({_name_reason(error)})") from error
    if content is None or len(content) > file.size:
        raise _OriginError("the archive does not hold the file, or a larger one")
    return content


def _name_reason(error: BaseException) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())[:200] or type(error).__name__
