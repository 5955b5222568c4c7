"""An audit of decisions that give groups the same rate: who is selected, what it costs, and that it is told."""

import re

import numpy as np
import pandas as pd
import pytest
from measured_again import check_measures

from ifair.audit import evidence, tune
from ifair.audit.people_view import round_scores
from ifair.errors import IfairError
from ifair.evaluate.candidates import CONSISTENT, Candidate
from ifair.evaluate.judgement import brief_measures
from ifair.evaluate.splits import split_table
from ifair.evaluate.training import train
from ifair.models.batch_decisions import find_group_thresholds
from ifair.report import page
from ifair.report.card import card
from ifair.report.terminal import audit_text, tuning_text
from ifair.results import TUNING, check_results

from samples import FAST, applicants, dataset, few_candidates


@pytest.fixture(scope="module")
def people():
    return dataset(protected=("sex",))


@pytest.fixture(scope="module")
def parts(people):
    return split_table(people, 0)


CANDIDATES = [Candidate("masked"), Candidate("full"), Candidate("masked", post={"name": CONSISTENT, "strength": 0.1})]


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.id)
@pytest.mark.parametrize("parity", ["selection", "opportunity"])
def test_groups_get_the_same_rate_by_thresholds_on_validation_people(parts, candidate, parity):
    plain = train(candidate, parts, 0, FAST, threshold=0.4)
    equal = plain.at_parity(parts.validation, parity, "sex")
    part = parts.validation
    before, after = plain.outcome(part), equal.outcome(part)
    assert abs(after.decisions.sum() - before.decisions.sum()) <= 2
    weights = np.ones(len(part)) if parity == "selection" else plain.scores(part.records.frame)
    sex = part.records.frame["sex"].astype(str).to_numpy()
    rates = [np.average(after.decisions[sex == g], weights=weights[sex == g]) for g in np.unique(sex)]
    assert np.ptp(rates) <= max(weights[sex == g].max() / weights[sex == g].sum() for g in np.unique(sex))
    # Within a group the order of the scores decides, as before.
    for group in np.unique(sex):
        chosen = after.decisions[sex == group].astype(bool)
        assert before.scores[sex == group][chosen].min() >= before.scores[sex == group][~chosen].max()


def test_the_thresholds_are_those_of_counting_by_hand():
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    groups = np.array(["a", "a", "a", "a", "b", "b", "b", "b"])
    found = find_group_thresholds(scores, groups, 4, np.ones(8))
    assert found == pytest.approx({"a": 0.75, "b": 0.35})


def test_who_is_swapped_to_another_group_is_decided_about_by_its_threshold(parts):
    equal = train(Candidate("masked"), parts, 0, FAST).at_parity(parts.validation, "selection", "sex")
    frame = parts.test.records.frame
    men = frame.assign(sex=pd.Categorical(["male"] * len(frame), categories=frame["sex"].cat.categories))
    moved = equal.scores(men) - equal.scores(frame)
    added = equal.shift.added
    expected = np.where(frame["sex"] == "male", 0.0, added["male"] - added["female"])
    np.testing.assert_allclose(moved, expected, atol=1e-12)
    assert "sex" in equal.looks_at


@pytest.fixture(scope="module")
def found(people):
    with few_candidates():
        return evidence(people, parity=("selection", "sex"), models=("linear",), resamples=10, rate=0.4)


def test_the_evidence_tells_of_it_and_no_point_is_blind_any_more(found):
    assert found["settings"]["parity"] == {"kind": "selection", "groups": "sex"}
    chosen = next(point for point in found["points"] if point["id"] == found["choices"]["balanced"])
    aim = "hresholds of each group of 'sex' aim at the same rate, found on the validation part; on the test part"
    assert f"t{aim} the largest gap is {chosen['parity_gap']['estimate']:.3f} [" in audit_text(found)
    assert f"T{aim} the largest gap is {chosen['parity_gap']['estimate']:.3f} [" in str(card(found, chosen["id"]))
    assert f"{aim} the largest gap is {found['points'][0]['parity_gap']['estimate']:.3f} [" in str(card(found, "full"))
    assert "give every group" not in audit_text(found)
    assert not any(point["blind"] for point in found["points"])
    deleted = next(point for point in found["points"] if point["role"] == "deleted")
    assert deleted["flip"]["share_flipped"] > 0


