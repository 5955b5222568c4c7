"""``ifair decide``: decisions about a whole table, like people alike."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import check_threshold
from ifair.cli.extras import needs
from ifair.cli.output import INPUT, TableOutput, json_option, missing_option, output_option, trusted_option
from ifair.cli.terminal_text import make_printable, warn
from ifair.errors import count_words, join_words, unknown_name

SHOWN_CHANGES = 5
SHOWN_PEERS = 1
SHOWN_DIFFERENCES = 3
SHOWN_THRESHOLDS = 12
# A rate among fewer people than this is hardly a rate.
SMALL_GROUP = 10
ORDER = "ifair decide TABLE --model MODEL"


class ModelPath(click.Path):
    """A model file; where it is missing, the order of the arguments is told, which is another in `ifair transform`."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return f"The order is `{ORDER}`, and not MODEL TABLE as of `ifair transform`."


@click.command(short_help="Decide about a batch of people, like people alike.")
@click.argument("table", type=INPUT)
@click.option(
    "--model",
    required=True,
    type=ModelPath(readable=False, path_type=Path),
    help="A model file of `ifair fit` with a target.",
)
@click.option("--rate", type=click.FloatRange(0, 1), help="Select this share of the people.")
@click.option("--n", type=click.IntRange(0), help="Select so many.")
@click.option("--threshold", type=float, help="Select whoever is worth more than this score.")
@click.option(
    "--parity",
    type=click.Choice(["selection", "opportunity", "none"]),
    help="Select every group of --groups at the same rate: of all, or of those the model expects to be positive. By "
    "default as the model was fitted.",
)
@click.option("--groups", metavar="COLUMN", help="The group of each person, for --parity.")
@click.option(
    "--peers",
    type=click.Choice(["batch", "training"]),
    default="batch",
    help="Compare the people of TABLE with each other, or everybody by themselves with the training people that a "
    "model of `ifair fit --consistent` keeps, as `ifair transform --decide` and `ifair.score` do.",
)
@click.option("--id", "id_", metavar="COLUMN", help="Names a row; carried along. By default as the model was fitted.")
@missing_option
@trusted_option
@output_option("The table to write, .csv or .parquet; - prints CSV.", allow_dash=True)
@json_option("what was decided, with every change explained, as JSON")
def decide(
    table: Path,
    model: Path,
    rate: float | None,
    n: int | None,
    threshold: float | None,
    parity: str | None,
    groups: str | None,
    peers: str,
    id_: str | None,
    missing: tuple[str, ...],
    trusted: tuple[str, ...],
    output: Path,
    as_json: bool,
) -> None:
    """Decide about all people in TABLE (CSV or Parquet) at once, as alike as they are.

    The people of TABLE are compared with each other only: decisions depend on who is in it, and of one person alone the
    model's own score decides. With --peers training, scores depend on nobody else.

    Writes a row per person: decision, smoothed score, the model's own score, how many close peers there are, whether
    the decision differs from the model's own, whether it is a tie, and for changed ones the peers that explain them.
    With --parity, above_threshold says how far they are above the threshold of their group, which decides; score is
    then smoothed without these thresholds. A model of more than two classes names one for everybody, with the
    probability of each, and selects nobody.
    By default whoever is above the threshold of the model, or as many as the rate that it was fitted for. Protected
    columns are not looked at and may be missing; --parity uses the groups, and must be asked for. With --peers training
    the threshold of the model comes first, and there is no --parity.

    \b
    ifair decide people.csv --model model.ifair --rate 0.2 -o decisions.csv
    ifair decide people.csv --model model.ifair --n 40 --parity selection --groups sex -o decisions.csv
    ifair decide new.csv --model model.ifair --peers training -o decisions.csv
    ifair decide people.csv --model model.ifair --threshold 0.5 -o decisions.csv --json | jq .changes
    """
    limits = {"--rate": rate, "--n": n, "--threshold": threshold}
    both = [flag for flag, value in limits.items() if value is not None]
    if len(both) > 1:
        raise click.UsageError(
            f"{join_words(both)} were given: only one of --rate, --n and --threshold may be, since "
            "each says how many to select"
        )
    if (parity in (None, "none")) != (groups is None):
        raise click.UsageError("--parity and --groups COLUMN belong together")
    if parity not in (None, "none") and threshold is not None:
        raise click.UsageError("--parity finds the thresholds itself: give --rate or --n, not --threshold")
    if parity not in (None, "none") and peers == "training":
        raise click.UsageError("--parity finds the thresholds of groups in the table as a whole: leave --peers out")
    decisions = TableOutput(table, output, as_json)
    needs("a model file", "skops")

    from ifair.cli.saved_model import Model, refuse_swapped
    from ifair.tables.cell_types import mark_missing

    refuse_swapped(model, table, ORDER)
    fitted = Model(model, missing, trusted)
    if peers == "training" and not fitted.consistent:
        raise click.UsageError(
            f"--peers training: {model.name} keeps no training people; a model of `ifair fit --consistent` does"
        )
    if fitted.classes:
        given = {"--rate": rate, "--n": n, "--threshold": threshold, "--parity": parity}
        for flag in [flag for flag, value in given.items() if value is not None]:
            raise click.UsageError(
                f"{flag} selects people, and this model names one of {len(fitted.classes)} classes for each: leave it "
                "out, or fit a model of one class against all others with --positive"
            )
        _decide_classes(fitted, table, id_, peers, decisions)
        return
    check_threshold(threshold, probable=fitted.classifies)
    recorded = parity is None and "parity" in fitted.decision
    if recorded:
        parity, groups = fitted.decision["parity"], fitted.decision["groups"]
        if threshold is not None:
            raise click.UsageError(
                f"the model was fitted to select every group of {groups} at the same rate, which finds the thresholds: "
                "give --rate or --n, or --parity none"
            )
        if parity != "none" and peers == "training":
            raise click.UsageError(
                f"the model was fitted to select every group of {groups} at the same rate, by thresholds found in the "
                "table as a whole: leave --peers out, or give --parity none"
            )
    parity = None if parity == "none" else parity
    if rate is n is threshold is None:
        rate, threshold = _find_default(fitted.decision, parity, peers)
        if rate is threshold is None:
            raise click.UsageError("say how many to select: one of --rate, --n and --threshold")
    why = f" (groups that {model.name} selects at the same rate; --parity none switches that off)" if recorded else ""
    rows, id_ = _read_rows(fitted, table, id_, groups, why)
    named = None if groups is None else _name_groups(mark_missing(rows[[groups]], fitted.missing)[0], groups)
    batch = fitted.decide_batch(
        fitted.check_records(rows),
        rate=rate,
        n=n,
        threshold=threshold,
        parity=parity,
        groups=named,
        peers=peers,
        labels=list(range(1, len(rows) + 1)) if id_ is None else rows[id_].tolist(),
    )
    fitted.warn_of_cells()
    decided = _make_table(batch)
    facts = _describe_batch(batch, decided, None if id_ is None else rows[id_].to_numpy())
    facts["peers"] = peers
    if parity is not None:
        facts["parity"] = {"kind": parity, "groups": groups, "as_fitted": recorded}
    place = "the table" if decisions.prints else str(decisions.path)
    text = _format_batch(facts, _tell_lonely(facts, fitted.n_reference), _shorten(batch, facts, place))
    decisions.write(_add_id(decided, rows, id_), "Decisions", facts, text)


