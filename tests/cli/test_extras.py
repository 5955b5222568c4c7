"""Packages that a verb needs are asked for before any work."""

import pytest

from scripts import run

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
    done = run(*arguments)
    assert done.exit_code == 1, done.output
    # No such file exists: had any been looked at, that would be the error.
    assert f"pip install 'ifair[{extra}]', or in a clone pip install -e '.[{extra}]'" in done.stderr
    assert list(tmp_path.iterdir()) == []
