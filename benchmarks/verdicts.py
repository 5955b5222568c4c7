"""What the referee says about German Credit on several splits: a verdict is about one of them.

    python benchmarks/verdicts.py --seeds 5

Prints a line per split: the point that the rules choose, and the verdict of `ifair demo` there; then how often it was
worth it.
"""

import argparse
import warnings

from ifair.audit import evidence
from ifair.cli.demo import MODELS, RESAMPLES
from ifair.data import load_credit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="splits to try")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    options = parser.parse_args()
    worth = 0
    for seed in range(options.seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evidence(load_credit(), models=MODELS, resamples=RESAMPLES, seed=seed, n_jobs=options.jobs)
        verdict = found["verdict"]
        worth += verdict["worth"]
        print(f"{seed}  {verdict['choice']}: {verdict['sentence']}", flush=True)
    print(f"worth it on {worth} of {options.seeds} splits")


if __name__ == "__main__":
    main()
