"""How long it takes to load each dataset from local files (IFAIR_DATA or the cache), checksums included.

python benchmarks/bench_datasets.py
"""

import time

from ifair.data import DataError, dataset_names, load

REPEATS = 3
LIMITS = {"census": 2.0, "all five": 8.0}


def seconds_to_load(name: str) -> float:
    """Best of a few loads, in seconds."""
    options = {} if name in ("credit", "synthetic") else {"download_if_missing": False}
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        load(name, **options)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print one table."""
    took = {}
    print(f"{'dataset':<12}{'seconds':>8}{'limit':>8}")
    for name in dataset_names():
        try:
            took[name] = seconds_to_load(name)
        except DataError:
            print(f"{name:<12}{'-':>8}  its files are not on this machine")
            continue
        print(f"{name:<12}{took[name]:>8.2f}{LIMITS.get(name, ''):>8}")
    five = sum(seconds for name, seconds in took.items() if name != "synthetic")
    print(f"{'all five':<12}{five:>8.2f}{LIMITS['all five']:>8}")


if __name__ == "__main__":
    main()
