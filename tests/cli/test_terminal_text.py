"""Text of strangers on a terminal: shown, never obeyed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ifair
from ifair.cli.terminal_text import make_one_line, make_printable

from scripts import ENVIRONMENT, do, refuse

HOSTILE = "\x1b[31mage\a\r\nError: all is well\u202e"
SHOWN = r"\x1b[31mage\x07\r\nError: all is well\u202e"


def inert(text):
    return all(c.isprintable() or c == "\n" for c in text) and "\nError: all is well" not in text


def test_what_a_terminal_would_act_on_is_written_out_and_lines_are_kept_only_where_they_are_ours():
    assert make_printable(HOSTILE) == SHOWN
    assert make_printable("größe 年齢 ≤ 5") == "größe 年齢 ≤ 5"
    assert make_printable("a\nb\x1b", lines=True) == "a\nb\\x1b"
    assert make_one_line("a\nb\x1b") == "a b\\x1b"


def test_inspect_shows_hostile_keys_and_values_inert(tmp_path):
    pytest.importorskip("skops")
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = ifair.IFair(2, protected=[2], random_state=0).fit(X)
    path = tmp_path / "model.ifair"
    ifair.save(model, path, about={HOSTILE: 1, "roles": {HOSTILE: [HOSTILE], "list": [HOSTILE, "b"]}, "text": HOSTILE})
    done = do("inspect", path)
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
    done = do("fit", table, "-p", "sex", "-p", HOSTILE, *options)
    assert inert(done.stdout)
    assert inert(done.stderr)
    assert SHOWN in done.stdout
    assert r"one\x1bvalue" in done.stderr


def test_errors_and_warnings_about_hostile_columns_are_inert(table, tmp_path):
    said = refuse("rank", table, "-p", "sex", "--score", "nothing", "--min-share", "0.4", "-o", tmp_path / "out.csv")
    assert inert(said)
    assert r"\x1b[31mage" in said
    done = do("rank", table, "-p", "job", "--score", "rating", "--query", "job", "--min-share", "0.4", "-o", "-")
    assert inert(done.stderr)
    assert r"\x1b[31mage" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="shells close streams otherwise there")
@pytest.mark.parametrize(
    ("shell", "code", "stdout", "stderr"),
    [
        pytest.param("{ifair} datasets list | head -1", 0, "dataset ", "", marks=pytest.mark.slow),
        ("set -o pipefail; {ifair} --help | head -0", 141, "", ""),
        pytest.param("set -o pipefail; {rank} -o - 2>/dev/null | head -1", 141, "näme", "", marks=pytest.mark.slow),
        ("{ifair} datasets list >&- 2>&- <&-", 0, "", ""),
        ("{ifair} datasets list > /dev/full", 1, "", "Error: No space left on device"),
        (
            "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 {rank} -o - | head -1",
            0,
            "näme,sex,score,rank,",
            "protected: f",
        ),
        pytest.param("{rank} -o - 2>&1 | head -1", 0, "protected: f", "", marks=pytest.mark.slow),
        pytest.param("{rank} -o - >&-", 1, "", "Error: standard output is closed; give --", marks=pytest.mark.slow),
        pytest.param("{rank} -o o.csv <&- >&- 2>&- && cat o.csv", 0, "näme,sex,score,rank", "", marks=pytest.mark.slow),
        pytest.param("PYTHONIOENCODING=ascii {rank} --query sex -o -", 0, "Jürgen", "", marks=pytest.mark.slow),
        pytest.param("{rank} -o - > /dev/full", 1, "", "Error: cannot write -: No space", marks=pytest.mark.slow),
    ],
)
def test_streams_that_are_closed_full_or_know_ascii_alone_end_no_command_in_a_trace(
    tmp_path, shell, code, stdout, stderr
):
    # More than a pipe holds.
    people = [("Jürgen", "f"), ("Zoë" * 10_000, "m"), ("Jürgen", "m")] * 4
    rows = "".join(f"{name},{sex},{i}\n" for i, (name, sex) in enumerate(people))
    (tmp_path / "people.csv").write_text(f"näme,sex,score\n{rows}", encoding="utf-8")
    program = f"{sys.executable} -c 'from ifair.cli import main; main()'"
    rank = f"{program} rank people.csv --score score --protected sex --min-share 0.1"
    command = ["bash", "-c", shell.format(rank=rank, ifair=program)]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert stdout in done.stdout.decode()
    assert stderr in done.stderr.decode()
    assert b"Traceback" not in done.stderr + done.stdout
    assert b"Exception" not in done.stderr + done.stdout
