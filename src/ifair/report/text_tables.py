"""Tables for a terminal and for a page."""

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def align_rows(rows: Rows) -> str:
    """Rows of cells as lines of columns, for a terminal."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown_table(rows: Rows) -> str:
    """The same as a Markdown table; the first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)
