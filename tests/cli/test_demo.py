"""``ifair demo``: what a newcomer runs first."""

import json
import sys
from importlib import import_module

import click
import pytest

from ifair.results import EVIDENCE, check_results

from samples import small_evidence
from scripts import do, refuse

demo = import_module("ifair.cli.demo")
"""The module: the package holds the command of this name."""


@pytest.fixture
def asked(monkeypatch):
    """The command without the work: what it would find is known. Gives what was asked of the audit."""
    options = {}

    def find(dataset, *, step, **others):
        options.update(others, dataset=dataset)
        for done in range(1, 14):
            step(f"candidate {done}", done, 13)
        return small_evidence()

    monkeypatch.setattr("ifair.audit.evidence", find)
    return options


def test_the_command_prints_a_short_table_a_verdict_and_where_the_report_is(tmp_path, asked):
    folder = tmp_path / "new" / "folder"
    outcome = do("demo", "--output", folder)
    assert asked["dataset"].name == "credit"
    found = small_evidence()
    for point in found["points"]:
        assert (point["name"] in outcome.stdout) == (point["role"] != "rival")
        if point["role"] != "rival":
            [row] = [line for line in outcome.stdout.splitlines() if line.startswith(f"{point['label']}  ")]
            ranks, flips = point["test"]["ranks"]["estimate"], point["flip"]["share_flipped"]
            assert f"{point['test']['utility']['estimate']:.3f}  {ranks:.3f}" in row
            assert f"{flips:.3f}" in row
    title, *steps = outcome.stderr.splitlines()
    assert title == "German Credit: learning, deciding and measuring ..."
    assert steps[0].startswith("    1/13  candidate 1; at most about 0 s left")
    assert steps[-1] == "   13/13  candidate 13"
    *_, verdict, scope, _, last = outcome.stdout.splitlines()
    assert (verdict, scope) == (found["verdict"]["sentence"], found["verdict"]["scope"])
    assert last == f"Report: {folder / 'report.html'}"
    assert sorted(path.name for path in folder.iterdir()) == ["evidence.json", "report.html"]
    check_results(json.loads((folder / "evidence.json").read_text(encoding="utf-8")), EVIDENCE)
    assert "<title>Fairness report: applicants</title>" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("display", "terminal", "arguments", "opened"),
    [(True, True, [], True), (False, True, [], False), (True, False, [], False), (True, True, ["--no-open"], False)],
)
def test_the_report_is_opened_only_where_it_is_seen(tmp_path, asked, monkeypatch, display, terminal, arguments, opened):
    pages = []
    monkeypatch.setattr(click, "launch", pages.append)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if display:
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setattr(demo, "is_terminal", lambda: terminal)
    do("demo", "--output", tmp_path, *arguments)
    assert pages == ([str(tmp_path / "report.html")] if opened else [])


def test_a_folder_that_cannot_be_made_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("ifair.audit.evidence", lambda *_, **__: pytest.fail("work was done"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert f"cannot make the folder {blocked / 'inside'}" in refuse("demo", "--output", blocked / "inside")
