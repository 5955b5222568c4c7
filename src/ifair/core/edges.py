"""A graph of people as a list of edges, for arrays of NumPy and tensors of PyTorch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ifair.core.arrays import Array, Indices, is_tensor, namespace, to_host
from ifair.errors import IfairError


@dataclass(frozen=True, slots=True)
class Edges:
    """An undirected graph of M people: every edge once, with its weight ``W_ab = W_ba``."""

    first: Indices  # (E,)
    second: Indices  # (E,)
    weight: Array  # (E,), positive
    n_people: int

    def operator(self) -> "Differences":
        return Differences(self) if isinstance(self.weight, np.ndarray) else TensorDifferences(self)


class Differences:
    """``D s``, the differences along edges, and ``D' z``, what flows out of people."""

    def __init__(self, edges: Edges) -> None:
        self.first, self.second = edges.first, edges.second
        n_edges = len(edges.first)
        columns = np.concatenate([np.arange(n_edges), np.arange(n_edges)])
        signs = np.concatenate([np.ones(n_edges), -np.ones(n_edges)])
        rows = np.concatenate([self.first, self.second])
        self._flows = sparse.csr_array((signs, (rows, columns)), shape=(edges.n_people, n_edges))
        self._buffer = np.empty(n_edges)

    def along(self, s: Array, out: Array) -> Array:
        np.take(s, self.first, out=out, mode="clip")
        out -= np.take(s, self.second, out=self._buffer, mode="clip")
        return out

    def out_of(self, z: Array) -> Array:
        return self._flows @ z

    def sums(self, values: Array) -> Array:
        """The sum of the edges' values at every person."""
        n = self._flows.shape[0]
        return np.asarray(np.bincount(self.first, values, n) + np.bincount(self.second, values, n), dtype=np.float64)


class TensorDifferences(Differences):
    """The same on a device of PyTorch."""

    def __init__(self, edges: Edges) -> None:
        self.first, self.second = edges.first, edges.second
        self._n_people = edges.n_people

    def along(self, s: Any, out: Any) -> Any:
        return namespace(s).subtract(s[self.first], s[self.second], out=out)

    def out_of(self, z: Any) -> Any:
        return z.new_zeros(self._n_people).index_add_(0, self.first, z).index_add_(0, self.second, z, alpha=-1)

    def sums(self, values: Any) -> Any:
        return values.new_zeros(self._n_people).index_add_(0, self.first, values).index_add_(0, self.second, values)


def components(edges: Edges) -> Indices:
    """The number of everybody's connected component, shape (M,)."""
    n = edges.n_people
    links = sparse.csr_array((np.ones(len(edges.first), dtype=np.int8), (edges.first, edges.second)), shape=(n, n))
    return np.asarray(csgraph.connected_components(links, directed=False)[1], dtype=np.intp)


def edges_of(graph: Any, n: int, device: Any = None) -> Edges:
    """Every edge once: on the graph's device, or that of the scores if only these are a tensor."""
    if tuple(graph.shape) != (n, n):
        raise IfairError(f"graph must be of shape ({n}, {n}), one row and column per score; got {tuple(graph.shape)}")
    if is_tensor(graph):
        return _edges_of_tensor(graph)
    W = sparse.csr_array(graph).astype(np.float64)
    if W.nnz and (W.data.min() < 0 or not np.isfinite(W.data).all()):
        raise IfairError("graph must have weights that are finite and not negative")
    if W.nnz and abs(W - W.T).max() > 1e-9 * W.data.max():
        raise IfairError("graph must be symmetric; (graph + graph.T) / 2 is")
    upper = sparse.triu(W, k=1, format="coo")
    upper.eliminate_zeros()
    row, column = upper.coords
    first, second, weight = row.astype(np.intp), column.astype(np.intp), upper.data
    if device is not None:
        import torch

        first, second, weight = (torch.from_numpy(part).to(device) for part in (first, second, weight))
    return Edges(first, second, weight, n)


def _edges_of_tensor(graph: Any) -> Edges:
    import torch

    n = len(graph)
    if graph.layout != torch.sparse_csr:
        raise IfairError(f"graph must be a sparse CSR tensor, got the layout {graph.layout}")
    ends, column, weight = graph.crow_indices().long(), graph.col_indices().long(), graph.values().double()
    row = torch.repeat_interleave(torch.arange(n, device=column.device), ends.diff())
    zeros = torch.zeros(n, dtype=torch.float64, device=column.device)
    outward, inward = zeros.index_add(0, row, weight), zeros.index_add(0, column, weight)
    usable = (weight >= 0).all() & torch.isfinite(weight).all()
    if not bool(usable & torch.allclose(outward, inward, rtol=1e-9, atol=1e-12)):
        raise IfairError("graph must be symmetric, with weights that are finite and not negative")
    upper = (row < column) & (weight > 0)
    return Edges(row[upper], column[upper], weight[upper], n)


def on_host(edges: Edges) -> Edges:
    return Edges(to_host(edges.first), to_host(edges.second), to_host(edges.weight), edges.n_people)


def to_kind_of(like: Any, values: Any) -> Any:
    """Values as an array of the kind, and on the device, of another."""
    if isinstance(like, np.ndarray):
        return values
    import torch

    return torch.as_tensor(values, device=like.device)
