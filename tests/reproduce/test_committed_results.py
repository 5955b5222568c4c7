"""The committed evidence: the page and the pictures say what the file of results says."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ifair.plain_data import ResultsError, map_leaves
from ifair.report.pictures import svg
from ifair.reproduce.expected_time import average_units, known_times
from ifair.reproduce.experiment import check_kept, find_experiments
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.results_page import draw_figures, format_markdown

RESULTS = Path(__file__).parents[2] / "docs" / "results"
SVG = "{http://www.w3.org/2000/svg}"


def test_what_experiments_keep_is_of_their_types(committed):
    check_kept(committed, "results")
    assert all(experiment.kept is not Any for experiment in find_experiments().values())


@pytest.mark.parametrize("name", find_experiments())
def test_what_is_of_another_type_is_named(committed, name):
    spoiled = map_leaves(lambda leaf: "many" if isinstance(leaf, float) else leaf, committed["experiments"][name])
    with pytest.raises(ResultsError, match=rf"results\.experiments\.{name}.+ must be float"):
        check_kept({**committed, "experiments": {name: spoiled}}, "results")


def test_the_page_is_what_the_results_give(committed):
    assert (RESULTS / "reproduce.md").read_text(encoding="utf-8") == format_markdown(committed), (
        "run docs/results/draw.py to write it again"
    )


def test_times_are_known_of_everything_that_was_run(committed):
    for place, known in known_times().items():
        assert known["seconds"].keys() == committed["runs"].keys(), place
        assert all(set(parts) == set(committed["runs"][name]) for name, parts in known["seconds"].items()), place
    # Experiments that were run again without a GPU say nothing of one.
    on_gpu = [name for name, runs in committed["runs"].items() if all(map(was_on_gpu, runs.values()))]
    found, known = average_units(committed), known_times()["with_gpu"]
    assert len(on_gpu) > 10
    assert {name: found["seconds"][name] for name in on_gpu} == {name: known["seconds"][name] for name in on_gpu}
    assert found["machine"] == known["machine"]


def was_on_gpu(run):
    return "NVIDIA" in run["environment"]["machine"]


def content(drawing):
    """Words and markers of a drawing; where exactly they stand differs between versions of matplotlib."""
    root = ElementTree.fromstring(drawing)
    words = sorted(text.text for text in root.iter(f"{SVG}text") if text.text and re.search("[A-Za-z]", text.text))
    return words, len(list(root.iter(f"{SVG}use")))


def test_the_pictures_are_what_the_results_give(committed):
    drawings = {path.stem: path.read_text(encoding="utf-8") for path in (RESULTS / "figures").glob("*.svg")}
    drawn = {stem: svg(figure, stem) for stem, figure in draw_figures(committed).items()}
    assert set(drawings) == set(drawn)
    page = (RESULTS / "reproduce.md").read_text(encoding="utf-8")
    assert set(drawings) == set(re.findall(r"\(figures/([\w-]+)\.svg\)", page))
    for stem, drawing in drawn.items():
        assert content(drawings[stem]) == content(drawing), stem
        assert len(drawings[stem].encode()) < 150_000, stem


def test_the_full_profile_was_run_whole_and_records_how_it_was_made(committed):
    profile = PROFILES["full"]
    assert set(committed["runs"]) == set(find_experiments())
    for task, sources in profile.tasks.items():
        assert set(committed["runs"][task]) == {source.name for source in sources}
        for source in sources:
            assert committed["runs"][task][source.name]["seeds"] == list(profile.seeds(source))
    assert "Not run so far" not in format_markdown(committed)
    for run in [run for parts in committed["runs"].values() for run in parts.values()]:
        assert len(run["seeds"]) >= 3
        assert run["profile"] == "full"
        assert {"machine", "python", "ifair", "numpy", "scikit-learn"} <= set(run["environment"])
        assert run["seconds"] > 0
    for experiment in ("classification", "ranking"):
        for dataset, summary in committed["experiments"][experiment].items():
            n_splits = len(committed["runs"][experiment][dataset]["seeds"])
            for methods in summary["rules"].values():
                assert all(found["test"]["yNN"]["n"] == n_splits for found in methods.values())


def test_what_was_not_run_of_the_profile_is_said(committed):
    del committed["runs"]["classification"]["census"], committed["runs"]["search"]
    text = format_markdown(committed)
    assert re.search(r"Not run so far of this profile: .*the experiment search\b", text)
    assert re.search(r"Not run so far of this profile: .*classification on Census\b", text)
