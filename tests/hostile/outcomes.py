"""What a hostile run came to, and the table of all of them."""

import faulthandler
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from scripts import run

OUTCOMES = ("accepted", "refused clearly", "traceback", "silently wrong", "hung")
BAD = OUTCOMES[2:]
LONGEST = 300
"""Seconds that one run may take, also on a busy machine."""


class Hung(BaseException):
    """A run that took too long. No Exception, so that nothing but the trial catches it."""


class Tally:
    """Counts outcomes by kind of trial, and keeps what a bad one was."""

    def __init__(self):
        self.counts = {}
        self.bad = []

    def add(self, kind, outcome, what=""):
        self.counts.setdefault(kind, Counter())[outcome] += 1
        if outcome in BAD:
            self.bad.append(f"{outcome}: {kind}: {what}")

    def table(self):
        """The one table: a row for every kind, and their sums."""
        counts = pd.DataFrame.from_dict(self.counts, orient="index").reindex(columns=OUTCOMES).fillna(0).astype(int)
        counts.loc["in all"] = counts.sum()
        counts.insert(0, "tried", counts.sum(axis=1))
        return counts.to_string()


@contextmanager
def time_limit(seconds=LONGEST):
    """Raise :class:`Hung` after so many seconds.

    Compiled code that never comes back hears no alarm: after twice the time the whole trial ends with 1 and a trace.
    """

    def ring(*_):
        raise Hung

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(2 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def new_folder():
    with tempfile.TemporaryDirectory(prefix="ifair-hostile-") as name:
        yield Path(name)


def try_command(folder, arguments, check, kept=()):
    """Run a verb in this process, and judge what it did: the outcome, and what there is to say about it.

    Whatever is in the folder before must not change. A refused command leaves nothing there but files whose names end
    as in ``kept``. Of an accepted one, ``check`` says what is wrong with the result, given what it printed, or nothing.
    """
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    try:
        with time_limit(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = run(*arguments)
    except Hung:
        return "hung", f"{arguments}"
    if done.exit_code and not (isinstance(done.exception, SystemExit) and "Error: " in done.stderr):
        lines = traceback.format_exception(done.exception)
        return "traceback", f"{arguments}\n{''.join(lines[-4:])}"
    for path, content in before.items():
        if not path.exists() or path.read_bytes() != content:
            return "silently wrong", f"{arguments} changed {path.name}"
    if done.exit_code:
        litter = [path.name for path in folder.rglob("*") if path not in before and path.is_file()]
        litter = [name for name in litter if not name.endswith(tuple(kept) or ("\0",))]
        return ("silently wrong", f"{arguments} was refused and left {litter}") if litter else ("refused clearly", "")
    try:
        wrong = check(done.stdout)
    except Exception:
        wrong = traceback.format_exc(limit=-2)
    return ("silently wrong", f"{arguments}: {wrong}") if wrong else ("accepted", "")
