"""Encoder, IFair, LFR and Masked as ONNX nodes.

The Encoder has one input per attribute, text for categories and numbers for the rest. A missing number is NaN; a
missing category is the empty text, or NaN where the categories are numbers.

Distances are sums over differences. The estimators expand squares where that is faster, which single precision would
not survive: near a prototype the distance would be the difference of two large numbers.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from ifair.core.mapping import ROUNDING
from ifair.encode.attribute import Attribute
from ifair.encode.cell_by_cell import Cells
from ifair.errors import ConversionError
from ifair.models.lfr import LFR

# Keeps 0 / 0 out where a record and a prototype coincide.
_TINY = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-290}


class Graph:
    """Adds nodes for one operator, to what skl2onnx hands to a converter.

    All numbers are of one ``dtype``, double as soon as one input is.
    """

    def __init__(self, scope: Any, operator: Any, container: Any) -> None:
        from skl2onnx.common.data_types import DoubleTensorType

        self._scope, self._operator, self._container, self._numbers = scope, operator, container, count()
        self.dtype: np.dtype[Any] = np.dtype(
            np.float64 if find_number_type(operator) is DoubleTensorType else np.float32
        )

    def node(self, kind: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its result."""
        # Numbered here: skl2onnx tries one number after the other, for every name anew.
        number = next(self._numbers)
        result = output or self._scope.get_unique_variable_name(f"{kind.lower()}_{number}")
        name = self._scope.get_unique_operator_name(f"{kind}_{number}")
        self._container.add_node(kind, list(inputs), [result], op_domain=domain, name=name, **attributes)
        return result

    def constant(self, values: ArrayLike, dtype: DTypeLike | None = None) -> str:
        """Add an array, by default of the graph's precision."""
        from onnx.helper import np_dtype_to_tensor_dtype

        array = np.asarray(values)
        name: str = self._scope.get_unique_variable_name(f"constant_{next(self._numbers)}")
        is_text = array.dtype.kind in "OU"
        array = array.astype(object if is_text else dtype or self.dtype)
        content = [str(value).encode() for value in array.ravel()] if is_text else array.ravel().tolist()
        self._container.add_initializer(name, np_dtype_to_tensor_dtype(array.dtype), list(array.shape), content)
        return name

    def numbers(self, name: str) -> str:
        """Cast to the graph's precision."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.node("Cast", name, to=np_dtype_to_tensor_dtype(self.dtype))

    def read_numbers(self, variable: Any) -> str:
        """An input in the graph's precision."""
        as_it_is = isinstance(variable.type, find_number_type(self._operator))
        return variable.full_name if as_it_is else self.numbers(variable.full_name)

    def join_inputs(self) -> str:
        """All inputs of the operator side by side, in the graph's precision."""
        return self.join([self.read_numbers(variable) for variable in self._operator.inputs])

    def join(self, names: list[str]) -> str:
        """Matrices side by side."""
        return names[0] if len(names) == 1 else self.node("Concat", *names, axis=1)

    def columns(self, matrix: str, which: ArrayLike) -> str:
        """Some columns of a matrix."""
        return self.node("Gather", matrix, self.constant(which, np.int64), axis=1)

    def minus(self, name: str, values: Any) -> str:
        """Subtract numbers as if they had twice the precision: far from zero, rounding them would show."""
        high = np.asarray(values, dtype=np.float64).astype(self.dtype)
        low = np.asarray(values, dtype=np.float64) - high
        difference = self.node("Sub", name, self.constant(high))
        return self.node("Sub", difference, self.constant(low)) if np.any(low.astype(self.dtype)) else difference


