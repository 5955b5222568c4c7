"""``ifair demo``: the main job on the embedded data, in two minutes."""

import os
import sys
from pathlib import Path

import click

from ifair.cli.extras import needs
from ifair.cli.live_progress import StepLines
from ifair.cli.output import jobs_option, json_option, output_option, prepare_output, write_text
from ifair.plain_data import format_json

RESAMPLES = 200
"""Of every interval in the report: enough for a demonstration."""

MODELS = ("linear",)
"""Boosted trees are behind on so few people."""


@click.command(short_help="See it work on embedded data; writes a report.")
@output_option("Folder for report.html and evidence.json; made if need be.", "ifair-demo", folder=True)
@click.option("--no-open", is_flag=True, help="Do not open the report, also where there is a display.")
@jobs_option("Processes")
@json_option("the evidence as JSON instead of a table")
def demo(output: Path, no_open: bool, jobs: int, as_json: bool) -> None:
    """Decide about the people of German Credit, fairly, and write a report about it.

    Compares consistent decisions and iFair's representation with the full data and with deleting the protected column,
    on people whom no model has seen, and says which to use. Needs no download, and takes a minute or two.

    \b
    ifair demo
    ifair demo --no-open --output credit
    ifair demo --json | jq .verdict.sentence
    """
    needs("the report", "jinja2")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make the folder {output}: {error.strerror}") from error
    kept, written = output / "evidence.json", output / "report.html"
    prepare_output(kept, "ifair-evidence")
    prepare_output(written, "page")

    from ifair.audit import evidence
    from ifair.data import load_credit
    from ifair.report.evidence_page import page
    from ifair.report.terminal import summary_text

    click.echo("German Credit: learning, deciding and measuring ...", err=True)
    found = evidence(load_credit(), models=MODELS, resamples=RESAMPLES, n_jobs=jobs, step=StepLines())
    text = format_json(found)
    write_text(kept, text, "ifair-evidence")
    write_text(written, page(found), "page")
    click.echo(text if as_json else f"{summary_text(found)}\n")
    click.echo(f"Report: {written.resolve()}", err=as_json)
    if not no_open and not as_json and is_terminal() and has_display():
        click.launch(str(written.resolve()))


def is_terminal() -> bool:
    """Whether somebody reads along."""
    return sys.stdout.isatty()


def has_display() -> bool:
    """Whether a page that is opened would be seen."""
    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
