"""Blocks of a page, written as Markdown."""

import pytest

from ifair.report.blocks import (
    Banner,
    Bullets,
    Code,
    Finding,
    Heading,
    Number,
    Picture,
    Strong,
    Table,
    Text,
    add_sign,
    markdown,
    plain,
    plain_table,
)
from ifair.report.html import html


def test_blocks_are_written_as_markdown():
    blocks = [
        Heading("Title", 1),
        Text(("Run ", Code("ifair *"), " and ", Strong("look"), ".")),
        Bullets(["one", ("two: ", Number(0.5, 0.1))]),
        Table([["method", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.59)]]),
        Picture("plot", "A plot"),
        Finding("holds in part", "It is better.", "Larger mean.", ["here", "not there"]),
    ]
    assert markdown(blocks).replace("\N{NO-BREAK SPACE}", " ") == (
        "# Title\n\n"
        "Run `ifair *` and **look**.\n\n"
        "- one\n- two: 0.50 ± 0.10\n\n"
        "| method | AUC |\n| --- | --- |\n| LFR | 0.59 → 0.60 ± 0.02 (+0.01) |\n\n"
        "![A plot](figures/plot.svg)\n\n*A plot*\n\n"
        "- **Holds in part:** It is better. *Rule: Larger mean.*\n  - here\n  - not there\n"
    )


def test_text_that_looks_like_markup_stays_text():
    assert markdown([Text("FA*IR and FA*IR <b> a|b [x](y)")]) == "FA\\*IR and FA\\*IR \\<b\\> a\\|b \\[x\\](y)\n"
    # A bar inside a cell would start another cell.
    assert markdown([Table([["a|b"], ["c"]])]).startswith("| a\\|b |\n")


@pytest.mark.parametrize(
    ("mean", "sd", "paper", "far"),
    [
        (0.60, 0.02, 0.55, False),
        (0.60, 0.5, 0.54, True),  # however much splits differ
        (33.0, 0.0, 37.0, False),  # percentages: five points
        (33.0, 9.0, 39.0, True),
        (0.60, 0.02, None, False),
    ],
)
def test_a_printed_number_is_far_beyond_a_margin_whatever_the_spread(mean, sd, paper, far):
    number = Number(mean, sd, paper)
    assert number.far is far
    assert ("**" in markdown([Text(number)])) is far


def test_a_number_breaks_before_its_deviation_and_nowhere_else_and_a_single_split_has_none():
    assert markdown([Text(Number(0.6, 0.02))]).split(" ") == ["0.60\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.02\n"]
    lines = markdown([Text(Number(0.6, 0.02, paper=0.59))]).strip("\n").split(" ")
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] == ["0.59 → 0.60", "± 0.02 (+0.01)"]
    # A difference of nothing has no sign.
    assert [add_sign(x) for x in (0.012, -0.012, -0.001, 0.0)] == ["+0.01", "-0.01", "0.00", "0.00"]
    alone = Number.from_spread({"mean": 0.6, "sd": 0.0, "n": 1}, paper=0.59)
    assert alone.text == "0.59 → 0.60 (+0.01)"
    assert markdown([Text(alone)]) == "0.59 → 0.60 (+0.01)\n".replace(" ", "\N{NO-BREAK SPACE}")
    assert "±" not in html([Heading("Title", 1), Text(alone)], {})
    assert Number.from_spread({"mean": 0.6, "sd": 0.0, "n": 2}).text == "0.60 ± 0.00"


def test_a_terminal_gets_no_markup():
    assert plain(("a ", Strong("b"), " ", Code("c"), " FA*IR")) == "a b c FA*IR"
    table = Table([["", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.59)]])
    assert plain_table(table) == "     AUC\nLFR  0.59 → 0.60 ± 0.02 (+0.01)"


def test_a_banner_stands_out_and_its_text_stays_text():
    blocks = [Heading("Title", 1), Banner("Profile: <quick>", "Few *splits*.")]
    assert markdown(blocks) == "# Title\n\n> **Profile: \\<quick\\>** Few \\*splits\\*.\n"
    page = html(blocks, {})
    assert '<p class="banner"><strong>Profile: &lt;quick&gt;</strong> Few *splits*.</p>' in page
