"""Text of strangers on a terminal: shown, never obeyed."""

import numpy as np
import pytest

import ifair
from ifair.cli.terminal_text import make_one_line, make_printable

from scripts import run

HOSTILE = "\x1b[31mage\a\r\nError: all is well\u202e"
SHOWN = r"\x1b[31mage\x07\r\nError: all is well\u202e"


def inert(text):
    return all(c.isprintable() or c == "\n" for c in text) and "\nError: all is well" not in text


def test_what_a_terminal_would_act_on_is_written_out():
    assert make_printable(HOSTILE) == SHOWN
    assert make_printable("größe 年齢 ≤ 5") == "größe 年齢 ≤ 5"


def test_lines_are_kept_only_where_they_are_ours():
    assert make_printable("a\nb\x1b", lines=True) == "a\nb\\x1b"
    assert make_one_line("a\nb\x1b") == "a b\\x1b"


def test_inspect_shows_hostile_keys_and_values_inert(tmp_path):
    pytest.importorskip("skops")
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = ifair.IFair(2, protected=[2], random_state=0).fit(X)
    path = tmp_path / "model.ifair"
    ifair.save(model, path, about={HOSTILE: 1, "roles": {HOSTILE: [HOSTILE], "list": [HOSTILE, "b"]}, "text": HOSTILE})
    done = run("inspect", path)
    assert done.exit_code == 0, done.output
    assert inert(done.stdout)
    assert f"{SHOWN}: 1" in done.stdout
    assert f"list: {SHOWN}, b" in done.stdout
    assert f"text: {SHOWN}" in done.stdout


@pytest.fixture
def table(applicants, tmp_path):
    path = tmp_path / "people.csv"
    hostile = applicants.rename(columns={"age": HOSTILE}).assign(**{"one\x1bvalue": 1})
    hostile["job"] = hostile["job"].replace("clerk", HOSTILE)
    hostile.to_csv(path, index=False)
    return path


def test_fit_shows_hostile_columns_inert(table, tmp_path):
    pytest.importorskip("skops")
    options = ["-k", "2", "--restarts", "1", "--max-iter", "30", "--id", "person", "-o", tmp_path / "m.ifair"]
    done = run("fit", table, "-p", "sex", "-p", HOSTILE, *options)
    assert done.exit_code == 0, done.output
    assert inert(done.stdout)
    assert inert(done.stderr)
    assert SHOWN in done.stdout
    assert r"one\x1bvalue" in done.stderr


def test_errors_and_warnings_about_hostile_columns_are_inert(table, tmp_path):
    done = run("rank", table, "-p", "sex", "--score", "nothing", "--min-share", "0.4", "-o", tmp_path / "out.csv")
    assert done.exit_code == 1
    assert inert(done.stderr)
    assert r"\x1b[31mage" in done.stderr
    done = run("rank", table, "-p", "job", "--score", "rating", "--query", "job", "--min-share", "0.4", "-o", "-")
    assert done.exit_code == 0, done.output
    assert inert(done.stderr)
    assert r"\x1b[31mage" in done.stderr
