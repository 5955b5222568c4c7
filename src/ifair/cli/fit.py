"""``ifair fit``: from a table to a model in a file: a fair representation, decisions on it, or what a tuning chose."""

from pathlib import Path
from typing import Any

import click

from ifair.cli.audit_options import ROLES as AUDIT_ROLES
from ifair.cli.audit_options import (
    check_threshold,
    estimator_option,
    find_parity,
    parity_options,
    read_tuning,
    threshold_options,
)
from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.fit_summary import describe_model, describe_training
from ifair.cli.output import (
    INPUT,
    echo_json,
    explain_write_errors,
    jobs_option,
    json_option,
    output_option,
    prepare_output,
)
from ifair.cli.roles_options import needs_protected, roles_options
from ifair.cli.terminal_text import list_given, make_printable, tell_warnings, warn
from ifair.errors import IfairError

MOST_FLIPPED = 2_000
"""People whose protected attributes are swapped, at most."""

REPRESENTING = ("prototypes", "utility", "fairness", "freeze", "restarts", "max_iter")
"""Parameters of a representation."""


@click.command(short_help="Learn a fair representation, or what a tuning chose.")
@click.argument("table", type=INPUT)
@roles_options(*AUDIT_ROLES, "score")
@click.option(
    "--tuning",
    type=INPUT,
    help="What `ifair tune` wrote about this table: learn the point that --choice names, exactly.",
)
@click.option(
    "--choice",
    help="With --tuning: balanced (by default), most_useful, fairest, or the letter or id of a point of the report.",
)
@click.option("--as-audited", is_flag=True, help="With --tuning: learn from the third that the report learned from.")
@click.option("-k", "--prototypes", type=click.IntRange(1), default=10, help="How many prototypes.")
@click.option("--lambda", "utility", type=click.FloatRange(0), default=1.0, help="Weight of utility.")
@click.option("--mu", "fairness", type=click.FloatRange(0), default=1.0, help="Weight of fairness.")
@click.option(
    "--freeze/--no-freeze",
    default=True,
    help="Leave protected columns out altogether, or learn their weights as the paper does.",
)
@click.option(
    "--consistent",
    type=click.FloatRange(0),
    metavar="STRENGTH",
    help="Learn decisions that treat like people alike, for `ifair decide`, instead of a representation. A share of "
    "the range of scores, which for a numeric target is that of its values; try 0.1.",
)
@estimator_option(several=False)
@threshold_options
@parity_options
@click.option(
    "--restarts",
    type=click.IntRange(1),
    default=3,
    help="Starts to try with --no-freeze, or with more prototypes than columns; else there is one, along "
    "principal components.",
)
@click.option("--max-iter", type=click.IntRange(1), default=1000, help="Most iterations of a start.")
@click.option("--seed", type=int, help="Same seed, same model; that of the tuning, or 0, by default.")
@jobs_option("Threads")
@output_option("The model file to write, such as model.ifair.")
@json_option("what was learned as JSON, for scripts")
def fit(
    table: Path,
    roles: Any,
    tuning: Path | None,
    choice: str | None,
    as_audited: bool,
    consistent: float | None,
    estimator: str | None,
    threshold: float | None,
    rate: float | None,
    parity: str | None,
    groups: str | None,
    seed: int | None,
    jobs: int,
    output: Path,
    as_json: bool,
    **representing: Any,
) -> None:
    """Learn a fair representation of the people in TABLE (CSV or Parquet) and save it as a model.

    With --target, a model of the outcome is trained on the representation and saved along. With --tuning, the model is
    a point of the report: its representation, model, strength and threshold, learned from all people. What cannot be
    an attribute (identifiers, constants, free text) is left out, and said so. Protected columns are not looked at, and
    need not be there when the model is used, unless --no-freeze asks for the paper's way. With --parity and --rate,
    `ifair decide` gives every group of a column the same rate by this model, unless it is told otherwise.

    \b
    ifair fit people.csv --protected sex -o model.ifair
    ifair fit people.csv -p race -p sex --target income --positive '>50K' -o model.ifair
    ifair fit people.csv --columns roles.toml --tuning tuning.json --choice balanced -o model.ifair
    ifair fit people.csv --columns roles.toml -k 20 --mu 10 -o model.ifair
    ifair fit people.csv -p sex --target hired --consistent 0.1 --estimator boosting -o model.ifair
    ifair fit people.csv -p sex --target hired --consistent 0.1 --rate 0.2 --parity selection -o model.ifair
    ifair fit people.csv --columns roles.toml -o model.ifair --json | jq .training.loss
    """
    needs_protected(roles)
    _check_options(roles)
    equal = find_parity(parity, groups, roles)
    if equal is not None and (roles.target is None or rate is None):
        raise click.UsageError("--parity finds a threshold for every group: name the outcome, and how many with --rate")
    needs("a model file", "skops")
    needs_for_tables(table)
    prepare_output(output, "model")

    from pandas.api.types import is_numeric_dtype

    import ifair
    from ifair.evaluate.candidates import check_model
    from ifair.evaluate.splits import task_of
    from ifair.evaluate.training import check_parity
    from ifair.tables.checked_table import check_table

    checked = check_table(table, roles, classes=tuning is None)
    warn(*checked.warnings)
    people = checked.to_dataset(needs_group=tuning is not None)
    if tuning is not None:
        recipe = _read_recipe(tuning, (choice or "balanced").replace(" ", "_"), people, seed, as_audited)
        equal = equal or _take_parity(recipe.pop("parity"), rate)
    else:
        recipe = _write_recipe(roles, people, consistent, estimator or "linear", seed or 0, representing)
    learned_from = recipe.pop("learned_from", people)
    target = people.target
    given = [flag for flag, value in (("threshold", threshold), ("rate", rate)) if value is not None]
    if given and target is not None and target.nunique() > 2 and not is_numeric_dtype(target):
        raise click.UsageError(
            f"--{given[0]} says who is decided about positively, and {str(target.name)!r} has {target.nunique()} "
            f"classes: leave it out, or judge one class against all others, such as --positive {target.iloc[0]}"
        )
    task = "classification" if people.target is None else task_of(people)
    check_threshold(threshold, probable=task == "classification")
    check_model(recipe["candidate"].model, task)
    click.echo(
        f"{make_printable(table.name)}: {len(learned_from):,} people, {people.frame.shape[1]} attributes; learning ...",
        err=True,
    )
    if equal is not None:
        check_parity(people, task, *equal)
    trained = _fit_in_words(learned_from, task, recipe, jobs)
    limit = _find_threshold(trained, learned_from, threshold, rate, recipe.get("threshold"))
    if equal is not None:
        limit |= {"parity": equal[0], "groups": equal[1]}
    about = {
        "roles": roles.as_dict(),
        "data": {
            "table": table.name,
            "records": len(learned_from),
            "attributes": list(people.frame.columns),
            "looks_at": trained.columns,
            "left_out": checked.left_out,
            **({} if roles.weight is None else {"weighted_by": roles.weight}),
            "outcome": None if people.target is None else task,
            **({"classes": trained.classes} if people.target is not None and trained.classes else {}),
        },
        "candidate": {"name": recipe["candidate"].name, **recipe["candidate"].to_data()},
        "settings": {**recipe["solver"], "seed": recipe["seed"], **recipe["about"]},
        "training": describe_training(trained),
        **({} if people.target is None else {"decision": limit, "flips": _count_flips(trained, learned_from, limit)}),
    }
    with explain_write_errors(output), tell_warnings():
        ifair.save(trained.estimator, output, about=about)
    if as_json:
        echo_json({"model": str(output), **about, "warnings": checked.warnings})
    else:
        click.echo("\n".join(describe_model(about)))
        click.echo(f"\nModel: {output}")


