"""The tables of measurements on the page about paper and code are those of the stored results."""

import json
from pathlib import Path

import pytest

bench = pytest.importorskip("readings", reason="this is not a checkout of the repository")
ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "readings.json"
COMMAND = "python benchmarks/readings.py --json docs/results/readings.json"


def test_the_page_shows_what_was_measured_of_every_setting_on_every_split_of_every_dataset():
    text = RESULTS.read_text(encoding="utf-8")
    result = json.loads(text)
    assert bench.to_json(result) == text
    page = (ROOT / "docs" / "paper_and_code.md").read_text(encoding="utf-8")
    between = page.partition("<!-- measured: begin -->")[2].partition("<!-- measured: end -->")[0]
    assert COMMAND in between
    assert bench.markdown(result) in between
    measured = {(row["dataset"], row["split"], row["question"], row["setting"]) for row in result["rows"]}
    assert len(measured) == len(result["rows"])
    for dataset in bench.DATASETS:
        for split in range(result["settings"]["splits"]):
            for setting in bench.settings_for(dataset):
                for question, name in setting.labels:
                    assert (dataset, split, question, name) in measured


def test_every_combination_of_readings_has_a_name():
    assert len(bench.READINGS) == 8
    assert bench.READINGS["as printed"] == {"squared": False, "fairness_distance": "weighted", "reduction": "mean"}
    assert bench.READINGS["authors' code"] == {"squared": True, "fairness_distance": "euclidean", "reduction": "norm"}
