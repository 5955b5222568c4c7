"""``ifair tune``: how to decide about the people of a table of one's own."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import (
    ROLES,
    check_threshold_of,
    count_people,
    estimator_option,
    find_parity,
    parity_options,
    read_people,
)
from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.live_progress import format_duration
from ifair.cli.output import INPUT, OUTPUT, json_option, output_option, prepare_output, write_text
from ifair.cli.roles_options import roles_options
from ifair.cli.terminal_text import list_given, make_printable
from ifair.plain_data import format_json


@click.command(short_help="Search settings: useful, fair, or balanced.")
@click.argument("table", type=INPUT)
@roles_options(*ROLES)
@click.option("--trials", "n_trials", type=click.IntRange(1), default=28, help="Settings to try, in all.")
@estimator_option()
@click.option(
    "--variant",
    type=click.Choice(["frozen", "paper"]),
    default="frozen",
    help="Of iFair: protected columns have no influence at all, or as the paper does it.",
)
@click.option("--threshold", type=float, default=0.5, help="Decide positively above this score.")
@parity_options
@click.option("--seed", type=int, default=0, help="Of the split, the starts and the search.")
@click.option("--people", "most_people", type=click.IntRange(33), default=5_000, help="Most to judge on.")
@click.option("--learn-from", type=click.IntRange(33), default=2_000, help="Most to learn from.")
@click.option("--engine", help="Where iFair is learned: local, or torch: a GPU, two settings at once; see the guide.")
@click.option(
    "--journal",
    type=OUTPUT,
    help="Where trials are kept; a search that was stopped goes on from there. Beside the output by default.",
)
@output_option("Where to write what was found, for `ifair audit` and `ifair report`.", "tuning.json")
@json_option("what was found as JSON instead of a table")
def tune(
    table: Path,
    roles: Any,
    estimators: tuple[str, ...],
    engine: str | None,
    journal: Path | None,
    output: Path,
    as_json: bool,
    parity: str | None,
    groups: str | None,
    **options: Any,
) -> None:
    """Search how to decide about the people in TABLE: the model, the representation, and how alike like people are.

    Every model is tried on the data without the protected columns, on iFair's representation, and on all columns, each
    with consistent decisions of several strengths; beside them the columns deleted and no more, alone and with a tuned
    penalty. All get the same number of trials. Learns on a third of the people and judges on another, by utility and
    consistency of scores at once; the last third is left for the audit. Of large tables a sample is taken: `ifair fit
    --tuning` then learns from everybody. Ends with the front and three choices: most useful, fairest, balanced. Stopped
    at any moment, the same command goes on. With --parity all settings are judged by scores that aim at the same rate
    of every group, as `ifair report --tuning` then does.

    \b
    ifair tune people.csv --protected sex --target hired --positive yes
    ifair tune people.csv --columns roles.toml --trials 60 -o tuning.json
    ifair tune people.csv --columns roles.toml --estimator boosting --estimator mymodels:make_model
    ifair tune people.csv -p sex --target hired --parity selection
    ifair tune people.csv --columns roles.toml --json | jq .choices
    """
    needs("the search", "optuna")
    needs_for_tables(table)
    journal = journal or output.with_suffix(".journal")
    prepare_output(output, "ifair-tuning", journal)
    prepare_output(journal, "journal", output)
    records, _ = read_people(table, roles)
    if "threshold" in list_given():
        check_threshold_of(records, options["threshold"])

    from ifair import audit
    from ifair.audit.tuning import SOLVER, doubt_choices
    from ifair.evaluate.arms import MODELS
    from ifair.evaluate.candidates import check_model
    from ifair.evaluate.splits import task_of
    from ifair.report.terminal import tuning_text

    for name in estimators:
        check_model(name, task_of(records))
    counted = count_people(len(records), options["learn_from"], options["most_people"])
    click.echo(f"{make_printable(table.name)}: {counted}; searching ...", err=True)
    found = audit.tune(
        records,
        models=estimators or MODELS,
        solver=None if engine is None else {**SOLVER, "engine": engine},
        journal=journal,
        categorical=roles.categorical,
        similarity=roles.similarity,
        parity=find_parity(parity, groups, roles),
        observer=_show_step,
        **options,
    )
    text = format_json(found, indent=1)
    write_text(output, text, "ifair-tuning")
    if as_json:
        click.echo(text)
    else:
        told = "\n\n".join(filter(None, [tuning_text(found), doubt_choices(found)]))
        click.echo(make_printable(told, lines=True))
    click.echo(f"\nTuning: {output}; give it to `ifair report` and then to `ifair fit` with --tuning", err=True)


def _show_step(step: Any) -> None:
    if step.dearest is not None:
        known = f"{step.reused} are known from before; " if step.reused else ""
        click.echo(f"  {step.total} settings: {known}at most {format_duration(step.dearest)} to go", err=True)
    reached = [f"{name} {step.reached[name]:.3f}" for name in ("utility", "ranks") if step.reached[name] is not None]
    click.echo(
        f"  {step.done:3d}/{step.total}  {make_printable(step.name)}: {', '.join(reached)}; "
        f"about {format_duration(step.seconds_left)} left",
        err=True,
    )
