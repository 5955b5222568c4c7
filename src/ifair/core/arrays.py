"""The array type of the mathematics, and which library it belongs to."""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# NumPy arrays as far as the type checker is concerned; every function of the core uses only operators, indexing and
# functions of the array API standard, so that arrays of another library can take their place.
Array: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]


def namespace(x: Array) -> Any:
    """The array API namespace that ``x`` belongs to: NumPy for its own arrays, else what array-api-compat says."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    return _other_namespace(type(x), x)  # type: ignore[unreachable]


def _other_namespace(kind: type, x: Any) -> Any:
    if kind not in _NAMESPACES:
        from array_api_compat import array_namespace

        _NAMESPACES[kind] = array_namespace(x)
    return _NAMESPACES[kind]


_NAMESPACES: dict[type, Any] = {}
"""The namespaces found so far: looking them up anew takes as long as a small operation on a device."""


@lru_cache
def precision(xp: Any, dtype: Any) -> Any:
    """What the namespace calls a floating-point type of NumPy."""
    return getattr(xp, np.dtype(dtype).name)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros in double precision, to sum up in, of the kind and on the device of ``like``."""
    xp = namespace(like)
    return xp.zeros(shape, dtype=xp.float64, device=like.device)


def at_least(x: Array, bound: float) -> Array:
    """``max(x, bound)``; ``clip`` of some namespaces waits for the device."""
    xp = namespace(x)
    return xp.maximum(x, xp.full_like(x, bound))


def column_sums(a: Array, b: Array) -> Array:
    """``sum_i a_in b_in`` for every column n."""
    return namespace(a).sum(a * b, axis=-2)


def row_sums(a: Array, b: Array) -> Array:
    """``sum_n a_in b_in`` for every row i."""
    return namespace(a).linalg.vecdot(a, b)


# Of one fit the operators say it best; of many at once, with a dimension in front, they would mean something else.


def each(factor: Any, like: Array) -> Any:
    """A number as it is; one number per fit, shape (B,), in the shape that multiplies arrays like ``like``."""
    return factor if isinstance(factor, float) else factor[(..., *(None,) * (like.ndim - 1))]


def dot(a: Array, b: Array) -> Array:
    """``sum_n a_n b_n``, a number for every vector."""
    return a @ b if a.ndim == 1 else row_sums(a, b)


def vector_times(v: Array, A: Array) -> Array:
    """``sum_i v_i A_in``, a vector for every vector."""
    return v @ A if v.ndim == 1 else (v[..., None, :] @ A)[..., 0, :]


def times_vector(A: Array, v: Array) -> Array:
    """``sum_n A_in v_n``, a vector for every vector."""
    return A @ v if v.ndim == 1 else (A @ v[..., None])[..., 0]


def total_products(a: Array, b: Array) -> Array:
    """``sum_ij a_ij b_ij``, a number for every matrix."""
    xp, flat = namespace(a), (*a.shape[:-2], -1)
    return dot(xp.reshape(a, flat), xp.reshape(b, flat))


def weigh(values: Array, weights: Array | None, rows: slice) -> Array:
    """The values of the records at ``rows``, shape (..., M), times their weights; as they are without weights."""
    return values if weights is None else values * weights[rows]


def weigh_rows(matrix: Array, weights: Array | None, rows: slice) -> Array:
    """The rows of the records at ``rows``, shape (..., M, N), times their weights; as they are without weights."""
    return matrix if weights is None else matrix * weights[rows, None]
