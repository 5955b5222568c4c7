"""``ifair datasets``: what there is, what is known of it, and where its files are."""

import textwrap
from dataclasses import asdict
from typing import Any

import click

from ifair.cli.output import echo_json, json_option
from ifair.datasets.local_files import cache_folder, data_folder, locate
from ifair.datasets.registry import HEADER, dataset_names, figures, find_about, find_embedded, find_files
from ifair.errors import IfairError


@click.group(short_help="The datasets of the paper: list, read about, fetch.")
def datasets() -> None:
    """The datasets of the paper: list them, read about them, fetch their files.

    \b
    ifair datasets list
    ifair datasets info credit
    ifair datasets fetch census xing
    ifair datasets path census
    """


@datasets.command("list")
@json_option("JSON, for scripts")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the table of the documentation.")
def list_(as_json: bool, as_markdown: bool) -> None:
    """List the datasets, with their figures and whether their files are on this machine.

    The paper's figures stand in brackets behind ours.

    \b
    ifair datasets list
    ifair datasets list --json | jq '.[].name'
    """
    from ifair.datasets.registry import markdown_table
    from ifair.report.blocks import align_rows

    if as_markdown:
        click.echo(markdown_table(), nl=False)
        return
    if as_json:
        echo_json([_facts(name) for name in dataset_names()])
        return
    rows: list[tuple[str, ...]] = [(*HEADER, "files")]
    rows += [(name, *figures(find_about(name)), _presence(name)) for name in dataset_names()]
    click.echo(align_rows(rows))
    click.echo("\nIn brackets: the paper's figures. `ifair datasets info NAME` explains every difference.")


@datasets.command()
@click.argument("name")
@click.option("--check", is_flag=True, help="Load the dataset and compare its figures with those recorded.")
@json_option("JSON, for scripts")
def info(name: str, check: bool, as_json: bool) -> None:
    """Show what is known of a dataset: figures next to the paper's, deviations, licence, citation.

    \b
    ifair datasets info credit
    ifair datasets info census --check
    """
    known = find_about(name)
    measured = _measure(name) if check else None
    if as_json:
        facts = _facts(name)
        if measured is not None:
            facts["measured"] = asdict(measured)
        echo_json(facts)
    else:
        click.echo(f"{known.title} ({name})\n{_wrap_text(known.description)}\n")
        for label, cell in zip(HEADER[1:], figures(known)):
            click.echo(f"  {label:<22}{cell}")
        if known.counts_protected:
            click.echo("  columns include the protected attribute")
        click.echo("  in brackets: the paper's figures\n")
        for label in ("task", "outcome", "group", "licence", "citation", "source"):
            click.echo(_wrap_text(f"{label + ':':<11}{getattr(known, label)}", indent=11))
        click.echo(f"{'files:':<11}{_presence(name)}\n\nDeviations from the paper:")
        for deviation in known.deviations:
            click.echo(_wrap_text(f"- {deviation}", indent=2))
    if measured is not None and measured != known.reached:
        raise click.ClickException(f"{name} as loaded has other figures: {measured}")
    if measured is not None and not as_json:
        click.echo("\nChecked: the dataset as loaded has these figures.")


@datasets.command()
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Fetch all datasets.")
@json_option("JSON, for scripts")
def fetch(names: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Download the files of datasets, unless they are on this machine.

    Files go to IFAIR_CACHE, or to ifair's part of the user's cache folder. Every file is checked before it
    is put in place. Progress goes to stderr, the paths of the files to stdout.

    \b
    ifair datasets fetch census
    ifair datasets fetch --all
    """
    from ifair.datasets.download import fetch_file

    if not names and not every:
        raise click.UsageError("name the datasets to fetch, or say --all")
    wanted = dataset_names() if every else list(names)
    for name in wanted:
        find_about(name)
    found: dict[str, list[str]] = {}
    failed = []
    for name in wanted:
        found[name] = []
        for file in find_files(name):
            try:
                found[name].append(str(fetch_file(file, lambda line: click.echo(line, err=True))))
            except IfairError as error:
                # One dataset that cannot be had must not keep the others away.
                click.echo(f"Error: {error}", err=True)
                failed.append(name)
                break
        if name not in failed and not find_files(name):
            click.echo(f"{name}: {_presence(name)}, nothing to fetch", err=True)
    if as_json:
        echo_json(found)
    else:
        for path in (path for paths in found.values() for path in paths):
            click.echo(path)
    if failed:
        raise click.ClickException(f"not fetched: {', '.join(failed)}")


@datasets.command()
@click.argument("name", required=False)
@json_option("JSON, for scripts")
def path(name: str | None, as_json: bool) -> None:
    """Print where the files of a dataset are, or without a name the folders that are searched.

    Exits with 1 if a file is not on this machine.

    \b
    ifair datasets path
    ifair datasets path census
    """
    if name is None:
        folders = {"IFAIR_DATA": data_folder(), "cache": cache_folder()}
        if as_json:
            echo_json({k: None if v is None else str(v) for k, v in folders.items()})
        else:
            for label, folder in folders.items():
                click.echo(f"{label + ':':<12}{folder or 'not set'}")
        return
    embedded = find_embedded(name)
    located = {file.path: locate(file) for file in find_files(name)}
    paths = [str(place) for place in (embedded, *located.values()) if place is not None]
    if as_json:
        echo_json(paths)
    else:
        for line in paths:
            click.echo(line)
    missing = [key for key, place in located.items() if place is None]
    if not paths and not missing:
        click.echo(f"{name}: {_presence(name)}, there is no file", err=True)
    if missing:
        raise click.ClickException(f"not on this machine: {', '.join(missing)}. Run `ifair datasets fetch {name}`.")


def _wrap_text(text: str, indent: int = 0) -> str:
    return textwrap.fill(text, 100, subsequent_indent=" " * indent, break_on_hyphens=False)


def _presence(name: str) -> str:
    if find_embedded(name) is not None:
        return "part of the package"
    if not find_files(name):
        return "generated"
    needed = find_files(name)
    data_folder()
    try:
        here = sum(locate(file) is not None for file in needed)
    except IfairError:
        # One damaged file must not hide the other datasets; fetch and path say which it is.
        return "damaged"
    return "on this machine" if here == len(needed) else f"{here} of {len(needed)} on this machine"


def _facts(name: str) -> dict[str, Any]:
    return {**asdict(find_about(name)), "files": _presence(name)}


def _measure(name: str) -> Any:
    from ifair.data import describe, load

    return describe(load(name), find_about(name).counts_protected)
