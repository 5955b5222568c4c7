"""``ifair tune``: settings for a table of one's own."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import ROLES, read_people
from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.output import json_option, output_option, prepare_output, write_text
from ifair.cli.roles_options import roles_options
from ifair.cli.terminal_text import make_printable
from ifair.plain_data import format_json


@click.command(short_help="Search settings: useful, fair, or balanced.")
@click.argument("table", type=click.Path(readable=False, path_type=Path))
@roles_options(*ROLES)
@click.option("--trials", type=click.IntRange(1), default=20, show_default=True, help="Settings to try, in all.")
@click.option(
    "--variant",
    type=click.Choice(["frozen", "paper"]),
    default="frozen",
    show_default=True,
    help="Protected columns have no influence at all, or as the paper does it.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the split, the starts and the search.")
@click.option("--people", type=click.IntRange(33), default=10_000, show_default=True, help="Most to judge on.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where trials are kept; a search that was stopped goes on from there. Beside the output by default.",
)
@output_option("Where to write what was found, for `ifair audit` and `ifair report`.", "tuning.json")
@json_option("what was found as JSON instead of a table")
def tune(
    table: Path,
    roles: Any,
    trials: int,
    variant: str,
    seed: int,
    people: int,
    journal: Path | None,
    output: Path,
    as_json: bool,
) -> None:
    """Search settings of iFair for TABLE: prototypes K, and the weights lambda and mu.

    Learns on a third of the people and judges on another, by utility and consistency at once; the last third is left
    for the audit. Ends with the front and three choices: most useful, fairest, balanced. Stopped at any moment, the
    same command goes on.

    \b
    ifair tune people.csv --protected sex --target hired --positive yes
    ifair tune people.csv --columns roles.toml --trials 60 -o tuning.json
    ifair tune people.csv --columns roles.toml --json | jq .choices
    """
    needs("the search", "optuna")
    needs_for_tables(table)
    journal = journal or output.with_suffix(".journal")
    prepare_output(output, "ifair-tuning", journal)
    prepare_output(journal, "journal", output)
    records, _ = read_people(table, roles)

    from ifair import audit
    from ifair.report.terminal import tuning_text

    found = audit.tune(
        records,
        n_trials=trials,
        variant=variant,
        seed=seed,
        journal=journal,
        most_people=people,
        categorical=roles.categorical,
        similarity=roles.similarity,
        observer=_show_trial,
    )
    text = format_json(found, indent=1)
    write_text(output, text, "ifair-tuning")
    click.echo(text if as_json else make_printable(tuning_text(found), lines=True))
    click.echo(f"\nTuning: {output}; give it to `ifair report` with --tuning", err=True)


def _show_trial(progress: Any) -> None:
    if progress.done == progress.reused and progress.reused:
        click.echo(f"  {progress.reused} of {progress.total} settings are known from before", err=True)
    elif progress.trial is not None:
        setting, reached = progress.trial.setting, progress.trial.result["validation"]
        click.echo(
            f"  {progress.done:3d}/{progress.total}  K = {setting['K']}, mu = {setting['share']:.3g}: "
            f"utility {reached['utility']:.3f}, yNN {reached['yNN']:.3f}",
            err=True,
        )
