"""Blocks as one HTML file that needs nothing else: pictures inside, light and dark, wide and narrow."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

import jinja2
from markupsafe import Markup

from ifair.report.blocks import Block, Heading, Table, inlines, plain


def html(blocks: Sequence[Block], pictures: Mapping[str, str]) -> str:
    """The whole page; the first block is its title.

    Pictures are ``<svg>`` elements by their stem; one that is not there is replaced by its description.
    """
    environment = make_environment()
    environment.filters["inlines"] = inlines
    environment.filters["words"] = _columns_of_words
    environment.filters["kind"] = lambda part: type(part).__name__
    anchors = _anchors(blocks)
    return environment.from_string(read_text("templates/blocks.html.jinja")).render(
        blocks=blocks,
        title=next(block.text for block in blocks if isinstance(block, Heading)),
        contents=[(anchors[i], b.text) for i, b in enumerate(blocks) if isinstance(b, Heading) and b.level == 2],
        anchors=anchors,
        # The pictures are our own drawings; everything else is escaped.
        pictures={stem: Markup(drawing) for stem, drawing in pictures.items()},  # noqa: S704
    )


def make_environment() -> jinja2.Environment:
    """For templates in which everything is escaped, and nothing may be missing."""
    return jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)


def read_text(name: str) -> str:
    """A template, style or script of this package."""
    return files("ifair.report").joinpath(name).read_text(encoding="utf-8")


def _columns_of_words(table: Table) -> set[int]:
    """Which columns hold words, to be set to the left; numbers go to the right."""
    return {
        column
        for column in range(len(table.rows[0]))
        if any(re.search(r"[A-Za-z]{4}", plain(row[column])) for row in table.rows[1:])
    }


def _anchors(blocks: Sequence[Block]) -> dict[int, str]:
    """For every heading, by its place, a name of its own to link to."""
    taken: dict[int, str] = {}
    for i, block in enumerate(blocks):
        if isinstance(block, Heading):
            name = re.sub(r"\W+", "-", block.text.lower()).strip("-")
            taken[i] = name if name not in taken.values() else f"{name}-{i}"
    return taken
