"""Blocks as one HTML file."""

from html.parser import HTMLParser

from ifair.report.blocks import Bullets, Code, Finding, Heading, Number, Picture, Strong, Table, Text
from ifair.report.html import html

VOID = {"meta", "br", "img", "link"}


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
    page = html(
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
    found = outline(html([Heading("Title", 1), Heading("Xing"), Heading("More"), Heading("Xing", 3)], {}))
    assert found.links == ["#xing", "#more"]
    assert len(found.names) == len(set(found.names)) == 4
    assert {link[1:] for link in found.links} <= set(found.names)


def test_text_from_results_is_text():
    hostile = "<script>alert(1)</script>"
    blocks = [
        Heading(hostile, 1), Text(hostile), Bullets([hostile]), Table([[hostile], [hostile]]), Picture("x", hostile),
        Finding(hostile, hostile, hostile, [(Strong(hostile), Code(hostile))]),
    ]  # fmt: skip
    assert "script" not in outline(html(blocks, {})).tags


def test_the_page_needs_nothing_from_elsewhere():
    page = html([Heading("Title", 1), Picture("plot", "A plot")], {"plot": "<svg></svg>"})
    assert outline(page).links == []
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_picture_that_was_not_drawn_is_described():
    assert "<figcaption>A plot</figcaption>" in html([Heading("T", 1), Picture("plot", "A plot")], {})


def test_words_stand_left_and_numbers_right():
    page = html([Heading("T", 1), Table([["a", "method", "AUC"], ["", "masked data", "0.5, p = 0.1"]])], {})
    assert '<td class="word">masked data</td><td>0.5, p = 0.1</td>' in page
