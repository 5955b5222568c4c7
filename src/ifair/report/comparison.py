"""A point beside the full data and beside deleting the protected columns, measure by measure, in text."""

from collections.abc import Mapping
from typing import Any

from ifair.errors import suggest_name
from ifair.results import Evidence, Point, ResultsError, find_measure

ROLES = {"full": "full data", "deleted": "columns deleted", "penalised": "columns deleted, tuned penalty"}
"""What a point is compared with."""


def find_point(evidence: Evidence, choice: str) -> Point:
    """The point that one of the evidence's choices, a letter or an id names."""
    labels = {point["label"]: point["id"] for point in evidence["points"] if "label" in point}
    by_id = {point["id"]: point for point in evidence["points"]}
    id_ = str(evidence["choices"].get(choice, labels.get(choice, choice)))
    if id_ not in by_id:
        known = [*evidence["choices"], *by_id]
        hint = suggest_name(choice, known) or "."
        raise ResultsError(f"there is no point {choice!r} in the evidence{hint} There are {', '.join(known)}")
    return by_id[id_]


def find_references(evidence: Evidence, point: Point) -> dict[str, Point]:
    """By role the points that another one is compared with."""
    found = {one["role"]: one for one in reversed(evidence["points"]) if one["id"] != point["id"]}
    return {role: found[role] for role in ROLES if role in found}


def name_measures(evidence: Evidence, point: Point) -> dict[str, str]:
    """What every measure is called; of the groups those whose gap is largest."""
    two_classes = evidence["task"] == "classification"
    names = {"utility": evidence["utility"]["name"], "ranks": "consistency of ranks"}
    names |= {"matched": "consistency at one rate", "yNN": "yNN, as in the paper", "accuracy": "accuracy"}
    names["positive"] = f"predicted {name_outcome(evidence)}"
    names["flip"] = "decisions that flip" if two_classes else "how far scores move"
    names["leak"] = "group guessed (AUC)"
    return names | {f"gap:{one['partition']}": f"gap by {one['partition']}" for one in point["groups"][:1]}


def describe_judged(evidence: Evidence) -> str:
    """Whom the numbers are about, and whether a model has learned from them."""
    people = f"{evidence['data']['parts']['test']:,} people"
    in_use = next((point["name"] for point in evidence["points"] if point["family"] == "existing"), None)
    if in_use is None:
        return f"{people} whom no model has seen"
    return (
        f"{people}; whether “{in_use}” learned from them is not known here: if it did, it looks better than it is. The "
        "other models have not seen them"
    )


def name_outcome(evidence: Evidence) -> str:
    """The outcome in the words of the table: its column, and its value unless that only says yes."""
    about = evidence["data"]
    value = about.get("positive")
    plain = value is None or value.lower() in ("1", "1.0", "true", "yes", "y")
    return about["target"] if plain else f"{about['target']}: {value}"


def tabulate_comparison(evidence: Evidence, point: Point) -> list[list[str]]:
    """Rows of text, the first the head: measure, each reference, the point, and the word against deleting."""
    references = find_references(evidence, point)
    against = next((role for role in ("deleted", "penalised", "full") if role in point.get("differences", {})), None)
    others = [(f"{one.get('label', '')} {ROLES[role]}".strip(), one) for role, one in references.items()]
    head = ["", *(name for name, _ in others), f"{point.get('label', '')} this one".strip()]
    rows = [head + ([f"against {ROLES[against]}"] if against else [])]
    for measure, name in name_measures(evidence, point).items():
        cells = [measure_text(find_measure(one, measure)) for _, one in [*others, ("", point)]]
        if set(cells) == {"-"}:
            continue
        said = [difference_text(point["differences"][against].get(measure))] if against else []
        rows.append([name, *cells, *said])
    return rows


def number_text(value: float, sign: str = "") -> str:
    """A number with three decimals, fewer where it is large, as on the page.

    Examples
    --------
    >>> number_text(0.4567), number_text(-27.076, "+"), number_text(33784.6)
    ('0.457', '-27.08', '33,785')
    """
    decimals = next((n for n, limit in ((3, 10), (2, 100), (1, 1000)) if abs(value) < limit), 0)
    return f"{value:{sign},.{decimals}f}"


def measure_text(one: Mapping[str, Any] | None) -> str:
    """A measure with its interval, if there is one."""
    if one is None or one["estimate"] is None:
        return "-"
    ends = "" if one["low"] is None else f" [{number_text(one['low'])}, {number_text(one['high'])}]"
    return f"{number_text(one['estimate'])}{ends}"


def difference_text(one: Mapping[str, Any] | None) -> str:
    """The word for a difference, and its interval."""
    if one is None or one["estimate"] is None:
        return "-"
    if one["low"] is None or one["word"] == "the same":
        return str(one["word"])
    estimate, low, high = (number_text(one[end], "+") for end in ("estimate", "low", "high"))
    return f"{one['word']} {estimate} [{low}, {high}]"
