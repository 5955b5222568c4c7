"""The files that commands exchange: what fits their types is read, and what does not is named."""

import copy
import json

import pytest

from ifair.results import EVIDENCE, TUNING, ResultsError, Tuning, Worst, check_results, check_schema

from samples import hostile_evidence, lonely_evidence, small_evidence


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_evidence_fits_its_type_and_no_key_has_a_space(task):
    found = small_evidence(task)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["task"] == task
    assert not found["left_out"]
    check_results(found, EVIDENCE)

    def keys(data):
        if isinstance(data, dict):
            # The names of attributes and of groups are the table's own.
            yield from (key for key in data if not key.startswith("gap:"))
            for key, value in data.items():
                yield from () if key == "alternatives" else keys(value)
        elif isinstance(data, list):
            for one in data:
                yield from keys(one)

    assert not [key for key in keys(found) if " " in key]


@pytest.mark.parametrize("evidence", [hostile_evidence, lonely_evidence])
def test_odd_evidence_fits_too(evidence):
    check_results(evidence(), EVIDENCE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e.pop("points"), "this lacks points"),
        (lambda e: e.update(more=1), "this must not have more"),
        (lambda e: e["points"][1]["test"]["yNN"].update(low="x"), r"points\[1\].test.yNN.low must be float or None"),
        (
            lambda e: e["points"][0]["people"]["score"].__setitem__(3, None),
            r"points\[0\].people.score\[3\] must be float",
        ),
        (lambda e: e["people"]["distances"][0].__setitem__(0, float("nan")), r"distances\[0\]\[0\] must be float"),
        (lambda e: e["points"][0].update(blind=0), "blind must be bool, got 0"),
        (lambda e: e["choices"].update({"most useful": "a"}), "choices must not have most useful"),
        (lambda e: e.update(task="guessing"), "task must be classification or regression or ranking"),
        (lambda e: e["points"][0]["flip"].pop("worst"), "flip lacks worst"),
        (lambda e: e.update(people=[]), "people must hold named values"),
    ],
)
def test_the_first_place_that_does_not_fit_is_named(change, said):
    found = copy.deepcopy(small_evidence())
    change(found)
    with pytest.raises(ResultsError, match=said):
        check_results(found, EVIDENCE)


def test_another_version_and_another_format_are_refused():
    with pytest.raises(ResultsError, match="is of version 2, and this release reads version 3"):
        check_results({**small_evidence(), "version": 2}, EVIDENCE)
    with pytest.raises(ResultsError, match=r"is not what `ifair tune` writes: .* format ifair-tuning, and is of the"):
        check_results(small_evidence(), TUNING)


def test_whole_numbers_are_numbers_and_truth_values_are_not():
    check_schema({"person": 1, "gap": 2}, Worst)
    with pytest.raises(ResultsError, match="person must be int"):
        check_schema({"person": True, "gap": None}, Worst)
    assert TUNING.mark == ("ifair-tuning", 2)
    assert TUNING.schema is Tuning
