"""The first member of a model file: what it is, who wrote it, and what must not have changed since."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from platform import python_version
from typing import Any

import ifair
from ifair.errors import ModelFileError

# Raised with every change that an older ifair could not read. Files of every earlier format stay readable.
FORMAT = 1
KIND = "ifair model"
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "skops")
_FIELDS = {
    "format": int,
    "ifair": str,
    "packages": dict,
    "created": str,
    "sha256": str,
    "about": dict,
    "types": list,
    "trust_needed": list,
}


def write_manifest(
    payload: bytes, about: Mapping[str, Any], types: Iterable[str], trust_needed: Iterable[str]
) -> bytes:
    """The manifest of a payload, as JSON."""
    fields = {
        "kind": KIND,
        "format": FORMAT,
        "ifair": ifair.__version__,
        "packages": {"python": python_version()} | {name: version(name) for name in PACKAGES},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": hashlib.sha256(payload).hexdigest(),
        "about": to_plain_data(about, "about"),
        "types": sorted(types),
        "trust_needed": sorted(trust_needed),
    }
    return (json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def read_manifest(content: bytes) -> dict[str, Any]:
    """The fields of a manifest, checked; one of a later format is refused before anything else is looked at."""
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFileError("its manifest.json is not JSON; the file was altered or damaged: save it anew") from error
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise ModelFileError("its manifest.json is not that of an ifair model: save the model with ifair.save")
    number = fields.get("format")
    if isinstance(number, int) and number > FORMAT:
        raise ModelFileError(
            f"it has format {number}, written by ifair {fields.get('ifair')}; ifair {ifair.__version__} reads formats "
            f"up to {FORMAT}: upgrade ifair"
        )
    for field, kind in _FIELDS.items():
        if type(fields.get(field)) is not kind:
            raise ModelFileError(f"its manifest.json has no proper {field!r}; the file was altered: save it anew")
    if fields["format"] < 1:
        raise ModelFileError(f"it has format {number}, which never existed; the file was altered: save it anew")
    return fields


def to_plain_data(value: Any, where: str) -> Any:
    """The same as plain JSON data; tuples become lists, NumPy's numbers Python's.

    Anything else is refused with its place, such as ``about['data']['mean']``.
    """
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ModelFileError(f"{where} has the key {key!r}; keys must be text")
        return {key: to_plain_data(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_data(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ModelFileError(f"{where} is {value}, which JSON cannot hold; use None")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ModelFileError(
        f"{where} is a {type(value).__name__}; it must be plain data: text, numbers, lists, dicts, None"
    )
