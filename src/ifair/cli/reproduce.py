"""``ifair reproduce``: the paper's evaluation, end to end."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs
from ifair.errors import install_hint


@click.command(short_help="The paper's experiments, its numbers next to ours.")
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
@click.option(
    "--only", multiple=True, help="Run only this experiment (and what it builds on); may be given several times."
)
@click.option("--dataset", "datasets", multiple=True, help="Run only on this dataset; may be given several times.")
@click.option("--dry-run", is_flag=True, help="Print the plan and its size, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables.")
def reproduce(
    profile: str,
    output: Path,
    jobs: int,
    only: tuple[str, ...],
    datasets: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run the paper's experiments and print its numbers next to ours.

    Stopped at any moment, the next run into the same folder goes on with what is missing; a changed setting or
    version is run anew. Experiments and datasets that are not run this time are taken from the folder's results, which
    tell the profile of each.

    \b
    ifair reproduce
    ifair reproduce --profile quick --dry-run
    ifair reproduce --profile quick --output evidence
    ifair reproduce --profile full --dataset credit --output evidence
    ifair reproduce --only classification --json
    """
    import json

    from ifair.cli.live_progress import LiveProgress
    from ifair.cli.page import write_page
    from ifair.data import DataError
    from ifair.experiments.profiles import PROFILES
    from ifair.experiments.reproduce import EXPERIMENTS, assemble, available, plan, with_needs
    from ifair.experiments.runner import RunError, read_json, run_units, write_json
    from ifair.report.evaluation.page import text

    _known("experiment", only, list(EXPERIMENTS))
    _known("dataset", datasets, PROFILES[profile].datasets)
    wanted = PROFILES[profile].only(datasets) if datasets else PROFILES[profile]
    try:
        settings, missing = available(wanted, needed=profile != "smoke")
    except DataError as error:
        raise click.ClickException(str(error)) from error
    names = with_needs(only)
    if "search" in only:
        needs("the experiment search", "optuna")
    if "search" in names and find_spec("optuna") is None:
        names = [name for name in names if name != "search"]
        click.echo(f"left out: the experiment search, which needs optuna: {install_hint('tune')}", err=True)
    for line in missing:
        click.echo(f"left out: {line}", err=True)
    if dry_run:
        sizes = {name: len(plan(name, settings, {})) for name in names}
        for name, size in {**sizes, "in all": sum(sizes.values())}.items():
            click.echo(f"{name:15} {size:4d} units")
        return
    try:
        records: dict[str, Any] = {}
        for name in names:
            with LiveProgress(name, output) as observer:
                records[name] = run_units(plan(name, settings, records), output, n_jobs=jobs, observer=observer)
        results = assemble(records, profile, settings, missing, read_json(output / "results.json"))
        write_json(output / "results.json", results)
        written = write_page(output, results)
    except RunError as error:
        raise click.ClickException(str(error)) from error
    click.echo(json.dumps(results, indent=1) if as_json else text(results))
    click.echo("\n" + "\n".join([*written, "Numbers: results.json beside it"]), err=as_json)


def _known(what: str, given: tuple[str, ...], there_are: list[str]) -> None:
    unknown = sorted(set(given) - set(there_are))
    if unknown:
        raise click.UsageError(f"no {what} {unknown[0]!r}; there are {', '.join(there_are)}")
