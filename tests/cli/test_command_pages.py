"""The pages that lead through the command line: their commands run in order, as they stand, on fewer people."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from ifair.tables.roles import Roles

from samples import few_candidates
from scripts import run

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<content>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
TABLES = ("people.csv", "applicants.csv")
"""What pages learn from: the first 120 people do, since what the commands find is not on the page."""
SMALL = {"tune": ["--trials", "4", "--estimator", "linear"], "report": ["--resamples", "10", "--jobs", "1"]}
"""Said last about a table, these count."""
QUICK = {"restarts": 1, "max_iter": 20}
"""Of ``ifair fit``: what its models are worth is not on the page."""


def read_blocks(page):
    if not DOCS.exists():
        pytest.skip("docs is not here: this is not a checkout of the repository")
    return [(found["kind"], found["content"]) for found in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))]


def check_command_line():
    decisions = pd.read_csv("decisions.csv", dtype={"person": str})
    assert decisions["person"].iloc[0] == "0000"
    assert set(decisions["decision"]) <= {0, 1}
    assert (decisions["decision"] == (decisions["score"] > 0.5)).all()
    assert Path("model.onnx").stat().st_size > 0


def check_walkthrough():
    decisions = pd.read_csv("decisions.csv")
    assert len(decisions) == 200
    assert decisions["decision"].sum() == 40
    assert not {"gender", "origin", "hired"} & set(pd.read_csv("newcomers.csv").columns)
    assert Path("report.card.md").stat().st_size > 0


@pytest.mark.parametrize(
    ("page", "check"), [("command_line.md", check_command_line), ("walkthrough.md", check_walkthrough)]
)
def test_the_commands_of_the_page_run_in_order(page, check, tmp_path, monkeypatch, quick_fits):
    for package in ("skops", "pyarrow", "skl2onnx", "optuna", "jinja2"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for option in import_module("ifair.cli.fit").fit.params:
        if option.name in QUICK:
            monkeypatch.setattr(option, "default", QUICK[option.name])
    commands = 0
    for kind, content in read_blocks(page):
        assert kind in ("python", "toml", "console"), "nothing runs or reads this block"
        if kind == "python":
            exec(content, {})
            for table in filter(Path.exists, map(Path, TABLES)):
                table.write_text("".join(table.read_text("utf-8").splitlines(keepends=True)[:121]), "utf-8")
        elif kind == "toml":
            with Path("roles.toml").open("a", encoding="utf-8") as roles:  # tables of one file, one after the other
                roles.write(content)
        else:
            for line in content.splitlines():
                assert line.startswith("$ ifair ")
                words = shlex.split(line)[2:]
                with few_candidates():
                    done = run(*words, *(SMALL.get(words[0], []) if words[1] in TABLES else []))
                assert done.exit_code == 0, f"{line}\n{done.output}"
                commands += 1
    assert commands >= 6
    check()


def test_the_page_names_every_role():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    table = page.partition("| role | meaning |")[2].partition("\n\n")[0]
    named = set(re.findall(r"^\| (.*?) \|", table, flags=re.MULTILINE))
    roles = {name.strip("` ") for cell in named for name in cell.split(",") if "`" in name}
    assert roles == set(Roles.__slots__)
