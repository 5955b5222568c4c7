"""``ifair demo``: what a newcomer runs first."""

import json

import pytest
from click.testing import CliRunner

from ifair.cli import main
from ifair.cli.files import write_text
from ifair.experiments import demo as experiment
from ifair.experiments.demo import Settings, run
from ifair.report.demo import MEASURES, as_text, page, summary

SMALL = Settings(n_splits=2, n_prototypes=(3,), highlighted=3, n_jobs=1)


@pytest.fixture(scope="module")
def results():
    return run(SMALL)


def test_every_method_is_measured_on_every_split(results):
    assert list(results["measures"]) == ["full data", "masked data", "iFair, K = 3", "iFair frozen, K = 3"]
    for measures in results["measures"].values():
        assert set(measures) == set(MEASURES)
        for values in measures.values():
            assert len(values) == 2
            assert all(0 <= value <= 1 for value in values)


def test_what_cannot_see_the_age_cannot_flip_with_it(results):
    assert results["measures"]["masked data"]["flipped"] == [0.0, 0.0]
    assert results["measures"]["iFair frozen, K = 3"]["flipped"] == [0.0, 0.0]
    assert min(results["measures"]["full data"]["flipped"]) > 0


def test_results_survive_json_and_repeat_exactly(results):
    assert json.loads(json.dumps(results)) == json.loads(json.dumps({**results}))
    again = run(SMALL)
    assert again["measures"] == results["measures"]
    assert again["prototypes"] == results["prototypes"]


def test_the_page_shows_the_numbers_and_needs_no_network(results):
    html = page(results)
    for row in summary(results):
        assert row["method"] in html
        for mean, _ in row["values"].values():
            assert f"{mean:.3f}" in html
    assert "<script" not in html
    links = [part.split('"')[0] for part in html.replace("'", '"').split('="http')[1:]]
    assert all(link.startswith("://www.w3.org/") for link in links)  # names of SVG's own vocabularies only
    assert all(measure in as_text(results) for measure in MEASURES.values())


def test_values_from_the_data_are_text_on_the_page(results):
    hostile = json.loads(json.dumps(results))
    hostile["prototypes"]["rows"][0][1] = "<script>alert(1)</script>"
    hostile["data"]["protected"] = ["<img src=x onerror=alert(1)>"]
    html = page(hostile)
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_the_command_prints_a_table_and_says_where_the_report_is(tmp_path, monkeypatch, results):
    monkeypatch.setattr(experiment, "run", lambda settings, step: results)
    folder = tmp_path / "new" / "folder"
    outcome = CliRunner().invoke(main, ["demo", "--output", str(folder)])
    assert outcome.exit_code == 0
    assert "iFair frozen" in outcome.stdout
    assert str(folder / "report.html") in outcome.stdout
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["measures"] == results["measures"]
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "results.json"]


def test_json_goes_to_standard_output_and_nothing_else_does(tmp_path, monkeypatch, results):
    monkeypatch.setattr(experiment, "run", lambda settings, step: results)
    outcome = CliRunner().invoke(main, ["demo", "--json", "--output", str(tmp_path)])
    assert json.loads(outcome.stdout)["measures"] == results["measures"]


def test_a_folder_that_cannot_be_made_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "run", lambda *_: pytest.fail("work was done"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    outcome = CliRunner().invoke(main, ["demo", "--output", str(blocked / "inside")])
    assert outcome.exit_code == 1
    assert f"cannot make the folder {blocked / 'inside'}" in outcome.stderr


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
