"""Writing verbs that end at any moment: what was there stays whole, and the same command finishes the work."""

import hashlib
import json
import os
import random
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from hostile.bad_tables import ROLES
from hostile.outcomes import LONGEST, Hung, new_folder, time_limit

import ifair
from ifair.datasets.about import DataFile, Origin

from scripts import run

SOLVER = ["-k", "3", "--restarts", "1", "--max-iter", "200", "--jobs", "1"]
EXPERIMENT = ["--only", "obfuscation", "--dataset", "credit", "--splits", "1", "--jobs", "1"]
JUDGE = ["--resamples", "10", "--jobs", "1", "--estimator", "linear"]


def describe_model(path):
    """What was learned; a file's date differs from run to run."""
    return ifair.load(path)[-2].prototypes_.tobytes()


def describe_experiments(path):
    """The numbers of a reproduction; how long it took differs from run to run."""
    return json.loads(path.read_bytes())["experiments"]


@dataclass(frozen=True)
class WritingVerb:
    """A verb: its arguments, FOLDER in them for where it writes; names of its files; what two runs have in common."""

    arguments: list
    names: list
    describe: Callable = Path.read_bytes

    def run(self, folder):
        os.environ["IFAIR_CACHE"] = str(folder)
        return run(*(str(argument).replace("FOLDER", str(folder)) for argument in self.arguments))

    def describe_all(self, folder):
        return {name: self.describe(folder / name) for name in self.names}


def list_verbs(files):
    """Every verb that writes, by name."""
    table, model, consistent = files / "people.csv", files / "hired.ifair", files / "consistent.ifair"
    ranked = ["-p", "sex", "--score", "rating", "--query", "team", "--min-share", "0.3"]
    trials = ["--trials", "3", "--estimator", "linear"]
    commands = {
        "fit": (["fit", table, *ROLES, *SOLVER, "-o", "FOLDER/m.ifair"], ["m.ifair"], describe_model),
        "transform": (["transform", model, table, "--block-rows", "5", "-o", "FOLDER/t.csv"], ["t.csv"]),
        "decide": (["decide", table, "--model", consistent, "--rate", "0.5", "-o", "FOLDER/d.csv"], ["d.csv"]),
        "rank": (["rank", table, *ranked, "-o", "FOLDER/r.csv"], ["r.csv"]),
        "export": (["export", model, "--onnx", "FOLDER/m.onnx"], ["m.onnx"]),
        "tune": (["tune", table, *ROLES, *trials, "-o", "FOLDER/t.json"], ["t.json"]),
        "audit": (["audit", table, *ROLES, *JUDGE, "-o", "FOLDER/e.json"], ["e.json"]),
        "report": (
            ["report", files / "evidence.json", "--card", "-o", "FOLDER/r.html"],
            ["r.html", "r.card.md", "r.card.html"],
        ),
        "demo": (["demo", "--no-open", "--jobs", "1", "-o", "FOLDER"], ["evidence.json", "report.html"]),
        "reproduce": (["reproduce", *EXPERIMENT, "-o", "FOLDER"], ["results.json"], describe_experiments),
        "datasets fetch": (["datasets", "fetch", "census"], ["census/adult.data"]),
    }
    return {name: WritingVerb(*command) for name, command in commands.items()}


def publish_dataset(folder):
    """Let ``datasets fetch`` find its file in a folder instead of the web."""
    source, content = folder / "published", random.Random(0).randbytes(20_000_000)
    source.write_bytes(content)
    file = DataFile("census/adult.data", hashlib.sha256(content).hexdigest(), len(content), (Origin(source.as_uri()),))
    return patch("ifair.cli.datasets.find_files", lambda _: (file,))


def run_killed(verb, folder, after):
    """Run a verb in a copy of this process, and kill it after so many seconds, if it has not ended before."""
    child = os.fork()
    if not child:
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            warnings.simplefilter("ignore")
            verb.run(folder)
        finally:
            os._exit(0)
    end = time.monotonic() + after
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def try_kills(tally, files, seed, n):
    """Each verb so often: without files in their places, and over earlier ones."""
    rng = random.Random(f"{seed} kills")
    with publish_dataset(files), patch.dict(os.environ):
        os.environ.pop("IFAIR_DATA", None)
        for name, verb in list_verbs(files).items():
            with new_folder() as folder:
                began = time.monotonic()
                done = verb.run(folder)
                lasts = time.monotonic() - began
                if done.exit_code:
                    tally.add(f"kill -9: {name}", "traceback", f"fails undisturbed: {done.output} {done.exception!r}")
                    continue
                expected = verb.describe_all(folder)
                earlier = {one: (folder / one).read_bytes() for one in verb.names}
            for number in range(n):
                # Every other time towards the end, where files are written.
                moment = rng.uniform(*[(0, 1.1), (0.8, 1.1)][number // 2 % 2])
                with new_folder() as folder:
                    if number % 2:
                        for one, content in earlier.items():
                            (folder / one).parent.mkdir(exist_ok=True)
                            (folder / one).write_bytes(content)
                    run_killed(verb, folder, min(moment * lasts, LONGEST))
                    outcome, what = judge_remains(verb, folder, expected, earlier if number % 2 else {})
                tally.add(f"kill -9: {name}", outcome, f"number {number}: {what}")


def judge_remains(verb, folder, expected, earlier):
    """Whole or not there; and the same command then gives what it gives undisturbed."""
    try:
        for name in verb.names:
            path = folder / name
            if path.exists():
                if path.read_bytes() != earlier.get(name) and verb.describe(path) != expected[name]:
                    return "silently wrong", f"{name} is not whole"
            elif name in earlier:
                return "silently wrong", f"{name} is gone"
        with time_limit():
            done = verb.run(folder)
        if done.exit_code:
            known = isinstance(done.exception, SystemExit)
            return ("silently wrong" if known else "traceback"), f"cannot be run again: {done.output[-300:]}"
        if verb.describe_all(folder) != expected:
            return "silently wrong", "the second run gives another result"
        return "accepted", ""
    except Hung:
        return "hung", "the second run does not end"
    except Exception:
        return "traceback", traceback.format_exc(limit=-2)
