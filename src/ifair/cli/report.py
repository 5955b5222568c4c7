"""``ifair report``: the page to show to somebody who must decide."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import ROLES, audit_options, gather_evidence
from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.output import INPUT, OUTPUT, echo_json, json_option, output_option, prepare_output, write_text
from ifair.cli.roles_options import roles_options
from ifair.cli.terminal_text import list_given, make_printable
from ifair.errors import nearest_name, suggest_name
from ifair.plain_data import format_json
from ifair.results import EVIDENCE, TUNING, Choices, Evidence, ResultsError, read_results

CHOICES = tuple(Choices.__annotations__)
OF_PAGE = ("source", "output", "force", "card", "choice", "as_json")
"""Parameters that are about the page, and not about the audit of a table."""


@click.command(short_help="Write a page to decide by: one HTML file.")
@click.argument("source", type=INPUT)
@roles_options(*ROLES)
@audit_options
@output_option("The page to write.", "report.html")
@click.option(
    "--evidence",
    "kept",
    type=OUTPUT,
    help="Where to keep the evidence about a table, for another card or choice; by default beside the page: "
    "evidence.json of report.html, people.evidence.json of people.html.",
)
@click.option("--card", is_flag=True, help="Also write a model card beside it, as Markdown and as HTML.")
@click.option("--choice", default="balanced", help="The point of the card: a choice, a letter or an id.")
@json_option("what was written as JSON, for scripts")
def report(
    source: Path,
    roles: Any,
    output: Path,
    kept: Path | None,
    card: bool,
    choice: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Write a report about SOURCE: evidence that `ifair audit` wrote (.json), or a table, which is audited first.

    The page is one HTML file that opens from disk, loads nothing, and shows what a fair representation costs and buys,
    the trade-off of all settings and rivals, and the people behind the numbers. It holds records of people: treat it
    like the table itself.

    \b
    ifair report evidence.json -o report.html
    ifair report people.csv --protected sex --target hired --positive yes
    ifair report people.csv --columns roles.toml --tuning tuning.json -o report.html
    ifair report evidence.json --card --choice fairest
    ifair report evidence.json --json | jq .report.bytes
    """
    if "choice" in list_given() and not card:
        raise click.UsageError("--choice is the point of the card, and the page shows all: give --card too")
    needs("the report", "jinja2")
    needs_for_tables(source)
    pages = [output, *([output.with_suffix(".card.md"), output.with_suffix(".card.html")] if card else [])]
    for path in pages:
        prepare_output(path, "text" if path.suffix == ".md" else "page", *(other for other in pages if other != path))

    from ifair.report.evidence_page import page
    from ifair.report.terminal import verdict_text
    from ifair.tables.read import check_readable

    # Tables and pages write "most useful"; ids of points may have spaces of their own.
    written = choice.replace(" ", "_")
    choice = written if written in CHOICES else choice
    # What is nearly a named choice is refused before an audit of minutes; whether a point has this id is known after.
    near = nearest_name(choice, CHOICES, 0.8)
    if near is not None and near != choice:
        raise click.ClickException(f"there is no choice {choice!r}, did you mean {near!r}?")
    is_evidence = source.suffix.lower() == ".json"
    about_audit = [flag for name, flag in list_given().items() if name not in OF_PAGE]
    if about_audit and is_evidence and source.is_file():
        raise click.UsageError(f"{about_audit[0]} says how to audit a table, and evidence is given: leave it out")
    if is_evidence:
        kept, evidence = None, read_results(source, EVIDENCE)
        if card:
            _check_choice(evidence, choice)
    else:
        # A model, say, needs no advice about columns.
        check_readable(source)
        own = output.with_suffix(".evidence.json")
        kept = kept or (output.with_name("evidence.json") if own.name == "report.evidence.json" else own)
        prepare_output(kept, "ifair-evidence", *pages)
        if card and options["tuning"] is not None and options["scores"] is options["decisions"] is None:
            check_tuned_choice(options["tuning"], choice)
        evidence = gather_evidence(source, roles, **options)
        write_text(kept, format_json(evidence), "ifair-evidence")
    write_text(output, page(evidence), "page")
    if card and kept is not None:
        # What there is to choose from is only known now: the work is not lost.
        again = f"ifair report {kept} --card --choice"
        _check_choice(evidence, choice, f". The page is {output}, the evidence {kept}: choose with `{again}`")
    cards = _make_cards(evidence, choice, output) if card else {}
    for path, text in cards.items():
        write_text(path, text, "text" if path.suffix == ".md" else "page")
    if as_json:
        facts = {"report": _describe_file(output), "cards": [_describe_file(path) for path in cards]}
        echo_json({**facts, "choice": _describe_choice(evidence, choice)})
        return
    if said := verdict_text(evidence):
        click.echo(f"{make_printable(said, lines=True)}\n")
    click.echo(f"Report: {output.resolve()}")
    if kept is not None:
        click.echo(f"Evidence: {kept.resolve()}; `ifair report {kept}` needs no second audit")
    for path in cards:
        click.echo(f"Card: {path.resolve()}")


def _check_choice(evidence: Evidence, choice: str, end: str = "") -> None:
    """Refuse a choice that means no point, with the rules, letters and ids that there are."""
    if _describe_choice(evidence, choice) is None:
        points = [
            f"{point['label']} = {point['id']}" if "label" in point else point["id"] for point in evidence["points"]
        ]
        names = [one for point in evidence["points"] for one in (point.get("label", ""), point["id"])]
        raise _unknown_choice(choice, [*evidence["choices"]], names, points, end)


def check_tuned_choice(tuning: Path, choice: str) -> None:
    """Refuse a choice that means no point of the report about a tuning, before the audit."""
    from ifair.audit.evidence import name_audited

    found = read_results(tuning, TUNING)
    by_letter = name_audited(found)
    names = [*by_letter, *by_letter.values()]
    if choice not in names and choice not in CHOICES:
        points = [f"{letter} = {id_}" for letter, id_ in by_letter.items()]
        raise _unknown_choice(choice, [*found["choices"]], names, points)


def _unknown_choice(choice: str, rules: list[str], names: list[str], points: list[str], end: str = "") -> Exception:
    hint = suggest_name(choice, [*rules, *names]) or "."
    listed = ", ".join([*rules, *points])
    return click.ClickException(f"there is no point {choice!r} to make a card of{hint} There are {listed}{end}")


def _describe_file(path: Path) -> dict[str, Any]:
    return {"path": str(path.resolve()), "bytes": path.stat().st_size}


def _describe_choice(evidence: Evidence, choice: str) -> dict[str, str] | None:
    """The point that a choice means, by what was asked, its id and its name; None where there is none."""
    from ifair.report.comparison import find_point

    try:
        point = find_point(evidence, choice)
    except ResultsError:
        return None
    return {"asked": choice, "id": point["id"], "name": point["name"]}


def _make_cards(evidence: Evidence, choice: str, output: Path) -> dict[Path, str]:
    """The model card in both forms, by where it goes."""
    from ifair.report.blocks import markdown
    from ifair.report.card import card
    from ifair.report.html import html

    blocks = card(evidence, choice)
    return {output.with_suffix(".card.md"): markdown(blocks), output.with_suffix(".card.html"): html(blocks, {})}
