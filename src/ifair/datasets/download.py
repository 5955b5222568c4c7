"""Fetching a file from its public source: checked in memory, and only then put in place."""

import errno
import gzip
import hashlib
import io
import urllib.request
import zipfile
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path

from ifair.datasets.about import DataFile
from ifair.datasets.local_files import Report, cache_folder, gunzip, list_places, locate
from ifair.errors import IfairError
from ifair.files import write_whole

TIMEOUT = 30.0
# The largest archive that carries a file has 28 MB.
ARCHIVE_LIMIT = 100_000_000


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
        write_whole(destination, _assemble(file, say) if file.parts else _download(file, say))
    except OSError as error:
        # Windows refuses while another process reads the file, which that process has just fetched itself.
        if locate(file) is None:
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


def _download(file: DataFile, say: Report, whole: DataFile | None = None) -> bytes:
    """The checked content of a file, from the first origin that gives it."""
    attempts = []
    for origin in file.origins:
        say(f"{file.path}: fetching {origin.url}")
        is_packed = origin.member is not None or origin.url.endswith(".gz")
        try:
            content = _get(origin.url, ARCHIVE_LIMIT if is_packed else file.size)
            if is_packed:
                content = _unpack(content, origin.member, file.size)
            found = hashlib.sha256(content).hexdigest()
            if found != file.sha256:
                raise _OriginError(
                    f"wrong checksum: {len(content):,} bytes with sha256 {found} instead of {file.sha256}"
                )
            return content
        except _OriginError as error:
            attempts.append(f"{origin.url}: {error}")
            say(f"{file.path}: {error}")
    raise explain_missing(whole or file, attempts or ["no public address is known"])


def _assemble(file: DataFile, say: Report) -> bytes:
    """Make a file that is not published itself from the published ones."""
    assert file.assemble is not None, f"{file.path} has parts but no way to assemble them"
    contents = []
    for part in file.parts:
        # The published files hold free text about people, which never gets to the disk.
        here = locate(part)
        contents.append(_download(part, say, whole=file) if here is None else here.read_bytes())
    content = file.assemble(contents)
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise IfairError(f"{file.name} made from its published parts has sha256 {found} instead of {file.sha256}")
    return gzip.compress(content, 9, mtime=0)


def _get(url: str, limit: int) -> bytes:
    """What is at a URL, of at most ``limit`` bytes."""
    if url.partition(":")[0] not in ("https", "http", "file"):
        raise _OriginError("not a web address")
    request = urllib.request.Request(url, headers={"User-Agent": "ifair"})  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310 - checked above
            content: bytes = response.read(limit + 1)
            announced = response.headers.get("Content-Length") or ""
    except (OSError, HTTPException, ValueError) as error:
        raise _OriginError(_name_reason(error)) from error
    if len(content) > limit:
        raise _OriginError(f"larger than the expected {limit:,} bytes")
    if announced.isdigit() and len(content) < int(announced):
        raise _OriginError(f"broke off after {len(content):,} of {int(announced):,} bytes")
    return content


def _unpack(packed: bytes, member: str | None, limit: int) -> bytes:
    """Unpack gzip data, or a member of a zip archive: nothing else in it is looked at, and no name becomes a path."""
    try:
        if member is None:
            content = gunzip(packed, limit)
        else:
            with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(member) as file:
                content = file.read(limit + 1)
    except Exception as error:  # a damaged or hostile archive fails in many ways
        raise _OriginError(f"the archive cannot be read ({_name_reason(error)})") from error
    if content is None or len(content) > limit:
        raise _OriginError("the archive does not hold the file, or a larger one")
    return content


def _name_reason(error: BaseException) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())[:200] or type(error).__name__
