"""``ifair inspect``: what a model file says of itself."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.output import INPUT, json_option
from ifair.cli.terminal_text import make_printable
from ifair.errors import format_given
from ifair.plain_data import format_json

MOST_LINES = 10


@click.command(short_help="Show what is in a model file, without running it.")
@click.argument("model", type=INPUT)
@json_option("JSON, for scripts")
def inspect(model: Path, as_json: bool) -> None:
    """Show what is in MODEL: versions, columns and their roles, settings, steps.

    Nothing in the file is run or imported, so that a file from elsewhere can be looked at first.

    \b
    ifair inspect model.ifair
    ifair inspect model.ifair --json | jq .about.roles
    """
    import ifair

    facts = ifair.inspect(model)
    click.echo(format_json(facts, indent=2) if as_json else "\n".join(_format_lines(facts)))


def _format_lines(value: Any, indent: str = "") -> list[str]:
    """Nested data as indented lines of ``key: value``; lists of plain values in one line."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value, 1))
    # Long lists of numbers, such as the weights of all columns, are for scripts.
    numbers = len(items) > MOST_LINES and all(isinstance(part, float) for _, part in items)
    lines = []
    for key, part in items[:MOST_LINES] if numbers else items:
        plain = isinstance(part, list) and not any(isinstance(item, dict | list) for item in part)
        if isinstance(part, dict | list) and part and not plain:
            lines += [f"{indent}{make_printable(key)}:", *_format_lines(part, indent + "  ")]
        else:
            text = _format_number(part) if isinstance(part, float) else str(part)
            text = (", ".join(map(str, part)) or "none") if isinstance(part, list | dict) else text
            lines.append(f"{indent}{make_printable(key)}: {make_printable(text)}")
    if numbers:
        lines.append(f"{indent}... and {len(items) - MOST_LINES} more (--json shows all)")
    return lines


def _format_number(number: float) -> str:
    """To six digits, or as it is if it is large: thresholds and strengths are in units of the user's."""
    return f"{number:.6g}" if abs(number) < 1e4 else format_given(number)
