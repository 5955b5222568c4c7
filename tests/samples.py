"""A small table of made-up people, and evidence about them."""

import copy
import json
import os
import warnings
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ifair.audit import evidence
from ifair.audit.cautions import list_cautions
from ifair.audit.tuning import find_role
from ifair.data import Dataset, from_table
from ifair.datasets.catalogue.xing import compute_score
from ifair.evaluate.candidates import Candidate


def shared(function):
    """Compute evidence once for all tests, in whichever process they run; do not change it."""

    @cache
    def read_or_compute(*arguments):
        folder = os.environ.get("IFAIR_TEST_SHARED")
        if folder is None:
            return function(*arguments)
        path = Path(folder) / f"{'-'.join([function.__name__, *arguments])}.json"
        with _alone(path.with_suffix(".lock")):
            if not path.exists():
                # Whoever reads it again finds the same: it is plain data without gaps.
                text = json.dumps(found := function(*arguments), allow_nan=False)
                assert json.loads(text) == found
                path.write_text(text, encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))

    return read_or_compute


@contextmanager
def _alone(lock):
    """Wait until no other process of the tests is in here."""
    with lock.open("a") as file:
        if os.name != "nt":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


FAST = {"n_restarts": 1, "max_iter": 40}
IDS = [f"p{i:03d}" for i in range(240)]


def tuned(*candidates):
    """What an audit needs of a tuning with these candidates on its front."""
    points = [
        {"id": one.id, "role": find_role(one), "candidate": one.to_data(), "validation": {"utility": -i, "ranks": i}}
        for i, one in enumerate(candidates)
    ]
    plain = {"role": "full", "candidate": Candidate("full").to_data()}
    penalised = [{**point, "role": "penalised"} for point in points if point["role"] == "rival"]
    return {"trials": points, "front": points, "baselines": [plain, *penalised], "choices": {}}


FRONT = tuned(
    Candidate("masked", {"C": 0.01}),
    Candidate("ifair", {"variant": "frozen", "K": 3, "share": 0.1}),
    Candidate("ifair", {"variant": "frozen", "K": 4, "share": 0.9}),
    Candidate("masked", post={"name": "consistent", "strength": 0.2}),
)


def applicants(n=240):
    """People whose outcome depends on their experience and, unfairly, on their sex; height gives the sex away."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["female", "male"], n, p=[0.4, 0.6])
    experience = rng.gamma(3, 2, n).round(1)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "origin": rng.choice(["north", "south"], n),
            "experience": np.where(rng.random(n) < 0.1, np.nan, experience),
            "height": (165 + 10 * (sex == "male") + rng.normal(0, 6, n)).round(),
            "job": rng.choice(["clerk", "nurse", "welder"], n),
            "owns home": rng.random(n) < 0.4,
            "team": rng.choice([f"team {i}" for i in range(6)], n),
        }
    )
    merit = experience + 2 * (sex == "male") + rng.normal(size=n)
    frame["rating"] = merit.round(2)
    frame["hired"] = (merit > np.median(merit)).astype(int)
    return frame


def named_applicants():
    """The same people with the column that names them."""
    frame = applicants()
    frame.insert(0, "person", IDS)
    return frame


def staff(n=120):
    """The applicants with an identifier that begins with zeros, two protected columns, and an outcome in words."""
    people = applicants(n).rename(columns={"owns home": "owns_home"})
    people["person"] = [f"{i:04d}" for i in range(n)]
    people["sex"] = people["sex"].map({"female": "f", "male": "m"})
    people["age"] = (people["height"] - 130).astype(int)
    people["team"] = people["team"].map(lambda team: ("north", "south", "west")[int(team[-1]) % 3])
    people["hired"] = people["hired"].map({0: "no", 1: "yes"})
    return people[["person", "sex", "age", "experience", "job", "owns_home", "team", "rating", "hired"]]


def dataset(task="classification", protected=("sex", "origin"), frame=None):
    """The applicants with the roles of a task."""
    people = applicants() if frame is None else frame
    dropped = {"classification": ["rating", "team"], "regression": ["hired", "team"], "ranking": ["hired"]}[task]
    return from_table(
        people.drop(columns=dropped),
        target="hired" if task == "classification" else "rating",
        query="team" if task == "ranking" else None,
        protected=protected,
        name="applicants",
    )


@contextmanager
def few_candidates():
    """One candidate of each kind, learned by a short search, where a tuning or an audit chooses them itself."""
    with pytest.MonkeyPatch.context() as patched:
        # By import_module, since packages hold functions of the same names.
        for module in ("evidence", "tuning"):
            patched.setattr(import_module(f"ifair.audit.{module}"), "SOLVER", FAST)
        few = {"MODELS": ("linear",), "STRENGTHS": (0.2,), "SETTINGS": ({"K": 3, "share": 0.5},), "PENALTIES": (0.1,)}
        for name, value in few.items():
            patched.setattr(f"ifair.evaluate.arms.{name}", value)
        yield


def small_evidence(task="classification"):
    """Evidence about the applicants."""
    return applicants_evidence(task)


@shared
def applicants_evidence(task):
    return evidence(dataset(task), tuning=FRONT, resamples=20, solver=FAST, ids=IDS)


@shared
def lonely_evidence():
    """Evidence where everybody has the same protected attributes: nothing to compare, to guess or to change."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="protected column 'sex' has one value")
        people = dataset(protected=["sex"], frame=applicants().assign(sex="female"))
    return evidence(people, tuning=FRONT, resamples=20, solver=FAST)


