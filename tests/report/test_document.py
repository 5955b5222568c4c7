"""Blocks of a page, as Markdown and as one HTML file."""

from html.parser import HTMLParser

import pytest

from ifair.report.document import (
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
    render_html,
    render_markdown,
    render_plain_table,
    strip_markup,
)

VOID = {"meta", "br", "img", "link"}


def test_blocks_are_written_as_markdown():
    blocks = [
        Heading("Title", 1),
        Text(("Run ", Code("ifair *"), " and ", Strong("look"), ".")),
        Bullets(["one", ("two: ", Number(0.5, 0.1))]),
        Table([["method", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.59)]]),
        Picture("plot", "A plot"),
        Finding("holds in part", "It is better.", "Larger mean.", ["here", "not there"]),
    ]
    assert render_markdown(blocks).replace("\N{NO-BREAK SPACE}", " ") == (
        "# Title\n\n"
        "Run `ifair *` and **look**.\n\n"
        "- one\n- two: 0.50 ± 0.10\n\n"
        "| method | AUC |\n| --- | --- |\n| LFR | 0.59 → 0.60 ± 0.02 (+0.01) |\n\n"
        "![A plot](figures/plot.svg)\n\n*A plot*\n\n"
        "- **Holds in part:** It is better. *Rule: Larger mean.*\n  - here\n  - not there\n"
    )


def test_text_that_looks_like_markup_stays_text():
    assert render_markdown([Text("FA*IR and FA*IR <b> a|b [x](y)")]) == "FA\\*IR and FA\\*IR \\<b\\> a\\|b \\[x\\](y)\n"
    # A bar inside a cell would start another cell.
    assert render_markdown([Table([["a|b"], ["c"]])]).startswith("| a\\|b |\n")


@pytest.mark.parametrize(
    ("mean", "sd", "paper", "far"),
    [
        (0.60, 0.02, 0.56, False),  # two deviations
        (0.60, 0.02, 0.55, True),
        (0.604, 0.0, 0.60, False),  # no further than rounding
        (0.606, 0.0, 0.60, True),
        (0.60, 0.02, None, False),
    ],
)
def test_a_printed_number_is_far_beyond_two_deviations_and_its_rounding(mean, sd, paper, far):
    number = Number(mean, sd, paper)
    assert number.far is far
    assert ("**" in render_markdown([Text(number)])) is far


def test_a_number_breaks_before_its_deviation_and_nowhere_else():
    assert render_markdown([Text(Number(0.6, 0.02))]).split(" ") == ["0.60\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.02\n"]
    lines = render_markdown([Text(Number(0.6, 0.02, paper=0.59))]).strip("\n").split(" ")
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] == ["0.59 → 0.60", "± 0.02 (+0.01)"]


def test_a_difference_of_nothing_has_no_sign():
    assert [add_sign(x) for x in (0.012, -0.012, -0.001, 0.0)] == ["+0.01", "-0.01", "0.00", "0.00"]


def test_a_terminal_gets_no_markup():
    assert strip_markup(("a ", Strong("b"), " ", Code("c"), " FA*IR")) == "a b c FA*IR"
    table = Table([["", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.59)]])
    assert render_plain_table(table) == "     AUC\nLFR  0.59 → 0.60 ± 0.02 (+0.01)"


class Outline(HTMLParser):
    """Checks that what is opened is closed, and collects tags, classes and links."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links, self.names, self.classes = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        self.links += [attrs[key] for key in ("href", "src") if key in attrs]
        self.names += [attrs["id"]] if "id" in attrs else []
        self.classes += (attrs.get("class") or "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page):
    found = Outline()
    found.feed(page)
    assert found.open == []
    return found


def test_every_kind_of_block_is_shown():
    page = render_html(
        [
            Heading("Title", 1),
            Heading("Part"),
            Text(("a ", Strong("b"), " ", Code("c"))),
            Bullets(["d", "e"]),
            Table([["method", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.4)], ["SVD", Number(0.5, 0.01)]]),
            Picture("plot", "A plot"),
            Finding("does not hold", "All is well.", "It must be.", ["✗ it is not"]),
        ],
        {"plot": "<svg><g></g></svg>"},
    )
    found = outline(page)
    assert "<p>a <strong>b</strong> <code>c</code></p>" in page
    assert "<li>d</li><li>e</li>" in page
    assert 'paper 0.40, <span class="far">+0.20</span>' in page
    assert "does-not-hold" in found.classes
    assert "svg" in found.tags
    assert "<figcaption>A plot</figcaption>" in page


def test_sections_can_be_jumped_to_and_names_are_unique():
    found = outline(render_html([Heading("Title", 1), Heading("Xing"), Heading("More"), Heading("Xing", 3)], {}))
    assert found.links == ["#xing", "#more"]
    assert len(found.names) == len(set(found.names)) == 4
    assert {link[1:] for link in found.links} <= set(found.names)


def test_text_from_results_is_text():
    hostile = "<script>alert(1)</script>"
    blocks = [
        Heading(hostile, 1), Text(hostile), Bullets([hostile]), Table([[hostile], [hostile]]), Picture("x", hostile),
        Finding(hostile, hostile, hostile, [(Strong(hostile), Code(hostile))]),
    ]  # fmt: skip
    assert "script" not in outline(render_html(blocks, {})).tags


def test_the_page_needs_nothing_from_elsewhere():
    page = render_html([Heading("Title", 1), Picture("plot", "A plot")], {"plot": "<svg></svg>"})
    assert outline(page).links == []
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_picture_that_was_not_drawn_is_described():
    assert "<figcaption>A plot</figcaption>" in render_html([Heading("T", 1), Picture("plot", "A plot")], {})


def test_words_stand_left_and_numbers_right():
    page = render_html([Heading("T", 1), Table([["a", "method", "AUC"], ["", "masked data", "0.5, p = 0.1"]])], {})
    assert '<td class="word">masked data</td><td>0.5, p = 0.1</td>' in page
