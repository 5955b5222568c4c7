"""Keeping the page small: what is shown of people is rounded, and cut where there is too much of it."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

MOST_BYTES = 2_950_000
"""Of a page."""

LENGTHS = (40, 24, 12)
"""To how many characters texts may be cut, one after the other."""


def pack(value: Any) -> str:
    """JSON, deflated and in base64: ten thousand people would be several MB otherwise."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def fit_people(people: Mapping[str, Any], room: int) -> tuple[str, str]:
    """The people packed into so many characters, and a sentence on what is not shown for that.

    Numbers keep four digits, as many as the page shows. Where that is not enough, texts are cut, and then columns
    are left out, those first that need most room.

    Parameters
    ----------
    people : mapping
        With ``attributes`` as :func:`ifair.audit.evidence` describes people.
    room : int
        Characters.
    """
    short = {**people, "attributes": [_round_column(column) for column in people["attributes"]]}
    result = pack(short)
    if len(result) <= room:
        return result, ""
    rest = len(pack({**short, "attributes": []}))
    columns = list(short["attributes"])
    sizes = [len(pack(column)) for column in columns]
    said = []
    for length in LENGTHS:
        cut = [_cut_labels(column, length) for column in columns]
        if cut == columns:
            continue
        said = [f"Texts are cut to {length} characters to keep this page small."]
        sizes = [len(pack(new)) if new != old else size for new, old, size in zip(cut, columns, sizes)]
        columns = cut
        if rest + sum(sizes) <= room:
            break
    kept = _select_columns(sizes, room - rest)
    if len(kept) < len(columns):
        left_out = ", ".join(column["name"] for i, column in enumerate(columns) if i not in kept)
        said.append(f"Columns left out of the view of people, too large for it: {left_out}.")
        columns = [columns[i] for i in kept]
    return pack({**short, "attributes": columns}), " ".join(said)


def _select_columns(sizes: Sequence[int], room: int) -> list[int]:
    """Which columns there is room for, in their order: the smallest."""
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    total, kept = 0, []
    for i in order:
        total += sizes[i]
        if total > room:
            break
        kept.append(i)
    return sorted(kept)


def _round_column(column: Mapping[str, Any]) -> dict[str, Any]:
    if "values" not in column:
        return dict(column)
    return {**column, "values": [_round_value(value) for value in column["values"]]}


def _round_value(value: Any) -> Any:
    if not isinstance(value, float) or value.is_integer():
        return value
    return float(f"{value:.4g}")


def _cut_labels(column: Mapping[str, Any], length: int) -> dict[str, Any]:
    if "labels" not in column:
        return dict(column)
    return {**column, "labels": [t if len(t) <= length else t[: length - 1] + "…" for t in column["labels"]]}
