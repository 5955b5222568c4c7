"""What ``--json`` prints is JSON of the standard, for every verb, also where a number is undefined or infinite."""

from importlib import import_module

import pandas as pd
import pytest
from quiet import quietly

from scripts import ask, list_commands

UNDEFINED = {"loss": float("nan"), "bounds": [float("-inf"), 1.5, {"most": float("inf")}]}


@pytest.fixture
def undefined(monkeypatch):
    """Work that takes long is not done, and finds nothing but what is undefined."""
    stubs = {
        "ifair.audit.tune": UNDEFINED,
        "ifair.audit.evidence": UNDEFINED,
        "ifair.cli.audit.gather_evidence": UNDEFINED,
        "ifair.cli.report.read_results": {"choices": {}, "points": []},
        "ifair.report.evidence_page.page": "",
        "ifair.reproduce.assemble.assemble": UNDEFINED,
        "ifair.reproduce.results_page.write_page": [],
        "ifair.reproduce.runner.run_plans": {"classification": []},
    }
    for place, found in stubs.items():
        module, _, name = place.rpartition(".")
        # By import_module, since packages hold functions of the same names.
        monkeypatch.setattr(import_module(module), name, lambda *_, _found=found, **__: _found)


ROLES = ["-p", "sex", "--target", "hired", "--positive", "yes", "--ignore", "rating", "--ignore", "team"]
COMMANDS = {
    "datasets list": [],
    "datasets info": ["credit"],
    "datasets fetch": ["credit"],
    "datasets path": [],
    "fit": ["people.csv", "-p", "sex", "-k", "2", "--restarts", "1", "--max-iter", "5", "-o", "m.ifair"],
    "inspect": ["hired.ifair"],
    "transform": ["hired.ifair", "people.csv", "-o", "out.csv"],
    "decide": ["people.csv", "--model", "hired.ifair", "--rate", "0.5", "-o", "out.csv"],
    "rank": ["people.csv", "-p", "sex", "--query", "team", "--score", "rating", "--min-share", "0.3", "-o", "out.csv"],
    "export": ["hired.ifair", "--onnx", "out.onnx"],
    "tune": ["people.csv", *ROLES, "-o", "tuning.json"],
    "audit": ["people.csv", *ROLES],
    "report": ["evidence.json"],
    "demo": [],
    "reproduce": ["--only", "classification", "-o", "."],
}


def test_every_verb_with_the_option_is_tried_here():
    assert {verb for verb, command in list_commands() if any(p.name == "as_json" for p in command.params)} == set(
        COMMANDS
    )


@pytest.mark.usefixtures("undefined")
@quietly
@pytest.mark.parametrize("verb", COMMANDS)
def test_the_json_of_every_verb_is_read_by_a_strict_parser(verb, classifier, applicants, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Queries are numbers.
    applicants.assign(team=pd.factorize(applicants["team"])[0]).to_csv("people.csv", index=False)
    (tmp_path / classifier.name).write_bytes(classifier.read_bytes())
    found = ask(*verb.split(), *COMMANDS[verb])
    if verb in ("tune", "audit", "demo", "reproduce"):
        assert found == {"loss": None, "bounds": [None, 1.5, {"most": None}]}
