"""A ranking that needs no file, a run of the smoke profile, and the committed results."""

import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from reproduce.made_up import brief

from ifair.cli import main
from ifair.core.solve import solve
from ifair.models import prototypes
from ifair.reproduce import case
from ifair.results import REPRODUCTION, read_results

from samples import load_job_searches

COMMITTED = Path(__file__).parents[2] / "docs" / "results" / "reproduce.json"


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
    """The results of the documentation, to be changed at will."""
    if not COMMITTED.exists():
        pytest.skip("docs/results is not here: this is not a checkout of the repository")
    return read_results(COMMITTED, REPRODUCTION)


@pytest.fixture(params=["credit", "xing"])
def small_case(request):
    """A split of a part of Credit, and one of the made-up ranking."""
    if request.param == "xing":
        request.getfixturevalue("job_searches")
    return brief(request.param, max_records=240)


def reproduce(folder):
    """What the command says of the smoke profile; whatever another process is running in the folder is waited for."""
    while True:
        outcome = CliRunner().invoke(main, ["reproduce", "--jobs", "1", "--output", str(folder)])
        if "another run is using" not in outcome.output:
            return outcome
        time.sleep(1)


@pytest.fixture(scope="session")
def smoke_run(tmp_path_factory, request):
    """The folder of the smoke profile, run once for all tests and all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "smoke"
    outcome = reproduce(folder)
    assert outcome.exit_code == 0, outcome.output
    return folder


@pytest.fixture
def starts(monkeypatch):
    """A list that takes the starts of every fit; nothing is searched for more than a step."""
    seen = []

    def watch(problems):
        seen.extend(start for problem in problems for start in problem.starts)
        return solve([replace(problem, max_iter=1) for problem in problems])

    monkeypatch.setattr(prototypes, "solve", watch)
    return seen
