"""The committed evidence: the page and the pictures say what the file of results says."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ifair.report.evaluation.page import figures, markdown
from ifair.report.pictures import svg

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def results():
    if not (RESULTS / "reproduce.json").exists():
        pytest.skip("docs/results is not here: this is not a checkout of the repository")
    return json.loads((RESULTS / "reproduce.json").read_text(encoding="utf-8"))


def test_the_page_is_what_the_results_give(results):
    assert (RESULTS / "reproduce.md").read_text(encoding="utf-8") == markdown(results), (
        "run docs/results/draw.py to write it again"
    )


def content(drawing):
    """Words and markers of a drawing; where exactly they stand differs between versions of matplotlib."""
    root = ElementTree.fromstring(drawing)
    words = sorted(text.text for text in root.iter(f"{SVG}text") if text.text and re.search("[A-Za-z]", text.text))
    return words, len(list(root.iter(f"{SVG}use")))


def test_the_pictures_are_what_the_results_give(results):
    committed = {path.stem: path.read_text(encoding="utf-8") for path in (RESULTS / "figures").glob("*.svg")}
    drawn = {stem: svg(figure, stem) for stem, figure in figures(results).items()}
    assert set(committed) == set(drawn)
    assert set(committed) == set(
        re.findall(r"\(figures/([\w-]+)\.svg\)", (RESULTS / "reproduce.md").read_text("utf-8"))
    )
    for stem, drawing in drawn.items():
        assert content(committed[stem]) == content(drawing), stem
        assert len(committed[stem].encode()) < 150_000, stem


def test_the_evidence_records_how_it_was_made(results):
    assert results["settings"]["n_splits"] >= 5
    assert {"machine", "python", "ifair", "numpy", "scikit-learn"} <= set(results["environment"])
    assert set(results["classification"]) == {"compas", "census", "credit"}
    for summary in results["classification"].values():
        for methods in summary["rules"].values():
            assert all(found["test"]["yNN"]["n"] == results["settings"]["n_splits"] for found in methods.values())
