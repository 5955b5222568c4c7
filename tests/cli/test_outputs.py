"""No verb destroys a file that it was not meant to write."""

import json
import os
import shutil
import stat
from pathlib import Path

import pandas as pd
import pytest

from scripts import run

FAST = ["-k", "2", "--restarts", "1", "--max-iter", "20", "--jobs", "1"]
PEOPLE = ["-p", "sex", "--target", "hired", "--positive", "yes"]


@pytest.fixture
def place(folder, classifier, tmp_path):
    """A folder of its own with a table, a model and roles in it."""
    shutil.copy(folder / "people.csv", tmp_path / "people.csv")
    shutil.copy(classifier, tmp_path / "model.ifair")
    (tmp_path / "roles.toml").write_text('[roles]\nprotected = ["sex"]\ntarget = "hired"\npositive = "yes"\n')
    (tmp_path / "tuning.json").write_text('{"format": "ifair-tuning"}')
    return tmp_path


def list_verbs(place):
    """Every verb that names its output, without it, and what it reads besides the first argument."""
    table, model, roles = place / "people.csv", place / "model.ifair", place / "roles.toml"
    tuning = place / "tuning.json"
    return {
        "fit": ([table, "--columns", roles], "-o"),
        "tune": ([table, "--columns", roles, "--trials", 1], "-o"),
        "tune's journal": ([table, "--columns", roles, "--trials", 1, "-o", place / "new.json"], "--journal"),
        "audit": ([table, "--columns", roles, "--tuning", tuning], "-o"),
        "report": ([table, "--columns", roles, "--tuning", tuning], "-o"),
        "rank": ([table, "--columns", roles, "--model", model, "--min-share", 0.4], "-o"),
        "transform": ([model, table], "-o"),
        "decide": ([table, "--model", model, "--n", 3], "-o"),
        "export": ([model], "--onnx"),
    }


VERBS = list(list_verbs(Path()))


@pytest.mark.skipif(os.name == "nt", reason="links need privileges there")
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_refuses_to_replace_what_it_reads_through_links_too(place, verb):
    given, option = list_verbs(place)[verb]
    inputs = [argument for argument in given if isinstance(argument, Path) and argument.exists()]
    before = {path: path.read_bytes() for path in inputs}
    for path in inputs:
        # An ending that every verb may write to.
        link = place / f"link-to-{path.stem}.csv"
        os.link(path, link)
        for output in (path, link):
            done = run(verb.split("'")[0], *given, option, output, "--force")
            assert done.exit_code == 1, done.output
            assert "would replace" in done.stderr or "cannot tell the format" in done.stderr
    assert {path: path.read_bytes() for path in inputs} == before


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_writes_to_no_device_pipe_or_folder_and_to_no_file_of_another_kind(place, verb):
    given, option = list_verbs(place)[verb]
    os.mkfifo(place / "pipe.csv")
    (place / "folder.csv").mkdir()
    (place / "device.csv").symlink_to("/dev/null")
    (place / "letters.csv").write_bytes(b"\x89PNG\r\n\0\0")
    for name in ("pipe", "folder", "device", "letters"):
        done = run(verb.split("'")[0], *given, option, place / f"{name}.csv")
        assert done.exit_code != 0
        assert isinstance(done.exception, SystemExit)
        words = "--force" if name == "letters" else f"{name}.csv"
        assert words in done.stderr
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert stat.S_ISFIFO((place / "pipe.csv").stat().st_mode)
    assert (place / "letters.csv").read_bytes().startswith(b"\x89PNG")


def test_force_replaces_a_file_of_another_kind_which_keeps_its_mode_and_its_links(place):
    (place / "old.csv").write_text("name,age\n")
    (place / "old.csv").chmod(0o640)
    (place / "link").symlink_to(place / "old.csv")
    given = ["fit", place / "people.csv", "-p", "sex", *FAST, "-o", place / "link"]
    done = run(*given)
    assert done.exit_code == 1
    assert "is there already and is plain text, not a model file" in done.stderr
    assert run(*given, "--force").exit_code == 0
    assert (place / "link").is_symlink()
    assert (place / "old.csv").read_bytes().startswith(b"PK")
    assert (place / "old.csv").stat().st_mode & 0o777 == 0o640
    assert run(*given).exit_code == 0, "a model may be replaced by a model"


@pytest.mark.skipif(os.name == "nt", reason="permissions are other ones there")
def test_what_is_about_people_is_written_for_its_owner_alone(place):
    run("transform", place / "model.ifair", place / "people.csv", "-o", place / "out.csv")
    given = ["-p", "sex", "--score", "rating", "--min-share", 0.4]
    run("rank", place / "people.csv", *given, "-o", place / "ranked.csv")
    run("fit", place / "people.csv", "-p", "sex", *FAST, "-o", place / "new.ifair")
    for name in ("out.csv", "ranked.csv", "new.ifair"):
        assert (place / name).stat().st_mode & 0o777 == 0o600


def test_an_attribute_called_like_an_output_keeps_its_name_and_the_output_gets_another(folder, applicants, tmp_path):
    pytest.importorskip("skops")
    table = applicants.rename(columns={"age": "score", "job": "decision", "experience": "ifair_score"})
    table.to_csv(tmp_path / "people.csv", index=False)
    ignore = ["--ignore", "rating", "--ignore", "team", "--id", "person"]
    done = run("fit", tmp_path / "people.csv", *PEOPLE, *ignore, *FAST, "-o", tmp_path / "m.ifair")
    assert done.exit_code == 0, done.output
    given = ["transform", tmp_path / "m.ifair", tmp_path / "people.csv", "--decide", "--json"]
    done = run(*given, "-o", tmp_path / "out.csv", "--carry", "sex", "--carry", "decision")
    assert done.exit_code == 0, done.output
    columns = json.loads(done.stdout)["columns"]
    # No column of the representation is called decision: categories have names of their own.
    assert columns[:5] == ["person", "sex", "decision", "ifair_decision", "ifair_score_2"]
    assert {"score", "ifair_score"} <= set(columns[5:])
    assert len(set(columns)) == len(columns)
    assert "the added one is called 'ifair_decision'" in done.stderr
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert found["decision"].tolist() == table["decision"].tolist()
    assert set(found["ifair_decision"]) <= {"0", "1"}
