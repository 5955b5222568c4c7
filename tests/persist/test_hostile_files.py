"""Files that are not what they seem: each is refused with its name, and with what to do."""

import importlib
import io
import json
import pickle
import struct
import sys
import textwrap
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from archives import change_manifest, forge, members_of, zipped
from refusals import must_raise
from sklearn.preprocessing import StandardScaler

import ifair
from ifair.persist import ModelFileError
from ifair.persist.archive import pack, unpack

skops = pytest.importorskip("skops.io")


def refused(path, message, **options):
    """Both ways to open the file refuse it with its name."""
    for use in (ifair.load, ifair.inspect):
        assert str(must_raise(ModelFileError, message, use, path, **options)).startswith(f"{path}: ")


def payload_of(path):
    return unpack(members_of(path)["model.skops"], 2**30)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a model file"),
        (b"age,income\n1,2\n", "not a model file but something else; models are written by ifair.save and `ifair fit`"),
        (pickle.dumps({"a": 1}), "not a model file but a pickle, which may run any code"),
        (b"PK\x03\x04", "cut short or damaged: get a fresh copy"),
        (zipped(("a.txt", b"a")), "has no manifest.json, so ifair.save did not write it"),
        (skops.dumps(StandardScaler()), "save the model with ifair.save"),
    ],
    ids=["empty", "csv", "pickle", "four bytes", "another zip", "a file of skops"],
)
def test_what_is_no_model_file_is_told_so(tmp_path, content, message):
    path = tmp_path / "m.ifair"
    path.write_bytes(content)
    refused(path, message)


def test_a_truncated_file_and_any_altered_byte_of_the_payload_are_noticed(model_file, rng):
    content = bytearray(model_file.read_bytes())
    for share in (0.05, 0.3, 0.6, 0.9, 0.999):
        model_file.write_bytes(content[: int(share * len(content))])
        refused(model_file, "cut short or damaged")
    start = content.index(b"model.skops") + 11
    end = content.rindex(b"PK\x01\x02", 0, content.rindex(b"model.skops"))
    for position in rng.integers(start, end, 20):
        altered = content.copy()
        altered[position] ^= 0x55
        model_file.write_bytes(altered)
        refused(model_file, "damaged|altered")


def test_a_payload_changed_together_with_its_crc_and_a_manifest_that_hides_types_are_refused(model_file):
    members = members_of(model_file)
    model_file.write_bytes(pack({**members, "model.skops": members["model.skops"] + b"x"}))
    refused(model_file, "does not have the checksum in the manifest; the file was altered")
    model_file.write_bytes(pack(members))
    change_manifest(model_file, types=["builtins.dict"])
    must_raise(ModelFileError, "lists other types than it holds", ifair.load, model_file)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": "1"}, "no proper 'format'"),
        ({"format": True}, "no proper 'format'"),
        ({"format": 0}, "format 0, which never existed"),
        ({"sha256": None}, "no proper 'sha256'"),
        ({"kind": "other"}, "not that of an ifair model"),
        (
            {"format": 2, "ifair": "9.1.0", "anything": "new"},
            r"has format 2, written by ifair 9\.1\.0; .* upgrade ifair",
        ),
        *((manifest, "its manifest.json is not") for manifest in (b"{", b"[]", b"\xff\xfe", b"[" * 100_000)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_strange_manifest_is_refused(model_file, fields, message):
    if isinstance(fields, bytes):
        model_file.write_bytes(pack({**members_of(model_file), "manifest.json": fields}))
    else:
        change_manifest(model_file, **fields)
    refused(model_file, message)


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil", "a/b", "..", "C:\\evil", "sub/", "new\nline"])
def test_names_that_lead_out_of_the_archive_are_refused(model_file, name, tmp_path):
    model_file.write_bytes(pack({**members_of(model_file), name: b"evil"}))
    refused(model_file, "points out of the archive or is no plain name")
    assert list(tmp_path.iterdir()) == [model_file]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_do_not_belong_there_are_missing_or_come_twice_are_refused(model_file):
    members = members_of(model_file)
    model_file.write_bytes(pack({"manifest.json": members["manifest.json"]}))
    refused(model_file, "has no model.skops")
    forge(model_file, pack({"1.npy": b""}), types=[])
    refused(model_file, "has no schema.json")
    model_file.write_bytes(pack({**members, "evil.py": b"evil"}))
    refused(model_file, "holds 'evil.py', which does not belong there")
    forge(model_file, pack({**unpack(members["model.skops"], 2**30), "evil.py": b"evil"}))
    refused(model_file, "holds 'evil.py', which does not belong there")
    # Two readers may each take another one of two.
    model_file.write_bytes(zipped(*members.items(), *list(members.items())[:1]))
    refused(model_file, "holds 'manifest.json' more than once")


def test_a_zip_bomb_is_refused_wherever_it_is(model_file):
    zeros = bytes(40 * 2**20)
    model_file.write_bytes(zipped(("manifest.json", b"{}"), ("model.skops", zeros)))
    refused(model_file, "as a zip bomb does")
    inner = pack({"schema.json": b"{}", "1.npz": zipped(("data.npy", zeros))})
    for payload in (zipped(("schema.json", b"{}"), ("1.npy", zeros)), inner):
        refused(forge(model_file, payload, types=[]), "as a zip bomb does")


def test_a_zip_bomb_that_declares_to_be_small_takes_no_memory(tmp_path):
    # 64 MB of zeros behind a declared size of 100 bytes, with the checksum of the first 100.
    content = bytearray(zipped(("manifest.json", bytes(64 * 2**20))))
    for header, checksum in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
        place = content.rindex(header) + checksum
        struct.pack_into("<L", content, place, zlib.crc32(bytes(100)))
        struct.pack_into("<L", content, place + 8, 100)
    path = tmp_path / "m.ifair"
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].file_size == 100
    tracemalloc.start()
    refused(path, "manifest.json is not JSON")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 2**20


