"""What the verbs that judge a table of people share: reading it, its options, and the audit itself."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import click

from ifair.cli.live_progress import StepLines
from ifair.cli.output import INPUT, jobs_option, join_options
from ifair.cli.terminal_text import make_printable, warn
from ifair.errors import IfairError, format_given
from ifair.results import TUNING, Evidence, Tuning, read_results

ROLES = (
    *("protected", "target", "positive", "group", "query", "id", "weight"),
    *("ignore", "keep", "categorical", "missing", "similarity"),
)


def estimator_option(*, several: bool = True) -> Any:
    """The option ``--estimator``, the model on top."""
    return click.option(
        "--estimator",
        "estimators" if several else "estimator",
        multiple=several,
        metavar="NAME|MODULE:FACTORY",
        help="The model on top: linear, boosting, neighbours, or a function of yours that returns one"
        + ("; repeat for several. By default linear and boosting." if several else "; linear by default."),
    )


threshold_options = join_options(
    click.option("--threshold", type=float, help="Decide positively above this score; 0.5 by default."),
    click.option("--rate", type=click.FloatRange(0, 1), help="Decide about so many positively, a share of people."),
)
parity_options = join_options(
    click.option(
        "--parity",
        type=click.Choice(["selection", "opportunity"]),
        help="Decide positively about every group at the same rate: of all, or of those expected to be positive.",
    ),
    click.option(
        "--groups", metavar="COLUMN", help="The group of each person, for --parity; by default the protected column."
    ),
)


def check_threshold(threshold: float | None, *, probable: bool) -> None:
    """Refuse a threshold that no score is above, or all are; ``probable``: scores are probabilities."""
    if threshold is None or (0 <= threshold <= 1 if probable else isfinite(threshold)):
        return
    what = "scores are probabilities, and a threshold is a number from 0 to 1" if probable else "it must be a number"
    hint = f"; did you mean {format_given(threshold / 100)}?" if probable and 1 < threshold < 100 else ""
    raise click.UsageError(f"--threshold {format_given(threshold)}: {what}{hint}")


def check_threshold_of(people: Any, threshold: float | None) -> None:
    """Refuse a threshold that says nothing about the outcome of these people, before they are learned from."""
    from ifair.evaluate.splits import task_of

    probable = task_of(people) == "classification"
    check_threshold(threshold, probable=probable)
    if threshold is not None and not probable:
        raise click.UsageError(
            f"--threshold: {people.outcome.name!r} is a number, so that settings are judged by their scores and nobody "
            "is decided about: leave it out, and give it to `ifair decide --threshold` with the model"
        )


def find_parity(parity: str | None, groups: str | None, roles: Any) -> tuple[str, str] | None:
    """The kind of parity and the column of groups; None where none was asked for."""
    if parity is None:
        if groups is not None:
            raise click.UsageError("--parity and --groups COLUMN belong together")
        return None
    if groups is None and len(roles.protected) != 1:
        raise click.UsageError("--parity: there are several protected columns; name one with --groups COLUMN")
    return parity, groups or roles.protected[0]


audit_options = join_options(
    click.option(
        "--tuning",
        type=INPUT,
        help="What `ifair tune` wrote: its front is compared. Without it a small grid of settings.",
    ),
    click.option("--scores", metavar="COLUMN", help="Scores of a model in use: judge it, instead of our own."),
    click.option("--decisions", metavar="COLUMN", help="Decisions of a model in use, with or without --scores."),
    estimator_option(),
    threshold_options,
    parity_options,
    click.option("--seed", type=int, help="Of the split and the starts; that of the tuning, or 0, by default."),
    click.option("--unfavourable", is_flag=True, help="The positive outcome, or a high score, is bad for the person."),
    click.option("--resamples", type=click.IntRange(10), default=500, help="For every interval."),
    click.option("--people", "most_people", type=click.IntRange(33), default=10_000, help="Most to judge and show."),
    jobs_option("Processes", "n_jobs"),
)


def read_people(table: Path, roles: Any, more: Mapping[str, str | None] | None = None) -> tuple[Any, ...]:
    """The table as a Dataset, the ids of its people or None, and columns that are no attributes, or None.

    ``more``: those columns, by the flags that name them. Doubts about columns go to standard error.
    """
    from ifair.cli.roles_options import needs_protected
    from ifair.tables.checked_table import check_table

    needs_protected(roles)
    if roles.target is None:
        raise click.UsageError("name the outcome that is decided about: --target COLUMN, or a file with --columns")
    more = more or {}
    checked = check_table(table, roles, besides={flag: name for flag, name in more.items() if name is not None})
    warn(*checked.warnings)
    ids = None if roles.id is None else checked.frame[roles.id].to_numpy()
    people = checked.to_dataset()
    if not roles.group and people.group.mean() > 0.5:
        warn(
            f"{people.group.mean():.0%} of all people are the protected group: whoever has in any protected column "
            "another value than the most frequent one; say who is meant with --group COLUMN=VALUE"
        )
    return people, ids, *(None if name is None else checked.frame[name] for name in more.values())


def gather_evidence(
    table: Path,
    roles: Any,
    tuning: Path | None,
    scores: str | None,
    decisions: str | None,
    estimators: tuple[str, ...],
    threshold: float | None,
    rate: float | None,
    parity: str | None,
    groups: str | None,
    unfavourable: bool,
    **options: Any,
) -> Evidence:
    """The evidence about a table, with progress on standard error."""
    if threshold is not None and rate is not None:
        raise click.UsageError("--threshold and --rate both say who is decided about positively: give one of them")
    if parity is not None and (scores is not None or decisions is not None):
        raise click.UsageError("--parity: a model in use decides as it does; leave --scores and --decisions out")
    records, ids, given, decided = read_people(table, roles, {"--scores": scores, "--decisions": decisions})
    if scores is None:
        check_threshold_of(records, threshold)
    existing = None
    if given is not None or decided is not None:
        existing = _read_existing(table, records, roles, given, decided, threshold, rate)
    tuned = None if tuning is None else read_tuning(tuning, records)

    from ifair.audit import evidence
    from ifair.audit.evidence import LEARNED_FROM
    from ifair.evaluate.arms import MODELS
    from ifair.evaluate.candidates import check_model
    from ifair.evaluate.splits import task_of

    for name in estimators:
        check_model(name, task_of(records))
    counted = count_people(len(records), LEARNED_FROM, options["most_people"])
    click.echo(f"{make_printable(table.name)}: {counted}; measuring ...", err=True)
    return evidence(
        records,
        tuning=tuned,
        ids=ids,
        higher_is_better=not unfavourable,
        categorical=roles.categorical,
        similarity=roles.similarity,
        models=estimators or MODELS,
        threshold=threshold,
        rate=rate,
        parity=find_parity(parity, groups, roles),
        existing=existing,
        step=StepLines(),
        **options,
    )


def count_people(n_records: int, most_learned: int, most_judged: int) -> str:
    """How many people there are, and of large tables how many are learned from and judged on."""
    third = n_records // 3
    if third <= min(most_learned, most_judged):
        return f"{n_records:,} people"
    learned, judged = min(third, most_learned), min(third, most_judged)
    return f"{n_records:,} people, of whom {learned:,} to learn from and {judged:,} to judge on"


def _read_existing(
    table: Path, records: Any, roles: Any, scores: Any, decisions: Any, threshold: Any, rate: Any
) -> Any:
    """A model in use, by the columns of what it said."""
    import numpy as np
    import pandas as pd

    from ifair.evaluate.splits import task_of
    from ifair.evaluate.training import Existing, find_height
    from ifair.tables.groups import find_value
    from ifair.tables.outcome import encode_outcome
    from ifair.tables.read import suggest_complete

    task = task_of(records)
    if decisions is not None and task != "classification":
        raise IfairError(f"--decisions {decisions.name}: the target is a number, so that there are scores only")
    for column in (scores, decisions):
        if column is not None and column.isna().any():
            row = int(column.isna().to_numpy().argmax()) + 1
            how = suggest_complete(table, str(column.name), roles.missing)
            raise IfairError(
                f"column {column.name!r} is empty in row {row}: leave out people it says nothing about, {how}"
            )
    made: Any = None
    if decisions is not None:
        numbers = pd.to_numeric(decisions, errors="coerce")
        # What is no attribute is read as text.
        decisions = decisions if numbers.isna().any() else numbers
        try:
            positive = find_value(roles.positive, decisions)
        except IfairError as error:
            raise IfairError(
                f"{error}. Decisions must be written like the values of the target {roles.target!r}, so that "
                f"{roles.positive!r} is a positive one"
            ) from error
        made = encode_outcome(decisions, positive).to_numpy()
    if scores is None:
        return Existing(f"column {decisions.name}", made.astype(float), task, decided=made)
    values = pd.to_numeric(scores, errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(values).all():
        row = int((~np.isfinite(values)).argmax())
        raise IfairError(f"--scores {scores.name}: {scores.iloc[row]!r} in row {row + 1} is no number")
    if rate is not None:
        threshold = find_height(values, rate)
    probable = values.min() >= 0 and values.max() <= 1
    if task == "classification" and made is None and threshold is None and not probable:
        raise IfairError(
            f"--scores {scores.name}: the scores are no probabilities; say who is decided about positively, with "
            "--threshold, --rate or --decisions"
        )
    limit = {} if threshold is None else {"threshold": threshold}
    return Existing(f"column {scores.name}", values, task, **limit, decided=made)


def read_tuning(path: Path, records: Any) -> Tuning:
    """A tuning of these very records and roles; of others it says nothing, and is refused."""
    from ifair.audit.tuning import fingerprint_dataset

    found: Tuning = read_results(path, TUNING)
    if found["data"]["fingerprint"] != fingerprint_dataset(records):
        about = found["data"]
        raise IfairError(
            f"{path} was tuned on other records or roles ({about['name']}, {about['records']:,} people): run `ifair "
            "tune` on this table, or give the roles that it was tuned with"
        )
    return found
