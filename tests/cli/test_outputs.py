"""Files that verbs are given: what cannot be read is told in a line, and nothing is destroyed that is not meant."""

import json
import os
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest

from scripts import do, list_commands, refuse, run

FAST = ["-k", "2", "--restarts", "1", "--max-iter", "20", "--jobs", "1"]
PEOPLE = ["-p", "sex", "--target", "hired", "--positive", "yes"]


READ = {
    "table": "people.csv",
    "source": "people.csv",
    "model": "model.ifair",
    "columns": "roles.toml",
    "role_similarity": "similarity.toml",
    "tuning": "tuning.json",
}
"""What is given to parameters that name a file to read."""
WRITTEN = {"output": "new", "journal": "new.journal", "onnx": "new.onnx", "kept": "new.json"}
"""Parameters that name a file to write, and a name that nothing has yet."""
DEMANDED = {"min_share": ["--min-share", "0.4"]}
"""What some verbs want to know besides."""


def list_paths(command):
    return {parameter.name: parameter for parameter in command.params if isinstance(parameter.type, click.Path)}


def is_folder(parameter):
    return parameter.type.dir_okay and not parameter.type.file_okay


COMMANDS = dict(list_commands())
INPUTS = [(verb, name) for verb, command in COMMANDS.items() for name in list_paths(command) if name in READ]
OUTPUTS = [
    (verb, name)
    for verb, command in COMMANDS.items()
    for name, parameter in list_paths(command).items()
    if name in WRITTEN and not is_folder(parameter)
]
FOLDERS = {"demo": ["evidence.json", "report.html"], "reproduce": ["results.json", "results.md", "results.html"]}
"""What is written by verbs that are given a folder."""


@pytest.fixture
def place(folder, classifier, tmp_path):
    """A folder of its own with a table, a model and all else that a verb reads."""
    shutil.copy(folder / "people.csv", tmp_path / "people.csv")
    shutil.copy(classifier, tmp_path / "model.ifair")
    (tmp_path / "roles.toml").write_text('[roles]\nprotected = ["sex"]\ntarget = "hired"\npositive = "yes"\n')
    (tmp_path / "similarity.toml").write_text("[similarity]\nn_neighbors = 3\n")
    (tmp_path / "tuning.json").write_text('{"format": "ifair-tuning"}')
    return tmp_path


def run_verb(place, verb, *more, **outputs):
    """Run a verb that is given all files that it can read, and these outputs by their parameters."""
    command = COMMANDS[verb]
    given = []
    for parameter in command.params:
        value = outputs.get(parameter.name)
        if parameter.name in list_paths(command) and value is None:
            known = READ if parameter.name in READ else WRITTEN
            value = place / known[parameter.name]
            if parameter.name == "output" and needs_ending(command):
                value = value.with_suffix(".csv")
        if value is not None:
            given += [value] if isinstance(parameter, click.Argument) else [max(parameter.opts, key=len), value]
        given += DEMANDED.get(parameter.name, [])
    return run(*verb.split(), *given, *more)


def needs_ending(command):
    """Whether the output's name says what is written."""
    return list_paths(command)["output"].type.allow_dash


def test_every_file_that_a_verb_names_is_known_here_as_read_or_written():
    named = {name for command in COMMANDS.values() for name in list_paths(command)}
    assert named == {*READ, *WRITTEN}
    folders = [verb for verb, command in COMMANDS.items() if any(map(is_folder, list_paths(command).values()))]
    assert set(folders) == set(FOLDERS)


def refuse_input(place, verb, name, path):
    """What a verb says of a file that it cannot read, in one line and with exit code 1; it leaves nothing behind."""
    before = sorted(place.iterdir())
    done = run_verb(place, verb, **{name: path})
    assert done.exit_code == 1, done.output
    assert isinstance(done.exception, SystemExit)
    assert sorted(place.iterdir()) == before
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("Warning", "protected:"))]
    assert len(lines) == 1, done.stderr
    assert path.name in lines[0]
    assert f"did you mean '{path.name}'" not in lines[0]
    return lines[0]


@pytest.mark.parametrize(("verb", "name"), INPUTS)
def test_a_folder_nothing_or_what_is_no_plain_file_is_called_so(place, verb, name):
    for path in (place / "folder.csv", place / "folder.json"):
        path.mkdir()
        assert "is a folder" in refuse_input(place, verb, name, path)
    assert "there is no file" in refuse_input(place, verb, name, place / "missing.csv")
    (place / "empty.csv").touch()
    refuse_input(place, verb, name, place / "empty.csv")
    if os.name != "nt":
        os.mkfifo(place / "pipe.csv")
        (place / "loop.csv").symlink_to(place / "loop.csv")
        assert "a pipe or a device" in refuse_input(place, verb, name, place / "pipe.csv")
        refuse_input(place, verb, name, place / "loop.csv")
    if name == "model":
        assert "not a model file" in refuse_input(place, verb, name, place / "people.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are set otherwise there")
