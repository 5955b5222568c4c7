"""Reading zip archives from strangers: bounded memory, plain names, nothing written to disk."""

import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping

from ifair.errors import ModelFileError

# A deflated stream can grow a thousandfold. Real models do not: random numbers hardly shrink.
RATIO_LIMIT = 200
# Small archives of many zeros are harmless whatever their ratio.
RATIO_FROM = 16 * 2**20
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_COPY = "get a fresh copy of the file"


def pack(members: Mapping[str, bytes]) -> bytes:
    """An archive of the members as they are, the same bytes for the same members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def unpack(data: bytes, limit: int) -> dict[str, bytes]:
    """The members of an archive, all of them in memory, which may have ``limit`` bytes together.

    What members declare is checked first, and no more of them is unpacked than they declare: a lie costs no memory.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise ModelFileError(f"the archive has no readable end; it was cut short or damaged: {_COPY}") from error
    with archive:
        infos = archive.infolist()
        _check_names([info.filename for info in infos])
        _check_size(sum(info.file_size for info in infos), len(data), limit)
        return {info.filename: _read_member(archive, info) for info in infos}


def _check_names(names: list[str]) -> None:
    for name in names:
        if not _PLAIN_NAME.fullmatch(name) or set(name) == {"."}:
            raise ModelFileError(
                f"it holds a member called {name!r}, which points out of the archive or is no plain name; "
                "ifair writes no such files: do not use it"
            )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise ModelFileError(f"it holds {repeated[0]!r} more than once; ifair writes no such files: do not use it")


def _check_size(unpacked: int, packed: int, limit: int) -> None:
    if unpacked > limit:
        raise ModelFileError(
            f"it unpacks to {unpacked:,} bytes, more than the {limit:,} allowed; if you trust it, pass a larger "
            "max_bytes"
        )
    if unpacked > RATIO_FROM and unpacked > RATIO_LIMIT * packed:
        raise ModelFileError(
            f"it unpacks to {unpacked:,} bytes from {packed:,}, as a zip bomb does and a model does not: do not use it"
        )


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ModelFileError(f"its member {info.filename!r} is encrypted or oddly compressed: do not use it")
    try:
        with archive.open(info) as member:
            content = member.read(info.file_size)  # without a size it would inflate everything
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise ModelFileError(f"its member {info.filename!r} is damaged ({error}): {_COPY}") from error
    if len(content) != info.file_size:
        raise ModelFileError(f"its member {info.filename!r} is not as long as it says: {_COPY}")
    return content
