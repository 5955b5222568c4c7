"""The files that commands exchange: what fits their types is read, and what does not is named."""

import copy
import json

import pytest
from refusals import must_raise

from ifair.results import EVIDENCE, TUNING, ResultsError, Tuning, Worst, check_results, check_schema, read_results

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
    for odd in (hostile_evidence(), lonely_evidence()):
        check_results(odd, EVIDENCE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e.pop("points"), "this lacks points"),
        (lambda e: e.update(more=1), "this must not have more"),
        (lambda e: e["points"][1]["test"]["yNN"].update(low="x"), r"points\[1\].test.yNN.low must be float or None"),
        (lambda e: e["points"][0]["people"].update(score=[None]), r"points\[0\].people.score\[0\] must be float"),
        (lambda e: e["people"]["distances"][0].__setitem__(0, float("nan")), r"distances\[0\]\[0\] must be float"),
        (lambda e: e["points"][0].update(blind=0), "blind must be bool, got 0"),
        (lambda e: e["choices"].update({"most useful": "a"}), "choices must not have most useful"),
        (lambda e: e.update(task="guessing"), "task must be classification or regression or ranking"),
        (lambda e: e["points"][0]["flip"].pop("worst"), "flip lacks worst"),
        (lambda e: e.update(people=[]), "people must hold named values"),
        (lambda e: e["choices"].update(fairest="nobody"), "choices.fairest must be the id of a point, got 'nobody'"),
        (lambda e: e["points"].append(e["points"][0]), "has two points called"),
        (lambda e: e["people"]["truth"].pop(), r"people.truth must be of \d+ people, got \d+"),
        (lambda e: e["people"]["neighbours"][2].append(10**6), r"neighbours\[2\] must be the number of one of"),
        (lambda e: e["people"]["attributes"][0]["codes"].__setitem__(0, 99), r"codes must be the number of a label"),
        (lambda e: e["people"]["attributes"][0].pop("codes"), "either values, or labels and codes"),
        (lambda e: e["people"]["distances"][1].append(1.0), r"distances\[1\] must be of \d+ neighbours"),
        (lambda e: e["points"][1]["people"]["score"].append(0.5), r"points\[1\].people.score must be of"),
        (lambda e: e["points"][0]["flip"].update(worst_person=-1), "worst_person must be the number of one of"),
        (lambda e: e["data"]["parts"].pop("test"), "data.parts lacks test"),
        (lambda e: e.update(points=[]), "points is empty"),
        (lambda e: e["points"][0].update(name=10**400), "name must be str"),
        (lambda e: e["points"][0]["certificate"].update(share=10**400), "share must be float"),
    ],
)
def test_the_first_place_that_does_not_fit_is_named(change, said):
    found = copy.deepcopy(small_evidence())
    change(found)
    must_raise(ResultsError, said, check_results, found, EVIDENCE)


def test_another_version_another_format_and_truth_values_for_whole_numbers_are_refused():
    older = "is of version 2, and this release reads version 3"
    must_raise(ResultsError, older, check_results, {**small_evidence(), "version": 2}, EVIDENCE)
    other = "is not what `ifair tune` writes: .* format ifair-tuning, and is of the"
    must_raise(ResultsError, other, check_results, small_evidence(), TUNING)
    assert (TUNING.mark[0], TUNING.schema) == ("ifair-tuning", Tuning)
    check_schema({"person": 1, "gap": 2}, Worst)
    must_raise(ResultsError, "person must be int", check_schema, {"person": True, "gap": None}, Worst)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe{}", "is not JSON .*decode"),
        (b'{"format": "ifair-tuning", "format": "x"}', "'format' is there twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 200 + b"]" * 200, "nested too deeply"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1e999}', "1e999 is no number"),
        (b'{"a": ' + b"9" * 401 + b"}", "of 401 digits is too large"),
        (b'{"a": "\\ud800"}', "surrogates not allowed"),
        (b"[]", "of no format of ifair"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(tmp_path, content, said):
    path = tmp_path / "tuning.json"
    path.write_bytes(content)
    assert str(path) in str(must_raise(ResultsError, said, read_results, path, TUNING))
