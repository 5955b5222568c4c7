"""The command line: one file a verb; heavy imports live inside the commands."""

import click

from ifair import __version__
from ifair.cli.datasets import datasets
from ifair.cli.demo import demo
from ifair.cli.reproduce import reproduce


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ifair")
def main() -> None:
    """Learn representations in which people alike in what may count are alike."""


main.add_command(datasets)
main.add_command(demo)
main.add_command(reproduce)