def test_the_gap_that_is_left_is_that_of_the_decisions_on_people_whose_thresholds_were_found_on_others(found):
    for point in found["points"]:
        by_sex = next(one for one in point["groups"] if one["partition"] == "sex")
        assert point["parity_gap"]["estimate"] == by_sex["parity"] > 0
        assert [point["parity_gap"][end] for end in ("low", "high")] == by_sex["parity_interval"]


def test_a_gap_of_opportunity_is_one_among_those_who_truly_are_positive(people):
    with few_candidates():
        other = evidence(people, parity=("opportunity", "sex"), models=("linear",), resamples=10)
    for point in other["points"]:
        by_sex = next(one for one in point["groups"] if one["partition"] == "sex")
        assert point["parity_gap"]["estimate"] == by_sex["opportunity"]
    assert "the largest gap among those who truly are positive is" in audit_text(other)


def test_groups_too_few_for_a_threshold_of_their_own_are_named_in_a_caution(tuned):
    frame = applicants(600)
    frame.loc[::40, "sex"] = "other"
    with few_candidates():
        few = evidence(dataset(frame=frame), parity=("selection", "sex"), models=("linear",), resamples=10)
    (caution,) = few["cautions"]
    assert caution["tag"] == "few people in a group"
    assert re.search(
        r"200 people of the validation part, and fewer than 30 of these are in “other” \(\d+\): ", caution["text"]
    )
    for text in (audit_text(few), str(card(few)), page(few)):
        assert "a threshold of so few means little" in text
    assert caution["text"] in tuning_text({**tuned, "cautions": [caution]})


def test_what_the_page_shows_decides_as_the_measures_say(found):
    check_measures(found, rounding=5e-3)
    for point in (point for point in found["points"] if "batch" in point):
        assert point["batch"]["positive"]["estimate"] == point["test"]["positive"]["estimate"]


@pytest.fixture(scope="module")
def tuned(people):
    pytest.importorskip("optuna")
    with few_candidates():
        return tune(people, parity=("selection", "sex"), models=("linear",), n_trials=3, solver=FAST, threshold=0.4)


def test_settings_are_tuned_by_what_groups_get(people, parts, tuned):
    check_results(tuned, TUNING)
    assert tuned["parity"] == {"kind": "selection", "groups": "sex"}
    assert "thresholds of each group of 'sex' aim at the same rate, found on these very people" in tuning_text(tuned)
    for point in [*tuned["baselines"], *tuned["trials"]]:
        plain = train(Candidate.from_data(point["candidate"]), parts, 0, FAST, threshold=0.4)
        equal = plain.at_parity(parts.validation, "selection", "sex")
        expected = brief_measures(parts.validation, equal.outcome(parts.validation), parts)
        assert point["validation"] == pytest.approx(expected)


def test_an_audit_of_a_tuning_gives_groups_what_was_tuned(people, tuned):
    found = evidence(people, tuning=tuned, resamples=10)
    assert found["settings"]["parity"] == {"kind": "selection", "groups": "sex"}
    other = evidence(people, tuning=tuned, resamples=10, parity=("opportunity", "sex"))
    assert other["settings"]["parity"]["kind"] == "opportunity"


def test_a_parity_that_cannot_be_is_refused(people):
    for parity, message in (
        (("equal", "sex"), "parity must be one of"),
        (("selection", "sx"), "did you mean 'sex'"),
    ):
        with pytest.raises(IfairError, match=message):
            evidence(people, parity=parity)
        with pytest.raises(IfairError, match=message):
            tune(people, parity=parity)


def test_shown_scores_stay_on_their_side_of_any_threshold():
    scores = np.array([0.43214, 0.43206, 0.4321, 0.9, 0.1])
    for shown in (round_scores(scores, 0.4321), round_scores(3 * scores - 1, 3 * 0.4321 - 1)):
        assert len(set(shown)) > 2
    np.testing.assert_array_equal(np.array(round_scores(scores, 0.4321)) > 0.4321, scores > 0.4321)
    moved = np.array([-0.20001, -0.2, -0.19999, 1.3])
    np.testing.assert_array_equal(np.array(round_scores(moved, -0.2)) > -0.2, moved > -0.2)
