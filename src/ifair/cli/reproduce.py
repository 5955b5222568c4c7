"""``ifair reproduce``: the paper's evaluation, end to end."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import EXTRAS, needs
from ifair.cli.output import jobs_option, json_option, output_option, prepare_output
from ifair.errors import IfairError, install_hint
from ifair.plain_data import ResultsError, format_json


@click.command(short_help="The paper's experiments, its numbers next to ours.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "full"]),
    default="smoke",
    help="How much: a taste on embedded data, all datasets on a reduced grid, or the paper's grid.",
)
@output_option("Folder for the results; a run that was stopped goes on from there.", "ifair-reproduce", folder=True)
@jobs_option("Processes")
@click.option(
    "--only", multiple=True, help="Run only this experiment (and what it builds on); may be given several times."
)
@click.option("--dataset", "datasets", multiple=True, help="Run only on this dataset; may be given several times.")
@click.option("--splits", type=click.IntRange(min=1), help="At most so many random splits; tests need 20.")
@click.option("--dry-run", is_flag=True, help="Print the plan and the time that it will take here, and do nothing.")
@json_option("the results as JSON instead of tables")
def reproduce(
    profile: str,
    output: Path,
    jobs: int,
    only: tuple[str, ...],
    datasets: tuple[str, ...],
    splits: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run the paper's experiments and print its numbers next to ours.

    Stopped at any moment, the next run into the same folder goes on with what is missing; a changed setting or
    version is run anew. Experiments and datasets that are not run this time are taken from the folder's results; a
    folder holds one profile.

    \b
    ifair reproduce
    ifair reproduce --profile full --dry-run
    ifair reproduce --profile quick --output evidence
    ifair reproduce --profile full --dataset credit --output evidence
    ifair reproduce --only classification --json
    """
    from ifair.cli.live_progress import LiveProgress, format_duration
    from ifair.reproduce.assemble import assemble, check_one_profile, drop_missing
    from ifair.reproduce.expected_time import describe_plan, estimate_seconds
    from ifair.reproduce.experiment import add_needs, check_kept, find_experiments, list_waves
    from ifair.reproduce.profiles import PROFILES
    from ifair.reproduce.results_page import format_text, list_blocks, write_page
    from ifair.reproduce.runner import run_plans, write_json
    from ifair.results import REPRODUCTION, read_results

    experiments = find_experiments()
    _check_known("experiment", only, list(experiments))
    _check_known("dataset", datasets, PROFILES[profile].datasets)
    wanted = PROFILES[profile].only(datasets) if datasets else PROFILES[profile]
    wanted = wanted if splits is None else wanted.limit_splits(splits)
    is_taste = profile == "smoke" and not datasets  # who names a dataset wants it
    settings, missing = drop_missing(wanted, needed=not (is_taste or dry_run))
    path = output / "results.json"
    if output.is_dir():
        for ending, kind in (("json", "ifair-reproduce"), ("md", "text"), ("html", "page")):
            prepare_output(path.with_suffix(f".{ending}"), kind)
    earlier = path.exists()
    with _tell_way_out(path, earlier):
        before = read_results(path, REPRODUCTION) if earlier else None
        check_one_profile(before, profile, path)
        if before is not None:
            check_kept(before, str(path))
            list_blocks(before)
            format_text(before)
    for name in only:
        needs(f"the experiment {name}", *experiments[name].packages)
    names = []
    for name in add_needs(only):
        absent = [package for package in experiments[name].packages if find_spec(package) is None]
        if absent:
            click.echo(
                f"left out: the experiment {name}, which needs {absent[0]}: {install_hint(EXTRAS[absent[0]])}", err=True
            )
        else:
            names.append(name)
            for part, hint in experiments[name].left_out().items():
                click.echo(f"left out: {part} of the experiment {name}: {hint}", err=True)
    for line in missing:
        click.echo(f"{'left out' if is_taste else 'not at hand'}: {line}", err=True)
    settings = settings if is_taste else wanted
    plans = {name: experiments[name].plan_here(settings, {}) for name in names}
    if dry_run:
        click.echo(describe_plan(plans, profile, jobs))
        return
    seconds = {name: estimate_seconds(name, units, jobs) for name, units in plans.items()}
    click.echo(f"about {format_duration(sum(seconds.values()))} in all, less what is known from before", err=True)
    records: dict[str, Any] = {}
    for wave in list_waves(names):
        planned = {name: experiments[name].plan_here(settings, records) for name in wave}
        later = sum(seconds[name] for name in names if name not in (*records, *wave))
        with LiveProgress(", ".join(wave), output, later) as observer:
            records |= run_plans(
                planned,
                output,
                seconds=lambda name, unit: estimate_seconds(name, [unit], 1),
                n_jobs=jobs,
                observer=observer,
            )
    records = {name: records[name] for name in names}
    with _tell_way_out(path, earlier):
        results = assemble(records, profile, settings, missing, before)
        write_json(path, results)
        written = write_page(output, results)
        shown = format_json(results, indent=1) if as_json else format_text(results)
    click.echo(shown)
    click.echo("\n" + "\n".join([*written, "Numbers: results.json beside it"]), err=as_json)


@contextmanager
def _tell_way_out(path: Path, earlier: bool) -> Iterator[None]:
    """Name earlier results that cannot be read or shown, and say what to do about them."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        if not earlier or (isinstance(error, IfairError) and not isinstance(error, ResultsError)):
            raise
        known = f"{path} holds results that this release cannot show ({type(error).__name__}: {error})"
        way_out = "move it away first, or choose another folder with --output; finished units beside it are used again"
        raise IfairError(f"{error if isinstance(error, ResultsError) else known} ({way_out})") from error


def _check_known(what: str, given: tuple[str, ...], there_are: list[str]) -> None:
    unknown = sorted(set(given) - set(there_are))
    if unknown:
        raise click.UsageError(f"no {what} {unknown[0]!r}; there are {', '.join(there_are)}")
