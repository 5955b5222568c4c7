"""The committed evidence: the page says what the file of results says."""

import json
from pathlib import Path

import pytest

from ifair.report.reproduce import markdown

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def test_the_page_is_what_the_results_give():
    if not (RESULTS / "reproduce.json").exists():
        pytest.skip("docs/results is not here: this is not a checkout of the repository")
    results = json.loads((RESULTS / "reproduce.json").read_text(encoding="utf-8"))
    assert (RESULTS / "reproduce.md").read_text(encoding="utf-8") == markdown(results)


def test_the_evidence_records_how_it_was_made():
    if not (RESULTS / "reproduce.json").exists():
        pytest.skip("docs/results is not here: this is not a checkout of the repository")
    results = json.loads((RESULTS / "reproduce.json").read_text(encoding="utf-8"))
    assert results["settings"]["n_splits"] >= 5
    assert {"machine", "python", "ifair", "numpy", "scikit-learn"} <= set(results["environment"])
    assert set(results["classification"]) == {"compas", "census", "credit"}
    for summary in results["classification"].values():
        for methods in summary["rules"].values():
            assert all(found["test"]["yNN"]["n"] == results["settings"]["n_splits"] for found in methods.values())
