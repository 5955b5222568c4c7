"""Writing verbs that end at any moment: what was there stays whole, and the same command finishes the work."""

import json
import os
import random
import signal
import time
import traceback
import warnings
from pathlib import Path

from hostile.bad_tables import ROLES
from hostile.outcomes import LONGEST, Hung, new_folder, time_limit

from scripts import run

SOLVER = ["-k", "3", "--restarts", "1", "--max-iter", "200", "--jobs", "1"]
EXPERIMENT = ["--only", "obfuscation", "--dataset", "credit", "--splits", "1", "--jobs", "1"]
JUDGE = ["--resamples", "10", "--jobs", "1", "--estimator", "linear"]


def list_verbs(files):
    """By verb its arguments but the output, the output's name, and what two runs must have in common."""
    table, model, consistent = files / "people.csv", files / "hired.ifair", files / "consistent.ifair"
    return {
        "fit": (["fit", table, *ROLES, *SOLVER, "-o"], "m.ifair", describe_model),
        "transform": (["transform", model, table, "--block-rows", "5", "-o"], "t.csv", Path.read_bytes),
        "decide": (["decide", table, "--model", consistent, "--rate", "0.5", "-o"], "d.csv", Path.read_bytes),
        "rank": (
            ["rank", table, "-p", "sex", "--score", "rating", "--query", "team", "--min-share", "0.3", "-o"],
            "r.csv",
            Path.read_bytes,
        ),
        "export": (["export", model, "--onnx"], "m.onnx", Path.read_bytes),
        "tune": (["tune", table, *ROLES, "--trials", "3", "--estimator", "linear", "-o"], "t.json", Path.read_bytes),
        "audit": (["audit", table, *ROLES, *JUDGE, "-o"], "e.json", Path.read_bytes),
        "report": (["report", files / "evidence.json", "-o"], "r.html", Path.read_bytes),
        "reproduce": (["reproduce", *EXPERIMENT, "-o"], "results.json", describe_experiments),
    }


def describe_model(path):
    """What was learned; a file's date differs from run to run."""
    import ifair

    return ifair.load(path)[-2].prototypes_.tobytes()


def describe_experiments(path):
    """The numbers of a reproduction; how long it took differs from run to run."""
    return json.loads(path.read_bytes())["experiments"]


def name_output(verb, output):
    """What the command line is given: of ``reproduce`` the folder."""
    return output.parent if verb == "reproduce" else output


def run_killed(arguments, after):
    """Run a verb in a copy of this process, and kill it after so many seconds; whether it had ended before."""
    child = os.fork()
    if not child:
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            warnings.simplefilter("ignore")
            run(*arguments)
        finally:
            os._exit(0)
    end = time.monotonic() + after
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def try_kills(tally, files, seed, n):
    """Each verb so often: without a file in its place, and over an earlier one."""
    rng = random.Random(f"{seed} kills")
    for verb, (arguments, name, facts) in list_verbs(files).items():
        with new_folder() as folder:
            began = time.monotonic()
            done = run(*arguments, name_output(verb, folder / name))
            lasts = time.monotonic() - began
            assert done.exit_code == 0, f"{verb}: {done.output}"
            expected, earlier = facts(folder / name), (folder / name).read_bytes()
        for number in range(n):
            with new_folder() as folder:
                output = folder / name
                if number % 2:
                    output.write_bytes(earlier)
                command = [*arguments, name_output(verb, output)]
                run_killed(command, min(rng.uniform(0, 1.1) * lasts, LONGEST))
                outcome, what = judge_remains(output, command, expected, earlier if number % 2 else None, facts)
            tally.add(f"kill -9: {verb}", outcome, f"number {number}: {what}")


def judge_remains(output, command, expected, earlier, facts):
    """Whole or not there; and the same command then gives what it gives undisturbed."""
    try:
        if output.exists():
            if output.read_bytes() != earlier and facts(output) != expected:
                return "silently wrong", f"{output.name} is not whole"
        elif earlier is not None:
            return "silently wrong", f"{output.name} is gone"
        with time_limit():
            done = run(*command)
        if done.exit_code:
            known = isinstance(done.exception, SystemExit)
            return ("silently wrong" if known else "traceback"), f"cannot be run again: {done.output[-300:]}"
        if facts(output) != expected:
            return "silently wrong", "the second run gives another result"
        return "accepted", ""
    except Hung:
        return "hung", "the second run does not end"
    except Exception:
        return "traceback", traceback.format_exc(limit=-2)
