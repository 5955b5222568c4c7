"""Settings so small that a unit takes a fraction of a second, a ranking that needs no file, and made-up results."""

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from reproduce.made_up import compared, results_of, spread, spreads

from ifair.cli import main
from ifair.reproduce import case
from ifair.reproduce.paper import SENSITIVITY
from ifair.results import REPRODUCTION, read_results

from samples import load_job_searches

COMMITTED = Path(__file__).parents[2] / "docs" / "results" / "reproduce.json"


@pytest.fixture
def grid():
    return {"K": [4], "ratios": [[0.5, 0.5], [0.9, 0.1]], "lfr": [0.1, 1.0], "p": [0.3, 0.6]}


@pytest.fixture
def solver():
    return {"n_restarts": 1, "max_iter": 20, "tol": 1e-2}


@pytest.fixture(scope="session")
def made_up_data():
    """A context in which a made-up ranking is loaded whatever a dataset is called."""

    @contextmanager
    def patch_load():
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(case, "load", load_job_searches)
            case._prepare.cache_clear()  # of splits of other data
            yield patched
        case._prepare.cache_clear()

    return patch_load


@pytest.fixture
def job_searches(made_up_data):
    with made_up_data():
        yield load_job_searches("xing")


@pytest.fixture
def committed():
    """The results of the documentation, to be changed at will; :mod:`test_committed_results` has all that they say."""
    if not COMMITTED.exists():
        pytest.skip("docs/results is not here: this is not a checkout of the repository")
    return read_results(COMMITTED, REPRODUCTION)


@pytest.fixture(params=["credit", "xing"])
def small_case(request, grid, solver):
    """A split of a part of Credit, and one of the made-up ranking."""
    if request.param == "xing":
        request.getfixturevalue("job_searches")
    return case.Case(request.param, 0, max_records=240, grid=grid, solver=solver)


@dataclass(frozen=True)
class SmokeRun:
    """A run of the smoke profile: its folder, and what the command said."""

    folder: Path
    outcome: Result

    def repeat(self):
        return reproduce(self.folder)


def reproduce(folder):
    """Run the smoke profile; whatever another process is running in the folder is waited for and shared."""
    while True:
        outcome = CliRunner().invoke(main, ["reproduce", "--jobs", "1", "--output", str(folder)])
        if "another run is using" not in outcome.output:
            return outcome
        time.sleep(1)


