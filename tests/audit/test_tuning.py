"""Tuning on a table of one's own."""

import json

import pytest

from ifair.audit import evidence, tune
from ifair.audit.tuning import fingerprint_dataset, name_choices
from ifair.evaluate.fronts import pareto_front

from samples import FAST, applicants, dataset

pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def found():
    return tune(dataset(), n_trials=4, solver=FAST)


def test_the_front_is_what_no_trial_beats(found):
    points = [[t["validation"]["utility"], t["validation"]["yNN"]] for t in found["trials"]]
    expected = {t["id"] for t, on in zip(found["trials"], pareto_front(points)) if on}
    assert {p["id"] for p in found["front"]} == expected
    assert len(found["trials"]) == 4
    assert json.loads(json.dumps(found)) == found


def test_the_three_choices_are_the_ends_and_a_middle_of_the_front(found):
    front = {p["id"]: p["validation"] for p in found["front"]}
    assert front[found["choices"]["most_useful"]]["utility"] == max(v["utility"] for v in front.values())
    assert front[found["choices"]["fairest"]]["yNN"] == max(v["yNN"] for v in front.values())
    assert found["choices"]["balanced"] in front


def test_an_audit_finds_the_same_validation_measures_as_the_tuning(found):
    judged = {p["id"]: p for p in evidence(dataset(), tuning=found, resamples=10)["points"]}
    for one in found["front"]:
        assert judged[one["id"]]["validation"] == one["validation"]


def test_a_stopped_search_goes_on_from_its_journal(tmp_path, found):
    told = []
    journal = tmp_path / "journal"
    tune(dataset(), n_trials=2, solver=FAST, journal=journal)
    whole = tune(dataset(), n_trials=4, solver=FAST, journal=journal, observer=told.append)
    assert whole == found
    assert told[0].reused == 2


def test_other_records_are_another_search():
    changed = applicants()
    changed.loc[0, "height"] += 1
    assert fingerprint_dataset(dataset()) != fingerprint_dataset(dataset(frame=changed))
    assert fingerprint_dataset(dataset()) == fingerprint_dataset(dataset())


def test_points_without_a_measure_are_never_chosen():
    known = {"id": "a", "validation": {"utility": 0.5, "yNN": 0.5}}
    unknown = {"id": "b", "validation": {"utility": None, "yNN": 0.9}}
    assert set(name_choices([unknown, known]).values()) == {"a"}
    assert name_choices([unknown]) == {}


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="variant must be one of"):
        tune(dataset(), variant="cold")
