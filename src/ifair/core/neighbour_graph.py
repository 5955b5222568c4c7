"""From records to the graph of their neighbours, for arrays of NumPy and tensors of PyTorch."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ifair.core.approximate import nearest_approximately
from ifair.core.nearest import Reference, to_ten_digits
from ifair.errors import IfairError


def search_neighbours(
    records: Any, k: int, reach: float | None, query: Any, n_jobs: int | None, approximate: bool = False
) -> Any:
    """Neighbours of shape (M, k) in the kind of the records; -1 where there is nobody."""
    n, on_host = len(records), isinstance(records, np.ndarray)
    if query is None and not 1 <= k < n:
        raise IfairError(f"n_neighbors must be at least 1 and less than the number of people, {n}; got {k}")
    if k < 1:
        raise IfairError(f"n_neighbors must be at least 1, got {k}")
    if approximate and not on_host:
        raise IfairError("approximate=True searches on processors: leave device out, or search exactly on the device")
    index = np.full((n, k), -1, dtype=np.intp) if on_host else records.new_full((n, k), -1).long()
    for rows in _rows_by_query(query, n):
        few = min(k, len(rows) - 1)
        if few == 0:
            continue
        whole = len(rows) == n
        if approximate:
            found, squared = nearest_approximately(records[rows], few, n_jobs=n_jobs)
        elif on_host:
            found, squared = Reference.from_records(records if whole else records[rows]).nearest_others(few, n_jobs)
        else:
            import torch

            from ifair.core.nearest_torch import nearest

            rows = torch.from_numpy(rows).to(records.device)
            found, squared = nearest(records if whole else records[rows], few)
        found = rows[found]
        if reach is not None:
            found[squared > squared_reach(reach)] = -1
        if whole and few == k:
            return found
        index[rows, :few] = found
    return index


def _rows_by_query(query: Any, n: int) -> list[NDArray[np.intp]]:
    if query is None:
        return [np.arange(n)]
    import pandas as pd

    codes, _ = pd.factorize(np.asarray(query), use_na_sentinel=True)
    if len(codes) != n:
        raise IfairError(f"query has {len(codes)} entries where {n} are expected")
    if codes.min(initial=0) < 0:
        raise IfairError("query has missing values")
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def check_others(index: NDArray[Any]) -> None:
    """Refuse neighbours, of shape (M, k), among whom somebody finds themselves: every measure is about two people."""
    is_own = index == np.arange(len(index))[:, None]
    if is_own.any():
        own = is_own.any(axis=1)
        first, count = int(own.argmax()), int(own.sum())
        raise IfairError(
            f"neighbours of row {first} name that row itself ({count:,} of {len(index):,} rows do), and nobody is "
            "their own neighbour: leave them out, as kneighbors() of scikit-learn does without X"
        )


def squared_reach(reach: float) -> float:
    if not reach >= 0:
        raise IfairError(f"reach must not be negative, got {reach}")
    with np.errstate(over="ignore"):  # whose square is infinite has everybody within reach
        return float(to_ten_digits(np.square([float(reach)]))[0])


def graph_of(index: NDArray[Any], k: int) -> sparse.csr_array:
    n = len(index)
    known = index >= 0
    ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    A = sparse.csr_array((np.full(int(ends[-1]), 1.0), index[known], ends), shape=(n, n))
    W = (A + A.T).tocsr()
    W.data /= 2 * k
    W.sort_indices()
    return W


def tensor_graph_of(index: Any, k: int) -> Any:
    import torch

    n = len(index)
    row = torch.arange(n, device=index.device)[:, None].expand_as(index)
    known = index >= 0
    row, other = row[known], index[known]
    pair, count = torch.unique_consecutive(
        torch.sort(torch.cat([row * n + other, other * n + row]))[0], return_counts=True
    )
    ends = torch.searchsorted(pair, torch.arange(n + 1, device=pair.device) * n)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse (CSR tensor support|invariant checks)")
        return torch.sparse_csr_tensor(ends, pair % n, count.double() / (2 * k), (n, n), check_invariants=False)
