"""Approximate nearest neighbours, for graphs too large for the exact search: cells of faiss, exact distances."""

from typing import Any

import numpy as np

from ifair.core.arrays import Array, Indices
from ifair.core.nearest import Reference, to_ten_digits, without_self
from ifair.errors import require_extra

FEWEST = 2048
"""With fewer people the exact search is used: cells would save nothing."""

CELLS = 2.0
"""Cells, times the root of the number of people."""

PROBED = 16
"""One in so many cells is looked into."""

ROWS = 4096


def nearest_approximately(records: Array, k: int, *, n_jobs: int | None = None) -> tuple[Indices, Array]:
    """Nearly the ``k`` nearest others of everybody: those in the nearest cells of a clustering.

    What :func:`ifair.core.nearest.nearest` finds, distances included, but a few of the nearest may be missing, with
    farther ones instead. Every time the same, on any number of threads.
    """
    require_extra("an approximate search", ["faiss"], "approximate")
    if len(records) < FEWEST:
        return Reference.from_records(records).nearest_others(k, n_jobs)
    import faiss
    from joblib import effective_n_jobs

    centred = np.ascontiguousarray(records - records.mean(axis=0), dtype=np.float32)
    n_cells = int(CELLS * np.sqrt(len(records)))
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1 if n_jobs is None else effective_n_jobs(n_jobs))
    try:
        # The cells' index must outlive the one that uses it.
        cells: Any = faiss.IndexFlatL2(records.shape[1])
        index: Any = faiss.IndexIVFFlat(cells, records.shape[1], n_cells)
        index.cp.seed, index.cp.min_points_per_centroid = 1, 1
        index.train(centred)
        index.add(centred)
        index.nprobe = max(8, n_cells // PROBED)
        found = index.search(centred, k + 1)[1].astype(np.intp)
    finally:
        faiss.omp_set_num_threads(threads)
    found, _ = without_self(found, np.zeros(found.shape), k)
    squared = np.empty(found.shape)
    for start in range(0, len(found), ROWS):
        rows = slice(start, start + ROWS)
        difference = records[found[rows]] - records[rows, None]
        squared[rows] = to_ten_digits(np.einsum("ijk,ijk->ij", difference, difference))
    # Cells with too few people leave places empty.
    short = np.flatnonzero((found < 0).any(axis=1))
    if len(short):
        whole, far = Reference.from_records(records).nearest(records[short], k + 1, n_jobs)
        for row, others, distances in zip(short, whole, far):
            kept = np.flatnonzero(others != row)[:k]
            found[row], squared[row] = others[kept], distances[kept]
    order = np.lexsort((found, squared), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(squared, order, axis=1)
