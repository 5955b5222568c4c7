"""``ifair demo``: the main job on the embedded data."""

from pathlib import Path

import click

from ifair.cli.extras import needs
from ifair.cli.output import echo_step, json_option, output_option, prepare_output, write_text
from ifair.plain_data import format_json

RESAMPLES = 200
"""Of every interval in the report: enough for a demonstration."""


@click.command(short_help="See it work on embedded data; writes a report.")
@output_option("Folder for report.html, evidence.json and results.json; made if need be.", "ifair-demo", folder=True)
@click.option(
    "--splits", type=click.IntRange(2, 100), default=5, show_default=True, help="Random splits to average over."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for one per core.")
@json_option("the results as JSON instead of a table")
def demo(output: Path, splits: int, jobs: int, as_json: bool) -> None:
    """Learn a fair representation of German Credit and write a report.

    Compares the records with all attributes, without the protected one, and as iFair represents them.
    Needs no download; in all about 90 seconds of one core, split among the cores there are.

    \b
    ifair demo
    ifair demo --splits 10 --output credit
    ifair demo --json | jq '.methods[].name'
    """
    needs("the report", "jinja2")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make the folder {output}: {error.strerror}") from error

    files = {"results.json": "ifair-demo", "evidence.json": "ifair-evidence", "report.html": "page"}
    for name, kind in files.items():
        prepare_output(output / name, kind)

    from ifair.audit import evidence
    from ifair.data import load_credit
    from ifair.evaluate.demonstration import Settings, demonstrate
    from ifair.report.evidence_page import page
    from ifair.report.terminal import demo_text

    click.echo("German Credit: 1,000 people, age protected; comparing representations ...", err=True)
    results = demonstrate(Settings(n_splits=splits, n_jobs=jobs), echo_step)
    text = format_json(results, indent=2)
    write_text(output / "results.json", text, "ifair-demo")
    click.echo("Rivals, settings and people of one split in detail, for the report ...", err=True)
    found = evidence(load_credit(), resamples=RESAMPLES, n_jobs=jobs, step=echo_step)
    write_text(output / "evidence.json", format_json(found), "ifair-evidence")
    write_text(output / "report.html", page(found), "page")
    click.echo(text if as_json else f"\n{demo_text(results)}")
    click.echo(f"\nReport: {(output / 'report.html').resolve()}", err=as_json)