@cache
def cautious_evidence():
    """Evidence with a point that looks fair and is worth nothing: one decision for nearly everybody, at chance."""
    found = copy.deepcopy(small_evidence())
    before = found["points"][0]
    one = next(point for point in found["points"] if point["id"] == "ifair-3-0.1")
    one["test"]["utility"] = {"estimate": 0.51, "low": 0.44, "high": 0.58}
    one["test"]["yNN"] = {"estimate": 0.99, "low": 0.98, "high": 1.0}
    one["test"]["positive"] = {"estimate": 0.01, "low": 0.0, "high": 0.02}
    one["cautions"] = list_cautions("classification", "AUC", one, before)
    first = one["cautions"][0]["text"]
    one["verdict"] |= {"sentence": f"Do not use it: {first[0].lower()}{first[1:]}", "worth": False}
    return found


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror="document.title=\'broken\'">',
    "{{7*7}}",
    "</script><script>document.title='broken'</script>",
)
"""What may stand in a table and must only ever be shown."""
AWKWARD = ("__proto__", "constructor", "toString")
"""Names of columns that every object of JavaScript has already."""


@shared
def hostile_evidence():
    """Evidence about people with hostile names of columns, values, outcome and ids."""
    script, image, braces, ending = HOSTILE
    frame = applicants().drop(columns=["rating", "team"])
    frame["job"] = frame["job"].map({"clerk": script, "nurse": image, "welder": ending})
    frame["sex"] = frame["sex"].map({"female": script, "male": braces})
    frame = frame.rename(columns={"job": image, "height": script, "sex": braces, "hired": ending})
    frame = frame.rename(columns=dict(zip(("origin", "experience", "owns home"), AWKWARD)))
    people = from_table(frame, target=ending, protected=[braces, AWKWARD[0]], name=script)
    ids = [f"{HOSTILE[i % 4]} {i}" for i in range(len(frame))]
    return evidence(people, tuning=FRONT, resamples=20, solver=FAST, ids=ids)


def load_job_searches(name, *, weights=(1, 1, 1), scale="unit-variance", job_attribute=True, recipe=None):
    """Nine searches with 12 to 20 candidates each and five people in none, by the options of Xing."""
    rng = np.random.default_rng(7)
    query = np.repeat([f"job {i}" for i in range(9)], np.arange(12, 21))
    query = np.append(query, [None] * 5)
    n = len(query)
    frame = pd.DataFrame(
        {
            "job_search": pd.Categorical(np.where(pd.isna(query), "none", query)),
            "work_months": rng.integers(0, 200, n),
            "education_months": rng.integers(0, 80, n),
            "profile_views": rng.integers(1, 5000, n),
            "sex": pd.Categorical(np.where(rng.random(n) < 0.4, "female", "male")),
        }
    )
    women = (frame["sex"] == "female").to_numpy()
    target = compute_score(frame, weights, scale)
    kept = frame if job_attribute else frame.drop(columns="job_search")
    return Dataset(name, kept, target, ("sex",), women, query=pd.Series(query, dtype="category"))
