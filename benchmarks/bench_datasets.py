"""How long it takes to load each dataset from local files (IFAIR_DATA or the cache), checksums included.

python benchmarks/bench_datasets.py [--json FILE]
"""

import common
from ifair.data import DataError, dataset_names, load

REPEATS = 10
LIMITS = {"census": 2.0, "all five": 8.0}


def seconds_to_load(name: str) -> float:
    """Best of a few loads, in seconds."""
    options = {} if name in ("credit", "synthetic") else {"download_if_missing": False}
    return common.best_times({name: lambda: load(name, **options)}, REPEATS)[name].wall


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments)
    rows: common.Rows = []
    missing = []
    for name in dataset_names():
        try:
            rows.append({"dataset": name, "seconds": seconds_to_load(name), "limit": LIMITS.get(name)})
        except DataError:
            missing.append(name)
    if not missing:
        five = sum(row["seconds"] for row in rows if row["dataset"] != "synthetic")
        rows.append({"dataset": "all five", "seconds": five, "limit": LIMITS["all five"]})
    notes = f"Best of {REPEATS}." + (f" Not on this machine: {', '.join(missing)}." if missing else "")
    return common.report("Loading datasets from local files", rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
