"""What holds for every point of an audit: groups that nobody judged, told wherever there is a verdict."""

import numpy as np
import pytest

from ifair.audit import evidence
from ifair.audit.table_cautions import find_telling, list_table_cautions
from ifair.data import from_table
from ifair.evaluate.splits import find_unjudged, split_table
from ifair.report import page
from ifair.report.blocks import markdown
from ifair.report.card import card
from ifair.report.terminal import audit_text, summary_text

from samples import FAST, FRONT, applicants, dataset, small_evidence


def audited(frame, protected, **options):
    people = dataset(protected=protected, frame=frame)
    return evidence(people, tuning=FRONT, resamples=10, solver=FAST, **options)


@pytest.fixture(scope="module")
def young_and_old():
    """Applicants of whom the young are seldom hired; two columns are protected, and the rule is about sex alone."""
    rng = np.random.default_rng(4)
    frame = applicants(600).drop(columns=["rating", "team"])
    age = rng.integers(18, 66, 600).astype(float)
    frame["hired"] = (rng.random(600) < np.where(age < 30, 0.1, 0.7)).astype(int)
    frame["age"] = np.where(rng.random(600) < 0.1, np.nan, age)
    with pytest.warns(UserWarning, match="'age': .* people have no value"):
        people = from_table(frame, target="hired", protected=["sex", "age"], group={"sex": "female"}, name="people")
    return evidence(people, tuning=FRONT, resamples=10, solver=FAST)


def test_a_model_that_accepts_the_young_less_shows_the_gap_by_age(young_and_old):
    full = next(point for point in young_and_old["points"] if point["role"] == "full")
    assert full["groups"][0]["partition"] in ("age", "sex × age")
    by_age = next(one for one in full["groups"] if one["partition"] == "age")
    rates = {group["label"]: group["rate"] for group in by_age["groups"]}
    assert list(rates) == ["18 to 29", "30 to 44", "45 to 54", "55 to 65", "(missing)"]
    assert rates["18 to 29"] < 0.3 < 0.8 < rates["45 to 54"]
    assert by_age["parity"] > 0.5
    assert {"sex", "age", "sex × age"} <= {one["partition"] for one in full["groups"]}
    assert any(one["partition"] == "age" for one in full["adversary"])


def test_terminal_page_and_card_show_the_gap_by_age(young_and_old):
    gap = young_and_old["points"][0]["groups"][0]["parity"]
    (line,) = [line for line in audit_text(young_and_old).splitlines() if line.startswith("A  full data")]
    assert line.endswith(f"{gap:.3f}")
    assert "18 to 29" in page(young_and_old)
    text = markdown(card(young_and_old, "full"))
    assert "Mean outcomes by age" in text
    assert "| 18 to 29 |" in text
    assert "cautions" not in young_and_old


def test_text_of_too_many_values_to_be_judged_is_named_wherever_there_is_a_verdict():
    towns = [f"town {i % 15}" for i in range(240)]
    found = audited(applicants().assign(town=towns), ["sex", "town"])
    assert {"town", "sex × town"}.isdisjoint(one["partition"] for one in found["points"][0]["groups"])
    [caution] = found["cautions"]
    assert "Groups of “town” are not judged: the people judged have 15 values" in caution["text"]
    for text in (audit_text(found), summary_text(found), str(card(found))):
        assert caution["text"] in text
    assert "are not judged: the people judged have 15 values" in page(found)
    assert caution["text"] in audit_text({key: value for key, value in found.items() if key != "verdict"})


def test_codes_of_categories_are_no_measure_that_could_be_cut_into_bins():
    frame = applicants().assign(code=np.arange(240) % 15)
    people = from_table(
        frame.drop(columns=["rating", "team"]), target="hired", protected=["sex", "code"], group="sex=female"
    )
    assert "code" in split_table(people, 0).test.partitions
    parts = split_table(people, 0, categorical=["code"])
    assert "code" not in parts.test.partitions
    assert find_unjudged(people, ["code"]) == ["code"]


@pytest.mark.filterwarnings("ignore:column 'experience' tells the target")
@pytest.mark.parametrize(("n", "groups"), [(240, 3), (160, 2), (120, 0)])
def test_few_people_are_cut_into_few_bins_or_said_not_to_be_judged(n, groups):
    people = from_table(
        applicants(n).drop(columns=["rating", "team"]), target="hired", protected=["sex", "height"], group="sex=female"
    )
    parts = split_table(people, 0)
    assert len(set(parts.test.partitions.get("height", ()))) == groups
    told = [one["text"] for one in list_table_cautions(parts, {})]
    assert [text.partition(" with")[0] for text in told] == (
        [] if groups else [f"Groups of “height” are not judged: the people judged, {n // 3}"]
    )


def test_what_is_said_not_to_be_judged_goes_by_the_values_of_the_people_who_are():
    towns = np.array([f"town {i % 12}" for i in range(240)], dtype=object)

    def split():
        frame = applicants().drop(columns=["rating", "team"]).assign(town=towns)
        return split_table(from_table(frame, target="hired", protected=["sex", "town"], group="sex=female"), 0)

    learned_from, judged = split().train.rows[0], split().test.rows[0]
    for row, is_judged in ((learned_from, True), (judged, False)):
        towns[row] = "a town of its own"
        parts = split()
        assert ("town" in parts.test.partitions) == is_judged
        assert [one["tag"] for one in list_table_cautions(parts, {})] == ["groups not judged"] * (not is_judged)


def test_a_table_of_few_groups_has_no_caution_of_its_own():
    assert "cautions" not in small_evidence()
    assert set(split_table(dataset(), 0).test.partitions) == {"protected group", "sex", "origin", "sex × origin"}


@pytest.fixture(scope="module")
def told():
    """Applicants with a column that is only filled in after the decision."""
    frame = applicants()
    frame["contract"] = np.where(frame["hired"] == 1, "signed", "none")
    with pytest.warns(UserWarning, match="'contract' tells the target 'hired'"):
        return audited(frame, ["sex"])


def test_a_column_that_tells_the_outcome_is_told_wherever_there_is_a_verdict(told):
    (caution,) = told["cautions"]
    assert caution["tag"] == "tells the outcome"
    assert caution["text"].startswith(
        "Column 'contract' tells the target 'hired' of all 240 people: if it is not known"
    )
    for text in (audit_text(told), summary_text(told), page(told)):
        assert "tells the target 'hired' of all 240 people" in text.replace("\\u0027", "'")
    for point in told["points"]:
        assert caution["text"] in card(told, point["id"])[-1].lines


def test_no_verdict_stands_without_saying_which_column_tells_the_outcome(told):
    said = [point["verdict"]["sentence"] for point in told["points"] if "verdict" in point]
    assert said
    assert all("But “contract” tells the outcome nearly alone: unless known before it" in one for one in said)
    assert not any("tells the outcome" in str(point) for point in small_evidence()["points"])


def test_a_column_that_tells_a_score_or_the_place_in_a_ranking_is_told_too():
    for task in ("regression", "ranking"):
        frame = applicants()
        frame["paid"] = frame["rating"] * 2 + 1
        with pytest.warns(UserWarning, match="'paid' tells the target 'rating'"):
            people = dataset(task, frame=frame)
        assert list(find_telling(people)) == ["paid"]
