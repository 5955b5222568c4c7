"""A hostile trial, small and seeded: `make test-hostile`.

Bad tables through every verb that reads one, altered results files, flipped bits of model files, and kill -9 at random
moments of every verb that writes. Prints one table; ends with 1 if anything ended in a traceback, went wrong in
silence, or hung.
"""

import argparse
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.altered_files import try_models, try_results
from hostile.bad_tables import ROLES, good_rows, try_tables
from hostile.kills import EXPERIMENT, SOLVER, try_kills
from hostile.outcomes import Tally, new_folder

from ifair.data import load_credit

from samples import few_candidates
from scripts import run

KINDS = ("tables", "results", "models", "kills")


@contextmanager
def hurry():
    """Short searches, few candidates and few people: the trial is about files, not about the quality of models."""
    few = load_credit().take(range(150))
    with few_candidates(), patch("ifair.data.load_credit", lambda: few), patch("ifair.cli.demo.RESAMPLES", 10):
        yield


def make_good_files(folder):
    """A table; a model, a representation, a tuning and evidence of it; results of one experiment of the paper."""
    table, model = folder / "people.csv", folder / "hired.ifair"
    table.write_text("\n".join(map(",".join, good_rows())) + "\n", encoding="utf-8")
    more = ["--resamples", "10", "--jobs", "1"]
    for arguments in (
        ["fit", table, *ROLES, *SOLVER, "-o", model],
        ["fit", table, *ROLES, "--consistent", "1", "-o", folder / "consistent.ifair"],
        ["transform", model, table, "-o", folder / "represented.csv"],
        ["tune", table, *ROLES, "--trials", "2", "-o", folder / "tuning.json"],
        ["audit", table, *ROLES, *more, "--tuning", folder / "tuning.json", "-o", folder / "evidence.json"],
        ["reproduce", *EXPERIMENT, "-o", folder],
    ):
        done = run(*arguments)
        if done.exit_code:
            raise RuntimeError(f"{arguments}: {done.output}") from done.exception


def run_trial(seed=0, scale=1.0, only=KINDS):
    """Everything, so many times as much as usual; the tally."""

    def many(n):
        return max(1, round(scale * n))

    def tell(what):
        sys.stderr.write(f"{time.monotonic() - began:5.0f} s  {what}\n")

    began = time.monotonic()
    tally = Tally()
    with hurry(), new_folder() as files, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_good_files(files)
        tell("good files are made")
        if "tables" in only:
            try_tables(tally, files, seed, many(100), many(40))
            tell("tables are tried")
        if "results" in only:
            n = {"report": many(200), "audit": many(30), "fit": many(60), "reproduce": many(30)}
            try_results(tally, files, seed, n)
            tell("results files are tried")
        if "models" in only:
            try_models(tally, files, seed, many(200))
            tell("model files are tried")
        if "kills" in only:
            try_kills(tally, files, seed, many(4))
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="so many times as many runs")
    parser.add_argument("--only", choices=KINDS, action="append", help="may be given several times")
    chosen = parser.parse_args()
    began = time.monotonic()
    tally = run_trial(chosen.seed, chosen.scale, chosen.only or KINDS)
    sys.stderr.writelines(f"{line}\n" for line in tally.bad)
    sys.stdout.write(f"{tally.table()}\nseed {chosen.seed}, {time.monotonic() - began:.0f} s\n")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
