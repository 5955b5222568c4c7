"""``ifair reproduce``: from the command to the page, on settings of seconds."""

import json
import re
from importlib import import_module

import pytest
from click.testing import CliRunner

from ifair.cli import main
from ifair.experiments.profiles import PROFILES, Profile, Source
from ifair.report.evaluation.page import markdown, text

TINY = Profile(
    n_splits=2,
    classification=(Source("credit"),),
    ranking=(),
    grid={"K": [4], "ratios": [(0.5, 0.5)], "lfr": [1.0], "p": [0.5]},
    search={"n_restarts": 1, "max_iter": 5, "tol": 0.1},
)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(PROFILES, "smoke", TINY)


def invoke(folder, *arguments):
    return CliRunner().invoke(main, ["reproduce", "--jobs", "1", "--output", str(folder), *arguments])


def test_a_run_ends_with_tables_a_page_and_the_numbers(tiny, tmp_path):
    outcome = invoke(tmp_path / "run")
    assert outcome.exit_code == 0, outcome.output
    assert "Credit, classification" in outcome.stdout
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    page = (tmp_path / "run" / "results.md").read_text()
    assert page == markdown(results)
    assert text(results) in outcome.stdout
    figure = results["classification"]["credit"]["rules"]["optimal"]["ifair-b"]["test"]["yNN"]
    assert f"0.85 → {figure['mean']:.2f} ± {figure['sd']:.2f} (" in page.replace(
        "\N{NO-BREAK SPACE}", " "
    )  # the paper's beside ours
    drawn = {path.stem for path in (tmp_path / "run" / "figures").iterdir()}
    assert drawn == set(re.findall(r"\(figures/([\w-]+)\.svg\)", page))
    assert (tmp_path / "run" / "results.html").read_text().count("<svg") == len(drawn)
    assert results["runs"]["classification"]["credit"]["profile"] == "smoke"
    # Run again: nothing is left to do, and the results are the same but for nothing.
    again = invoke(tmp_path / "run")
    assert "kept from before" in again.stderr
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == results


def test_the_plan_can_be_seen_without_running_it(tiny, tmp_path):
    outcome = invoke(tmp_path / "run", "--dry-run")
    assert outcome.exit_code == 0
    assert "classification    16 units" in outcome.stdout
    assert not (tmp_path / "run").exists()


def test_an_unknown_experiment_is_named(tiny, tmp_path):
    outcome = invoke(tmp_path / "run", "--only", "clasification")
    assert outcome.exit_code == 2
    assert "no experiment 'clasification'" in outcome.stderr


def test_missing_data_are_left_out_of_a_taste_and_refused_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("IFAIR_CACHE", str(tmp_path / "empty"))
    monkeypatch.delenv("IFAIR_DATA", raising=False)
    fetch = import_module("ifair.datasets.download")
    monkeypatch.setattr(fetch.urllib.request, "urlopen", lambda *a, **k: (_ for _ in ()).throw(OSError("no network")))
    taste = invoke(tmp_path / "run", "--dry-run")
    assert taste.exit_code == 0
    assert "left out: xing" in taste.stderr
    whole = invoke(tmp_path / "run", "--dry-run", "--profile", "quick")
    assert whole.exit_code == 1
    assert "compas" in whole.stderr


def test_without_optuna_its_experiment_is_left_out_and_said_so(monkeypatch):
    monkeypatch.setattr(import_module("ifair.cli.reproduce"), "find_spec", lambda name: None)
    monkeypatch.setattr("ifair.cli.extras.find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["reproduce", "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "search" not in done.stdout
    assert "left out: the experiment search, which needs optuna: pip install 'ifair[tune]'" in done.stderr
    done = CliRunner().invoke(main, ["reproduce", "--dry-run", "--only", "search"])
    assert done.exit_code == 1
    assert "pip install 'ifair[tune]'" in done.stderr
