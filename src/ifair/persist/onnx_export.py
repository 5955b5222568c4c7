"""From a fitted model to an ONNX graph with named inputs."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ifair
from ifair.errors import ConversionError, IfairError, require_extra
from ifair.persist.trust import check_fitted

# Old enough for every runtime in use, new enough for all that is needed.
OPSETS = {"": 17, "ai.onnx.ml": 3}
PROPERTY = "inputs"
# What the outputs are called; a column of that name must not take it from them.
_OUTPUTS = ("label", "probabilities", "variable")


def to_onnx(model: Any, *, precision: str = "single") -> Any:
    """Convert a fitted model to an ONNX graph that any ONNX runtime can evaluate without Python.

    Parameters
    ----------
    model : IFair, LFR, Encoder, Masked, or a Pipeline of them and of whatever skl2onnx converts
    precision : {"single", "double"}, default="single"
        Of inputs and arithmetic: float32, the usual form, or float64.

    Returns
    -------
    onnx.ModelProto
        ``.SerializeToString()`` is the content of an ``.onnx`` file.

    Raises
    ------
    ConversionError
        If a step, or one of its options, has no form in ONNX.

    Notes
    -----
    A model that begins with an :class:`ifair.Encoder` has one input of shape (n, 1) for each attribute: text for text
    categories, numbers for all else, booleans as 0 and 1. A missing number is NaN, a missing text the empty one. An
    input is named like its attribute where that is a plain word; :func:`ifair.persist.onnx_inputs` says which attribute
    each input stands for. Other models, and an Encoder fitted on an array of numbers, have one input ``X`` of shape
    (n, n_features).

    Transformers have the output ``variable``; classifiers ``label`` and ``probabilities``, of shape (n, n_classes). LFR
    is a classifier at the end of a pipeline, and a transformer before it.
    """
    if precision not in ("single", "double"):
        raise IfairError(f"precision must be 'single' or 'double', got {precision!r}")
    skl2onnx = register_converters()
    from sklearn.base import is_classifier

    from ifair.persist.onnx_nodes import replace_inner_lfr

    if not hasattr(model, "fit"):
        raise ConversionError(f"a {type(model).__name__} learns nothing; convert a fitted estimator or Pipeline")
    check_fitted(model, ConversionError, "converting")
    _refuse_consistent(model)
    columns, inputs = _describe_inputs(model, precision)
    model = replace_inner_lfr(model)
    try:
        graph = skl2onnx.to_onnx(
            model,
            initial_types=inputs,
            target_opset=OPSETS,
            options={id(model): {"zipmap": False}} if is_classifier(model) else None,
        )
    except ConversionError:
        raise
    except Exception as error:  # skl2onnx has a dozen kinds
        reason = str(error).strip().split("\n")[0]
        raise ConversionError(f"skl2onnx cannot convert this {type(model).__name__}: {reason}") from error
    graph.metadata_props.add(key="ifair", value=ifair.__version__)
    graph.metadata_props.add(key="precision", value=precision)
    if columns:
        record_inputs(graph, columns)
    return graph


def _refuse_consistent(model: Any) -> None:
    """A newcomer's score needs a search among the reference, which is not written as a graph."""
    from ifair.models.consistent_model import ConsistentModel

    for step in [model, *(step for _, step in getattr(model, "steps", []))]:
        if isinstance(step, ConsistentModel):
            raise ConversionError(
                f"a {type(step).__name__} compares every newcomer with its reference, which has no form in ONNX: "
                "deploy it as a model file (ifair.save), or convert its estimator_ alone, without the comparison"
            )


def register_converters() -> Any:
    """Teach skl2onnx this library's estimators, for those who call it themselves; return skl2onnx."""
    require_extra("converting models to ONNX", ["skl2onnx"], "onnx")
    import skl2onnx

    from ifair.encode import Encoder
    from ifair.models.ifair import IFair
    from ifair.models.lfr import LFR
    from ifair.models.masking import Masked
    from ifair.persist import onnx_nodes

    def register(kind: type, converter: Any, shapes: Any = onnx_nodes.set_transformer_shapes, **more: Any) -> None:
        skl2onnx.update_registered_converter(kind, f"Ifair{kind.__name__}", shapes, converter, **more)

    register(IFair, onnx_nodes.convert_transformer)
    register(Masked, onnx_nodes.convert_masked)
    register(onnx_nodes.TransformingLFR, onnx_nodes.convert_transformer)
    register(Encoder, onnx_nodes.convert_encoder, parser=onnx_nodes.parse_transformer)
    choices = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    register(LFR, onnx_nodes.convert_classifier, onnx_nodes.set_classifier_shapes, options=choices)
    return skl2onnx


def _describe_inputs(model: Any, precision: str) -> tuple[list[str], list[tuple[str, Any]]]:
    """Columns with an input of their own, if any, and the inputs with their types."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    from ifair.encode import Encoder
    from ifair.persist.onnx_nodes import reads_text

    numbers = DoubleTensorType if precision == "double" else FloatTensorType
    first = model
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    is_text = [reads_text(attribute) for attribute in first._plan] if isinstance(first, Encoder) else []
    has_names = isinstance(first, Encoder) and hasattr(first, "feature_names_in_")
    if not has_names and not any(is_text):
        return [], [("X", numbers([None, model.n_features_in_]))]
    columns = [str(name) for name in first.attributes_]
    types = [StringTensorType([None, 1]) if text else numbers([None, 1]) for text in is_text]
    return columns, list(zip(name_inputs(columns), types, strict=True))


def name_inputs(columns: Sequence[str]) -> list[str]:
    """Name an input for every column: like the column where that is a plain word, else as near as possible.

    Names are different, of letters, digits and underscores, and depend on the columns alone.

    Examples
    --------
    >>> name_inputs(["is member", "is_member", "Größe", "2nd", "label"])
    ['is_member_2', 'is_member', 'Größe', '_2nd', 'label_2']
    """
    # Columns that are words already keep their names, wherever they stand.
    taken = {column for column in columns if _make_word(column) == column}
    names = []
    for column in columns:
        name = word = _make_word(column)
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
    properties = _read_properties(model)
    if "ifair" not in properties:
        raise ConversionError("this ONNX model does not come from ifair: it does not say what its inputs stand for")
    return json.loads(properties.get(PROPERTY, "{}"))


def _make_word(column: str) -> str:
    word = re.sub(r"\W", "_", column)
    return word if word and not word[0].isdigit() else f"_{word}"


def _read_properties(model: Any) -> dict[str, str]:
    if hasattr(model, "get_modelmeta"):  # a session of onnxruntime knows them without the package onnx
        return dict(model.get_modelmeta().custom_metadata_map)
    if hasattr(model, "metadata_props"):
        return {entry.key: entry.value for entry in model.metadata_props}
    require_extra("reading an ONNX file", ["onnx"], "onnx")
    import onnx

    content = Path(model).read_bytes() if isinstance(model, str | os.PathLike) else model
    try:
        return _read_properties(onnx.load_model_from_string(content))
    except Exception as error:  # protobuf has classes of its own
        where = str(model) if isinstance(model, str | os.PathLike) else "this"
        raise ConversionError(f"{where} is not an ONNX model") from error
