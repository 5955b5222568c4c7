"""IFair, LFR and Masked as ONNX nodes.

Distances are sums over differences. The estimators expand squares where that is faster, which single precision would
not survive: near a prototype the distance would be the difference of two large numbers.
"""

from typing import Any

import numpy as np

from ifair.persist.onnx.graph import Graph, matrix_of, precision_of
from ifair.persist.onnx.transforming import TransformingLFR

# Keeps 0 / 0 out where a record and a prototype coincide.
_TINY = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-290}


def convert_transformer(scope: Any, operator: Any, container: Any) -> None:
    """`transform` of IFair, or of LFR inside a pipeline."""
    model = operator.raw_operator
    if isinstance(model, TransformingLFR):
        model = model.lfr
    graph = Graph(scope, container, precision_of(operator))
    output = operator.outputs[0].full_name
    if model.output == "membership":
        memberships(graph, model, matrix_of(graph, operator), output=output)
        return
    U = memberships(graph, model, matrix_of(graph, operator))
    # Rows of U sum to 1: moving the prototypes to their centre and back keeps digits.
    centre = model.prototypes_.mean(axis=0)
    mixture = graph.node("MatMul", U, graph.constant(model.prototypes_ - centre))
    graph.node("Add", mixture, graph.constant(centre), output=output)


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """`predict` and `predict_proba` of LFR."""
    model = operator.raw_operator
    graph = Graph(scope, container, precision_of(operator))
    U = memberships(graph, model, matrix_of(graph, operator))
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
    graph = Graph(scope, container, precision_of(operator))
    kept = graph.columns(matrix_of(graph, operator), np.flatnonzero(~operator.raw_operator.protected_mask_))
    graph.node("Identity", kept, output=operator.outputs[0].full_name)


def memberships(graph: Graph, model: Any, X: str, output: str | None = None) -> str:
    """Softmax of negative distances to the prototypes, shape (n, K)."""
    # As in the estimator, columns of weight 0 are not looked at.
    seen = np.flatnonzero(model.alpha_) if model.alpha_.any() else np.array([0])
    V, alpha, p = model.prototypes_[:, seen], model.alpha_[seen], float(model.p)
    centre = V.mean(axis=0)
    records = graph.minus(graph.columns(X, seen) if len(seen) < len(model.alpha_) else X, centre)
    records = graph.node("Unsqueeze", records, graph.constant([1], np.int64))
    differences = graph.minus(records, (V - centre)[None])
    distance = _rooted(graph, differences, alpha, p, 2.0 if model.squared else 1.0)
    return graph.node("Softmax", graph.node("Neg", distance), output=output, axis=1)


def _rooted(graph: Graph, differences: str, alpha: Any, p: float, exponent: float) -> str:
    """``(sum alpha |d|^p)^(exponent / p)`` over the last axis."""
    weights = graph.constant(alpha[:, None])
    last = graph.constant([-1], np.int64)
    if p == 2.0:
        powers = graph.node("Mul", differences, differences)
        total = graph.node("Squeeze", graph.node("MatMul", powers, weights), last)
        return total if exponent == 2.0 else graph.node("Sqrt", total)
    sizes = graph.node("Abs", differences)
    if p == 1.0:
        total = graph.node("Squeeze", graph.node("MatMul", sizes, weights), last)
        return total if exponent == 1.0 else graph.node("Mul", total, total)
    # Powers of the largest difference would overflow: it is taken out and put back.
    largest = graph.node("ReduceMax", sizes, axes=[-1], keepdims=1)
    largest = graph.node("Max", largest, graph.constant(_TINY[graph.dtype]))
    powers = graph.node("Pow", graph.node("Div", sizes, largest), graph.constant(p))
    total = graph.node("MatMul", powers, weights)
    root = graph.node("Mul", graph.node("Pow", total, graph.constant(1.0 / p)), largest)
    root = graph.node("Squeeze", root, last)
    return root if exponent == 1.0 else graph.node("Mul", root, root)
