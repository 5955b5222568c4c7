"""Plain data: numbers, texts, lists and named values, as JSON that any strict reader takes, and compared with types."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from ifair.errors import IfairError

Number = float | None
"""None where it is undefined."""

MOST_NESTED = 30
"""Levels of lists and named values in a file; ours have about ten."""

LARGEST_WHOLE = 2**63 - 1
"""Of whole numbers in a file: what other languages can hold."""


class ResultsError(IfairError):
    """A file that is not what a command writes; the message says what to do."""


def format_json(data: Any, indent: int | None = None) -> str:
    """JSON as the standard has it: what is no finite number is null.

    Examples
    --------
    >>> format_json({"loss": float("nan"), "steps": [1, float("inf")]})
    '{"loss": null, "steps": [1, null]}'
    """
    try:
        return json.dumps(data, indent=indent, allow_nan=False)
    except ValueError:
        finite = map_leaves(lambda leaf: None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf, data)
        return json.dumps(finite, indent=indent, allow_nan=False)


def map_leaves(change: Callable[[Any], Any], data: Any) -> Any:
    """The same data with every value changed that is neither a list nor named values; tuples become lists."""
    if isinstance(data, dict):
        return {key: map_leaves(change, value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [map_leaves(change, value) for value in data]
    return change(data)


def parse_json(content: bytes) -> Any:
    """What a file of JSON holds, strictly.

    A ValueError says if it is not UTF-8, not JSON or damaged, names something twice, holds NaN, half a character or a
    number that is too large, or is nested too deeply.

    Examples
    --------
    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: 'a' is there twice
    """
    text = content.decode("utf-8")
    try:
        data = json.loads(
            text,
            object_pairs_hook=_name_once,
            parse_constant=_parse_float,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [data]
    for _ in range(MOST_NESTED):
        inside = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [value for values in inside for value in values]
    if level:
        raise ValueError("it is nested too deeply")
    if re.search(r"\\u[dD][89a-fA-F]", text):
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    return data


def _name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r:.60} is there twice")
    return found


def _parse_float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text:.20} is no number that can be worked with")
    return value


def _parse_int(text: str) -> int:
    if len(text) > 20 or abs(value := int(text)) > LARGEST_WHOLE:
        raise ValueError(f"{text:.20} ... of {len(text)} digits is too large")
    return value


def list_places(data: Any, path: str, name: str = "data") -> Iterator[tuple[str, Any]]:
    """Every value at a path of keys, with its name; ``*`` in a key stands for anything. None is left out.

    Examples
    --------
    >>> list(list_places({"a": [{"b": 1}, {"b": 2}, {}]}, "a.*.b"))
    [('data.a[0].b', 1), ('data.a[1].b', 2)]
    """
    if not path:
        yield name, data
        return
    step, _, rest = path.partition(".")
    inner: list[tuple[str, Any]] = []
    if isinstance(data, list) and step == "*":
        inner = [(f"{name}[{i}]", value) for i, value in enumerate(data)]
    elif isinstance(data, dict):
        inner = [(f"{name}.{key}", value) for key, value in data.items() if fnmatchcase(str(key), step)]
    for place, value in inner:
        if value is not None:
            yield from list_places(value, rest, place)


def check_schema(data: Any, schema: Any, name: str = "data") -> None:
    """Compare plain data with a type: a TypedDict, list, dict, Literal, union, or a plain type.

    A :class:`ResultsError` names the first place that does not fit.

    Examples
    --------
    >>> check_schema({"gap": "large"}, dict[str, float | None])
    Traceback (most recent call last):
    ifair.plain_data.ResultsError: data.gap must be float or None, got 'large'
    """
    options = get_args(schema) if get_origin(schema) in (Union, UnionType, Literal) else (schema,)
    kind = next((one for one in options if _fits(data, one)), ...)
    if kind is ...:
        wanted = " or ".join(getattr(one, "__name__", str(one)).replace("NoneType", "None") for one in options)
        wanted = "hold named values" if is_typeddict(schema) else f"be {wanted}"
        raise ResultsError(f"{name} must {wanted}, got {data!r:.60}")
    if is_typeddict(kind):
        hints = _hints(kind)
        unfit = {"lacks": kind.__required_keys__ - set(data), "must not have": set(data) - set(hints)}
        for what, keys in unfit.items():
            if keys:
                raise ResultsError(f"{name} {what} {', '.join(sorted(map(str, keys)))}")
        for key, value in data.items():
            check_schema(value, hints[key], f"{name}.{key}")
    elif get_origin(kind) is dict:
        for key, value in data.items():
            check_schema(value, get_args(kind)[1], f"{name}.{key}")
    elif get_origin(kind) is list and not _all_plain(data, get_args(kind)[0]):
        for i, value in enumerate(data):
            check_schema(value, get_args(kind)[0], f"{name}[{i}]")


def _fits(data: Any, kind: Any) -> bool:
    """Whether data is of a kind, or the literal itself, looked at from outside."""
    if kind is Any or isinstance(kind, (str, int)):
        return kind is Any or data == kind
    outer = dict if is_typeddict(kind) else get_origin(kind) or kind
    if outer is float:
        return type(data) in (int, float) and abs(data) <= sys.float_info.max
    return isinstance(data, outer) and (outer is bool or not isinstance(data, bool))


def _all_plain(data: list[Any], item: Any) -> bool:
    """Whether all are numbers, or texts, of this type: a short way through the columns of thousands of people."""
    types: dict[Any, set[type]] = {float: {int, float}, Number: {int, float, NoneType}, int: {int}, str: {str}}
    wanted = types.get(item, set())
    return set(map(type, data)) <= wanted and (
        float not in wanted or all(x is None or abs(x) <= sys.float_info.max for x in data)
    )


_hints = cache(get_type_hints)