def _find_default(decision: dict[str, Any], parity: str | None, peers: str) -> tuple[float | None, float | None]:
    """How many to select by a model: its rate, or else its threshold; the other way round with ``--peers training``.

    A rate is one of all people of the table, and a threshold asks about nobody else.
    """
    rate, threshold = decision.get("rate"), decision.get("threshold")
    if peers == "training" and threshold is not None:
        return None, threshold
    return rate, threshold if rate is None and parity is None else None


def _decide_classes(fitted: Any, table: Path, id_: str | None, peers: str, decisions: TableOutput) -> None:
    """Write the class of everybody, where there are more than two."""
    rows, id_ = _read_rows(fitted, table, id_)
    decided = fitted.decide_classes(fitted.check_records(rows), peers)
    fitted.warn_of_cells()
    counts = {name: int((decided["decision"] == name).sum()) for name in fitted.classes}
    changed = int(decided["changed"].sum())
    facts = {"people": len(decided), "classes": counts, "changed": changed}
    told = ", ".join(f"{make_printable(name)} {count:,}" for name, count in counts.items())
    text = f"{count_words(len(decided), 'person', 'people')}: {told}; {_count_changes(changed)}"
    decisions.write(_add_id(decided, rows, id_), "Decisions", facts, text)


def _read_rows(
    fitted: Any, table: Path, id_: str | None, groups: str | None = None, why: str = ""
) -> tuple[Any, str | None]:
    """The whole table as it stands, in which columns that were asked for must be; and the column that names a row."""
    import pandas as pd

    from ifair.tables.read import read_blocks

    rows = pd.concat(list(read_blocks(table)), ignore_index=True)
    for name in (id_, groups):
        if name is not None and name not in rows.columns:
            raise unknown_name("column", name, rows.columns, why if name == groups else "")
    # The id that was recorded need not be in every later table.
    return rows, id_ or (fitted.roles.id if fitted.roles.id in rows.columns else None)


def _add_id(decided: Any, rows: Any, id_: str | None) -> Any:
    """The table to write: what names a row comes first."""
    written = decided.set_axis(TableOutput.find_free_names(decided.columns, [] if id_ is None else [id_]), axis=1)
    if id_ is not None:
        written.insert(0, id_, rows[id_].to_numpy())
    return written