def _check_options(roles: Any) -> None:
    """Refuse options that say nothing together, before anything is read."""
    given = list_given()
    representing = [given[name] for name in REPRESENTING if name in given]
    deciding = [name for name in ("tuning", "consistent", "estimator") if name in given]
    if "tuning" in given:
        others = [*representing, *(f"--{name}" for name in deciding[1:])]
        if others:
            raise click.UsageError(f"the tuning says what is learned: leave {others[0]} out")
    elif given.keys() & {"choice", "as_audited"}:
        raise click.UsageError("--choice and --as-audited are about a point of a tuning: name it with --tuning FILE")
    if "consistent" in given and representing:
        raise click.UsageError(f"--consistent learns no representation: leave {representing[0]} out")
    if roles.target is None and deciding:
        raise click.UsageError(f"--{deciding[0]} learns decisions: name the outcome with --target COLUMN")
    limits = [given[name] for name in ("threshold", "rate") if name in given]
    if roles.target is None and limits:
        raise click.UsageError(f"{limits[0]} is about decisions: name the outcome with --target COLUMN")
    if given.keys() >= {"threshold", "rate"}:
        raise click.UsageError("--threshold and --rate both say who is decided about positively: give one of them")


def _write_recipe(
    roles: Any, people: Any, consistent: float | None, estimator: str, seed: int, representing: dict[str, Any]
) -> dict[str, Any]:
    """What to learn, by the options."""
    from ifair.evaluate.candidates import Candidate, make_consistent
    from ifair.evaluate.splits import find_score_range, task_of

    solver, about = {}, {}
    if consistent is not None:
        low, high = find_score_range(people.outcome.to_numpy(), task_of(people))
        candidate = Candidate("masked", {}, estimator, make_consistent(consistent, high - low))
        about = {"consistent": consistent}
    else:
        weights = {"K": "prototypes", "lambda": "utility", "mu": "fairness"}
        setting = {letter: representing[name] for letter, name in weights.items()}
        variant = "frozen" if representing["freeze"] else "paper"
        candidate = Candidate("ifair", {"variant": variant, **setting}, estimator)
        solver = {"n_restarts": representing["restarts"], "max_iter": representing["max_iter"]}
    alike = {"similarity": roles.similarity, "categorical": roles.categorical}
    return {"candidate": candidate, "solver": solver, "seed": seed, **alike, "about": about}


