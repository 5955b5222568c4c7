"""``ifair fit``: from a table to a fair representation in a file."""

import warnings
from pathlib import Path
from typing import Any

import click

from ifair.cli.extras import needs, needs_for_tables
from ifair.cli.output import echo_json, explain_write_errors, json_option, output_option, prepare_output
from ifair.cli.roles_options import needs_protected, roles_options
from ifair.cli.terminal_text import make_printable, warn

TOP_WEIGHTS = 5
MODELS = {"classes": "a classifier (logistic regression)", "numbers": "a regression (linear)"}


@click.command(short_help="Learn a fair representation of a table.")
@click.argument("table", type=click.Path(readable=False, path_type=Path))
@roles_options(
    *("protected", "target", "positive", "id", "query", "score"),
    *("ignore", "keep", "categorical", "missing", "similarity"),
)
@click.option("-k", "--prototypes", type=click.IntRange(1), default=10, show_default=True, help="How many prototypes.")
@click.option(
    "--lambda", "utility", type=click.FloatRange(0), default=1.0, show_default=True, help="Weight of utility."
)
@click.option("--mu", "fairness", type=click.FloatRange(0), default=1.0, show_default=True, help="Weight of fairness.")
@click.option("--freeze", is_flag=True, help="Guarantee that protected columns have no influence at all.")
@click.option(
    "--consistent",
    type=click.FloatRange(0),
    metavar="STRENGTH",
    help="Learn decisions that treat like people alike, for `ifair decide`, instead of a representation; try 0.1.",
)
@click.option("--restarts", type=click.IntRange(1), default=3, show_default=True, help="Starts to try.")
@click.option("--max-iter", type=click.IntRange(1), default=1000, show_default=True, help="Most iterations of a start.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same model.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 for one per core.")
@output_option("The model file to write, such as model.ifair.")
@json_option("what was learned as JSON, for scripts")
def fit(
    table: Path,
    roles: Any,
    prototypes: int,
    utility: float,
    fairness: float,
    freeze: bool,
    consistent: float | None,
    restarts: int,
    max_iter: int,
    seed: int,
    jobs: int,
    output: Path,
    as_json: bool,
) -> None:
    """Learn a fair representation of the people in TABLE (CSV or Parquet) and save it as a model.

    With --target, a model of the outcome is trained on the representation and saved along: logistic regression for
    two values, linear regression for more numbers. What cannot be an attribute (identifiers, constants, free text) is
    left out, and said so.

    \b
    ifair fit people.csv --protected sex -o model.ifair
    ifair fit people.csv -p race -p sex --target income --positive '>50K' -o model.ifair
    ifair fit people.csv --columns roles.toml -k 20 --mu 10 --freeze -o model.ifair
    ifair fit people.csv -p sex --target hired --consistent 0.1 -o model.ifair
    ifair fit people.csv --columns roles.toml -o model.ifair --json | jq .training.loss
    """
    needs_protected(roles)
    if consistent is not None:
        _check_consistent(roles)
    needs("a model file", "skops")
    needs_for_tables(table)
    prepare_output(output, "model")

    import ifair
    from ifair.tables.checked_table import check_table

    checked = check_table(table, roles)
    warn(checked.warnings)
    people = checked.to_dataset(needs_group=False)
    settings: dict[str, Any] = {"strength": consistent, "random_state": seed}
    if consistent is None:
        settings = {
            "n_prototypes": prototypes,
            "utility_weight": utility,
            "fairness_weight": fairness,
            "freeze_protected": freeze,
            "n_restarts": restarts,
            "max_iter": max_iter,
            "random_state": seed,
        }
    click.echo(
        f"{make_printable(table.name)}: {len(people)} people, {people.frame.shape[1]} attributes; learning ...",
        err=True,
    )
    if consistent is None:
        model = _fit_pipeline(people, roles, settings, jobs)
        training = _describe_training(model["fair"])
    else:
        model = _fit_consistent(people, roles, settings)
        training = {"reference": len(model.reference_scores_), "gap": float(model.gap_)}
    about = {
        "roles": roles.as_dict(),
        "data": {
            "table": table.name,
            "records": len(people),
            "attributes": list(people.frame.columns),
            "left_out": checked.left_out,
            "outcome": _name_outcome(people),
        },
        "settings": settings,
        "training": training,
    }
    with explain_write_errors(output):
        ifair.save(model, output, about=about)
    if as_json:
        echo_json({"model": str(output), **about, "warnings": checked.warnings})
    else:
        click.echo(_describe_model(about) if consistent is None else _describe_consistent(about))
        click.echo(f"\nModel: {output}")


def _fit_pipeline(people: Any, roles: Any, settings: dict[str, Any], jobs: int) -> Any:
    """The fitted pipeline: encoder, representation, and with an outcome its model."""
    from sklearn.pipeline import Pipeline

    from ifair.encode import Encoder
    from ifair.models.ifair import IFair

    steps: list[tuple[str, Any]] = [
        ("encode", Encoder(categorical=list(roles.categorical) or "auto")),
        ("fair", IFair(**settings, protected=list(roles.protected), n_jobs=jobs, verbose=True)),
    ]
    if people.target is not None:
        steps.append(("decide", _choose_model(people)))
    model = _fit_in_words(Pipeline(steps), people)
    # How many threads learned it and how it was shown are no properties of the model.
    return model.set_params(fair__n_jobs=None, fair__verbose=False)


