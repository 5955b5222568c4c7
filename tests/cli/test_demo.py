"""``ifair demo``: what a newcomer runs first."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ifair import IFair
from ifair.cli.output import write_text
from ifair.evaluate import demonstration
from ifair.evaluate.demonstration import Settings, demonstrate
from ifair.report.terminal import DEMO_MEASURES, demo_text
from ifair.results import DEMONSTRATION, check_results

from samples import small_evidence
from scripts import run

SMALL = Settings(n_splits=2, n_prototypes=(3,), highlighted=3, n_jobs=1)


@pytest.fixture(scope="module", autouse=True)
def few_people():
    """A third of German Credit, wherever the demonstration loads it, and one rough search for every iFair."""
    few = demonstration.load_credit().take(range(0, 1000, 3))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"n_restarts": 1, "tol": 1e-2}.items():
            patch.setitem(IFair.__init__.__kwdefaults__, name, value)
        patch.setattr(demonstration, "load_credit", lambda: few)
        yield


@pytest.fixture(scope="module")
def results():
    return demonstrate(SMALL)


def measures_of(results):
    return {method["name"]: method["measures"] for method in results["methods"]}


def test_every_method_is_measured_on_every_split(results):
    assert list(measures_of(results)) == ["full data", "masked data", "iFair, K = 3", "iFair frozen, K = 3"]
    for measures in measures_of(results).values():
        assert set(DEMO_MEASURES) <= set(measures)
        for values in measures.values():
            assert len(values) == 2
            assert all(0 <= value <= 1 for value in values)


def test_what_cannot_see_the_age_cannot_flip_with_it(results):
    measures = measures_of(results)
    assert measures["masked data"]["flipped"] == [0.0, 0.0]
    assert measures["iFair frozen, K = 3"]["flipped"] == [0.0, 0.0]
    assert min(measures["full data"]["flipped"]) > 0


def test_results_survive_json_and_repeat_exactly(results):
    assert json.loads(json.dumps(results)) == results
    check_results(results, DEMONSTRATION)
    again = measures_of(demonstrate(replace(SMALL, n_splits=1)))
    first = {name: {key: values[:1] for key, values in one.items()} for name, one in measures_of(results).items()}
    assert again == first


def test_the_table_shows_every_method_and_measure(results):
    text = demo_text(results)
    for method in results["methods"]:
        assert method["name"] in text
        for name in DEMO_MEASURES:
            assert f"{np.mean(method['measures'][name]):.3f}" in text
    assert all(measure in text for measure in DEMO_MEASURES.values())


@pytest.fixture
def quick(monkeypatch, results):
    """The command without the work: what it would find is known."""
    monkeypatch.setattr(demonstration, "demonstrate", lambda settings, step: results)
    monkeypatch.setattr("ifair.audit.evidence", lambda dataset, **options: small_evidence())


@pytest.mark.usefixtures("quick")
def test_the_command_prints_a_table_and_says_where_the_report_is(tmp_path, results):
    folder = tmp_path / "new" / "folder"
    outcome = run("demo", "--output", folder)
    assert outcome.exit_code == 0
    assert "iFair frozen" in outcome.stdout
    assert str(folder / "report.html") in outcome.stdout
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["methods"] == results["methods"]
    assert sorted(path.name for path in folder.iterdir()) == ["evidence.json", "report.html", "results.json"]
    assert "<title>Fairness report: applicants</title>" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick")
def test_json_goes_to_standard_output_and_nothing_else_does(tmp_path, results):
    outcome = run("demo", "--json", "--output", tmp_path)
    assert json.loads(outcome.stdout)["methods"] == results["methods"]


def test_a_folder_that_cannot_be_made_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(demonstration, "demonstrate", lambda *_: pytest.fail("work was done"))
    blocked = tmp_path / "file"
    blocked.write_text("")
    outcome = run("demo", "--output", blocked / "inside")
    assert outcome.exit_code == 1
    assert f"cannot make the folder {blocked / 'inside'}" in outcome.stderr


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800", "ifair-demo")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
