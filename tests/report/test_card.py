"""The model card: what must be on it, as Markdown and as HTML."""

import copy

import pytest

from ifair.report.blocks import Heading, markdown
from ifair.report.card import card
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
    point = next(p for p in found["points"] if p["id"] == found["choices"]["balanced"])
    one = point["test"]["utility"]
    assert f"{one['estimate']:.3f} \\[{one['low']:.3f}, {one['high']:.3f}\\]" in text
    assert "Protected attributes: sex, origin" in text
    assert "by construction" in text
    assert "80 to judge on" in text or task != "classification"


def test_any_point_may_have_a_card():
    text = markdown(card(small_evidence(), "full"))
    assert text.startswith("# Model card: full data on applicants")
    assert "It can still see sex, origin" in text
    with pytest.raises(ResultsError, match=r"no point 'best'.*balanced.*masked"):
        card(small_evidence(), "best")


def test_what_leaks_and_who_is_few_is_among_the_limits():
    text = markdown(card(small_evidence(), "full")).split("## Limits")[1]
    assert "The representation still tells sex" in text
    small = [g for part in small_evidence()["points"][0]["groups"] for g in part["groups"] if g["n"] < 30]
    assert small
    for group in small:
        assert f"{group['label']} ({group['n']})" in text


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


def test_measures_stand_with_their_intervals():
    found = small_evidence()
    text = markdown(card(found, "full")).replace("\\", "")
    full = found["points"][0]

    def said(value, ends):
        return f"{value:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"

    assert said(full["flip"]["share_flipped"], full["flip"]["interval"]) in text
    for one in full["adversary"]:
        assert said(one["auc"], (one["low"], one["high"])) in text
    for partition in full["groups"]:
        assert said(partition["parity"], partition["parity_interval"]) in text
        assert said(partition["opportunity"], partition["opportunity_interval"]) in text
        for group in partition["groups"]:
            assert said(group["rate"], group["rate_interval"]) in text


def test_cautions_stand_before_the_measures():
    found = copy.deepcopy(small_evidence())
    found["points"][0]["cautions"] = [{"tag": "at chance", "text": "Worth nothing."}]
    text = markdown(card(found, "full"))
    assert text.index("### Caution") < text.index("Worth nothing.") < text.index("- AUC: ")
    assert "Caution" not in markdown(card(small_evidence(), "full"))


def test_evidence_of_an_earlier_release_still_makes_a_card():
    found = copy.deepcopy(small_evidence())
    for point in found["points"]:
        point.pop("cautions")
        point["test"].pop("positive")
        point["flip"].pop("interval")
        for one in point["adversary"]:
            one.pop("reversed")
        for partition in point["groups"]:
            for key in ("parity_interval", "opportunity_interval"):
                partition.pop(key)
            for group in partition["groups"]:
                group.pop("rate_interval")
    assert "Limits" in markdown(card(found))
