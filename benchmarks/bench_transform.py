"""`transform` of a million records, against a bare matrix product of the same shape.

    python benchmarks/bench_transform.py [--json FILE] [--records 1000000]

The bare product is ``(X @ V.T) @ V``: it reads as much and writes as much. It runs on BLAS's threads; `transform` on
`n_jobs` of its own.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import common
from ifair import IFair

N, K = 100, 10


def table(n_records: int, dtype: str) -> np.ndarray:
    """A large table, made by repeating a small one; nothing here depends on the values."""
    small = common.made_up(1000, N).astype(dtype)
    return np.tile(small, (-(-n_records // 1000), 1))[:n_records]


def fit_model(X: np.ndarray, n_jobs: int) -> IFair:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return IFair(K, protected=[N - 1], n_restarts=1, max_iter=20, n_jobs=n_jobs, random_state=0).fit(X[:1000])


def peak(n_records: int, dtype: str, n_jobs: int) -> float:
    """Peak memory above data and result, in MB."""
    X = table(n_records, dtype)
    model = fit_model(X, n_jobs)
    model.transform(X[:5000])
    return common.megabytes_above(lambda: model.transform(X)) - X.nbytes / 2**20


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments, records=(200_000, 1_000_000, "of the table"))
    n_records = chosen.records
    rows: common.Rows = []
    for dtype in ("float64", "float32"):
        X = table(n_records, dtype)
        models = {n_jobs: fit_model(X, n_jobs) for n_jobs in (1, 2)}
        V = models[1].prototypes_.astype(dtype)
        works = {"bare product": lambda X=X, V=V: (X @ V.T) @ V}
        works |= {f"transform {n}": lambda X=X, model=model: model.transform(X) for n, model in models.items()}
        times = common.best_times(works, rounds=4)
        bare = times["bare product"]
        rows.append(
            {"what": "bare product", "threads": "BLAS", "dtype": dtype, "seconds": bare.wall, "CPU s": bare.cpu}
        )
        for n_jobs in models:
            took = times[f"transform {n_jobs}"]
            rows.append(
                {
                    "what": "transform",
                    "threads": str(n_jobs),
                    "dtype": dtype,
                    "seconds": took.wall,
                    "CPU s": took.cpu,
                    "million records/s": n_records / took.wall / 1e6,
                    "transform/bare": took.wall / bare.wall,
                    "same, CPU": took.cpu / bare.cpu,
                    "extra peak MB": common.in_fresh_process(peak, n_records, dtype, n_jobs),
                }
            )
        del X, works
    title = f"transform of {n_records:,} x {N}, K = {K}"
    notes = "Best of 4 rounds taken in turns. Extra peak: resident memory above the table and the result."
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
