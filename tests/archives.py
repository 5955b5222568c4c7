"""Archives made in memory, and model files with something wrong in them."""

import io
import json
import zipfile

from ifair.persist.archive import pack, unpack
from ifair.persist.manifest import write_manifest
from ifair.persist.schema import list_types, read_schema


def zipped(*members):
    """A compressed zip archive of names and contents; names may come twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def members_of(path):
    return unpack(path.read_bytes(), 2**30)


def forge(path, payload, types=None):
    """A model file whose manifest fits whatever the payload holds."""
    types = list_types(read_schema(unpack(payload, 2**30))) if types is None else types
    path.write_bytes(pack({"manifest.json": write_manifest(payload, {}, types, []), "model.skops": payload}))
    return path


def change_manifest(path, **fields):
    members = members_of(path)
    manifest = json.loads(members["manifest.json"]) | fields
    path.write_bytes(pack({**members, "manifest.json": json.dumps(manifest).encode()}))