@pytest.mark.parametrize(("verb", "name"), INPUTS)
def test_a_file_that_may_not_be_read_says_so(place, verb, name):
    path = place / "secret.csv"
    path.write_text("sex,hired\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert "permission denied" in refuse_input(place, verb, name, path).lower()


def test_a_table_and_a_model_that_the_system_refuses_say_so(place, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("ifair.tables.read.os.access", lambda path, _: Path(path).name != "people.csv")
    assert "permission denied" in refuse_input(place, "transform", "table", place / "people.csv")
    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert "permission denied" in refuse_input(place, "inspect", "model", place / "model.ifair")


@pytest.mark.skipif(os.name == "nt", reason="links need privileges there")
@pytest.mark.parametrize(("verb", "output"), OUTPUTS)
def test_a_verb_refuses_to_replace_what_it_reads_or_writes_besides_through_links_too(place, verb, output):
    command = COMMANDS[verb]
    inputs = [place / READ[name] for name in list_paths(command) if name in READ]
    assert inputs
    before = {path: path.read_bytes() for path in place.iterdir()}
    for path in inputs:
        # An ending that every verb may write to.
        hard, soft = place / f"hard-{path.stem}.csv", place / f"soft-{path.stem}.csv"
        os.link(path, hard)
        soft.symlink_to(path)
        for target in (path, hard, soft):
            done = run_verb(place, verb, "--force", **{output: target})
            assert done.exit_code == 1, done.output
            odd = output == "output" and target == path and needs_ending(command)
            assert "would replace" in done.stderr or (odd and "cannot tell the format" in done.stderr)
    others = [name for name in list_paths(command) if name in WRITTEN and name != output]
    for other in others:
        done = run_verb(place, verb, "--force", **{output: place / "same.csv", other: place / "same.csv"})
        assert done.exit_code == 1, done.output
        assert "would replace" in done.stderr
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("verb", FOLDERS)
def test_a_verb_that_fills_a_folder_spares_what_it_did_not_write(tmp_path, verb):
    for name in FOLDERS[verb]:
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\0\0")
        assert "--force" in refuse(verb, "-o", tmp_path)
        (tmp_path / name).unlink()


def test_force_replaces_a_file_of_another_kind_and_a_model_may_be_replaced_by_a_model(place):
    (place / "old.csv").write_text("name,age\n")
    given = ["fit", place / "people.csv", "-p", "sex", *FAST, "-o", place / "old.csv"]
    assert "is there already and is plain text, not a model file" in refuse(*given)
    do(*given, "--force")
    assert (place / "old.csv").read_bytes().startswith(b"PK")
    do(*given)


@pytest.mark.skipif(os.name == "nt", reason="permissions are other ones there")
def test_what_is_about_people_is_written_for_its_owner_alone(place):
    do("transform", place / "model.ifair", place / "people.csv", "-o", place / "out.csv")
    given = ["-p", "sex", "--score", "rating", "--min-share", 0.4]
    do("rank", place / "people.csv", *given, "-o", place / "ranked.csv")
    do("fit", place / "people.csv", "-p", "sex", *FAST, "-o", place / "new.ifair")
    for name in ("out.csv", "ranked.csv", "new.ifair"):
        assert (place / name).stat().st_mode & 0o777 == 0o600


def test_an_attribute_called_like_an_output_keeps_its_name_and_the_output_gets_another(folder, applicants, tmp_path):
    pytest.importorskip("skops")
    table = applicants.rename(columns={"age": "score", "job": "decision", "experience": "ifair_score"})
    table.to_csv(tmp_path / "people.csv", index=False)
    ignore = ["--ignore", "rating", "--ignore", "team", "--id", "person"]
    do("fit", tmp_path / "people.csv", *PEOPLE, *ignore, *FAST, "-o", tmp_path / "m.ifair")
    given = ["transform", tmp_path / "m.ifair", tmp_path / "people.csv", "--decide", "--json"]
    done = do(*given, "-o", tmp_path / "out.csv", "--carry", "sex", "--carry", "decision")
    columns = json.loads(done.stdout)["columns"]
    # No column of the representation is called decision: categories have names of their own.
    assert columns[:5] == ["person", "sex", "decision", "ifair_decision", "ifair_score_2"]
    assert {"score", "ifair_score"} <= set(columns[5:])
    assert len(set(columns)) == len(columns)
    assert "the added one is called 'ifair_decision'" in done.stderr
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert found["decision"].tolist() == table["decision"].tolist()
    assert set(found["ifair_decision"]) <= {"0", "1"}
