"""``ifair datasets``: what a user sees, and what a script can read."""

import hashlib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from ifair.datasets.about import DataFile, Origin
from ifair.datasets.registry import dataset_names, find_about

from scripts import ask, do, refuse

# The module; the package holds the command of the same name.
VERB = import_module("ifair.cli.datasets")


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A census of one small file, published on this machine."""
    content = b"39, State-gov\n"
    (tmp_path / "published").write_bytes(content)
    origin = Origin((tmp_path / "published").as_uri())
    file = DataFile("census/adult.data", hashlib.sha256(content).hexdigest(), len(content), (origin,))
    monkeypatch.setattr(VERB, "find_files", lambda name: [file] if name == "census" else [])
    return tmp_path / "published"


def test_list_shows_every_dataset_next_to_the_paper(cache):
    done = do("datasets", "list")
    assert all(name in done.stdout for name in dataset_names())
    for part in ("6,900 (6,901)", "part of the package", "0 of 57 on this machine"):
        assert part in done.stdout
    facts = {fact["name"]: fact for fact in ask("datasets", "list")}
    assert facts["census"]["reached"]["rows"] == 48842
    assert facts["census"]["paper"]["rate_protected"] == 0.12


def test_a_damaged_file_does_not_hide_the_other_datasets(cache, published, tmp_path, monkeypatch):
    (tmp_path / "own" / "census").mkdir(parents=True)
    (tmp_path / "own" / "census" / "adult.data").write_bytes(b"39, Sta")
    monkeypatch.setenv("IFAIR_DATA", str(tmp_path / "own"))
    facts = {fact["name"]: fact["files"] for fact in ask("datasets", "list")}
    assert facts["census"] == "damaged"
    assert facts["credit"] == "part of the package"
    assert "cut short, altered or damaged" in refuse("datasets", "path", "census")


def test_info_names_figures_deviations_and_licence_and_what_was_measured(cache):
    done = do("datasets", "info", "credit", "--check")
    for text in ("0.672 (0.67)", "CC BY 4.0", "age from 25 to 34", "Hofmann", "fitted rule", "Checked"):
        assert text in done.stdout
    facts = ask("datasets", "info", "synthetic", "--check")
    assert facts["measured"] == facts["reached"]


def test_a_failed_check_exits_with_one(cache, monkeypatch):
    wrong = replace(find_about("credit").reached, rows=999)
    monkeypatch.setattr(VERB, "_measure", lambda name: wrong)
    assert "other figures" in refuse("datasets", "info", "credit", "--check")


@pytest.mark.parametrize("command", ["info", "fetch", "path"])
def test_a_mistyped_name_suggests_the_right_one(cache, command):
    assert "did you mean 'census'?" in refuse("datasets", command, "cencus")


def test_fetch_prints_paths_on_stdout_and_progress_on_stderr(cache, published):
    done = do("datasets", "fetch", "census")
    assert done.stdout == f"{cache / 'census' / 'adult.data'}\n"
    assert "fetching file://" in done.stderr
    again = ask("datasets", "fetch", "census", "credit")
    assert again == {"census": [str(cache / "census" / "adult.data")], "credit": []}
    assert "--all" in refuse("datasets", "fetch", code=2)


def test_a_failed_fetch_says_where_to_get_the_file_and_goes_on_with_the_others(cache, published):
    published.write_bytes(b"altered")
    said = refuse("datasets", "fetch", "census", "synthetic")
    assert "wrong checksum" in said
    assert f"put it at {cache / 'census' / 'adult.data'}" in said
    assert "synthetic: generated, nothing to fetch" in said
    assert "not fetched: census" in said


def test_path_shows_the_folders_and_the_files(cache, published):
    assert str(cache) in do("datasets", "path").stdout
    assert ask("datasets", "path") == {"IFAIR_DATA": None, "cache": str(cache)}
    assert Path(do("datasets", "path", "credit").stdout.strip()).is_file()
    generated = do("datasets", "path", "synthetic")
    assert (generated.stdout, generated.stderr) == ("", "synthetic: generated, there is no file\n")
    assert "ifair datasets fetch census" in refuse("datasets", "path", "census")
    do("datasets", "fetch", "census")
    assert ask("datasets", "path", "census") == [str(cache / "census" / "adult.data")]