@pytest.fixture(scope="session")
def smoke_run(tmp_path_factory, request):
    """The smoke profile, run once for all tests and all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "smoke"
    return SmokeRun(folder, reproduce(folder))


def summary(values, points):
    """One dataset: for every method its measures, the same under every rule; ours clearly different."""
    rule = {method: {"settings": [], "test": spreads(**measures)} for method, measures in values.items()}
    theirs, ours = (
        {name: {m: compared(values[own][name] - values[m][name]) for m in values if m != own} for name in values[own]}
        for own in ("ifair-b", "ifair-plus")
    )
    rules = ("most_useful", "fairest", "balanced")
    comparisons = {"comparisons": dict.fromkeys(rules, theirs), "comparisons_of_ours": ours}
    return {"rules": dict.fromkeys(rules, rule), **comparisons, "points": points}


def classified(name):
    methods = ("full", "masked", "svd", "svd-masked", "lfr", "ifair-a", "ifair-b", "ifair-plus")
    others = {"Acc": 0.7, "AUC": 0.65, "AUC_of_scores": 0.75, "EqOpp": 0.7, "Parity": 0.7, "yNN": 0.8}
    values = {m: dict(others) for m in methods}
    values["ifair-b"] |= {"AUC": 0.64, "EqOpp": 0.9, "Parity": 0.9, "yNN": 0.9}
    rng = np.random.default_rng(len(name))
    points = {
        m: [
            {"setting": {"K": 10}, "test": {"AUC": 0.5 + 0.1 * x, "yNN": 0.9 - 0.1 * x * y}}
            for x, y in rng.random((n, 2))
        ]
        for m, n in zip(methods, (1, 1, 2, 2, 30, 6, 6, 6))
    }
    points["masked"][0]["setting"] = {}
    points["full"] = [{"setting": {}, "test": {"AUC": 0.65, "yNN": 0.8}}]
    points["ifair-b"].append({"setting": {}, "test": {"AUC": 0.64, "yNN": 0.95}})
    for method in ("ifair-a", "ifair-b", "ifair-plus"):
        for i, point in enumerate(points[method]):
            point["setting"] = {"K": 10 + 10 * (i % 2), "lambda": 1.0 - 0.2 * i, "mu": 0.2 * i}
            point |= {"constant": 0.25 if method == "ifair-b" else 0.0, "converged": 0.9, "protected_weight": 2.0}
    rivals = [m for m in methods if m != "ifair-b"]
    above = {
        "comparisons": {m: compared(0.01) for m in rivals},
        "compared_at": dict.fromkeys(rivals, 6),
        "by_settings": {m: {"1": spread(0.005), "6": spread(0.02 if m == "ifair-b" else 0.01)} for m in methods},
        "best_rival": "svd-masked",
    }
    return {**summary(values, points), "hypervolume": {"coin": above, "full_data": above}}


def ranked():
    fair = [f"fair-{p}" for p in (0.5, 0.7, 0.9)]
    methods = ("full", "masked", "svd", "svd-masked", *fair, "ifair-b", "ifair-plus")
    values = {m: {"MAP": 0.7, "KT": 0.6, "yNN": 0.8, "yNN_of_all": 0.9, "percent_protected": 30.0} for m in methods}
    values["fair-0.9"]["percent_protected"] = 50.0
    values["ifair-b"] |= {"MAP": 0.68, "yNN": 0.9, "yNN_of_all": 0.95, "percent_protected": 31.0}
    chance = spreads(MAP=0.2, percent_protected=30.0, queries=19)
    return {**summary(values, {m: [{"setting": {}, "test": by}] for m, by in values.items()}), "chance": chance}


def run(part):
    versions = {"ifair": "1.2", "python": "3.11", "numpy": "2.0", "scipy": "1.13", "scikit-learn": "1.6"}
    return {
        "profile": "full",
        "seeds": [0, 1, 2, 3, 4],
        "units": 40,
        "seconds": 90.0,
        "sources": [{"name": part, "max_records": 4500, "max_training": 1000}] if part == "compas" else [],
        "left_out": ["xing: no file"],
        "environment": {"machine": "x86_64, 2 cores", **versions},
    }


def panel():
    rng = np.random.default_rng(0)
    chosen = {
        "measures": {"Acc": 0.9, "yNN": 0.95, "Parity": 0.5, "EqOpp": 0.6},
        "positions": (3 + rng.standard_normal((20, 2))).tolist(),
        "boundary": [1.0, 1.0, -6.0],
    }
    return {"labels": [0, 1] * 10, "groups": [0, 0, 1, 1] * 5, "chosen": {"fairest": chosen, "balanced": chosen}}


def reranked(p):
    return spreads(MAP=0.7 - 0.1 * p, percent_protected=100 * p + 1, yNN=0.9 - 0.01 * p, percent_held=90.0)


@pytest.fixture
def results():
    drawn, worse = spreads(Acc=0.9, yNN=0.9, Parity=0.9, EqOpp=0.9), spreads(Acc=0.8, yNN=0.8, Parity=1.0, EqOpp=0.8)
    panels = {
        method: {"measures": {"fairest": measures, "balanced": measures}, "panel": panel()}
        for method, measures in (("original", drawn), ("ifair", drawn), ("lfr", worse))
    }
    still = {"between_variants": 0.03, "between_starts": 0.04, "flip": 0.05, "worst_flip": 0.2}
    seen, hidden = (
        {"majority": spread(0.6)} | dict.fromkeys(("logistic", "boosting"), spreads(accuracy=accuracy, AUC=auc))
        for accuracy, auc in ((0.8, 0.8), (0.7, 0.6))
    )
    experiments = {
        "synthetic": dict.fromkeys(("random", "x1", "x2"), panels),
        "influence": {
            method: {
                name: {"low": 0.5 * times * value, "median": times * value, "high": 2 * times * value, "n": 5}
                for name, value in still.items()
            }
            for method, times in (("ifair", 1), ("lfr", 10))
        },
        "classification": {name: classified(name) for name in ("compas", "credit")},
        "ranking": {"xing": ranked()},
        "sensitivity": [
            {
                "held_out": "thirds",
                "weights": row["weights"],
                "base_rate": spread(32.0, 1.0),
                "test": {**spreads(MAP=0.75, KT=0.6, yNN=0.9), "percent_protected": spread(31.0, 2.0)},
            }
            for row in SENSITIVITY
        ],
        "obfuscation": {
            "credit": {"masked": seen, "lfr": hidden, "ifair-b": hidden},
            "xing": {"masked": seen, "ifair-b": hidden},
        },
        "parity": {
            "xing": {
                "without": spreads(MAP=0.7, percent_protected=30.0, yNN=0.9),
                "rows": [{"p": p, "test": reranked(p)} for p in (0.3, 0.6, 0.9)],
            }
        },
    }
    runs = {"classification": {name: run(name) for name in ("compas", "credit")}, "synthetic": {"all": run("all")}}
    # By way of text, so that nothing is in two places at once.
    return json.loads(json.dumps({**results_of(**experiments), "runs": runs}))
