"""``ifair audit``: all measures of a table, before and after."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import ROLES, audit_options, gather_evidence
from ifair.cli.extras import needs_for_tables
from ifair.cli.printable_text import make_printable
from ifair.cli.roles_options import roles_options


@click.command(short_help="Measure decisions on a table, before and after.")
@click.argument("table", type=click.Path(readable=False, path_type=Path))
@roles_options(*ROLES)
@audit_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the evidence, for `ifair report`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON instead of a table.")
def audit(table: Path, roles: Any, output: Path | None, as_json: bool, **options: Any) -> None:
    """Measure what decisions about the people in TABLE are worth and how fair they are, before and after iFair.

    Utility, consistency, group fairness, the adversary, the flip test and the certificate, on people whom no model
    has seen; with all attributes, with protected columns deleted, for rivals, and for iFair at several settings.

    \b
    ifair audit people.csv --protected sex --target hired --positive yes
    ifair audit people.csv --columns roles.toml --tuning tuning.json -o evidence.json
    ifair audit people.csv -p sex --target hired --json | jq '.points[] | {name, flip}'
    """
    needs_for_tables(table)
    import json

    from ifair.cli.output import write_text
    from ifair.report.terminal import audit_text

    if output is not None and not output.parent.is_dir():
        raise click.ClickException(f"cannot write {output}: there is no folder {output.parent}")
    found = gather_evidence(table, roles, **options)
    text = json.dumps(found, allow_nan=False)
    if output is not None:
        write_text(output, text)
    click.echo(text if as_json else make_printable(audit_text(found), lines=True))
    if output is not None:
        click.echo(f"\nEvidence: {output}; `ifair report {output}` makes a page of it", err=as_json)
