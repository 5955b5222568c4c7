"""The inputs of an ONNX graph: a name for every column, and which column each of them stands for."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ifair.errors import ConversionError, require_extra

PROPERTY = "inputs"
# What the outputs are called; a column of that name must not take it from them.
_OUTPUTS = ("label", "probabilities", "variable")


def name_inputs(columns: Sequence[str]) -> list[str]:
    """Name an input for every column: like the column where that is a plain word, else as near as possible.

    Parameters
    ----------
    columns : sequence of str
        Different names.

    Returns
    -------
    list of str
        As many different names of letters, digits and underscores, which do not begin with a digit. They depend on
        the columns alone.

    Examples
    --------
    >>> name_inputs(["is member", "is_member", "Größe", "2nd", "label"])
    ['is_member_2', 'is_member', 'Größe', '_2nd', 'label_2']
    """
    plain = [column for column in columns if _word(column) == column]
    # Columns that are words already keep their names, wherever they stand.
    taken = {*plain, *_OUTPUTS}
    names = []
    for column in columns:
        name = word = _word(column)
        number = 2
        while name in taken and (name != column or name in _OUTPUTS):
            name, number = f"{word}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def record_inputs(graph: Any, columns: Sequence[str]) -> None:
    """Keep in the graph which column each of its inputs stands for; refuse a graph whose inputs are others."""
    names = [node.name for node in graph.graph.input]
    if names != name_inputs(columns):
        raise ConversionError(f"skl2onnx named the inputs {names} for the columns {list(columns)}: rename the columns")
    mapping = json.dumps(dict(zip(names, columns, strict=True)), ensure_ascii=False)
    graph.metadata_props.add(key=PROPERTY, value=mapping)


def onnx_inputs(model: Any) -> dict[str, str]:
    """Say which column of a table each input of an ONNX model stands for.

    Parameters
    ----------
    model : onnx.ModelProto, onnxruntime.InferenceSession, bytes, or path of an ONNX file
        As :func:`ifair.persist.to_onnx` made it.

    Returns
    -------
    dict of str to str
        From the name of the input to that of the column, in the order of the inputs. Empty for a model with one
        matrix ``X``.

    Notes
    -----
    In other languages, the same mapping is JSON in the model's metadata, under the key ``inputs``.
    """
    properties = _properties(model)
    if "ifair" not in properties:
        raise ConversionError("this ONNX model does not come from ifair: it does not say what its inputs stand for")
    mapping: dict[str, str] = json.loads(properties.get(PROPERTY, "{}"))
    return mapping


def _word(column: str) -> str:
    word = re.sub(r"\W", "_", column)
    return word if word and not word[0].isdigit() else f"_{word}"


def _properties(model: Any) -> dict[str, str]:
    if hasattr(model, "get_modelmeta"):  # a session of onnxruntime knows them without the package onnx
        return dict(model.get_modelmeta().custom_metadata_map)
    if hasattr(model, "metadata_props"):
        return {entry.key: entry.value for entry in model.metadata_props}
    require_extra("reading an ONNX file", ["onnx"], "onnx")
    import onnx

    content = Path(model).read_bytes() if isinstance(model, str | os.PathLike) else model
    try:
        return _properties(onnx.load_model_from_string(content))
    except Exception as error:  # protobuf has classes of its own
        where = str(model) if isinstance(model, str | os.PathLike) else "this"
        raise ConversionError(f"{where} is not an ONNX model") from error