def find_number_type(operator: Any) -> Any:
    """The type of an operator's numbers in ONNX."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = any(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)
    return DoubleTensorType if double else FloatTensorType


def parse_transformer(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:  # noqa: ARG001
    """All inputs go to one operator, text and numbers alike."""
    operator = scope.declare_local_operator("IfairEncoder", model)
    operator.inputs.extend(inputs)
    operator.outputs.append(scope.declare_local_variable("variable", find_number_type(operator)()))
    return operator.outputs


def set_transformer_shapes(operator: Any) -> None:
    """One output, of as many columns as there are names."""
    width = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = find_number_type(operator)([None, width])


def set_classifier_shapes(operator: Any) -> None:
    """Labels, and the probabilities of two classes."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    classes = operator.raw_operator.classes_
    if classes.dtype.kind == "f" and not np.array_equal(classes, classes.astype(np.int64)):
        raise ConversionError(f"LFR's classes {classes.tolist()} are fractions: use whole numbers or text")
    operator.outputs[0].type = (StringTensorType if classes.dtype.kind in "OU" else Int64TensorType)([None])
    operator.outputs[1].type = find_number_type(operator)([None, 2])


def reads_text(attribute: Attribute) -> bool:
    """Whether an attribute is read as text."""
    return attribute.kind == "categorical" and attribute.holds == "text"


def check_attribute(attribute: Attribute, categories: list[Any], dtype: Any) -> None:
    """Refuse what cannot be converted."""
    if attribute.holds == "intervals":
        raise ConversionError(f"column {attribute.name!r} holds intervals: turn them into text before fit")
    if attribute.holds == "text" and "" in categories:
        raise ConversionError(
            f"column {attribute.name!r} has the empty text as a category, which stands for a missing value in "
            "ONNX: give it a name before fit"
        )
    if attribute.kind == "categorical" and attribute.holds == "numbers":
        exact = np.array(categories, dtype=np.float64)
        if not np.array_equal(exact.astype(dtype), exact):
            raise ConversionError(
                f"categorical column {attribute.name!r} has codes that single precision cannot tell apart: use "
                "precision='double', or turn them into text before fit"
            )


def convert_encoder(scope: Any, operator: Any, container: Any) -> None:
    """`transform` of a fitted Encoder."""
    encoder = operator.raw_operator
    graph = Graph(scope, operator, container)
    places = encoder._find_places()
    for one in places:
        check_attribute(one.attribute, list(one.places), graph.dtype)
    read = _find_cells(graph, operator, encoder._plan)
    # All numbers and then all categories at once, so that a wide table makes a graph of few nodes.
    parts = [*_add_numbers(graph, places, read), *_add_categories(graph, places, read)]
    matrix = graph.join([name for name, _ in parts])
    order = np.argsort([column for _, columns in parts for column in columns]).tolist()
    if order != list(range(len(order))):
        matrix = graph.columns(matrix, order)
    scaled = graph.minus(matrix, encoder.mean_[None])
    graph.node("Div", scaled, graph.constant(encoder.scale_[None]), output=operator.outputs[0].full_name)


# The name of a matrix, and where its columns stand in an encoded record.
_Part = tuple[str, list[int]]


def _find_cells(graph: Graph, operator: Any, attributes: list[Attribute]) -> Callable[[list[int]], str]:
    """The way to the cells of some attributes, side by side."""
    names = [variable.full_name for variable in operator.inputs]
    if len(names) == 1 and len(attributes) > 1:
        matrix = graph.join_inputs()
        return lambda which: matrix if len(which) == len(attributes) else graph.columns(matrix, which)
    return lambda which: graph.join(
        [names[i] if reads_text(attributes[i]) else graph.read_numbers(operator.inputs[i]) for i in which]
    )


def _add_numbers(graph: Graph, places: list[Cells], read: Callable[[list[int]], str]) -> list[_Part]:
    """Numbers and booleans, filled in where they are missing, and their flags."""
    numeric = [i for i, one in enumerate(places) if one.attribute.kind != "categorical"]
    if not numeric:
        return []
    found = [places[i] for i in numeric]
    given = read(numeric)
    is_missing = graph.node("IsNaN", given)
    is_empty = [one.attribute.kind == "empty" for one in found]
    if any(is_empty):  # whatever they hold now
        is_missing = graph.node("Or", is_missing, graph.constant([is_empty], np.bool_))
    filled = graph.node("Where", is_missing, graph.constant([[one.fill for one in found]]), given)
    flags = {i: one.flag for i, one in enumerate(found) if one.flag is not None}
    parts = [(filled, [one.column for one in found])]
    if flags:
        parts.append((graph.columns(graph.numbers(is_missing), list(flags)), list(flags.values())))
    return parts