def _name_groups(frame: Any, column: str) -> Any:
    """Everybody's group, shape (M,). As in an audit, people without one are a group; that is told."""
    import pandas as pd

    from ifair.evaluate.splits import name_groups

    groups, empty = frame[column], int(frame[column].isna().sum())
    if empty:
        who = count_words(empty, "person has no value, and is", "people have no value, and are")
        warn(f"--groups {column}: {who} a group of their own")
        groups = pd.Series(name_groups(frame, column), name=column)
    sizes = groups.value_counts()
    if len(sizes) and sizes.iloc[-1] < SMALL_GROUP:
        small = count_words(int((sizes < SMALL_GROUP).sum()), "has", "have")
        warn(
            f"--groups {column}: of {count_words(len(sizes), 'group', 'groups')} {small} fewer than {SMALL_GROUP} "
            "people, where an equal rate means little; make fewer groups of them first"
        )
    return groups.to_numpy()


def _make_table(batch: Any) -> Any:
    """A row per person, with one line of explanation where the decision changed."""
    decided = batch.to_frame().reset_index(drop=True).rename(columns={"selected": "decision"})
    decided = decided.astype({"decision": int, "changed": int, "tied": int})
    decided["explanation"] = ""
    changes = map(_join_lines, batch.explain_changes()["explanation"])
    decided.loc[batch.changed, "explanation"] = list(changes)
    return decided


def _join_lines(explanation: str) -> str:
    return explanation.replace("\n ", ";")


def _shorten(batch: Any, facts: dict[str, Any], place: str) -> list[str]:
    """What is printed of the first changes: the nearest peer and the largest differences; ``place`` holds all."""
    shown = []
    for person, change in zip(batch.changed[:SHOWN_CHANGES], facts["changes"]):
        short = _join_lines(batch.explain(int(person), SHOWN_PEERS, SHOWN_DIFFERENCES))
        shown.append(short if short == change["explanation"] else f"{short} (all in {place})")
    return shown


def _describe_batch(batch: Any, decided: Any, ids: Any) -> dict[str, Any]:
    changed = decided.loc[batch.changed]
    return {
        "people": len(decided),
        "selected": int(batch.selected.sum()),
        "threshold": float(batch.threshold) if abs(batch.threshold) < float("inf") else None,
        "group_thresholds": {str(name): float(value) for name, value in batch.group_thresholds.items()},
        "changed_by_group": len(batch.changed_by_group),
        "gap": float(batch.gap),
        "tied": len(batch.tied),
        "without_close_peers": int((batch.peers.count == 0).sum()),
        "changes": [
            {
                "row": int(position) + 1,
                "id": None if ids is None else str(ids[position]),
                "decision": int(changed.loc[position, "decision"]),
                "explanation": changed.loc[position, "explanation"],
            }
            for position in batch.changed
        ],
    }


def _count_changes(changed: int) -> str:
    return count_words(changed, "decision differs", "decisions differ") + " from the model's own"


def _tell_lonely(facts: dict[str, Any], n_reference: int) -> list[str]:
    """How many people are like nobody, and where to find more people to compare them with, in lines."""
    lonely, by_table = facts["without_close_peers"], facts["peers"] == "batch"
    where = "in the table" if by_table else f"among the {n_reference:,} training people that the model keeps,"
    lines = [
        count_words(lonely, "person has", "people have")
        + f" no close peers {where} and {'keeps' if lonely == 1 else 'keep'} the model's own score; "
        + count_words(facts["tied"], "is", "are")
        + " tied at the threshold"
    ]
    if by_table and lonely and n_reference:
        other = f"; --peers training compares them with the {n_reference:,} training people that the model keeps"
        lines.append(
            "people are compared with each other, so that decisions depend on who is in the table"
            + ("" if "parity" in facts else other)
        )
    return lines


def _format_batch(facts: dict[str, Any], lonely: list[str], explained: list[str]) -> str:
    changes = facts["changes"]
    by_group = f", {facts['changed_by_group']:,} of them by thresholds of groups" if facts["group_thresholds"] else ""
    lines = [
        f"{facts['selected']:,} of {count_words(facts['people'], 'person', 'people')} selected; "
        + _count_changes(len(changes))
        + by_group,
        *lonely,
    ]
    if "parity" in facts:
        whom = "" if facts["parity"]["kind"] == "selection" else " of those expected to be positive"
        why = ", as the model was fitted" if facts["parity"]["as_fitted"] else ""
        named = make_printable(facts["parity"]["groups"])
        lines.append(f"every group of {named!r} is selected at the same rate{whom}, as nearly as its size allows{why}")
    if facts["group_thresholds"]:
        told = [f"{make_printable(name)} {value:.3f}" for name, value in facts["group_thresholds"].items()]
        more = len(told) - SHOWN_THRESHOLDS
        lines.append(
            "thresholds of groups, subtracted from the model's scores before peers pull on them, and so perhaps beyond "
            f"their range: {', '.join(told[:SHOWN_THRESHOLDS])}" + (f" and {more} more" if more > 0 else "")
        )
    lines += [f"  {make_printable(text)}" for text in explained]
    if len(changes) > SHOWN_CHANGES:
        lines.append(f"  ... and {len(changes) - SHOWN_CHANGES} more, in the table")
    return "\n".join(lines)
