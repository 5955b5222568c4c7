"""An audit and a tuning for a terminal."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import align_rows
from ifair.report.comparison import describe_judged, measure_text, number_text, tabulate_comparison
from ifair.results import ENOUGH_PEOPLE, Choices, Evidence, Parity, Point, Tuning, find_measure


def audit_text(evidence: Evidence) -> str:
    """The verdict, all points in one table, and each named choice beside deleting the columns."""
    points = evidence["points"]
    chosen = _name_chosen(evidence)
    flips = "flips" if evidence["task"] == "classification" else "moves"
    head = ["", "", evidence["utility"]["name"], "ranks", "yNN", flips, "adversary", "largest gap", "choice, caution"]
    lines = [
        _describe_people(evidence),
        "",
        align_rows([head, *(_row(point, chosen) for point in points)]),
    ]
    for id_, name in chosen.items():
        point = next(point for point in points if point["id"] == id_)
        lines += ["", f"{point.get('label', '')} ({name}): {point['name']}"]
        lines += [f"  CAUTION: {one['text']}" for one in point.get("cautions", [])]
        lines += [f"  {line}" for line in align_rows(tabulate_comparison(evidence, point)).splitlines()]
    lines += [f"left out: {one['name']} ({one['why']})" for one in evidence["left_out"]]
    if said := verdict_text(evidence):
        lines += ["", said]
    return "\n".join(lines)


def verdict_text(evidence: Evidence) -> str:
    """The verdict, what to know of the table and besides, and what it is about; nothing where there is none of it."""
    verdict: Mapping[str, Any] = evidence.get("verdict", {})
    besides = [*evidence.get("cautions", []), *verdict.get("besides", [])]
    cautions = [f"Caution: {one['text']}" for one in besides]
    return "\n".join(filter(None, [verdict.get("sentence"), *cautions, verdict.get("scope")]))


def tuning_text(tuning: Tuning) -> str:
    """What deleting the columns reaches, the front, and the three choices."""
    names = _by_point(tuning["choices"])
    rows = [["", tuning["utility"], "ranks", "yNN", "choice, or why none"]]
    known = {point["id"] for point in tuning["baselines"]}
    chosen = [point for point in tuning["trials"] if point["id"] in names]
    listed = {p["id"]: p for p in (*tuning["baselines"], *tuning["front"], *chosen)}
    for point in listed.values():
        reached = point["validation"]
        numbers = [_number(reached["utility"]), _number(reached.get("ranks")), _number(reached["yNN"])]
        no_choice = "to compare" if point["id"] in known else point.get("passed_over", "")
        rows.append([point["name"], *numbers, names.get(point["id"], no_choice)])
    by = tuning["data"].get("weighted_by")
    weighted = "" if by is None else f"; people are weighted by {by!r}"
    if (parity := tuning.get("parity")) is not None:
        weighted += f"; {aim_words(parity)}, found on these very people"
    cautions = "".join(f"\n\nCaution: {one['text']}" for one in tuning.get("cautions", []))
    return (
        f"What the choices are compared with, and the front of {len(tuning['trials'])} settings, on validation people "
        f"(ranks: how alike the scores of like people are{weighted}):\n\n{align_rows(rows)}{cautions}"
    )


def summary_text(evidence: Evidence) -> str:
    """The full data, deleting the columns with every penalty, and ours, in a short table; and the verdict."""
    chosen = _name_chosen(evidence)
    flips = "flips" if evidence["task"] == "classification" else "moves"
    rows = [["", "", evidence["utility"]["name"], "consistency of ranks", flips, "choice, caution"]]
    for point in evidence["points"]:
        if point["role"] != "rival" or point["family"] == "masked":
            numbers = [_estimate(point, measure) for measure in ("utility", "ranks", "flip")]
            rows.append([point.get("label", ""), point["name"], *numbers, _list_marks(point, chosen)])
    changed = " and ".join(evidence["data"]["protected"])
    explained = "Flips: decisions that change" if flips == "flips" else "Moves: how far scores move"
    parts = [
        _describe_people(evidence),
        align_rows(rows),
        f"Consistency of ranks: how alike the scores of like people are. {explained} if only {changed} does.",
    ]
    return "\n\n".join(filter(None, [*parts, verdict_text(evidence)]))


def _describe_people(evidence: Evidence) -> str:
    about = evidence["data"]
    weighted = ""
    if "weighted_by" in about:
        once = ", ".join(about.get("counted_once", []))
        weighted = f"; people are weighted by {about['weighted_by']!r}, but count once in: {once}"
    chosen = next((point for point in evidence["points"] if point["id"] == evidence["choices"].get("balanced")), None)
    parity = parity_words(evidence, chosen or evidence["points"][0])
    return (
        f"{about['name']}: {about['records']:,} people, protected: {', '.join(about['protected'])}; measured on "
        f"{describe_judged(evidence)}{weighted}{f'; {parity}' if parity else ''}"
    )


def parity_words(evidence: Evidence, point: Point) -> str:
    """What groups are to get, where they are to get the same rate, and how far a point is from it; else nothing."""
    parity = evidence["settings"].get("parity")
    if parity is None:
        return ""
    said = f"{aim_words(parity)}, found on the validation part"
    if (gap := point.get("parity_gap")) is None:
        return said
    whom = "" if parity["kind"] == "selection" else " among those who truly are positive"
    reached = f"is {measure_text(gap)} with {point.get('label', point['name'])}"
    if gap["estimate"] is None:
        reached = "is not known"
    return (
        f"{said}; on the test part the largest gap{whom} {reached} (between groups of {ENOUGH_PEOPLE} people or more)"
    )


def aim_words(parity: Parity) -> str:
    """What thresholds of groups are for."""
    whom = "" if parity["kind"] == "selection" else " of those whom the model expects to be positive"
    return f"thresholds of each group of {parity['groups']!r} aim at the same rate{whom}"


def _by_point(choices: Choices) -> dict[str, str]:
    """What each chosen point is called: one may be chosen by several rules."""
    chosen = [(rule.replace("_", " "), str(id_)) for rule, id_ in choices.items()]
    return {id_: ", ".join(rule for rule, other in chosen if other == id_) for _, id_ in chosen}


def _name_chosen(evidence: Evidence) -> dict[str, str]:
    """What each point that is shown in full is called: by the rules that chose it; nobody chose a model in use."""
    in_use = {point["id"]: "in use" for point in evidence["points"] if point["family"] == "existing"}
    return {**_by_point(evidence["choices"]), **in_use}


def _list_marks(point: Point, chosen: Mapping[str, str]) -> str:
    """By which rules a point was chosen, and what to be careful about."""
    choice = chosen.get(point["id"])
    return ", ".join([*filter(None, [choice]), *(one["tag"] for one in point.get("cautions", []))])


def _row(point: Point, chosen: Mapping[str, str]) -> list[str]:
    largest = next((one["partition"] for one in point["groups"]), "")
    return [
        point.get("label", ""),
        point["name"],
        *(measure_text(find_measure(point, measure)) for measure in ("utility", "ranks", "yNN")),
        *(_estimate(point, measure) for measure in ("flip", "leak", f"gap:{largest}")),
        _list_marks(point, chosen),
    ]


def _estimate(point: Point, measure: str) -> str:
    """A measure without its interval."""
    return _number((find_measure(point, measure) or {}).get("estimate"))


def _number(value: float | None) -> str:
    return "-" if value is None else number_text(value)