def _add_categories(graph: Graph, places: list[Cells], read: Callable[[list[int]], str]) -> list[_Part]:
    """One 0/1 column per category, and the flags."""
    met, columns = [], []
    for i, one in enumerate(places):
        if one.attribute.kind == "categorical":
            own = sorted({*one.places.values(), *([] if one.flag is None else [one.flag])})
            met.append(graph.node("Equal", _add_column(graph, one, read([i])), graph.constant([own], np.int64)))
            columns += own
    return [(graph.numbers(graph.join(met)), columns)] if met else []


def _add_column(graph: Graph, place: Cells, cell: str) -> str:
    """The column that is 1 for a cell; for categories never seen one that does not exist."""
    nowhere = -1
    if_missing = place.places.get(place.fill, nowhere) if place.flag is None else place.flag
    if reads_text(place.attribute):
        return graph.node(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=[*map(str, place.places), ""],
            values_int64s=[*place.places.values(), if_missing],
            default_int64=nowhere,
        )
    number = graph.constant([[nowhere]], np.int64)
    for code, column in place.places.items():
        is_met = graph.node("Equal", cell, graph.constant([[float(code)]]))
        number = graph.node("Where", is_met, graph.constant([[column]], np.int64), number)
    return graph.node("Where", graph.node("IsNaN", cell), graph.constant([[if_missing]], np.int64), number)


class TransformingLFR(TransformerMixin, BaseEstimator):
    """Stands for a fitted LFR whose `transform` is meant."""

    def __init__(self, lfr: Any = None) -> None:
        self.lfr = lfr

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return self.lfr.get_feature_names_out()


def replace_inner_lfr(model: Any) -> Any:
    """A copy of a pipeline in which every LFR before the last step only transforms."""
    if not isinstance(model, Pipeline):
        return model
    last = len(model.steps) - 1
    steps = []
    for i, (name, step) in enumerate(model.steps):
        if hasattr(step, "get_params") and any(isinstance(part, LFR) for part in step.get_params().values()):
            raise ConversionError(f"step {name!r} holds an LFR within; only as a step of the pipeline can it convert")
        steps.append((name, TransformingLFR(step) if isinstance(step, LFR) and i < last else step))
    return Pipeline(steps)


def convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    """`transform` of IFair, or of LFR inside a pipeline."""
    model = operator.raw_operator
    if isinstance(model, TransformingLFR):
        model = model.lfr
    graph = Graph(scope, operator, container)
    output = operator.outputs[0].full_name
    if model.output == "membership":
        add_memberships(graph, model, graph.join_inputs(), output=output)
        return
    if model.output == "nearest":
        number = _add_nearest(graph, add_distances(graph, model, graph.join_inputs()))
        graph.node("Gather", graph.constant(model.prototypes_), number, output=output, axis=0)
        return
    U = add_memberships(graph, model, graph.join_inputs())
    # Rows of U sum to 1: moving the prototypes to their centre and back keeps digits.
    centre = model.prototypes_.mean(axis=0)
    mixture = graph.node("MatMul", U, graph.constant(model.prototypes_ - centre))
    graph.node("Add", mixture, graph.constant(centre), output=output)


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """`predict` and `predict_proba` of LFR."""
    model = operator.raw_operator
    graph = Graph(scope, operator, container)
    U = add_memberships(graph, model, graph.join_inputs())
    chance = graph.node("MatMul", U, graph.constant(model.label_chances_[:, None]))
    other = graph.node("Sub", graph.constant([[1.0]]), chance)
    graph.node("Concat", other, chance, output=operator.outputs[1].full_name, axis=1)
    second = graph.node("Greater", chance, graph.constant([[0.5]]))
    flat = graph.node("Reshape", second, graph.constant([-1], np.int64))
    names = model.classes_
    kind = object if names.dtype.kind in "OU" else np.int64
    first, last = (graph.constant(names[i : i + 1].astype(kind), kind) for i in (0, 1))
    graph.node("Where", flat, last, first, output=operator.outputs[0].full_name)


