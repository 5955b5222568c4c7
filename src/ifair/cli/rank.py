"""``ifair rank``: rankings in which protected candidates get their share."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs
from ifair.cli.output import INPUT, TableOutput, json_option, output_option, trusted_option
from ifair.cli.roles_options import needs_protected, roles_options
from ifair.cli.terminal_text import list_given, make_printable, tell_warnings, warn
from ifair.errors import IfairError, unknown_name

NEW = ("rank", "fair_score", "moved")
SHOWN_QUERIES = 20


@click.command(short_help="Rank candidates, protected ones with their share (FA*IR).")
@click.argument("table", type=INPUT)
@roles_options("protected", "group", "query", "score", "id", "missing", "categorical")
@click.option(
    "--min-share",
    type=click.FloatRange(0, 1),
    required=True,
    help="The share of protected candidates to aim for, at every position from the top; FA*IR tolerates "
    "shortfalls that chance would produce (--alpha), --plain-share does not.",
)
@click.option("--model", type=INPUT, help="Rank by this model's prediction instead of --score.")
@trusted_option
@click.option("--top", type=click.IntRange(1), help="Positions that the share is guaranteed for; by default all.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    help="Probability that a fair lottery fails the test; larger values are stricter.",
)
@click.option("--plain-share", is_flag=True, help="Hold the share itself, rounded down, at every position: no --alpha.")
@output_option("The ranked table to write, .csv or .parquet; - prints CSV.", allow_dash=True)
@json_option("what changed as JSON, for scripts")
def rank(
    table: Path,
    roles: Any,
    min_share: float,
    model: Path | None,
    trusted: tuple[str, ...],
    top: int | None,
    alpha: float | None,
    plain_share: bool,
    output: Path,
    as_json: bool,
) -> None:
    """Rank the candidates in TABLE by score, with enough protected ones at every position (FA*IR).

    Every query is a ranking of its own; without --query there is one. The output has the rows in ranked order with
    three more columns: rank, fair_score (agrees with the rank) and moved (places gained against the ranking by score).
    All other cells are as they were. Where the table has a column rank, say, the added one is called ifair_rank.

    Where a query has fewer protected candidates than the minimum demands, all of them are ranked as high as
    demanded, the places after them are filled by score, and a warning says which queries are short.

    \b
    ifair rank candidates.csv --query job --score score --protected sex --group sex=f --min-share 0.4 -o ranked.csv
    ifair rank candidates.csv --protected sex --model model.ifair --min-share 0.4 --top 10 -o ranked.csv
    ifair rank candidates.csv --score score --protected sex --min-share 0.15 --top 200 --plain-share -o ranked.csv
    ifair rank candidates.csv --score score --protected sex --min-share 0.4 -o - | head
    """
    needs_protected(roles)
    if roles.score is None and model is None:
        raise click.UsageError("say what to rank by: --score COLUMN or --model MODEL")
    if plain_share:
        if "alpha" in list_given():
            raise click.UsageError("--plain-share makes no allowance for chance: leave --alpha out")
        alpha = None
    ranking = TableOutput(table, output, as_json)
    if model is not None:
        needs("a model file", "skops")

    import pandas as pd

    from ifair.ranking import FAStarIR
    from ifair.tables.cell_types import describe_missing, infer_types, mark_missing
    from ifair.tables.groups import split_condition
    from ifair.tables.read import read_blocks

    rows = pd.concat(list(read_blocks(table)))
    frame, marked = mark_missing(rows, roles.missing)
    warn(*describe_missing(marked))
    # Who is protected must not hang on a mistyped number; columns that nothing hangs on need not be clean.
    asked = {*roles.protected, *(split_condition(condition)[0] for condition in roles.group)}
    infer_types(frame[[name for name in frame if name in asked]], text=roles.categorical)
    frame = infer_types(frame, text=roles.categorical, strict=False)
    group = _find_group(frame, roles)
    read_complete = partial(_read_complete, frame, table, roles.missing)
    query = read_complete(roles.query, "query") if roles.query else None
    if query is not None and frame[roles.query].nunique() < rows[roles.query].nunique():
        query = rows[roles.query].to_numpy()  # 1 and 01 are two rankings
    if model is None:
        scores = _read_scores(roles.score, read_complete(roles.score, "score"))
    else:
        scores = _predict_scores(model, rows, roles.missing, trusted)
    with tell_warnings("; all there are stand as high as demanded, the places after them go by score"):
        found = FAStarIR(k=top, p=min_share, alpha=alpha).rank(scores, sensitive_features=group, query=query)
    by_score = FAStarIR(p=0).rank(scores, sensitive_features=group, query=query).rank
    moved = by_score - found.rank
    added = dict(zip(ranking.find_free_names(NEW, rows.columns), (found.rank, found.scores, moved)))
    changes = _compare_rankings(found, moved, group, query, top, (min_share, alpha))
    facts = {"min_share": min_share, "alpha": alpha, "top": top, "queries": changes}
    text = _describe_changes(changes, int(group.sum()), min_share, alpha)
    ranking.write(rows.assign(**added).iloc[found.order], "Ranking", facts, text)


def _find_group(frame: Any, roles: Any) -> Any:
    """Who is protected, by the conditions of --group or by the values of the protected columns."""
    from ifair.tables.groups import default_group, match_conditions

    for name in roles.protected:
        if name not in frame.columns:
            raise unknown_name("protected column", name, frame.columns)
    if roles.group:
        return match_conditions(frame, roles.group)
    group = default_group(frame, roles.protected)
    meant = sorted({str(value) for name in roles.protected for value in frame.loc[group, name].unique()})
    click.echo(
        f"protected: {make_printable(', '.join(meant[:10]))} ({group.sum()} of {len(group)}); use --group to choose "
        "another group",
        err=True,
    )
    return group


def _read_complete(frame: Any, table: Path, spelt_missing: tuple[str, ...], column: str, role: str) -> Any:
    from ifair.tables.read import suggest_complete

    if column not in frame.columns:
        raise unknown_name(f"{role} column", column, frame.columns)
    missing = frame[column].isna().to_numpy()
    if missing.any():
        raise IfairError(
            f"{role} column {column!r} has no value in row {int(missing.argmax()) + 1}; fill it in, or leave such rows "
            f"out, {suggest_complete(table, column, spelt_missing)}"
        )
    return frame[column].to_numpy()


def _read_scores(column: str, given: Any) -> Any:
    import numpy as np
    import pandas as pd

    values = pd.to_numeric(pd.Series(given), errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(wrong.argmax())
        cell = given[[row]].tolist()[0]
        raise IfairError(f"score column {column!r} holds {cell!r} in row {row + 1}, which is no finite number")
    return values


def _predict_scores(path: Path, rows: Any, missing: tuple[str, ...], trusted: tuple[str, ...]) -> Any:
    from ifair.cli.saved_model import Model

    model = Model(path, missing, trusted)
    scores = model.score(model.check_records(rows))
    model.warn_of_cells()
    return scores


def _compare_rankings(
    found: Any, moved: Any, protected: Any, query: Any, top: int | None, demand: tuple[float, float | None]
) -> list[Any]:
    """What changed in each ranking: who moved up, the share of protected candidates at the top, and the least number.

    Arrays have one entry per row of the table, in its order.
    """
    import numpy as np

    from ifair.ranking import minimum_counts

    changes = []
    for name, held in found.satisfied.items():
        rows = np.flatnonzero(np.ones(len(moved), dtype=bool) if query is None else query == name)
        k = min(top or max(1, len(rows) // 2), len(rows))
        ours, after = protected[rows], found.rank[rows]
        changes.append(
            {
                "query": None if name is None else str(name),
                "candidates": len(rows),
                "protected": int(ours.sum()),
                "moved_up": int((moved[rows] > 0).sum()),
                "top": k,
                "minimum": int(minimum_counts(k if top else len(rows), *demand)[k - 1]),
                "share_before": float(ours[after + moved[rows] <= k].mean()),
                "share_after": float(ours[after <= k].mean()),
                "minimum_held": bool(held),
            }
        )
    return changes


def _describe_changes(changes: list[Any], n_protected: int, min_share: float, alpha: float | None) -> str:
    from ifair.ranking import minimum_counts
    from ifair.report.blocks import align_rows

    rows: list[tuple[str, ...]] = [
        ("query", "candidates", "protected", "moved up", "top", "minimum", "share before", "after", "")
    ]
    rows += [
        (
            make_printable(change["query"] or "(one)"),
            *(str(change[key]) for key in ("candidates", "protected", "moved_up", "top", "minimum")),
            *(f"{change[key]:.0%}" for key in ("share_before", "share_after")),
            "" if change["minimum_held"] else "too few protected candidates",
        )
        for change in changes[:SHOWN_QUERIES]
    ]
    more = len(changes) - SHOWN_QUERIES
    text = align_rows(rows)
    if more > 0:
        text += f"\n... and {more} more queries (--json shows all)"
    moved = sum(change["moved_up"] > 0 for change in changes)
    text += f"\n\n{moved} of {len(changes)} rankings changed; {n_protected} candidates are protected."
    below = [change for change in changes if change["minimum_held"] and change["share_after"] < min_share]
    if alpha is not None and below:
        top, least = below[0]["top"], below[0]["minimum"]
        plain = minimum_counts(top, min_share, None)[-1]
        text += (
            f"\nA share below {min_share:.0%} can be enough: FA*IR tolerates shortfalls that chance would produce at "
            f"that share (--alpha {alpha:.3g}), so the printed minimum is lower than the share.\nOf the first {top} it "
            f"demands {least} ({least / top:.1%}); --plain-share demands {plain}."
        )
    return text
