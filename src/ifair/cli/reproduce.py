"""``ifair reproduce``: the paper's evaluation, end to end."""

from pathlib import Path
from typing import Any

import click


@click.command()
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "full"]),
    default="smoke",
    show_default=True,
    help="How much: a taste on embedded data, all datasets on a reduced grid, or the paper's grid.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("ifair-reproduce"),
    show_default=True,
    help="Folder for the results; a run that was stopped goes on from there.",
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for one a core.")
@click.option("--only", multiple=True, help="Run only this experiment; may be given several times.")
@click.option("--dry-run", is_flag=True, help="Print the plan and its size, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables.")
def reproduce(profile: str, output: Path, jobs: int, only: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Run the paper's experiments and print its numbers next to ours.

    Stopped at any moment, the next run into the same folder goes on with what is missing; a changed setting or
    version is run anew.

    \b
    ifair reproduce
    ifair reproduce --profile quick --dry-run
    ifair reproduce --profile quick --output evidence
    ifair reproduce --only classification --json
    """
    import json

    from ifair.cli.page import write_page
    from ifair.data.errors import DataError
    from ifair.experiments.profiles import PROFILES
    from ifair.experiments.reproduce import assemble, available, plan
    from ifair.experiments.runner import RunError, run_units, write_json
    from ifair.report.evaluation.page import text

    try:
        settings, missing = available(PROFILES[profile], needed=profile != "smoke")
    except DataError as error:
        raise click.ClickException(str(error)) from error
    units = plan(settings)
    unknown = sorted(set(only) - set(units))
    if unknown:
        raise click.UsageError(f"no experiment {unknown[0]!r}; there are {', '.join(units)}")
    chosen = {name: units[name] if not only or name in only else [] for name in units}
    for line in missing:
        click.echo(f"left out: {line}", err=True)
    if dry_run:
        for name, parts in chosen.items():
            click.echo(f"{name:15} {len(parts):4d} units")
        click.echo(f"{'in all':15} {sum(map(len, chosen.values())):4d} units")
        return
    try:
        records = {}
        for name, parts in chosen.items():
            records[name] = run_units(parts, output, n_jobs=jobs, observer=_shown(name)) if parts else []
        results = assemble(records, profile, settings, missing)
        write_json(output / "results.json", results)
        written = write_page(output, results)
    except RunError as error:
        raise click.ClickException(str(error)) from error
    click.echo(json.dumps(results, indent=1) if as_json else text(results))
    click.echo("\n" + "\n".join([*written, "Numbers: results.json beside it"]), err=as_json)


def _shown(experiment: str) -> Any:
    def observer(progress: Any) -> None:
        if not progress.label:
            again = f", {progress.reused} kept from before" if progress.reused else ""
            click.echo(f"{experiment}: {progress.total} units{again}", err=True)
            return
        left = "" if progress.seconds_left is None else f", about {progress.seconds_left / 60:.0f} min left"
        click.echo(f"  {progress.done:4d}/{progress.total}  {progress.label}{left}", err=True)

    return observer
