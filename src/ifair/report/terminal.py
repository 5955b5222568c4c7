"""An audit, a tuning and a demo for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ifair.report.blocks import align_rows
from ifair.results import Choices, Demonstration, Estimate, Evidence, Point, Tuning

DEMO_MEASURES = {
    "Acc": "accuracy",
    "AUC_of_scores": "AUC",
    "AUC": "AUC (labels)",
    "yNN": "yNN",
    "flipped": "flipped",
}
"""What the demo shows, and what it calls it."""


def audit_text(evidence: Evidence) -> str:
    """All points in one table, then before and after for each named choice."""
    about, points = evidence["data"], evidence["points"]
    chosen = _by_point(evidence["choices"])
    before = points[0]
    flips = "flips" if evidence["task"] == "classification" else "moves"
    head = ["", evidence["utility"]["name"], "yNN", flips, "adversary", "group gap", "epsilon", "choice, caution"]
    lines = [
        f"{about['name']}: {about['records']:,} people, protected: {', '.join(about['protected'])}; measured on "
        f"{about['parts']['test']:,} people whom no model has seen",
        "",
        align_rows([head, *(_row(evidence, point, chosen.get(point["id"], "")) for point in points)]),
    ]
    for id_, name in chosen.items():
        after = next(point for point in points if point["id"] == id_)
        lines += ["", f"{name}: {after['name']}", *(f"  CAUTION: {said}" for said in list_caution_texts(after))]
        lines += [f"  {line}" for line in describe_change(evidence, before, after)]
    lines += [f"left out: {one['name']} ({one['why']})" for one in evidence["left_out"]]
    return "\n".join(lines)


def describe_change(evidence: Evidence, before: Point, after: Point) -> list[str]:
    """What changes from one point to another, a line per measure."""
    lines = [
        f"{evidence['utility']['name']}: {_interval(before, 'utility')} before, {_interval(after, 'utility')} after"
        + (f", difference {_gain(after)}" if "gain" in after["test"] else ""),
        f"consistency yNN: {_interval(before, 'yNN')} before, {_interval(after, 'yNN')} after",
    ]
    if "positive" in after["test"]:
        lines.append(
            f"positive decisions: {_interval(before, 'positive')} before, {_interval(after, 'positive')} after"
        )
    lines += _flip_lines(evidence, before, after)
    for was, now in zip(before["adversary"], after["adversary"]):
        lines.append(f"adversary's AUC for {was['partition']}: {_attack(was)} before, {_attack(now)} after")
    for old, new in zip(before["groups"], after["groups"]):
        gaps = [f"gap in outcomes {measure_text(old, 'parity')} before, {measure_text(new, 'parity')} after"]
        if "opportunity" in new:
            gaps.append(
                f"in true positive rates {measure_text(old, 'opportunity')} and {measure_text(new, 'opportunity')}"
            )
        lines.append(f"{old['partition']}: {'; '.join(gaps)}")
    return [*lines, *_certificate_lines(before, after)]


def list_caution_texts(point: Point) -> list[str]:
    """What to know before praising a point; evidence of earlier releases has none."""
    return [one["text"] for one in point.get("cautions", [])]


def _flip_lines(evidence: Evidence, before: Point, after: Point) -> list[str]:
    if not (before["flip"] and after["flip"]):
        return []
    what = "decisions that flip" if evidence["task"] == "classification" else "mean move of scores"

    def describe(point: Point) -> str:
        # What cannot happen needs no interval.
        return _number(_flip_extent(evidence, point)) + (
            "" if point["blind"] else _ends(point["flip"] and point["flip"].get("interval"))
        )

    surely = " (cannot, by construction)" if after["blind"] else ""
    return [f"{what} if only protected attributes change: {describe(before)} before, {describe(after)} after{surely}"]


def _flip_extent(evidence: Evidence, point: Point) -> float | None:
    """The share of decisions that flip, or how far scores move; None where nothing could be changed."""
    flip = point["flip"]
    if flip is None:
        return None
    return flip["share_flipped"] if evidence["task"] == "classification" else flip["mean"]


def _attack(one: Mapping[str, Any]) -> str:
    """The AUC, with its interval if there is one of the AUC and otherwise with the accuracy and its interval."""
    turned = " (from the opposite of its guesses)" if one.get("reversed") and one["auc"] >= 0.6 else ""
    ends = _ends([one["low"], one["high"]])
    if one["interval_of"] == "auc":
        return f"{_number(one['auc'])}{ends}{turned}"
    return f"{_number(one['auc'])}{turned} with accuracy {_number(one['accuracy'])}{ends}"


def _certificate_lines(before: Point, after: Point) -> list[str]:
    one, was = after["certificate"], before["certificate"]
    if one["epsilon"] is None:
        return []
    return [
        f"certificate: with {one['confidence']:.0%} confidence at most {one['share']:.0%} of pairs exceed "
        f"epsilon = {one['epsilon']:.3g} ({'none' if was['epsilon'] is None else format(was['epsilon'], '.3g')} before)"
    ]


def tuning_text(tuning: Tuning) -> str:
    """What deleting the columns reaches, the front, and the three choices."""
    names = _by_point(tuning["choices"])
    rows = [["", tuning["utility"], "ranks", "yNN", "choice"]]
    known = {point["id"] for point in tuning["baselines"]}
    chosen = [point for point in tuning["trials"] if point["id"] in names]
    listed = {p["id"]: p for p in (*tuning["baselines"], *tuning["front"], *chosen)}
    for point in listed.values():
        reached = point["validation"]
        numbers = [_number(reached["utility"]), _number(reached.get("ranks")), _number(reached["yNN"])]
        rows.append([point["name"], *numbers, names.get(point["id"], "to compare" if point["id"] in known else "")])
    return (
        f"The front of {len(tuning['trials'])} settings, on validation people (ranks: how alike the scores of like "
        f"people are):\n\n{align_rows(rows)}"
    )


def demo_text(results: Demonstration) -> str:
    """Mean and standard deviation of every measure over the splits, a row per method."""
    rows = [["", *DEMO_MEASURES.values()]]
    for method in results["methods"]:
        reached = [method["measures"][name] for name in DEMO_MEASURES]
        rows.append([method["name"], *(f"{np.mean(v):.3f} ± {np.std(v, ddof=1):.3f}" for v in reached)])
    return align_rows(rows)


def _by_point(choices: Choices) -> dict[str, str]:
    """What each chosen point is called: one may be chosen by several rules."""
    chosen = [(rule.replace("_", " "), str(id_)) for rule, id_ in choices.items()]
    return {id_: ", ".join(rule for rule, other in chosen if other == id_) for _, id_ in chosen}


def _row(evidence: Evidence, point: Point, choice: str) -> list[str]:
    return [
        point["name"],
        _interval(point, "utility"),
        _interval(point, "yNN"),
        _number(_flip_extent(evidence, point)),
        _number(point["adversary"][0]["auc"] if point["adversary"] else None),
        _number(point["groups"][0]["parity"] if point["groups"] else None),
        _number(point["certificate"]["epsilon"]),
        ", ".join([*filter(None, [choice]), *(one["tag"] for one in point.get("cautions", []))]),
    ]


def _interval(point: Point, measure: str) -> str:
    one: Estimate = point["test"][measure]  # type: ignore[literal-required]
    return _number(one["estimate"]) + _ends([one["low"], one["high"]])


def measure_text(one: Mapping[str, Any], key: str) -> str:
    """A measure of a group or of groups and, where it was taken, its interval."""
    return _number(one[key]) + _ends(one.get(f"{key}_interval"))


def _ends(interval: Sequence[float | None] | None) -> str:
    return "" if interval is None else f" [{_number(interval[0])}, {_number(interval[1])}]"


def _gain(point: Point) -> str:
    one = point["test"]["gain"]
    return f"{one['estimate']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]" if one["estimate"] is not None else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
