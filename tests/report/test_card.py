"""The model card: what must be on it, as Markdown and as HTML."""

import copy

import pytest

from ifair.report.blocks import Heading, markdown
from ifair.report.card import card
from ifair.report.comparison import find_point
from ifair.report.html import html
from ifair.results import ResultsError

from samples import HOSTILE, hostile_evidence, lonely_evidence, small_evidence


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_a_card_tells_use_data_measures_and_limits(task):
    found = small_evidence(task)
    blocks = card(found)
    headings = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    assert headings == ["Model", "Intended use", "Data", "Measures", "Limits"]
    text = markdown(blocks)
    point = find_point(found, "balanced")
    one = point["test"]["utility"]
    assert f"{one['estimate']:.3f} \\[{one['low']:.3f}, {one['high']:.3f}\\]" in text
    assert "Protected attributes: sex, origin" in text
    assert "protected group, everybody whose sex is female or origin is south" in text
    assert "by construction" in text
    assert "80 to judge on" in text or task != "classification"


def test_any_point_may_have_a_card_and_what_leaks_and_who_is_few_is_among_its_limits():
    text = markdown(card(small_evidence(), "full"))
    assert text.startswith("# Model card: full data on applicants")
    assert "It can still see sex, origin" in text
    limits = text.split("## Limits")[1]
    assert "What the model sees still tells sex" in limits
    small = [g for part in small_evidence()["points"][0]["groups"] for g in part["groups"] if g["n"] < 30]
    assert small
    assert all(f"{group['label']} ({group['n']})" in limits for group in small)
    with pytest.raises(ResultsError, match=r"no point 'best'.*balanced.*masked"):
        card(small_evidence(), "best")


@pytest.mark.parametrize(
    ("unknown", "said"),
    [(1, "Of 1 that is not known"), (1200, "Of 1,200 that is not")],
)
def test_people_without_a_protected_value_are_counted(unknown, said):
    found = copy.deepcopy(small_evidence())
    found["data"]["unknown_others"] = unknown
    assert said in markdown(card(found))


@pytest.mark.parametrize(
    ("task", "purpose"),
    [
        ("classification", "To decide about hired for people"),
        ("regression", "To score people like those of applicants"),
    ],
)
def test_a_point_without_a_representation_is_not_said_to_represent_anybody(task, purpose):
    together, alone = (markdown(card(small_evidence(task), id_)) for id_ in ("masked-consistent-0.2", "masked"))
    for text in (together, alone):
        assert "| the model sees | the unprotected columns |\n| model | linear |" in text
        assert purpose in text
        assert "represent" not in text
    assert ["are treated alike" in text for text in (together, alone)] == [True, False]


def test_a_card_needs_nobody_to_compare():
    assert "Limits" in markdown(card(lonely_evidence()))


def test_hostile_strings_are_text_on_a_card():
    page = html(card(hostile_evidence()), {})
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in markdown(card(hostile_evidence())).replace("\\<script", "")
    assert HOSTILE[2] in page


def test_settings_are_words():
    text = markdown(card(small_evidence(), "ifair-3-0.1"))
    assert "| prototypes K | 3 |" in text
    assert "weight λ of utility, of staying close to the records | 0.9 |" in text
    assert "weight μ of fairness" in text
    assert "held at zero" in text
    assert "share | 0.1" not in text


def test_a_card_names_the_source_or_at_least_the_table():
    found = copy.deepcopy(small_evidence())
    found["data"]["source"] = "people.csv"
    assert "Source: people.csv" in markdown(card(found))
    found["data"]["source"] = ""
    assert "Source: applicants" in markdown(card(found))


def test_measures_stand_with_their_intervals_beside_deleting_the_columns():
    found = small_evidence()
    chosen = find_point(found, "balanced")
    text = markdown(card(found)).replace("\\", "")

    def said(one, low, high):
        return f"{one:.3f} [{low:.3f}, {high:.3f}]"

    for role in ("full", "deleted"):
        reference = next(p for p in found["points"] if p["role"] == role)
        for name in ("utility", "ranks", "matched", "accuracy"):
            for one in (reference["test"][name], chosen["test"][name]):
                assert said(*one.values()) in text
    flip = found["points"][0]["flip"]
    assert said(flip["share_flipped"], *flip["interval"]) in text
    for name in ("utility", "ranks"):
        assert f"| {chosen['differences']['deleted'][name]['word']} " in text
    for partition in chosen["groups"]:
        for group in partition["groups"]:
            assert said(group["rate"], *group["rate_interval"]) in text


def test_the_verdict_and_the_cautions_stand_before_the_measures():
    found = copy.deepcopy(small_evidence())
    chosen = find_point(found, "balanced")
    chosen["cautions"] = [{"tag": "at chance", "text": "Worth nothing."}]
    text = markdown(card(found))
    places = [text.index(said) for said in (chosen["verdict"]["sentence"], "### Caution", "Worth nothing.", "| AUC | ")]
    assert places == sorted(places)
    # What the verdict says already is not said again; what is to be known besides is.
    chosen["verdict"] |= {"sentence": "Do not use F: worth nothing.", "besides": [{"tag": "", "text": "Known."}]}
    said = markdown(card(found)).split("### Caution")[1].split("On ")[0]
    assert "Known." in said
    assert "orth nothing" not in said
    assert "Caution" not in markdown(card(small_evidence(), "full"))


def test_a_card_says_whom_a_point_is_for_and_of_nearest_prototypes_what_holds_for_every_model():
    for one in small_evidence()["points"]:
        text = markdown(card(small_evidence(), one["id"]))
        assert ("whoever decides about people themselves" in text) == ("batch" in one)
    found = copy.deepcopy(small_evidence())
    point = find_point(found, "balanced")
    assert "Whatever model" not in markdown(card(found))
    point.pop("batch", None)
    point["bound"] = 0.8125
    text = markdown(card(found))
    assert "yNN of these people is at least 0.812" in text
    assert "For whoever hands the table on" in text
