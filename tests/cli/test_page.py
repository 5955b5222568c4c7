"""Files of an evaluation's page, with and without what draws."""

import click
import pytest

from ifair.cli import page
from ifair.report.evaluation.page import markdown

NOTHING = {
    "runs": {},
    "paper": {"classification": {}, "ranking": {"xing": {m: {"MAP": 1.0} for m in ("svd", "svd-masked", "ifair-b")}}},
}


def test_page_and_html_are_written(tmp_path):
    lines = page.write_page(tmp_path, NOTHING)
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == markdown(NOTHING)
    assert "The paper&#39;s evaluation, redone</h1>" in (tmp_path / "results.html").read_text(encoding="utf-8")
    assert [line.rpartition(": ")[2] for line in lines] == [
        str(tmp_path.resolve() / name) for name in ("results.md", "results.html")
    ]


def test_without_the_extra_the_page_is_written_and_the_rest_explained(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    lines = page.write_page(tmp_path, NOTHING)
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]
    assert lines[-1].startswith("pictures and HTML need matplotlib and jinja2: pip install 'ifair[report]'")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(click.ClickException, match=r"cannot make the folder .*figures"):
        page.write_page(tmp_path, NOTHING)
