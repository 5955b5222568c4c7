"""Packages that a verb needs are asked for before any work."""

import subprocess
import sys

import pytest

from scripts import ENVIRONMENT, refuse

CASES = {
    "persist": [
        ["fit", "people.csv", "-p", "sex", "-o", "model.ifair"],
        ["transform", "model.ifair", "people.csv", "-o", "out.csv"],
        ["export", "model.ifair", "--onnx", "model.onnx"],
        ["rank", "people.csv", "-p", "sex", "--model", "model.ifair", "--min-share", "0.3", "-o", "out.csv"],
    ],
    "onnx": [["export", "model.ifair", "--onnx", "model.onnx"]],
    "tune": [["tune", "people.csv", "-p", "sex", "--target", "hired"]],
    "report": [["report", "evidence.json"], ["demo"]],
    "parquet": [
        ["fit", "people.parquet", "-p", "sex", "-o", "model.ifair"],
        ["transform", "model.ifair", "people.csv", "-o", "out.parquet"],
        ["audit", "people.pq", "-p", "sex", "--target", "hired"],
    ],
}


@pytest.mark.parametrize(("extra", "arguments"), [(extra, case) for extra, cases in CASES.items() for case in cases])
def test_what_is_missing_is_named_before_any_file_is_looked_at(extra, arguments, tmp_path, monkeypatch):
    from ifair.cli.extras import EXTRAS

    absent = {name for name, brings in EXTRAS.items() if brings == extra}
    monkeypatch.setattr("ifair.errors.find_spec", lambda name: None if name in absent else object())
    monkeypatch.chdir(tmp_path)
    said = refuse(*arguments)
    # No such file exists: had any been looked at, that would be the error.
    assert f"pip install 'ifair[{extra}]', or in a clone pip install -e '.[{extra}]'" in said
    assert list(tmp_path.iterdir()) == []


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["optuna", "matplotlib", "jinja2"]))
import pandas as pd
from ifair import Encoder
encoder = Encoder()
encoder.decode(encoder.fit_transform(pd.DataFrame({"a": ["x", "y"]})))
assert "polars" not in sys.modules
from ifair.evaluate.rules import choose
from ifair.evaluate.search import search
from ifair.evaluate.space import Share
Share()
from ifair.reproduce.assemble import empty_results
from ifair.reproduce.results_page import format_markdown
assert "Nothing was run" in format_markdown(empty_results())
"""


def test_tables_rules_and_pages_need_no_package_that_draws_or_searches():
    subprocess.run([sys.executable, "-c", WITHOUT], env=ENVIRONMENT, check=True)