def convert_masked(scope: Any, operator: Any, container: Any) -> None:
    """The columns that are not protected."""
    graph = Graph(scope, operator, container)
    kept = graph.columns(graph.join_inputs(), np.flatnonzero(~operator.raw_operator.protected_mask_))
    graph.node("Identity", kept, output=operator.outputs[0].full_name)


def add_memberships(graph: Graph, model: Any, X: str, output: str | None = None) -> str:
    """Softmax of negative distances to the prototypes, shape (n, K)."""
    if getattr(model, "attribute_weights", "shared") != "shared":
        raise ConversionError("an LFR with weights per group cannot be converted; use attribute_weights='shared'")
    distance = add_distances(graph, model, X)
    return graph.node("Softmax", graph.node("Neg", distance), output=output, axis=1)


def _add_nearest(graph: Graph, distance: str) -> str:
    """The number of the nearest prototype, shape (n,); of those equally near but for rounding the first."""
    least = graph.node("ReduceMin", distance, axes=[1], keepdims=1)
    most = graph.node("Mul", least, graph.constant(1.0 + ROUNDING * float(np.finfo(graph.dtype).eps)))
    near = graph.numbers(graph.node("LessOrEqual", distance, most))
    return graph.node("ArgMax", near, axis=1, keepdims=0)


def add_distances(graph: Graph, model: Any, X: str) -> str:
    """Distances to the prototypes, or their squares where the model takes those, shape (n, K)."""
    # As in the estimator, columns of weight 0 are not looked at.
    seen = np.flatnonzero(model.alpha_) if model.alpha_.any() else np.array([0])
    V, alpha, p = model.prototypes_[:, seen], model.alpha_[seen], float(model.p)
    centre = V.mean(axis=0)
    records = graph.minus(graph.columns(X, seen) if len(seen) < len(model.alpha_) else X, centre)
    records = graph.node("Unsqueeze", records, graph.constant([1], np.int64))
    differences = graph.minus(records, (V - centre)[None])
    return _add_distance(graph, differences, alpha, p, 2.0 if model.squared else 1.0)


def _add_distance(graph: Graph, differences: str, alpha: Any, p: float, exponent: float) -> str:
    """``(sum alpha |d|^p)^(exponent / p)`` over the last axis."""
    weights = graph.constant(alpha[:, None])
    last = graph.constant([-1], np.int64)
    if p in (1.0, 2.0):
        powers = graph.node("Abs", differences) if p == 1.0 else graph.node("Mul", differences, differences)
        total = graph.node("Squeeze", graph.node("MatMul", powers, weights), last)
        if p == exponent:
            return total
        return graph.node("Mul", total, total) if p == 1.0 else graph.node("Sqrt", total)
    sizes = graph.node("Abs", differences)
    # Powers of the largest difference would overflow: it is taken out and put back.
    largest = graph.node("ReduceMax", sizes, axes=[-1], keepdims=1)
    largest = graph.node("Max", largest, graph.constant(_TINY[graph.dtype]))
    powers = graph.node("Pow", graph.node("Div", sizes, largest), graph.constant(p))
    total = graph.node("MatMul", powers, weights)
    root = graph.node("Mul", graph.node("Pow", total, graph.constant(1.0 / p)), largest)
    root = graph.node("Squeeze", root, last)
    return root if exponent == 1.0 else graph.node("Mul", root, root)