def _check_consistent(roles: Any) -> None:
    """Consistent decisions need an outcome, and none of the options of a representation."""
    from click.core import ParameterSource

    if roles.target is None:
        raise click.UsageError("--consistent learns decisions: name the outcome with --target COLUMN")
    context = click.get_current_context()
    flags = {"prototypes": "-k", "utility": "--lambda", "fairness": "--mu", "freeze": "--freeze"}
    flags |= {"restarts": "--restarts", "max_iter": "--max-iter"}
    for name, flag in flags.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--consistent learns no representation: leave {flag} out")


def _fit_consistent(people: Any, roles: Any, settings: dict[str, Any]) -> Any:
    """Consistent decisions around an encoder and a linear model."""
    from sklearn.pipeline import Pipeline

    from ifair.encode import Encoder
    from ifair.models.consistent import ConsistentClassifier, ConsistentRegressor
    from ifair.similarity import make_similarity

    categorical = [name for name in roles.categorical if name not in roles.protected] or "auto"
    inner = Pipeline([("encode", Encoder(categorical=categorical)), ("decide", _choose_model(people))])
    kind = ConsistentClassifier if _name_outcome(people) == "classes" else ConsistentRegressor
    alike = make_similarity(roles.similarity, columns=people.frame.columns, categorical=categorical)
    return _fit_in_words(kind(inner, **settings, protected=list(roles.protected), similarity=alike), people)


def _choose_model(people: Any) -> Any:
    """The model of the outcome."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return LogisticRegression(max_iter=1000) if _name_outcome(people) == "classes" else LinearRegression()


def _fit_in_words(model: Any, people: Any) -> Any:
    """Fit; what the model refuses or warns of is told on the command line."""
    from sklearn.exceptions import ConvergenceWarning

    from ifair.errors import IfairError

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(people.frame, people.target)
        except (ValueError, TypeError) as error:
            # The estimators refuse bad tables and settings this way, in words.
            raise IfairError(str(error)) from error
    # What happened to convergence is part of what is printed about the model.
    warn(str(w.message) for w in caught if not issubclass(w.category, ConvergenceWarning))
    return model


def _name_outcome(people: Any) -> str | None:
    if people.target is None:
        return None
    return "classes" if set(people.target.unique()) <= {0, 1} else "numbers"


def _describe_training(fair: Any) -> dict[str, Any]:
    names = [str(name) for name in fair.feature_names_in_]
    order = (-fair.alpha_).argsort(kind="stable")
    return {
        "loss": float(fair.loss_),
        "utility_loss": float(fair.utility_loss_),
        "fairness_loss": float(fair.fairness_loss_),
        "iterations": int(fair.n_iter_),
        "converged": bool(fair.converged_),
        "weights": {names[j]: float(fair.alpha_[j]) for j in order},
        "protected_columns": [name for name, is_so in zip(names, fair.protected_mask_) if is_so],
    }


def _describe_model(about: dict[str, Any]) -> str:
    learned, data, settings = about["training"], about["data"], about["settings"]
    weights = learned["weights"]
    largest = [f"  {weight:8.3f}  {make_printable(name)}" for name, weight in list(weights.items())[:TOP_WEIGHTS]]
    protected = sum(weights[name] for name in learned["protected_columns"])
    end = "converged" if learned["converged"] else "NOT converged; raise --max-iter"
    lines = [
        f"{data['records']} people, {len(data['attributes'])} attributes in {len(weights)} columns, "
        f"{settings['n_prototypes']} prototypes",
        f"loss {learned['loss']:.4g}: utility {learned['utility_loss']:.4g}, fairness {learned['fairness_loss']:.4g}; "
        f"{end} after {learned['iterations']} iterations",
        "columns that count most in distances:",
        *largest,
        f"protected columns ({make_printable(', '.join(about['roles']['protected']))}): weight {protected:.3g} of "
        f"{sum(weights.values()):.3g} in all"
        + ("; frozen, so no influence at all" if settings["freeze_protected"] else "; --freeze would make it 0"),
    ]
    lines += _describe_left_out(data)
    if data["outcome"]:
        lines.append(f"{MODELS[data['outcome']]} of {about['roles']['target']!r} is trained on the representation")
    return "\n".join(lines)


def _describe_consistent(about: dict[str, Any]) -> str:
    data, roles = about["data"], about["roles"]
    lines = [
        f"{data['records']} people, {len(data['attributes'])} attributes; newcomers are compared with "
        f"{about['training']['reference']} of them, strength {about['settings']['strength']:g}",
        f"protected columns ({make_printable(', '.join(roles['protected']))}): not looked at",
        *_describe_left_out(data),
        f"{MODELS[data['outcome']]} of {roles['target']!r} is trained on the other columns",
    ]
    return "\n".join(lines)


def _describe_left_out(data: dict[str, Any]) -> list[str]:
    return [f"left out: {name!r} {make_printable(why)}" for name, why in data["left_out"].items()]
