"""Approximate neighbours by four libraries beside the exact search: time, and how many of the ten nearest are found.

    python benchmarks/approximate_neighbours.py [--quick] [--people 48842] [--jobs 2] [--json FILE] [--only NAME ...]

Census (48,842 x 100, or so many of them; made up where IFAIR_DATA has none). Every library builds its
index and searches the ten nearest others of everybody, with the settings that its documentation recommends for a high
recall. "recall" is the mean share of the ten nearest people found, of 2,000 people; "ratio" compares processor
seconds with the exact search. "same" says whether two runs find the same (of 2,000 people). Libraries
that are not installed are left out:
`pip install usearch faiss-cpu pynndescent hnswlib` (hnswlib has no wheels and is compiled).
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import common
from bench_measures import census
from ifair.core.nearest import nearest

K = 10


def by_usearch(X: Any, jobs: int) -> Any:
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=32, expansion_add=128, expansion_search=128)
    index.add(np.arange(len(X)), X, threads=jobs)
    return index.search(X, K + 1, threads=jobs).keys


def by_faiss_hnsw(X: Any, jobs: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(jobs)
    index = faiss.IndexHNSWFlat(X.shape[1], 32)
    index.hnsw.efConstruction = index.hnsw.efSearch = 128
    index.add(X)
    return index.search(X, K + 1)[1]


def by_faiss_cells(X: Any, jobs: int) -> Any:
    import faiss

    faiss.omp_set_num_threads(jobs)
    n_cells = int(2 * np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], n_cells)
    index.train(X)
    index.add(X)
    index.nprobe = max(8, n_cells // 16)
    return index.search(X, K + 1)[1]


def by_hnswlib(X: Any, jobs: int) -> Any:
    import hnswlib

    index = hnswlib.Index("l2", X.shape[1])
    index.init_index(len(X), ef_construction=128, M=32, random_seed=0)
    index.set_num_threads(jobs)
    index.add_items(X)
    index.set_ef(128)
    return index.knn_query(X, K + 1)[0]


def by_pynndescent(X: Any, jobs: int) -> Any:
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=K + 1, random_state=0, n_jobs=jobs).neighbor_graph[0]


LIBRARIES: dict[str, tuple[str, Callable[[Any, int], Any]]] = {
    "usearch": ("usearch", by_usearch),
    "faiss, HNSW": ("faiss", by_faiss_hnsw),
    "faiss, cells": ("faiss", by_faiss_cells),
    "pynndescent": ("pynndescent", by_pynndescent),
    "hnswlib": ("hnswlib", by_hnswlib),
}


def measure(what: str, X: Any, jobs: int, names: list[str]) -> common.Rows:
    sample = np.random.default_rng(0).choice(len(X), min(len(X), 2000), replace=False)
    took, (exact, *_) = common.time_work(lambda: nearest(X, K, n_jobs=jobs))
    rows: common.Rows = [
        {"people": what, "search": "exact", "seconds": took.wall, "CPU s": took.cpu, "ratio": 1.0, "recall": 1.0}
    ]
    single = np.ascontiguousarray(X, dtype=np.float32)
    kth = np.sort(np.linalg.norm(X[exact[sample]] - X[sample][:, None], axis=2), axis=1)[:, -1] * (1 + 1e-6)
    for name in names:
        package, search = LIBRARIES[name]
        if find_spec(package) is None:
            continue
        took, found = common.time_work(lambda search=search: np.asarray(search(single, jobs)).astype(np.intp))
        again = np.asarray(search(single[:2000], jobs)), np.asarray(search(single[:2000], jobs))
        hits = [
            (np.linalg.norm(X[line[line != i][:K]] - X[i], axis=1) <= reach).mean()
            for i, line, reach in zip(sample, found[sample], kth)
        ]
        rows.append(
            {
                "people": what,
                "search": name,
                "seconds": took.wall,
                "CPU s": took.cpu,
                "ratio": rows[0]["CPU s"] / took.cpu,
                "recall": float(np.mean(hits)),
                "same": "yes" if np.array_equal(*again) else "no",
            }
        )
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    parser = common.options(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="threads of every search")
    parser.add_argument("--people", type=int, default=48_842)
    parser.add_argument("--only", nargs="+", choices=list(LIBRARIES), default=list(LIBRARIES))
    options = parser.parse_args(arguments)
    machine = common.Machine()
    X, source = census(2_000 if options.quick else options.people)
    rows = measure(f"{source} {len(X):,} x {X.shape[1]}", X, options.jobs, options.only)
    return common.report("Approximate neighbours", rows, machine, options.json, f"{options.jobs} threads.")


if __name__ == "__main__":
    main()
