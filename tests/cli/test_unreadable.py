"""A folder, a forbidden file or nothing where a file should be: one line, and exit code 1."""

import os

import pytest

from scripts import run

ROLES = ["-p", "sex", "--target", "hired", "--positive", "yes"]
RANKING = ["--min-share", "0.3", "-o", "out.csv"]
VERBS = {
    "inspect": lambda path, people: ["inspect", path],
    "export": lambda path, people: ["export", path, "--onnx", "out.onnx"],
    "transform, the model": lambda path, people: ["transform", path, people, "-o", "out.csv"],
    "fit": lambda path, people: ["fit", path, "-p", "sex", "-o", "out.ifair"],
    "fit, the roles": lambda path, people: ["fit", people, "--columns", path, "-o", "out.ifair"],
    "report": lambda path, people: ["report", path, *ROLES],
    "report, the tuning": lambda path, people: ["report", people, *ROLES, "--tuning", path],
    "audit": lambda path, people: ["audit", path, *ROLES],
    "audit, the tuning": lambda path, people: ["audit", people, *ROLES, "--tuning", path],
    "tune": lambda path, people: ["tune", path, *ROLES],
    "rank": lambda path, people: ["rank", path, "-p", "sex", "--score", "rating", *RANKING],
    "rank, the model": lambda path, people: ["rank", people, "-p", "sex", "--model", path, *RANKING],
}
pytestmark = pytest.mark.usefixtures("extras")


@pytest.fixture
def extras():
    for name in ("skops", "skl2onnx", "optuna", "jinja2"):
        pytest.importorskip(name)


def refused(verb, path, folder, place, monkeypatch):
    monkeypatch.chdir(place)
    before = sorted(place.iterdir())
    done = run(*VERBS[verb](path, folder / "people.csv"))
    assert done.exit_code == 1, done.output
    assert isinstance(done.exception, SystemExit)
    assert sorted(place.iterdir()) == before
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("Warning", "protected:"))]
    assert len(lines) == 1, done.stderr
    assert path.name in lines[0]
    assert f"did you mean '{path.name}'" not in lines[0]
    return lines[0]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["folder.csv", "folder.json", "missing.csv"])
def test_a_folder_is_called_one_and_a_file_that_is_not_there_has_the_same_exit_code_everywhere(
    verb, name, folder, tmp_path, monkeypatch
):
    if name != "missing.csv":
        (tmp_path / name).mkdir()
    said = refused(verb, tmp_path / name, folder, tmp_path, monkeypatch)
    assert ("there is no file" if name == "missing.csv" else "is a folder") in said


@pytest.mark.parametrize("verb", ["inspect", "export", "transform, the model", "rank, the model"])
def test_a_table_is_no_model(verb, folder, tmp_path, monkeypatch):
    assert "not a model file" in refused(verb, folder / "people.csv", folder, tmp_path, monkeypatch)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are set otherwise there")
@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_may_not_be_read_says_so(verb, folder, tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("sex,hired\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert "permission denied" in refused(verb, path, folder, tmp_path, monkeypatch).lower()


def test_a_table_and_a_model_that_the_system_refuses_say_so(folder, classifier, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("ifair.tables.read.os.access", lambda *_: False)
    assert "permission denied" in refused("audit", folder / "people.csv", folder, tmp_path, monkeypatch)
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert "permission denied" in refused("inspect", classifier, folder, tmp_path, monkeypatch)
