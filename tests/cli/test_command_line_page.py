"""The page about the command line: its commands run in order, as they stand."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from ifair.tables.roles import Roles, read_roles

from scripts import run

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCK = re.compile(r"^```(?P<kind>python|toml|console)\n(?P<content>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
QUICK = {"restarts": 1, "max_iter": 20}
"""Of ``ifair fit``: what its models are worth is not on the page."""


@pytest.fixture
def blocks():
    if not PAGE.exists():
        pytest.skip("docs/command_line.md is not here: this is not a checkout of the repository")
    return [(found["kind"], found["content"]) for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


def test_the_commands_of_the_page_run_in_order(blocks, tmp_path, monkeypatch, quick_fits):
    for package in ("skops", "pyarrow", "skl2onnx"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for option in import_module("ifair.cli.fit").fit.params:
        if option.name in QUICK:
            monkeypatch.setattr(option, "default", QUICK[option.name])
    commands = 0
    for kind, content in blocks:
        if kind == "python":
            exec(content, {})
            # The first 150 people do: what the commands find is not on the page.
            table = Path("people.csv")
            table.write_text("".join(table.read_text("utf-8").splitlines(keepends=True)[:151]), "utf-8")
        elif kind == "toml":
            Path("roles.toml").write_text(content, encoding="utf-8")
        else:
            for line in content.splitlines():
                assert line.startswith("$ ifair ")
                done = run(*shlex.split(line)[2:])
                assert done.exit_code == 0, f"{line}\n{done.output}"
                commands += 1
    assert commands >= 6
    decisions = pd.read_csv("decisions.csv", dtype={"person": str})
    assert decisions["person"].iloc[0] == "0000"
    assert set(decisions["decision"]) <= {0, 1}
    assert (decisions["decision"] == (decisions["score"] > 0.5)).all()
    assert Path("model.onnx").stat().st_size > 0


def test_the_page_names_every_role(blocks):
    named = set(re.findall(r"^\| (.*?) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    roles = {name.strip("` ") for cell in named for name in cell.split(",") if "`" in name}
    assert roles == set(Roles.__slots__)


def test_the_roles_of_the_page_are_read(blocks, tmp_path):
    content = next(content for kind, content in blocks if kind == "toml")
    (tmp_path / "roles.toml").write_text(content)
    assert read_roles(tmp_path / "roles.toml").protected == ("age",)