def test_a_file_larger_than_allowed_and_encrypted_members_are_refused(model_file):
    refused(model_file, "more than the 1,000 allowed; if you trust it, pass a larger max_bytes", max_bytes=1000)
    refused(model_file, "unpacks to .* more than the", max_bytes=model_file.stat().st_size)
    content = bytearray(model_file.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    model_file.write_bytes(content)
    refused(model_file, "is encrypted or oddly compressed")


EVIL = """
    from pathlib import Path
    Path(__file__).with_suffix(".ran").touch()

    class Evil:
        def __init__(self):
            self.value = 1

        def get_params(self, deep=True):
            return {}
"""


def test_unknown_types_are_imported_only_if_the_reader_vouches_for_them(tmp_path, monkeypatch):
    module, path = tmp_path / "evil_for_the_test.py", tmp_path / "evil.ifair"
    module.write_text(textwrap.dedent(EVIL))
    trace = module.with_suffix(".ran")
    monkeypatch.syspath_prepend(tmp_path)
    forge(path, skops.dumps(importlib.import_module(module.stem).Evil()))
    del sys.modules[module.stem]
    trace.unlink()
    unsafe = rf"^{path}: .*not known to be safe: evil_for_the_test\.Evil.*trusted=\['evil"
    must_raise(ModelFileError, unsafe, ifair.load, path)
    assert ifair.inspect(path)["steps"][0]["type"] == "evil_for_the_test.Evil"
    assert not trace.exists()
    assert module.stem not in sys.modules

    assert ifair.load(path, trusted=["evil_for_the_test.Evil"]).value == 1
    assert trace.exists()
    del sys.modules[module.stem]
    module.unlink()
    absent = "needs a package that is not installed .*evil_for_the_test"
    must_raise(ModelFileError, absent, ifair.load, path, trusted=["evil_for_the_test.Evil"])


@pytest.mark.parametrize(
    "node",
    [
        {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"},
        {"__class__": "eval", "__module__": "builtins", "__loader__": "TypeNode"},
        {"__class__": "getenv", "__module__": "os", "__loader__": "ObjectNode"},
        {"__class__": "PurePath", "__module__": "pathlib", "__loader__": "ObjectNode"},
    ],
    ids=lambda node: node["__class__"],
)
def test_a_smuggled_function_is_refused(model_file, node):
    payload = payload_of(model_file)
    schema = json.loads(payload["schema.json"])
    schema["content"]["content"]["verbose"] = node
    forge(model_file, pack({**payload, "schema.json": json.dumps(schema).encode()}))
    message = f"not known to be safe: {node['__module__']}.{node['__class__']}"
    must_raise(ModelFileError, message, ifair.load, model_file)


@pytest.mark.parametrize(
    "schema",
    [
        b"",
        b"[]",
        b"{}",
        b'{"__loader__": "ObjectNode"}',
        b"[" * 10**5,
        b'{"__loader__": "Nope", "__class__": "A", "__module__": "b"}',
    ],
    ids=["empty", "list", "no root", "no type", "deep", "unknown loader"],
)
def test_a_schema_that_makes_no_sense_is_refused(model_file, schema):
    forge(model_file, pack({"schema.json": schema}), types=["b.A"] if b"Nope" in schema else [])
    must_raise(ModelFileError, r"altered|cannot be r", ifair.load, model_file)


def test_an_array_that_is_no_plain_one_is_refused(model_file):
    huge, pickled = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for array in (huge.getvalue(), pickled.getvalue()):
        odd = {name: array for name in payload_of(model_file) if name.endswith(".npy")}
        forge(model_file, pack(payload_of(model_file) | odd))
        must_raise(ModelFileError, "cannot be rebuilt", ifair.load, model_file)


def test_what_is_no_estimator_or_not_there_is_refused(tmp_path):
    forge(tmp_path / "m.ifair", skops.dumps([1, 2]))
    must_raise(ModelFileError, "holds a list and no estimator", ifair.load, tmp_path / "m.ifair")
    must_raise(FileNotFoundError, "none.ifair", ifair.load, tmp_path / "none.ifair")
