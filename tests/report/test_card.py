"""The model card: what must be on it, as Markdown and as HTML."""

import pytest

from ifair.report.audit import ReportError
from ifair.report.blocks import Heading, markdown
from ifair.report.card import card
from ifair.report.html import html

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
    with pytest.raises(ReportError, match=r"no point 'best'.*balanced.*masked"):
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
