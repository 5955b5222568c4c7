"""The Encoder as ONNX nodes: one input an attribute, text for categories, numbers for the rest.

A missing number is NaN. A missing category is the empty text, or NaN where the categories are numbers.
"""

from typing import Any

import numpy as np

from ifair.encode.names import INFREQUENT, suffix
from ifair.errors import ConversionError
from ifair.persist.onnx.graph import Graph, matrix_of, precision_of

# Numbers of columns that do not exist: for categories never seen, and for missing values.
_UNKNOWN, _MISSING = -1, -2


def is_text(encoder: Any, position: int) -> bool:
    """Whether an attribute of a fitted encoder is read as text."""
    attribute = encoder._plan[position]
    return attribute.kind == "categorical" and attribute.holds == "text"


def check_encoder(encoder: Any, dtype: Any) -> None:
    """Refuse what cannot be converted."""
    for i, attribute in enumerate(encoder._plan):
        categories = _known(encoder, i)
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
    graph = Graph(scope, container, precision_of(operator))
    check_encoder(encoder, graph.dtype)
    cells = _cells(graph, operator, encoder)
    fills = dict(zip(_numeric(encoder), encoder._median.statistics_)) if _numeric(encoder) else {}
    columns = []
    for i, cell in enumerate(cells):
        if encoder._plan[i].kind == "categorical":
            columns += _category(graph, encoder, i, cell)
        else:
            columns += _number(graph, encoder, i, cell, float(fills[i]))
    # Attribute by attribute, the flag last: the order in which the encoder lays its columns out.
    matrix = graph.node("Concat", *columns, axis=1)
    scaled = graph.minus(matrix, encoder.mean_[None])
    graph.node("Div", scaled, graph.constant(encoder.scale_[None]), output=operator.outputs[0].full_name)


def _cells(graph: Graph, operator: Any, encoder: Any) -> list[str]:
    """One column of input for every attribute."""
    n = len(encoder._plan)
    if len(operator.inputs) == 1 and n > 1:
        matrix = matrix_of(graph, operator)
        return [graph.columns(matrix, [i]) for i in range(n)]
    names = [variable.full_name for variable in operator.inputs]
    return [name if is_text(encoder, i) else graph.numbers(name) for i, name in enumerate(names)]


def _numeric(encoder: Any) -> list[int]:
    return [i for i, attribute in enumerate(encoder._plan) if attribute.kind != "categorical"]


def _number(graph: Graph, encoder: Any, position: int, cell: str, fill: float) -> list[str]:
    is_missing = graph.node("IsNaN", cell)
    if encoder._plan[position].kind == "empty":  # whatever it holds now
        is_missing = graph.node("Or", is_missing, graph.node("Not", is_missing))
    columns = [graph.node("Where", is_missing, graph.constant(fill), cell)]
    if position in encoder._flagged:
        columns.append(graph.numbers(is_missing))
    return columns


def _category(graph: Graph, encoder: Any, position: int, cell: str) -> list[str]:
    """One 0/1 column a category, and the flag."""
    known = _known(encoder, position)
    places = _places(encoder, position)
    if_missing = places[known.index(_most_frequent(encoder, position))] if encoder.missing == "impute" else _MISSING
    if is_text(encoder, position):
        number = graph.node(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=[*map(str, known), ""],
            values_int64s=[*places, if_missing],
            default_int64=_UNKNOWN,
        )
    else:
        number = _place_of_code(graph, cell, [float(code) for code in known], places, if_missing)
    shown = [*range(len(encoder._categories[position])), *([_MISSING] if position in encoder._flagged else [])]
    return [graph.numbers(graph.node("Equal", number, graph.constant([shown], np.int64)))]


def _place_of_code(graph: Graph, cell: str, codes: list[float], places: list[int], if_missing: int) -> str:
    """The column of a numeric code: each of them adds its place where it is met."""
    number = graph.constant([[_UNKNOWN]], np.int64)
    for code, place in zip(codes, places):
        is_met = graph.node("Equal", cell, graph.constant([[code]]))
        number = graph.node("Where", is_met, graph.constant([[place]], np.int64), number)
    return graph.node("Where", graph.node("IsNaN", cell), graph.constant([[if_missing]], np.int64), number)


def _choice(encoder: Any, position: int) -> int:
    """The number of an attribute among the categorical ones."""
    return sum(attribute.kind == "categorical" for attribute in encoder._plan[:position])


def _known(encoder: Any, position: int) -> list[Any]:
    """All categories seen in fit, also those that were lumped together."""
    if encoder._plan[position].kind != "categorical":
        return []
    return list(encoder._one_hot.categories_[_choice(encoder, position)])


def _places(encoder: Any, position: int) -> list[int]:
    """The output column, among those of the attribute, of every category seen in fit."""
    shown = [suffix(category) for category in encoder._categories[position]]
    lumped = shown.index(suffix(INFREQUENT)) if suffix(INFREQUENT) in shown else _UNKNOWN
    return [shown.index(suffix(c)) if suffix(c) in shown else lumped for c in _known(encoder, position)]


def _most_frequent(encoder: Any, position: int) -> Any:
    return encoder._most_frequent.statistics_[_choice(encoder, position)]
