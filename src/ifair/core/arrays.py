"""The array type of the mathematics, and which library it belongs to."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# NumPy arrays as far as the type checker is concerned; every function of the core uses only operators and
# functions of the array API standard, so that arrays of another library can take their place.
Array: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]


def namespace(x: Array) -> Any:
    """The array API namespace that ``x`` belongs to (NumPy's own for NumPy arrays)."""
    return x.__array_namespace__()


def column_sums(a: Array, b: Array) -> Array:
    """``sum_i a_in b_in`` for every column n."""
    return namespace(a).sum(a * b, axis=0)


def row_sums(a: Array, b: Array) -> Array:
    """``sum_n a_in b_in`` for every row i."""
    return namespace(a).linalg.vecdot(a, b)
