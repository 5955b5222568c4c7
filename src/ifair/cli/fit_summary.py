"""What ``ifair fit`` says of the model that it learned: plain data for the file, and lines for people."""

from typing import Any

from ifair.cli.terminal_text import make_printable
from ifair.errors import count_words, format_given, format_rounded

TOP_WEIGHTS = 5
MOST_CLASSES = 6


def describe_training(trained: Any) -> dict[str, Any]:
    """How fitting went, as plain data."""
    found: dict[str, Any] = {}
    if trained.consistent:
        model = trained.estimator
        alike = model.similarity_.to_dict()
        found = {"reference": len(model.reference_scores_), "gap": float(model.gap_), "similarity": alike}
    steps = trained.pipeline.named_steps
    fair = steps.get("fair")
    if not hasattr(fair, "alpha_"):
        return found
    names = [str(name) for name in fair.feature_names_in_]
    order = (-fair.alpha_).argsort(kind="stable")
    return found | {
        "loss": float(fair.loss_),
        "utility_loss": float(getattr(fair, "utility_loss_", fair.loss_)),
        "fairness_loss": float(getattr(fair, "fairness_loss_", 0.0)),
        "iterations": int(fair.n_iter_),
        "converged": bool(fair.converged_),
        "weights": {names[j]: float(fair.alpha_[j]) for j in order},
        "protected_columns": [name for name, is_so in zip(names, fair.protected_mask_) if is_so],
    }


def describe_model(about: dict[str, Any]) -> list[str]:
    """What was learned, in lines."""
    data, learned, roles = about["data"], about["training"], about["roles"]
    size = f"{data['records']:,} people, {count_words(len(data['attributes']), 'attribute', 'attributes')}"
    lines = [f"{size}: {about['candidate']['name']}"]
    if "weighted_by" in data:
        lines.append(f"people are weighted by {data['weighted_by']!r}")
    if "weights" in learned:
        weights = learned["weights"]
        # What a tuning says is learned as it was judged.
        hint = "; that is how it was tuned" if "tuning" in about["settings"] else "; raise --max-iter"
        end = f"{'converged' if learned['converged'] else 'NOT converged'} after {learned['iterations']} iterations"
        end += "" if learned["converged"] else hint
        lines += [
            f"loss {learned['loss']:.4g}: utility {learned['utility_loss']:.4g}, fairness "
            f"{learned['fairness_loss']:.4g}; {end}",
            "columns that count most in distances:",
            *(f"  {weight:8.3f}  {make_printable(name)}" for name, weight in list(weights.items())[:TOP_WEIGHTS]),
        ]
    if "consistent" in about["settings"] and data["outcome"] != "classification":
        share, strength = map(format_given, (about["settings"]["consistent"], about["candidate"]["post"]["strength"]))
        lines.append(f"strength {share} of the range of {roles['target']!r} is {strength} in its units")
    if "reference" in learned:
        lines.append(
            f"one by one, people are compared with {learned['reference']:,} of them (`ifair.score`, `ifair transform "
            "--decide`, `ifair decide --peers training`); `ifair decide` compares the people of a table with each other"
        )
    named = make_printable(", ".join(roles["protected"]))
    if set(roles["protected"]) & set(data["looks_at"]):
        weights = learned.get("weights", {})
        share = sum(weights.get(name, 0.0) for name in learned.get("protected_columns", []))
        of_all = f": weight {share:.3g} of {sum(weights.values()):.3g} in all" if weights else ""
        lines.append(f"protected columns ({named}) are looked at{of_all}; --freeze leaves them out")
    else:
        lines.append(f"protected columns ({named}): not looked at")
    # What was left out unasked was told in a warning, with how to keep it.
    asked = roles.get("ignore", [])
    lines += [f"left out: {name!r} {why}" for name, why in data["left_out"].items() if name in asked]
    return [*lines, *_describe_decisions(about)] if data["outcome"] else lines


def _describe_decisions(about: dict[str, Any]) -> list[str]:
    roles, flips, decision = about["roles"], about["flips"], about["decision"]
    if "mean_move" in flips:
        said = f"scores move by {flips['mean_move']:.3g} on average" if flips["looked_at"] else "no score moves"
    else:
        said = f"{100 * flips['share']:.1f} % of decisions change"
    above = "positive" if about["data"]["outcome"] == "classification" else "selected by `ifair decide`"
    limit = ""
    if decision["threshold"] is not None:
        # What a rate led to is no number that anybody gave.
        show = format_given if decision["rate"] is None else format_rounded
        limit = f", {above} above {show(decision['threshold'])}"
    if classes := about["data"].get("classes"):
        limit = f", of {len(classes)} classes ({make_printable(', '.join(classes[:MOST_CLASSES]))}" + (
            ")" if len(classes) <= MOST_CLASSES else ", ...)"
        )
    seen = {"masked": "the unprotected columns", "full": "all columns"}.get(about["candidate"]["method"], "it")
    lines = [
        f"a {about['candidate']['model']} model of {roles['target']!r} is trained on {seen}{limit}",
        f"if nothing but {make_printable(' and '.join(roles['protected']))} is swapped, {said}"
        + (", where people are decided about one by one" if "parity" in decision else "")
        + ("" if flips["looked_at"] else ", by construction"),
    ]
    if "parity" in decision:
        whom = "" if decision["parity"] == "selection" else " of those expected to be positive"
        lines.append(
            f"`ifair decide` selects every group of {make_printable(decision['groups'])!r} at the same rate{whom}, "
            "which uses the group; scores and decisions one by one do not"
        )
    return lines
