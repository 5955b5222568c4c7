"""A thin hand on skl2onnx's container: nodes and constants with names made up on the way."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


class Graph:
    """Adds nodes for one operator.

    Parameters
    ----------
    scope, container
        As skl2onnx hands them to a converter.
    dtype : float32 or float64
        Of all numbers that are computed with.
    """

    def __init__(self, scope: Any, container: Any, dtype: DTypeLike) -> None:
        self._scope = scope
        self._container = container
        self.dtype = np.dtype(dtype)

    def node(self, kind: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its result."""
        result = output or self._scope.get_unique_variable_name(kind.lower())
        name = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, list(inputs), [result], op_domain=domain, name=name, **attributes)
        return result

    def constant(self, values: ArrayLike, dtype: DTypeLike | None = None) -> str:
        """Add an array, by default of the graph's precision."""
        from onnx.helper import np_dtype_to_tensor_dtype

        array = np.asarray(values)
        name: str = self._scope.get_unique_variable_name("constant")
        if array.dtype.kind in "OU":
            self._container.add_initializer(
                name, np_dtype_to_tensor_dtype(np.dtype(object)), array.shape, [str(v).encode() for v in array.ravel()]
            )
            return name
        array = array.astype(dtype or self.dtype)
        self._container.add_initializer(
            name, np_dtype_to_tensor_dtype(array.dtype), list(array.shape), array.ravel().tolist()
        )
        return name

    def numbers(self, name: str, output: str | None = None) -> str:
        """Cast to the graph's precision."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.node("Cast", name, output=output, to=np_dtype_to_tensor_dtype(self.dtype))

    def columns(self, matrix: str, which: ArrayLike) -> str:
        """Some columns of a matrix."""
        return self.node("Gather", matrix, self.constant(which, np.int64), axis=1)

    def minus(self, name: str, values: Any) -> str:
        """Subtract numbers as if they had twice the precision: far from zero, rounding them would show."""
        high = np.asarray(values, dtype=np.float64).astype(self.dtype)
        low = np.asarray(values, dtype=np.float64) - high
        difference = self.node("Sub", name, self.constant(high))
        return self.node("Sub", difference, self.constant(low)) if np.any(low.astype(self.dtype)) else difference


def matrix_of(graph: Graph, operator: Any) -> str:
    """All inputs of an operator side by side, in the graph's precision."""
    names = [graph.numbers(variable.full_name) for variable in operator.inputs]
    return names[0] if len(names) == 1 else graph.node("Concat", *names, axis=1)


def precision_of(operator: Any) -> np.dtype[Any]:
    """Double as soon as one input is."""
    from skl2onnx.common.data_types import DoubleTensorType

    double = any(isinstance(variable.type, DoubleTensorType) for variable in operator.inputs)
    return np.dtype(np.float64 if double else np.float32)
