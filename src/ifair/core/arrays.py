"""The array type of the mathematics, and which library it belongs to; records whose products take little time."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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


def is_number(x: Any) -> bool:
    """Whether this is a real number; True and False are none."""
    return isinstance(x, Real) and not isinstance(x, bool | np.bool_)


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor of PyTorch; does not import it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def to_host(x: Any) -> Any:
    """A tensor as a NumPy array; anything else as it is."""
    return x.detach().cpu().numpy() if is_tensor(x) else x


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
    return xp.maximum(x, bound if xp is np else xp.full((), bound, dtype=x.dtype, device=x.device))


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
    if v.ndim == 1:
        return A @ v
    return (A @ v.mT).mT if A.ndim == 2 else (A @ v[..., None])[..., 0]


# Products of the records with what every fit has are one product as wide as all fits: taken fit by fit, the records are
# read again for each, and a device has little to do at a time.


def records_times(X: Array, V: Array) -> Array:
    """``X V'``: of records, shape (M, N), and (K, N) of a fit shape (M, K); of (B, K, N) of many (B, M, K)."""
    if V.ndim == 2:
        return X @ V.mT
    xp, (B, K, N) = namespace(V), V.shape
    wide = X @ xp.reshape(V, (B * K, N)).mT
    return xp.permute_dims(xp.reshape(wide, (-1, B, K)), (1, 0, 2))


def times_records(C: Array, X: Array) -> Array:
    """``C' X``: of shares, shape (M, K) of a fit or (B, M, K) of many, and records, (M, N), shape (..., K, N)."""
    if C.ndim == 2:
        return C.mT @ X
    xp, (B, M, K) = namespace(C), C.shape
    wide = xp.reshape(xp.permute_dims(C, (1, 0, 2)), (M, B * K))
    return xp.reshape(wide.mT @ X, (B, K, X.shape[1]))


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


# A category has a column of its own, in which nearly everybody has the same value. Where categories are many, hardly
# one number in a hundred departs from that, and products with such records need no more than those.

MOST_DEPARTING = 0.12
"""Share of the numbers that depart, at most: products of sparse matrices take some ten times as long per number."""

WORTH_IT_FROM = 200_000
"""Numbers in a table from which on time matters."""

LEAST_COLUMNS = 80
"""Of 30 columns sparse products take 1.2 to 1.4 times as long as plain ones, of 60 as long, of 120 0.6 to 0.8 times."""


@dataclass(frozen=True, slots=True)
class Departures:
    """A matrix for products: what its rows have in common, shape (N,), plus what they have more, shape (M, N)."""

    origin: Array
    more: Any

    __array_ufunc__ = None  # so that products with arrays on the left come here

    def __matmul__(self, other: Array) -> Array:
        product: Array = self.more @ other
        product += self.origin @ other
        return product

    def __rmatmul__(self, other: Array) -> Array:
        product: Array = (self.more.T @ other.T).T
        product += np.multiply.outer(other.sum(axis=-1, dtype=np.float64), self.origin)
        return product

    def square(self) -> "Departures":
        """The matrix of squared numbers: (o + d)^2 = o^2 + (2 o + d) d."""
        more = self.more
        data = (2.0 * self.origin[more.indices] + more.data) * more.data
        return Departures(self.origin**2, csr_array((data, more.indices, more.indptr), shape=more.shape))


class SparseBlock(np.ndarray[Any, np.dtype[np.float64]]):
    """A block of records like any other, whose products with vectors and matrices are taken by what departs."""

    departures: Departures | None
    squares: Departures | None

    def __array_finalize__(self, obj: Any) -> None:
        self.departures = self.squares = None  # of a part or a copy they are others

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __matmul__(self, other: Any) -> Any:
        return self._to_multiply(other) @ other

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self._to_multiply(other)

    def _to_multiply(self, other: Any) -> Any:
        few = self.departures is not None and isinstance(other, np.ndarray) and other.ndim <= 2
        return self.departures if few else np.asarray(self)


def is_sparse(X: Any) -> bool:
    """Whether products with these records take little time."""
    return isinstance(X, SparseBlock) and X.departures is not None


def square(X: Any) -> Any:
    """The squared numbers of records, for products."""
    return X.squares if is_sparse(X) else X * X


LOOKED_AT = 1001
"""Records that tell what most have."""


def spread_rows(n_records: int) -> Indices:
    """So many rows of a table as are looked at, or all, evenly spaced."""
    return np.unique(np.linspace(0, n_records - 1, LOOKED_AT).astype(np.intp))


def find_origin(records: Array) -> Array:
    """What most of the records have in every column: the median, as one of them has it."""
    return np.sort(records, axis=0)[len(records) // 2]


def split_departures(X: Array, blocks: Sequence[slice]) -> list[SparseBlock] | None:
    """The blocks of a table by what departs; None where that is too much, or the table small or narrow."""
    if X.size < WORTH_IT_FROM or X.shape[1] < LEAST_COLUMNS:
        return None
    origin = find_origin(np.asarray(X[spread_rows(len(X))], dtype=np.float64))
    parts = []
    for rows in blocks:
        block = np.asarray(X[rows], dtype=np.float64).view(SparseBlock)
        block.departures = Departures(origin, csr_array(np.asarray(block) - origin))
        if block.departures.more.nnz > MOST_DEPARTING * block.size:
            return None
        block.squares = block.departures.square()
        parts.append(block)
    return parts


def limit_products() -> AbstractContextManager[Any]:
    """Have the libraries for products keep to one thread each: whole blocks are shared among threads instead."""
    limited: AbstractContextManager[Any] = _find_product_libraries().limit(limits=1)
    return limited


@cache
def _find_product_libraries() -> Any:
    # Finding them takes milliseconds, longer than to map a small table.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
