"""What a payload says about its model, read as data: nothing that it names is imported."""

import ast
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ifair.errors import ModelFileError

Node = dict[str, Any]
Members = Mapping[str, bytes]

# JSON takes ten times its length in memory.
SCHEMA_LIMIT = 64 * 2**20
PIPELINE = "sklearn.pipeline.Pipeline"
_SCALARS = {"<f8": "<d", "<f4": "<f", "<i8": "<q", "<i4": "<i", "|b1": "?"}


def read_schema(members: Members) -> Node:
    """The root of the tree of objects in the members of a payload."""
    content = members.get("schema.json")
    if content is None:
        raise ModelFileError("its model.skops has no schema.json; the file was altered: save the model anew")
    if len(content) > SCHEMA_LIMIT:
        raise ModelFileError(f"its schema has {len(content):,} bytes, more than the {SCHEMA_LIMIT:,} allowed")
    try:
        root = json.loads(content)
        if not isinstance(root, dict):
            raise TypeError("not an object")
        list(_walk_nodes(root))
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ModelFileError("its schema cannot be read; the file was altered: save the model anew") from error
    return root


def list_types(root: Node) -> set[str]:
    """Full names of all types and functions in the tree, those of plain JSON values left out."""
    return {name_type(node) for node in _walk_nodes(root) if node["__loader__"] != "JsonNode"}


def name_type(node: Node) -> str:
    return f"{node['__module__']}.{node['__class__']}"


def describe(node: Node, members: Members) -> dict[str, Any]:
    """An estimator: its type, its parameters, and the steps of a pipeline.

    By scikit-learn's convention what was learned ends in an underscore and what is private begins with one; the rest
    are parameters.
    """
    attributes = _read_attributes(node)
    if name_type(node) == PIPELINE and "steps" in attributes:
        pairs = [step["content"] for step in attributes["steps"]["content"]]
        steps = [{"name": _describe_value(name, members), **_describe_step(step, members)} for name, step in pairs]
        return {"type": PIPELINE, "steps": steps}
    names = [name for name in attributes if not name.startswith("_") and not name.endswith("_")]
    return {"type": name_type(node), "parameters": {name: _describe_value(attributes[name], members) for name in names}}


def _describe_step(node: Node, members: Members) -> dict[str, Any]:
    if node["__loader__"] == "JsonNode":  # "passthrough" or None
        return {"type": str(_describe_value(node, members)), "parameters": {}}
    return describe(node, members)


def _describe_value(node: Node, members: Members) -> Any:
    """A parameter as plain data, or a few words about it."""
    loader = node["__loader__"]
    if loader == "JsonNode":
        return json.loads(node["content"])
    if loader in ("ListNode", "TupleNode", "SetNode") or node.get("type") == "json":
        return [_describe_value(item, members) for item in node["content"]]
    if loader == "DictNode":
        return {key: _describe_value(item, members) for key, item in node["content"].items()}
    if loader == "NdArrayNode":
        return _describe_array(members.get(node["file"], b""))
    if loader == "ObjectNode":
        return describe(node, members)
    return name_type(node)


def _describe_array(content: bytes) -> Any:
    """A number out of NumPy's file format, or the form of an array in words."""
    try:
        wide = content[6] > 1
        length = struct.unpack("<I" if wide else "<H", content[8 : 12 if wide else 10])[0]
        start = 12 if wide else 10
        header = ast.literal_eval(content[start : start + length].decode("latin1").strip())
        dtype, shape = header["descr"], header["shape"]
        if shape == () and dtype in _SCALARS:
            return struct.unpack(_SCALARS[dtype], content[start + length :])[0]
    except (ValueError, SyntaxError, struct.error, KeyError, IndexError, TypeError, MemoryError, RecursionError):
        return "an array that cannot be read"
    return f"array of {dtype}, shape {shape}"


def _read_attributes(node: Node) -> dict[str, Node]:
    """Attributes of an object; none where its state is no dict."""
    state = node.get("content")
    content = state.get("content") if isinstance(state, dict) else None
    return content if isinstance(content, dict) else {}


def _walk_nodes(value: Any) -> Iterator[Node]:
    """All nodes of the tree, each checked to name its type."""
    if isinstance(value, dict):
        if "__loader__" in value:
            if not isinstance(value["__module__"], str | None) or not isinstance(value["__class__"], str | None):
                raise TypeError("a type without a name")
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _walk_nodes(item)
