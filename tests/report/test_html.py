"""Blocks as one HTML file."""

from parsed_page import ParsedPage

from ifair.report.blocks import Bullets, Code, Finding, Heading, Number, Picture, Strong, Table, Text
from ifair.report.html import html


def test_every_kind_of_block_is_shown():
    page = html(
        [
            Heading("Title", 1),
            Heading("Part"),
            Text(("a ", Strong("b"), " ", Code("c"))),
            Bullets(["d", "e"]),
            Table([["method", "AUC"], ["LFR", Number(0.6, 0.02, paper=0.4)], ["SVD", Number(0.5, 0.01)]]),
            Picture("plot", "A plot"),
            Finding("not shown", "All is well.", "It must be.", ["✗ it is not"]),
        ],
        {"plot": "<svg><g></g></svg>"},
    )
    found = ParsedPage(page)
    assert "<p>a <strong>b</strong> <code>c</code></p>" in page
    assert "<li>d</li><li>e</li>" in page
    assert 'paper 0.40, <span class="far">+0.20</span>' in page
    assert "finding not-shown" in found.list_values("class")
    assert ("svg", {}) in found.tags
    assert "<figcaption>A plot</figcaption>" in page
    # A picture that was not drawn is described, too.
    assert "<figcaption>A plot</figcaption>" in html([Heading("T", 1), Picture("plot", "A plot")], {})
    # Words stand left and numbers right.
    page = html([Heading("T", 1), Table([["a", "method", "AUC"], ["", "masked data", "0.5, p = 0.1"]])], {})
    assert '<td class="word">masked data</td><td>0.5, p = 0.1</td>' in page


def test_sections_can_be_jumped_to_and_names_are_unique():
    found = ParsedPage(html([Heading("Title", 1), Heading("Xing"), Heading("More"), Heading("Xing", 3)], {}))
    links, names = found.list_values("href"), found.list_values("id")
    assert links == ["#xing", "#more"]
    assert len(names) == len(set(names)) == 4
    assert {link[1:] for link in links} <= set(names)


def test_text_from_results_is_text():
    hostile = "<script>alert(1)</script>"
    blocks = [
        Heading(hostile, 1), Text(hostile), Bullets([hostile]), Table([[hostile], [hostile]]), Picture("x", hostile),
        Finding(hostile, hostile, hostile, [(Strong(hostile), Code(hostile))]),
    ]  # fmt: skip
    assert ParsedPage(html(blocks, {})).scripts == []


def test_the_page_needs_nothing_from_elsewhere():
    page = html([Heading("Title", 1), Picture("plot", "A plot")], {"plot": "<svg></svg>"})
    assert ParsedPage(page).list_values("href") == ParsedPage(page).list_values("src") == []
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page
