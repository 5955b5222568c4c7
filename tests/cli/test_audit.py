"""``ifair audit``, ``ifair report`` and ``ifair tune``: thin over what they call."""

import json
from importlib import import_module

import pytest

from samples import FAST, applicants, small_evidence
from scripts import run

ROLES = ["--protected", "sex", "--target", "hired", "--ignore", "rating", "--ignore", "team"]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    frame = applicants()
    frame.insert(0, "person", [f"p{i:03d}" for i in range(len(frame))])
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def fast(monkeypatch):
    """Short searches and few candidates."""
    # By import_module, since packages hold functions of the same names.
    monkeypatch.setattr(import_module("ifair.audit.evidence"), "SOLVER", FAST)
    arms = import_module("ifair.evaluate.arms")
    monkeypatch.setattr(arms, "MODELS", ("linear",))
    monkeypatch.setattr(arms, "STRENGTHS", (0.2,))
    monkeypatch.setattr(arms, "SETTINGS", ({"K": 3, "share": 0.5},))


@pytest.mark.usefixtures("fast")
def test_json_alone_goes_to_standard_output(people):
    done = run("audit", people, *ROLES, "--ignore", "person", "--resamples", 10, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["format"] == "ifair-evidence"
    assert "full data" in done.stderr


@pytest.mark.parametrize("verb", ["audit", "report", "tune"])
def test_a_mistyped_column_suggests_the_right_one(verb, people):
    done = run(verb, people, "--protected", "sxe", "--target", "hired")
    assert done.exit_code == 1
    assert "'sxe', did you mean 'sex'?" in done.stderr


@pytest.mark.parametrize("verb", ["audit", "report", "tune"])
def test_roles_that_are_needed_are_asked_for(verb, people):
    assert "--protected" in run(verb, people, "--target", "hired").stderr
    done = run(verb, people, "--protected", "sex")
    assert done.exit_code == 2
    assert "--target" in done.stderr


@pytest.mark.parametrize("verb", ["audit", "report", "tune"])
def test_a_place_that_cannot_be_written_is_named_before_any_work(verb, people, tmp_path, monkeypatch):
    monkeypatch.setattr("ifair.tables.checked_table.read_counted_table", lambda *_, **__: pytest.fail("work was done"))
    done = run(verb, people, *ROLES, "-o", tmp_path / "none" / "file")
    assert done.exit_code == 1
    assert f"there is no folder {tmp_path / 'none'}" in done.stderr


def test_a_file_that_is_no_evidence_is_refused(tmp_path):
    for content, said in (("[1", "is not JSON"), ('{"format": "other"}', "is not what `ifair audit --output` writes")):
        path = tmp_path / "evidence.json"
        path.write_text(content)
        done = run("report", path, "-o", tmp_path / "report.html")
        assert done.exit_code == 1
        assert said in done.stderr
        assert not (tmp_path / "report.html").exists()


def test_without_the_extra_the_report_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("ifair.errors.find_spec", lambda _: None)
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(small_evidence()))
    done = run("report", path)
    assert done.exit_code == 1
    assert "pip install 'ifair[report]'" in done.stderr


def test_json_of_a_report_names_files_sizes_and_the_chosen_point(tmp_path):
    evidence, html = tmp_path / "evidence.json", tmp_path / "report.html"
    evidence.write_text(json.dumps(small_evidence()))
    done = run("report", evidence, "-o", html, "--card", "--choice", "fairest", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["report"] == {"path": str(html), "bytes": html.stat().st_size}
    assert [entry["path"] for entry in facts["cards"]] == [
        str(tmp_path / "report.card.md"),
        str(tmp_path / "report.card.html"),
    ]
    assert facts["choice"]["id"] == small_evidence()["choices"]["fairest"]


def test_a_mistyped_choice_suggests_the_near_one_before_any_work(people, monkeypatch):
    pytest.importorskip("vl_convert")
    monkeypatch.setattr("ifair.tables.checked_table.read_counted_table", lambda *_, **__: pytest.fail("work was done"))
    done = run("report", people, *ROLES, "--card", "--choice", "fairst")
    assert done.exit_code == 1
    assert "did you mean 'fairest'?" in done.stderr


def test_a_choice_like_none_is_answered_with_all(tmp_path):
    evidence = tmp_path / "evidence.json"
    evidence.write_text(json.dumps(small_evidence()))
    done = run("report", evidence, "--card", "--choice", "zzz", "-o", tmp_path / "report.html")
    assert done.exit_code == 1
    assert all(name in done.stderr for name in small_evidence()["choices"])
    assert not (tmp_path / "report.html").exists()


def test_a_report_of_what_is_no_table_says_so_first(tmp_path):
    (tmp_path / "model.ifair").write_bytes(b"PK")
    done = run("report", tmp_path / "model.ifair", "-o", tmp_path / "report.html")
    assert done.exit_code == 1
    assert "model.ifair is neither CSV" in done.stderr


def test_a_choice_may_be_written_as_tables_and_pages_write_it(tmp_path):
    evidence = tmp_path / "evidence.json"
    evidence.write_text(json.dumps(small_evidence()))
    done = run("report", evidence, "--card", "--choice", "most useful", "-o", tmp_path / "report.html", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["choice"]["id"] == small_evidence()["choices"]["most_useful"]


def test_the_choices_that_the_command_knows_are_those_of_a_tuning():
    named = import_module("ifair.evaluate.rules").RULES
    assert tuple(named) == import_module("ifair.cli.report").CHOICES


def test_the_verbs_are_thin(monkeypatch, people):
    """The command hands over what was asked for, and prints what came back."""
    asked = {}

    def evidence(records, **options):
        asked.update(options, records=len(records), source=records.source)
        return small_evidence()

    monkeypatch.setattr("ifair.audit.evidence", evidence)
    done = run("audit", people, *ROLES, "--id", "person", "--unfavourable", "--seed", 5, "--people", 50)
    assert done.exit_code == 0, done.output
    assert asked["records"] == 240
    assert asked["source"] == str(people)
    assert (asked["seed"], asked["most_people"], asked["higher_is_better"]) == (5, 50, False)
    assert asked["ids"][3] == "p003"


def test_a_card_is_written_beside_the_report(tmp_path):
    evidence = tmp_path / "evidence.json"
    evidence.write_text(json.dumps(small_evidence()))
    done = run("report", evidence, "-o", tmp_path / "report.html", "--card", "--choice", "fairest")
    assert done.exit_code == 0, done.output
    fairest = next(p for p in small_evidence()["points"] if p["id"] == small_evidence()["choices"]["fairest"])
    assert fairest["name"] in (tmp_path / "report.card.md").read_text(encoding="utf-8").splitlines()[0]
    assert fairest["name"] in (tmp_path / "report.card.html").read_text(encoding="utf-8")
    done = run("report", evidence, "-o", tmp_path / "other.html", "--card", "--choice", "finest")
    assert done.exit_code == 1
    assert "no point 'finest'" in done.stderr
    assert not (tmp_path / "other.html").exists()