def _read_recipe(path: Path, choice: str, people: Any, seed: int | None, as_audited: bool) -> dict[str, Any]:
    """What to learn, by a point of a tuning; with ``learned_from``, the people that the audit learned from."""
    from ifair.audit.evidence import split_for_audit
    from ifair.audit.tuning import find_better_deletion, find_similarity, find_tuned

    tuning = read_tuning(path, people)
    point = find_tuned(tuning, choice)
    reached = next((trial for trial in tuning["trials"] if trial["id"] == point.id), None)
    better = None if reached is None else find_better_deletion(tuning, reached)
    if better is not None:
        warn(
            f"by {path.name}, {better} does better than {choice!r}, on the validation people: --choice {better.label} "
            "learns that; `ifair report` judges on others"
        )
    recipe: dict[str, Any] = {
        "candidate": point,
        "solver": tuning["solver"],
        "seed": tuning["seed"] if seed is None else seed,
        "similarity": find_similarity(tuning),
        "categorical": tuning["categorical"],
        "threshold": tuning["threshold"],
        "parity": tuning.get("parity"),
        "about": {"tuning": path.name, "choice": choice, "as_audited": as_audited},
    }
    if as_audited:
        alike = {"categorical": tuning["categorical"], "similarity": recipe["similarity"]}
        recipe["learned_from"] = split_for_audit(people, recipe["seed"], **alike).train.records
    return recipe


def _take_parity(tuned: Any, rate: float | None) -> tuple[str, str] | None:
    """The parity that a tuning was judged by, where a rate is given; where none is, that it does without is told."""
    if tuned is None:
        return None
    if rate is None:
        warn(
            f"tuned with --parity {tuned['kind']} --groups {tuned['groups']}, and this model decides by one threshold "
            "for all: say how many with --rate, and it keeps the parity"
        )
        return None
    return tuned["kind"], tuned["groups"]


def _fit_in_words(people: Any, task: str, recipe: dict[str, Any], jobs: int) -> Any:
    """Fit; what the model refuses or warns of is told on the command line."""
    from sklearn.exceptions import ConvergenceWarning

    from ifair.evaluate.splits import encode_table, make_encoder
    from ifair.evaluate.training import fit_candidate
    from ifair.similarity.similarity import make_similarity

    categorical = list(recipe["categorical"]) or "auto"
    # What happened to convergence is part of what is printed about the model.
    with tell_warnings(without=ConvergenceWarning):
        try:
            alike = make_similarity(
                recipe["similarity"] or "attributes",
                columns=people.frame.columns,
                protected=people.protected,
                categorical=categorical,
            )
            encoder = make_encoder(categorical, recipe["similarity"])
            part = encode_table(people, encoder, blind=recipe["candidate"].drops_protected, similarity=alike)
            solver = {**recipe["solver"], "n_jobs": jobs, "verbose": True}
            trained = fit_candidate(recipe["candidate"], part, task, recipe["seed"], solver)
        except (ValueError, TypeError) as error:
            # The estimators refuse bad tables and settings this way, in words.
            raise IfairError(str(error)) from error
    for pipeline in [trained.pipeline, trained.estimator.estimator] if trained.consistent else [trained.estimator]:
        if "fair__n_jobs" in pipeline.get_params():
            # How many threads learned it and how it was shown are no properties of the model.
            pipeline.set_params(fair__n_jobs=None, fair__verbose=False)
    return trained


def _find_threshold(
    trained: Any, people: Any, threshold: float | None, rate: float | None, tuned: float | None
) -> dict[str, Any]:
    """Above which score people are decided about positively; by a rate, that of so many of those learned from."""
    from ifair.evaluate.training import find_height

    if people.target is None or trained.task != "classification":
        return {"threshold": threshold, "rate": rate}
    if trained.classes:
        return {"threshold": None, "rate": None}
    if rate is not None:
        scores = trained.estimator.reference_scores_ if trained.consistent else trained.scores(people.frame)
        threshold = find_height(scores, rate, people.relative_weight)
    return {"threshold": next(t for t in (threshold, tuned, 0.5) if t is not None), "rate": rate}


def _count_flips(trained: Any, people: Any, decision: dict[str, Any]) -> dict[str, Any]:
    """What changes if nothing but the protected attributes does."""
    import numpy as np

    from ifair.evaluate.measures import flip_scores

    some = people.take(np.random.default_rng(0).permutation(len(people))[:MOST_FLIPPED])
    looked_at = bool(set(some.protected) & set(trained.columns))
    # Where nobody is decided about, scores are what may move.
    extent = "share" if trained.task == "classification" else "mean_move"
    moved = 0.0
    if looked_at:
        ask = trained.predict_codes if trained.classes else trained.scores
        own = ask(some.frame)
        _, changed = flip_scores(some, trained, own, ask)
        if extent == "mean_move":
            moved = float(np.nanmean(np.abs(changed - own)))
        else:
            limit = decision["threshold"]
            was, now = (own, changed) if limit is None else (scores > limit for scores in (own, changed))
            moved = float((~np.isnan(changed) & (was != now)).any(axis=0).mean())
    return {"people": len(some), "looked_at": looked_at, extent: moved}
