"""From a fitted model to ONNX."""

from typing import Any

import ifair
from ifair.errors import ConversionError, IfairError, require_extra
from ifair.persist.onnx.inputs import name_inputs, record_inputs

# Old enough for every runtime in use, new enough for all that is needed.
OPSETS = {"": 17, "ai.onnx.ml": 3}


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
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    from ifair.persist.onnx.transforming import with_transforming_lfr

    if not hasattr(model, "fit"):
        raise ConversionError(f"a {type(model).__name__} learns nothing; convert a fitted estimator or Pipeline")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ConversionError(f"this {type(model).__name__} is not fitted: fit it before converting") from error
    columns, inputs = _inputs(model, precision)
    model = with_transforming_lfr(model)
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


def register_converters() -> Any:
    """Teach skl2onnx this library's estimators, for those who call it themselves; return skl2onnx."""
    require_extra("converting models to ONNX", ["skl2onnx"], "onnx")
    import skl2onnx

    from ifair.encode import Encoder
    from ifair.models.ifair import IFair
    from ifair.models.lfr import LFR
    from ifair.models.masking import Masked
    from ifair.persist.onnx import attributes, prototypes
    from ifair.persist.onnx.transforming import TransformingLFR

    def register(kind: type, converter: Any, shapes: Any = _transformer_shapes, **more: Any) -> None:
        skl2onnx.update_registered_converter(kind, f"Ifair{kind.__name__}", shapes, converter, **more)

    register(IFair, prototypes.convert_transformer)
    register(Masked, prototypes.convert_masked)
    register(TransformingLFR, prototypes.convert_transformer)
    register(Encoder, attributes.convert_encoder, parser=_parse_transformer)
    choices = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    register(LFR, prototypes.convert_classifier, _classifier_shapes, options=choices)
    return skl2onnx


def _inputs(model: Any, precision: str) -> tuple[list[str], list[tuple[str, Any]]]:
    """Columns with an input of their own, if any, and the inputs with their types."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    from ifair.encode import Encoder
    from ifair.persist.onnx.attributes import is_text

    numbers = DoubleTensorType if precision == "double" else FloatTensorType
    first = model
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    if not isinstance(first, Encoder):
        return [], [("X", numbers([None, model.n_features_in_]))]
    is_array = not hasattr(first, "feature_names_in_")
    if is_array and not any(is_text(first, i) for i in range(first.n_features_in_)):
        return [], [("X", numbers([None, first.n_features_in_]))]
    columns = [str(name) for name in first.attributes_]
    types = [StringTensorType([None, 1]) if is_text(first, i) else numbers([None, 1]) for i in range(len(columns))]
    return columns, list(zip(name_inputs(columns), types, strict=True))


def _parse_transformer(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:  # noqa: ARG001
    """All inputs go to one operator, text and numbers alike."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    operator = scope.declare_local_operator("IfairEncoder", model)
    operator.inputs.extend(inputs)
    double = any(isinstance(variable.type, DoubleTensorType) for variable in inputs)
    output = scope.declare_local_variable("variable", DoubleTensorType() if double else FloatTensorType())
    operator.outputs.append(output)
    return operator.outputs


def _transformer_shapes(operator: Any) -> None:
    import numpy as np
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    from ifair.persist.onnx.graph import precision_of

    kind = DoubleTensorType if precision_of(operator) == np.float64 else FloatTensorType
    operator.outputs[0].type = kind([None, len(operator.raw_operator.get_feature_names_out())])


def _classifier_shapes(operator: Any) -> None:
    import numpy as np
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    from ifair.persist.onnx.graph import precision_of

    classes = operator.raw_operator.classes_
    if classes.dtype.kind == "f" and not np.array_equal(classes, classes.astype(np.int64)):
        raise ConversionError(f"LFR's classes {classes.tolist()} are fractions: use whole numbers or text")
    kind = DoubleTensorType if precision_of(operator) == np.float64 else FloatTensorType
    operator.outputs[0].type = (StringTensorType if classes.dtype.kind in "OU" else Int64TensorType)([None])
    operator.outputs[1].type = kind([None, 2])
