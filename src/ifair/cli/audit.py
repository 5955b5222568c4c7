"""``ifair audit``: all measures of a table, before and after."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import ROLES, audit_options, gather_evidence
from ifair.cli.extras import needs_for_tables
from ifair.cli.output import INPUT, json_option, output_option, prepare_output, write_text
from ifair.cli.roles_options import roles_options
from ifair.cli.terminal_text import make_printable
from ifair.plain_data import format_json


@click.command(short_help="Measure decisions on a table, before and after.")
@click.argument("table", type=INPUT)
@roles_options(*ROLES)
@audit_options
@output_option("Also write the evidence, for `ifair report`.", required=False)
@json_option("the evidence as JSON instead of a table")
def audit(table: Path, roles: Any, output: Path | None, as_json: bool, **options: Any) -> None:
    """Measure what decisions about the people in TABLE are worth and how fair they are, before and after iFair.

    Utility, consistency, group fairness, the adversary, the flip test and the certificate, on people whom no model
    has seen; with all attributes, with protected columns deleted, for rivals, and for iFair at several settings. Gaps
    between groups are measured; --parity aims at equal rates by a threshold per group, and says what is left of the
    gap, and what that costs.

    \b
    ifair audit people.csv --protected sex --target hired --positive yes
    ifair audit people.csv --columns roles.toml --tuning tuning.json -o evidence.json
    ifair audit people.csv --columns roles.toml --scores our_score --threshold 0.4
    ifair audit people.csv -p sex --target hired --rate 0.2 --parity selection
    ifair audit people.csv -p sex --target hired --json | jq '.points[] | {name, flip}'
    """
    needs_for_tables(table)
    from ifair.report.terminal import audit_text

    if output is not None:
        prepare_output(output, "ifair-evidence")
    found = gather_evidence(table, roles, **options)
    text = format_json(found)
    if output is not None:
        write_text(output, text, "ifair-evidence")
    click.echo(text if as_json else make_printable(audit_text(found), lines=True))
    if output is not None:
        click.echo(f"\nEvidence: {output}; `ifair report {output}` makes a page of it", err=as_json)
