"""Results files and model files that were damaged or forged."""

import copy
import json
import random
import shutil
from importlib import import_module
from unittest.mock import patch

from damage import damage
from hostile.bad_tables import ROLES
from hostile.kills import EXPERIMENT
from hostile.outcomes import new_folder, try_command

import ifair
from ifair.evaluate.candidates import Candidate
from ifair.plain_data import parse_json

ODD = [None, True, -1, 0, 7.5, 10**400, float("nan"), float("inf"), 1e308, 2**62, "", "x", "__proto__", "\ud800"]
ODD += [[], {}, [1], {"a": 1}, [[[]]], "9" * 5000]


def alter(data, rng):
    """A copy with one thing gone, doubled, renamed or replaced by something odd, at whatever depth."""
    inner = found = copy.deepcopy(data)
    deeper = True
    while deeper:
        place = inner
        last = rng.choice(range(len(place)) if isinstance(place, list) else list(place))
        inner = place[last]
        deeper = isinstance(inner, list | dict) and inner and rng.random() < 0.8
    how = rng.randrange(4)
    if how == 0:
        del place[last]
    elif how == 1 and isinstance(place, list):
        place.append(copy.deepcopy(place[last]))
    elif how == 1:
        place[f"{last}x"] = place[last]
    else:
        place[last] = rng.choice(ODD)
    return json.dumps(found).encode()


def try_results(tally, files, seed, n):
    """Every results file through the verbs that read it."""
    for verb, (name, use) in USES.items():
        content = (files / f"{name}.json").read_bytes()
        data, rng = json.loads(content), random.Random(f"{seed} {name} {verb}")
        # The first is as it was: a verb that refused everything would be no trial of it.
        for number in range(-1, n[verb]):
            altered = content if number < 0 else damage(content, rng) if number % 5 == 0 else alter(data, rng)
            with new_folder() as folder:
                path = folder / f"{name}.json"
                path.write_bytes(altered)
                outcome, what = use(folder, path, files)
            if number < 0 and outcome != "accepted":
                outcome, what = "silently wrong", f"the good file was {outcome}: {what}"
            tally.add(f"altered {name}: {verb}", outcome, f"number {number}: {what}")


def report_evidence(folder, path, _):
    output = folder / "report.html"

    def check(printed):
        chosen = parse_json(printed.encode())["choice"]
        points = json.loads(path.read_bytes())["points"]
        return "" if chosen is None or chosen["id"] in [p["id"] for p in points] else f"no point {chosen['id']}"

    return try_command(folder, ["report", path, "--card", "-o", output, "--json"], check)


def audit_by_tuning(folder, path, files):
    shutil.copy(files / "people.csv", folder)
    more = ["--tuning", path, "--resamples", "10", "--jobs", "1", "--json"]

    def check(printed):
        front = json.loads(path.read_bytes())["front"]
        found = parse_json(printed.encode())
        gone = {Candidate.from_data(one["candidate"]).id for one in front} - {point["id"] for point in found["points"]}
        return f"{gone} are neither tried nor left out" if len(gone) > len(found["left_out"]) else ""

    return try_command(folder, ["audit", folder / "people.csv", *ROLES, *more], check)


def fit_by_tuning(folder, path, files):
    shutil.copy(files / "people.csv", folder)
    output = folder / "m.ifair"

    def check(_):
        tuning = json.loads(path.read_bytes())
        chosen = next(point for point in tuning["trials"] if point["id"] == tuning["choices"]["balanced"])
        # Consistent decisions stand around the pipeline, whose steps are looked at.
        model = ifair.load(output)
        steps = getattr(getattr(model, "estimator_", model), "steps", [])
        learned = [len(step.prototypes_) for _, step in steps if hasattr(step, "prototypes_")]
        wanted = [chosen["candidate"]["setting"]["K"]] if chosen["candidate"]["method"] == "ifair" else []
        return "" if learned == wanted else f"{learned} prototypes instead of {wanted}"

    return try_command(folder, ["fit", folder / "people.csv", *ROLES, "--tuning", path, "-o", output], check)


def reproduce_results(folder, path, _):
    """The page is made of what is there; nothing is computed anew."""
    nothing = patch.object(
        import_module("ifair.reproduce.runner"), "run_plans", lambda plans, *_, **__: {name: [] for name in plans}
    )
    with nothing:
        arguments = ["reproduce", *EXPERIMENT, "-o", folder, "--json"]
        done = try_command(folder, arguments, lambda printed: "" if parse_json(printed.encode()) else "nothing")
    # The file itself is what the verb writes.
    return ("accepted", "") if done[0] == "silently wrong" and done[1].endswith("changed results.json") else done


USES = {
    "report": ("evidence", report_evidence),
    "audit": ("tuning", audit_by_tuning),
    "fit": ("tuning", fit_by_tuning),
    "reproduce": ("results", reproduce_results),
}
"""By verb the file that it reads, and how that is tried."""


def try_models(tally, files, seed, n):
    """Bits flipped in a model file: refused, or the very same representation."""
    rng = random.Random(f"{seed} models")
    content = (files / "hired.ifair").read_bytes()
    expected = (files / "represented.csv").read_bytes()
    for number in range(n):
        altered = bytearray(content)
        for _ in range(rng.choice([1, 1, 8])):
            altered[rng.randrange(len(altered))] ^= 1 << rng.randrange(8)
        with new_folder() as folder:
            model, output = folder / "m.ifair", folder / "t.csv"
            model.write_bytes(altered if number % 10 else content[: rng.randrange(len(content))])
            table = shutil.copy(files / "people.csv", folder)

            def check(_, output=output):
                return "" if output.read_bytes() == expected else "another representation"

            verb = rng.choice(["transform", "transform", "inspect"])
            arguments = ["inspect", model] if verb == "inspect" else ["transform", model, table, "-o", output]
            outcome, what = try_command(folder, arguments, check if verb == "transform" else lambda _: "")
        tally.add(f"flipped bits: {verb}", outcome, f"number {number}: {what}")
