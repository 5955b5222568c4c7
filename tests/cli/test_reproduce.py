"""``ifair reproduce``: what it refuses, leaves out and plans; a whole run is in tests/reproduce/test_smoke.py."""

import json
import re
from importlib import import_module

import pytest

from ifair.reproduce.assemble import empty_results

from scripts import do, list_commands, refuse, run

RUN = {"seeds": [0], "units": 1, "seconds": 1.0, "sources": [], "grid": {}, "solver": {}, "left_out": []}
RUN |= {"profile": "quick", "environment": {"machine": "x86_64"}}
REPRODUCE = ["reproduce", "--jobs", 1, "--output"]


def test_the_plan_can_be_seen_without_running_it(tmp_path):
    outcome = do(*REPRODUCE, tmp_path / "run", "--dry-run")
    assert re.search(r"classification  credit 2 +16 ", outcome.stdout)
    assert "Profile smoke, 1 processes" in outcome.stdout
    assert not (tmp_path / "run").exists()
    fewer = do(*REPRODUCE, tmp_path / "run", "--dry-run", "--splits", "1")
    assert re.search(r"classification  credit 1 +8 ", fewer.stdout)


def test_a_folder_holds_one_profile_and_an_unknown_experiment_is_named(tmp_path):
    said = refuse(*REPRODUCE, tmp_path / "run", "--only", "clasification", code=2)
    assert "no experiment 'clasification'" in said
    runs = {"classification": {"credit": RUN}}
    (tmp_path / "results.json").write_text(json.dumps({**empty_results(), "runs": runs}), encoding="utf-8")
    said = refuse(*REPRODUCE, tmp_path, "--dry-run")
    assert "holds results of the profile quick, and a page has one profile" in said


@pytest.mark.parametrize(
    ("altered", "said"),
    [
        ({"version": 2}, "is of version 2"),
        ({"experiments": {"lfr": {"credit": {"records": "many", "kinds": {}}}}}, "credit.records must be int"),
        ({"experiments": {"lfr": {"credit": {"records": 3, "kinds": {}}}}}, "cannot show (StopIteration"),
    ],
    ids=["old", "of another type", "incomplete"],
)
def test_earlier_results_that_are_no_good_are_named_with_the_way_out(altered, said, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps({**empty_results(), **altered}), encoding="utf-8")
    told = refuse(*REPRODUCE, tmp_path, "--dry-run")
    assert said in told
    assert "(move it away first, or choose another folder with --output; finished units beside it" in told


def test_missing_data_are_refused_where_they_are_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("IFAIR_CACHE", str(tmp_path / "empty"))
    monkeypatch.delenv("IFAIR_DATA", raising=False)
    fetch = import_module("ifair.datasets.download")
    monkeypatch.setattr(fetch.urllib.request, "urlopen", lambda *a, **k: (_ for _ in ()).throw(OSError("no network")))
    said = refuse(*REPRODUCE, tmp_path / "run", "--profile", "quick")
    assert re.search("two-years.csv is not on this machine .* `ifair datasets fetch compas` tells why", said)
    assert "datasets fetch xing` tells why" in refuse(*REPRODUCE, tmp_path / "run", "--dataset", "xing")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """No file of any dataset, and a network that nobody may ask."""
    monkeypatch.setenv("IFAIR_CACHE", str(tmp_path / "empty"))
    monkeypatch.delenv("IFAIR_DATA", raising=False)
    fetch = import_module("ifair.datasets.download")
    monkeypatch.setattr(fetch.urllib.request, "urlopen", lambda *a, **k: pytest.fail("asked the network"))


@pytest.mark.usefixtures("no_data")
def test_a_plan_needs_no_data_and_downloads_nothing(tmp_path):
    planned = do(*REPRODUCE, tmp_path / "run", "--dry-run", "--profile", "quick")
    assert "not at hand: compas" in planned.stderr
    assert re.search("classification  compas 5, census 5, credit 5 ", planned.stdout)
    assert "left out: xing" in do(*REPRODUCE, tmp_path / "run", "--dry-run").stderr


@pytest.mark.usefixtures("no_data")
def test_a_taste_downloads_nothing(tmp_path):
    assert "left out: xing" in do(*REPRODUCE, tmp_path / "run", "--only", "ranking").stderr


def test_units_that_take_long_begin_early(tmp_path, monkeypatch):
    known = {}

    def look(plans, *_, seconds, **__):
        known.update({unit.label: seconds("classification", unit) for unit in plans["classification"]})
        raise KeyboardInterrupt

    monkeypatch.setattr("ifair.reproduce.runner.run_plans", look)
    run(*REPRODUCE, tmp_path / "run", "--profile", "full", "--dataset", "credit", "--splits", 1)
    assert known["credit, lfr, K = 10, split 1"] > 100 * known["credit, masked, split 1"] > 0


def test_without_optuna_its_experiment_is_left_out_and_said_so(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("ifair.cli.reproduce"), "find_spec", lambda name: None)
    monkeypatch.setattr("ifair.errors.find_spec", lambda name: None)
    done = do("reproduce", "--dry-run")
    assert "search" not in done.stdout
    assert "left out: the experiment search, which needs optuna: pip install 'ifair[tune]'" in done.stderr
    assert "pip install 'ifair[tune]'" in refuse("reproduce", "--dry-run", "--only", "search")


WITH_JOBS = [verb for verb, command in list_commands() if any("--jobs" in option.opts for option in command.params)]


@pytest.mark.parametrize("verb", WITH_JOBS)
def test_no_processes_at_all_are_refused(verb):
    arguments = ["people.csv", "--protected", "sex"] if verb not in ("demo", "reproduce") else []
    assert "'--jobs': 0 of them do nothing" in refuse(verb, *arguments, "--jobs", 0, code=2)
