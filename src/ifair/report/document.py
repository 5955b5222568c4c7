"""What a page is made of (headings, paragraphs, lists, tables, pictures), as Markdown and as one HTML file.

A section of a page is a list of blocks. Text in them is plain text: whoever writes it out does the escaping, so that a
name with a star or an angle bracket is shown as it is. What is more than plain is a small object of its own
(:class:`Strong`, :class:`Code`, :class:`Number`), and a line may be one of them or several in a row.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A command, or a name of the program."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A measure over repeated splits, and what the paper printed for it, if anything.

    Attributes
    ----------
    mean, sd : float
    paper : float, optional
    digits : int, default=2
    """

    mean: float
    sd: float
    paper: float | None = None
    digits: int = 2

    @classmethod
    def of(cls, spread: dict[str, Any], paper: float | None = None, digits: int = 2) -> "Number":
        """From ``mean`` and ``sd`` as results have them."""
        return cls(spread["mean"], spread["sd"], paper, digits)

    @property
    def ours(self) -> str:
        return f"{self.mean:.{self.digits}f} ± {self.sd:.{self.digits}f}"

    @property
    def printed(self) -> str:
        return "" if self.paper is None else f"{self.paper:.{self.digits}f}"

    @property
    def difference(self) -> str:
        return "" if self.paper is None else add_sign(self.mean - self.paper, self.digits)

    @property
    def far(self) -> bool:
        """Is the paper's number, however it was rounded, more than two standard deviations from our mean?"""
        return self.paper is not None and abs(self.mean - self.paper) > 2.0 * self.sd + 0.5 * 10.0**-self.digits

    @property
    def text(self) -> str:
        return self.ours if self.paper is None else f"{self.printed} → {self.ours} ({self.difference})"


Inline = str | Strong | Code | Number
Line = Inline | tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; level 1 is the page's own."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first row is the head, the first column names the rows."""

    rows: Sequence[Sequence[Line]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by the stem of its file; what it shows is told below it, and to those who cannot see it."""

    stem: str
    alt: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, whether it holds, by what rule that was decided, and the numbers."""

    verdict: str
    claim: str
    rule: str
    evidence: Sequence[Line]


Block = Heading | Text | Bullets | Table | Picture | Finding


def add_sign(value: float, digits: int = 2) -> str:
    """``+0.01``, ``-0.02``, and ``0.00`` without a sign."""
    rounded = f"{value:+.{digits}f}"
    return rounded[1:] if float(rounded) == 0.0 else rounded


def split_inlines(line: Line) -> tuple[Inline, ...]:
    """The parts of a line."""
    return line if isinstance(line, tuple) else (line,)


def strip_markup(line: Line) -> str:
    """A line without any markup, for a terminal."""
    return "".join(part if isinstance(part, str) else part.text for part in split_inlines(line))


def render_plain_table(table: Table) -> str:
    """A table for a terminal."""
    return align_columns([[strip_markup(cell) for cell in row] for row in table.rows])


def render_markdown(blocks: Iterable[Block], pictures: str = "figures") -> str:
    """All blocks as Markdown; pictures are files in a folder of this name beside it."""
    return "\n\n".join(_render_block(block, pictures) for block in blocks) + "\n"


def _render_block(block: Block, pictures: str) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_escape_markdown(block.text)}"
        case Text():
            return _render_line(block.line)
        case Bullets():
            return "\n".join(f"- {_render_line(line)}" for line in block.lines)
        case Table():
            return render_markdown_table([[_render_line(cell) for cell in row] for row in block.rows])
        case Picture():
            alt = _escape_markdown(block.alt)
            return f"![{alt}]({pictures}/{block.stem}.svg)\n\n*{alt}*"
        case Finding():
            verdict, claim, rule = map(_escape_markdown, (block.verdict.capitalize(), block.claim, block.rule))
            head = f"- **{verdict}:** {claim} *Rule: {rule}*"
            return "\n".join([head, *(f"  - {_render_line(line)}" for line in block.evidence)])


def _render_line(line: Line) -> str:
    return "".join(_render_inline(part) for part in split_inlines(line))


def _render_inline(part: Inline) -> str:
    match part:
        case Strong():
            return f"**{_escape_markdown(part.text)}**"
        case Code():
            return f"`{part.text}`"
        case Number():
            return _render_number(part)
        case _:
            return _escape_markdown(part)


def _render_number(number: Number) -> str:
    """Two lines at most in a narrow column: it may break before the deviation, and nowhere else."""
    mean, deviation = number.ours.replace("± ", "±\N{NO-BREAK SPACE}").split(" ")
    if number.paper is None:
        return f"{mean}\N{NO-BREAK SPACE}{deviation}"
    difference = f"**{number.difference}**" if number.far else number.difference
    arrow = f"{number.printed}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{mean}"
    return f"{arrow} {deviation}\N{NO-BREAK SPACE}({difference})"


def _escape_markdown(text: str) -> str:
    """Plain text for Markdown: what would be markup gets a backslash."""
    # An underscore inside a word is none.
    return re.sub(r"([\\`*\[\]<>|$&]|\b_|_\b)", r"\\\1", text)


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines of columns, for a terminal."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def render_markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The same as a Markdown table; the first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def render_html(blocks: Sequence[Block], pictures: Mapping[str, str]) -> str:
    """Blocks as one HTML file that needs nothing else: pictures inside, light and dark, wide and narrow.

    Parameters
    ----------
    blocks : sequence of Block
        The first is the title.
    pictures : mapping of str
        By stem the ``<svg>`` elements, as :func:`ifair.report.svg_figures.render_svg` makes them; a picture that is
        not there is replaced by its description.
    """
    from markupsafe import Markup

    environment = make_environment()
    environment.filters["inlines"] = split_inlines
    environment.filters["words"] = _find_word_columns
    environment.filters["kind"] = lambda part: type(part).__name__
    source = files("ifair.report").joinpath("templates/document.html.jinja").read_text(encoding="utf-8")
    anchors = _make_anchors(blocks)
    return environment.from_string(source).render(
        blocks=blocks,
        title=next(block.text for block in blocks if isinstance(block, Heading)),
        contents=[(anchors[i], b.text) for i, b in enumerate(blocks) if isinstance(b, Heading) and b.level == 2],
        anchors=anchors,
        # The pictures are our own drawings; everything else is escaped.
        pictures={stem: Markup(drawing) for stem, drawing in pictures.items()},  # noqa: S704
    )


def make_environment() -> Any:
    """Jinja's environment for pages: everything is escaped, and an unknown name is an error."""
    import jinja2

    return jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)


def _find_word_columns(table: Table) -> set[int]:
    """Which columns hold words, to be set to the left; numbers go to the right."""
    return {
        column
        for column in range(len(table.rows[0]))
        if any(re.search(r"[A-Za-z]{4}", strip_markup(row[column])) for row in table.rows[1:])
    }


def _make_anchors(blocks: Sequence[Block]) -> dict[int, str]:
    """For every heading, by its place, a name of its own to link to."""
    taken: dict[int, str] = {}
    for i, block in enumerate(blocks):
        if isinstance(block, Heading):
            name = re.sub(r"\W+", "-", block.text.lower()).strip("-")
            taken[i] = name if name not in taken.values() else f"{name}-{i}"
    return taken
