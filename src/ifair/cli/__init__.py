"""The command line: one file per verb; heavy imports live inside the commands."""

from typing import Any

import click

from ifair import __version__
from ifair.cli.audit import audit
from ifair.cli.datasets import datasets
from ifair.cli.decide import decide
from ifair.cli.demo import demo
from ifair.cli.export import export
from ifair.cli.fit import fit
from ifair.cli.inspect import inspect
from ifair.cli.rank import rank
from ifair.cli.report import report
from ifair.cli.reproduce import reproduce
from ifair.cli.signals import stop_cleanly
from ifair.cli.terminal_text import clear_errors, end_with_reader, prepare_streams
from ifair.cli.transform import transform
from ifair.cli.tune import tune

# In the order in which a newcomer needs them.
SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "First steps": (demo, fit, transform, decide, rank),
    "Choosing and showing": (tune, audit, report),
    "Files for production": (inspect, export),
    "The paper": (datasets, reproduce),
}


class Overview(click.Group):
    """A group that lists its commands by what they are for."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a program."""
        prepare_streams()
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; with ``--help``, print."""
        with end_with_reader():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; signals and errors are dealt with here, for all verbs alike."""
        with end_with_reader(), stop_cleanly(ctx), clear_errors():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in self.commands)
        for title, verbs in SECTIONS.items():
            texts = [verb.get_short_help_str(formatter.width - width - 6) for verb in verbs]
            with formatter.section(title):
                formatter.write_dl([(str(verb.name).ljust(width), text) for verb, text in zip(verbs, texts)])


@click.group(
    cls=Overview,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="ifair")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Learn representations in which people alike in what may count are alike.

    \b
    ifair demo
    ifair fit people.csv -p sex --target hired --positive yes --consistent 0.1 -o model.ifair
    ifair decide people.csv --model model.ifair -o decisions.csv
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for section in SECTIONS.values():
    for verb in section:
        main.add_command(verb)
