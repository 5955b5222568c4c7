"""Finding a dataset's file on this machine, and trusting it only if its checksum is right."""

import hashlib
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

from ifair.datasets.about import DataFile
from ifair.errors import IfairError

Report = Callable[[str], None]


def data_folder() -> Path | None:
    """The folder named by ``IFAIR_DATA``, which ifair only reads; None where the variable is not set."""
    named = os.environ.get("IFAIR_DATA", "").strip()
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise IfairError(f"IFAIR_DATA names {folder}, which is not a folder")
    return folder


def cache_folder() -> Path:
    """The folder where downloads are kept: ``IFAIR_CACHE``, else ifair's part of the user's cache folder."""
    named = os.environ.get("IFAIR_CACHE", "").strip()
    if named:
        return Path(named).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME", "").strip()
    if shared:
        return Path(shared).expanduser() / "ifair"
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ifair" / "Cache"
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ifair"
    except RuntimeError as error:
        raise IfairError("there is no home folder to keep downloads in; set IFAIR_CACHE to a folder") from error


def list_places(file: DataFile) -> list[Path]:
    """Where a file is looked for, in order: under ``IFAIR_DATA``, then in the cache."""
    folders = [data_folder(), cache_folder()]
    return [folder / file.path for folder in folders if folder is not None]


def locate(file: DataFile) -> Path | None:
    """Where a file is on this machine, checked; None where it is not.

    A damaged file in the cache counts as absent, since a fetch replaces it. One under ``IFAIR_DATA`` was put
    there by a person and is an error.
    """
    return _find(file)[0]


def read_file(file: DataFile, download_if_missing: bool = True) -> bytes:
    """Return the checked content of a file (unpacked, for ``.gz``), downloading it if need be."""
    _, content = _find(file)
    if content is not None:
        return content
    # The network code is needed only now.
    from ifair.datasets.download import explain_missing, fetch_file

    if not download_if_missing:
        raise explain_missing(file, ["not tried, as download_if_missing=False"])
    return read_verified(fetch_file(file), file)


def _find(file: DataFile) -> tuple[Path, bytes] | tuple[None, None]:
    *named, cached = list_places(file)
    for path in named:
        if path.is_file():
            return path, read_verified(path, file)
    try:
        return cached, read_verified(cached, file)
    except (IfairError, FileNotFoundError, NotADirectoryError):
        return None, None


def read_verified(path: Path, file: DataFile) -> bytes:
    """Read a file, and refuse it unless its content has the right checksum."""
    try:
        packed = path.read_bytes() if path.stat().st_size <= 2 * file.size + 1_000_000 else None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise IfairError(f"{path} cannot be read: {error.strerror or error}") from error
    content = packed
    if packed is not None and path.suffix == ".gz":
        content = gunzip(packed, file.size)
    found = "another size" if content is None else f"sha256 {hashlib.sha256(content).hexdigest()}"
    if content is None or not found.endswith(file.sha256):
        raise IfairError(
            f"{path} is not the published file: it is cut short, altered or damaged (it has {found} instead "
            f"of sha256 {file.sha256}). Put the right one in its place, or remove it to have it downloaded."
        )
    return content


def gunzip(packed: bytes, limit: int) -> bytes | None:
    """Unpack gzip data of at most ``limit`` bytes; None where it is damaged, cut short or larger."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(packed, limit + 1)
    except zlib.error:
        return None
    return content if unpacker.eof and len(content) <= limit else None
