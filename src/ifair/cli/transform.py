"""``ifair transform``: a table through a saved model, block by block."""

import sys
from pathlib import Path

import click

from ifair.cli.extras import needs
from ifair.cli.output import INPUT, TableOutput, echo_json, json_option, missing_option, output_option, trusted_option
from ifair.cli.terminal_text import warn
from ifair.errors import count_words, unknown_name


@click.command(short_help="Represent new records with a model; decide about them.")
@click.argument("model", type=INPUT)
@click.argument("table", type=INPUT)
@output_option("The table to write, .csv or .parquet; - prints CSV.", allow_dash=True)
@click.option("--decide", is_flag=True, help="Add the columns decision and score of the model's outcome.")
@click.option("--id", "id_", metavar="COLUMN", help="Names a row; carried along. By default as the model was fitted.")
@click.option("--carry", multiple=True, metavar="COLUMN", help="Another column to carry along; repeat for several.")
@missing_option
@trusted_option
@click.option("--strict", is_flag=True, help="Refuse categories that the model never saw.")
@click.option("--block-rows", type=click.IntRange(1), default=50_000, help="Rows held in memory.")
@json_option("what was written as JSON, for scripts")
def transform(
    model: Path,
    table: Path,
    output: Path,
    decide: bool,
    id_: str | None,
    carry: tuple[str, ...],
    missing: tuple[str, ...],
    trusted: tuple[str, ...],
    strict: bool,
    block_rows: int,
    as_json: bool,
) -> None:
    """Represent the people in TABLE (CSV or Parquet) as MODEL learned it.

    Rows are read, represented and written in blocks: the table may be larger than memory. The output appears when it
    is complete. With --decide, decision is 1 for the positive outcome and score its probability; of a regression
    there is a score only. A model of `ifair fit --consistent` then compares everybody by themselves with the training
    people that it keeps, and `ifair decide` the people of a table with each other. Columns that are carried along and
    those of the representation keep their names: where one of them is called decision or score, the added column is
    called ifair_decision or ifair_score.

    \b
    ifair transform model.ifair people.csv -o fair.parquet
    ifair transform model.ifair new.parquet -o decisions.csv --decide --carry name
    ifair transform model.ifair people.csv -o - | head
    """
    written = TableOutput(table, output, as_json)
    needs("a model file", "skops")

    import pandas as pd

    from ifair.cli.saved_model import Model, refuse_swapped
    from ifair.tables.read import read_blocks

    refuse_swapped(model, table, "ifair transform MODEL TABLE")
    fitted = Model(model, missing, trusted)
    if decide:
        fitted.check_decides()
    if decide and "parity" in fitted.decision:
        column = fitted.decision["groups"]
        warn(f"decided one by one, and so without equal rates of {column!r}, which `ifair decide` gives")
    # The id that was recorded need not be in every later table; one that is asked for must be.
    recorded = fitted.roles.id if id_ is None else None
    asked = [name for name in (id_, *carry) if name is not None]
    done = 0
    columns: list[str] = []
    # On a terminal one line that is kept up to date, elsewhere one line per block.
    terminal = sys.stderr is not None and sys.stderr.isatty()
    start = "\r" if terminal else ""
    with written.open() as writer:
        for block in read_blocks(table, block_rows):
            for name in asked:
                if name not in block.columns:
                    raise unknown_name("column to carry", name, block.columns)
            known = [recorded] if recorded is not None and recorded in block.columns else []
            carried = list(dict.fromkeys([*known, *asked]))
            records = fitted.check_records(block, strict=strict)
            # With --decide, decisions on the attributes themselves come without columns of their own.
            result = fitted.represent(records) if fitted.represents or not decide else records[[]]
            added = {"score": fitted.score(records)} if decide else {}
            if decide and fitted.classifies:
                added = {"decision": fitted.decide(records), **added}
            if not columns:
                represented = written.find_free_names(result.columns, carried)
                decided = written.find_free_names(added, [*carried, *represented])
                columns = [*carried, *decided, *represented]
            parts = [block[carried], pd.DataFrame(added, index=block.index), result]
            writer.write(pd.concat(parts, axis=1).set_axis(columns, axis=1))
            done += len(block)
            click.echo(f"{start}  {count_words(done, 'row', 'rows')}", err=True, nl=not terminal)
    if terminal:
        click.echo(err=True)
    fitted.warn_of_cells()
    if as_json:
        echo_json({"output": str(output), "rows": done, "columns": columns})
    elif not written.prints:
        click.echo(f"{count_words(done, 'row', 'rows')}, {count_words(len(columns), 'column', 'columns')}: {output}")
