"""What a page is made of: headings, paragraphs, lists, tables, pictures; written as Markdown, or handed to a template.

A section of a page is a list of blocks. Text in them is plain text: whoever writes it out does the escaping, so that a
name with a star or an angle bracket is shown as it is. What is more than plain is a small object of its own
(:class:`Strong`, :class:`Code`, :class:`Number`), and a line may be one of them or several in a row.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A command, or a name of the program."""

    text: str


MARGIN = 0.05
"""Up to this difference our mean and the paper's number count as equivalent; of percentages up to five points."""


@dataclass(frozen=True, slots=True)
class Number:
    """A measure over repeated splits, and what the paper printed for it, if anything."""

    mean: float
    sd: float | None  # None of a single split, which has none
    paper: float | None = None
    digits: int = 2

    @classmethod
    def from_spread(cls, spread: Mapping[str, Any], paper: float | None = None, digits: int = 2) -> "Number":
        """From ``mean``, ``sd`` and ``n`` as results have them."""
        return cls(spread["mean"], spread["sd"] if spread["n"] > 1 else None, paper, digits)

    @property
    def ours(self) -> str:
        mean = f"{self.mean:.{self.digits}f}"
        return mean if self.sd is None else f"{mean} ± {self.sd:.{self.digits}f}"

    @property
    def printed(self) -> str:
        return "" if self.paper is None else f"{self.paper:.{self.digits}f}"

    @property
    def difference(self) -> str:
        return "" if self.paper is None else add_sign(self.mean - self.paper, self.digits)

    @property
    def distance(self) -> float:
        """How far our mean is from the paper's number, both as shares; percentages count as hundredths."""
        assert self.paper is not None
        return abs(self.mean - self.paper) / (100.0 if max(self.mean, self.paper) > 1.5 else 1.0)

    @property
    def far(self) -> bool:
        """Is the paper's number more than ``MARGIN`` from our mean? How much splits differ plays no part."""
        return self.paper is not None and self.distance > MARGIN + 1e-9

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
class Banner:
    """What must be known before anything is read: a few words that stand out, and a line."""

    title: str
    line: Line


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


Block = Heading | Banner | Text | Bullets | Table | Picture | Finding


def add_sign(value: float, digits: int = 2) -> str:
    """``+0.01``, ``-0.02``, and ``0.00`` without a sign."""
    rounded = f"{value:+.{digits}f}"
    return rounded[1:] if float(rounded) == 0.0 else rounded


def inlines(line: Line) -> tuple[Inline, ...]:
    """The parts of a line."""
    return line if isinstance(line, tuple) else (line,)


def plain(line: Line) -> str:
    """A line without any markup, for a terminal."""
    return "".join(part if isinstance(part, str) else part.text for part in inlines(line))


def align_rows(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines of columns, for a terminal."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The same as a Markdown table; the first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def plain_table(table: Table) -> str:
    """A table for a terminal."""
    return align_rows([[plain(cell) for cell in row] for row in table.rows])


def markdown(blocks: Iterable[Block]) -> str:
    """All blocks as Markdown; pictures are files in a folder ``figures`` beside it."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_escape(block.text)}"
        case Banner():
            return f"> **{_escape(block.title)}** {_line(block.line)}"
        case Text():
            return _line(block.line)
        case Bullets():
            return "\n".join(f"- {_line(line)}" for line in block.lines)
        case Table():
            return markdown_table([[_line(cell) for cell in row] for row in block.rows])
        case Picture():
            alt = _escape(block.alt)
            return f"![{alt}](figures/{block.stem}.svg)\n\n*{alt}*"
        case Finding():
            head = f"- **{_escape(block.verdict.capitalize())}:** {_escape(block.claim)} *Rule: {_escape(block.rule)}*"
            return "\n".join([head, *(f"  - {_line(line)}" for line in block.evidence)])


def _line(line: Line) -> str:
    return "".join(_inline(part) for part in inlines(line))


def _inline(part: Inline) -> str:
    match part:
        case Strong():
            return f"**{_escape(part.text)}**"
        case Code():
            return f"`{part.text}`"
        case Number():
            return _number(part)
        case _:
            return _escape(part)


def _number(number: Number) -> str:
    """Two lines at most in a narrow column: it may break before the deviation, and nowhere else."""
    ours = number.ours.replace(" ", "\N{NO-BREAK SPACE}")
    if number.paper is None:
        return ours
    difference = f"**{number.difference}**" if number.far else number.difference
    # The deviation begins a line of its own.
    ours = ours.replace("\N{NO-BREAK SPACE}±", " ±")
    return f"{number.printed}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{ours}\N{NO-BREAK SPACE}({difference})"


def _escape(text: str) -> str:
    """Plain text for Markdown: what would be markup gets a backslash."""
    # An underscore inside a word is none.
    return re.sub(r"([\\`*\[\]<>|$&]|\b_|_\b)", r"\\\1", text)
