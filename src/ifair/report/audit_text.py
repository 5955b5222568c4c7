"""An audit and a tuning for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from ifair.report.tables import aligned


def audit_text(evidence: Mapping[str, Any]) -> str:
    """All points in one table, then before and after for each named choice."""
    about, points = evidence["data"], evidence["points"]
    chosen = _by_point(evidence["choices"])
    before = points[0]
    lines = [
        f"{about['name']}: {about['records']:,} people, protected: {', '.join(about['protected'])}; measured on "
        f"{about['parts']['test']:,} people whom no model has seen",
        "",
        aligned([_head(evidence), *(_row(evidence, point, chosen.get(point["id"], "")) for point in points)]),
    ]
    for id_, name in chosen.items():
        after = next(point for point in points if point["id"] == id_)
        lines += ["", f"{name}: {after['name']}", *(f"  CAUTION: {said}" for said in cautions_of(after))]
        lines += [f"  {line}" for line in before_after(evidence, before, after)]
    lines += [f"left out: {one['name']} ({one['why']})" for one in evidence["left_out"]]
    return "\n".join(lines)


def before_after(evidence: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changes from one point to another, a line a measure."""
    lines = [
        f"{evidence['utility']['name']}: {_interval(before, 'utility')} before, {_interval(after, 'utility')} after"
        + (f", difference {_gain(after)}" if "gain" in after["test"] else ""),
        f"consistency yNN: {_interval(before, 'yNN')} before, {_interval(after, 'yNN')} after",
    ]
    lines += [*_decided(before, after), *_flipped(evidence, before, after)]
    for was, now in zip(before["adversary"], after["adversary"]):
        lines.append(f"adversary's AUC for {was['partition']}: {_attack(was)} before, {_attack(now)} after")
    for was, now in zip(before["groups"], after["groups"]):
        gaps = [f"gap in outcomes {measured(was, 'parity')} before, {measured(now, 'parity')} after"]
        if "opportunity" in now:
            gaps.append(f"in true positive rates {measured(was, 'opportunity')} and {measured(now, 'opportunity')}")
        lines.append(f"{was['partition']}: {'; '.join(gaps)}")
    return [*lines, *_certified(before, after)]


def cautions_of(point: Mapping[str, Any]) -> list[str]:
    """What to know before praising a point; evidence of earlier releases has none."""
    return [one["text"] for one in point.get("cautions", [])]


def _decided(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    if "positive" not in after["test"]:
        return []
    return [f"positive decisions: {_interval(before, 'positive')} before, {_interval(after, 'positive')} after"]


def _flipped(evidence: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    if not (before["flip"] and after["flip"]):
        return []
    key = "share_flipped" if evidence["task"] == "classification" else "mean"
    what = "decisions that flip" if key == "share_flipped" else "mean move of scores"

    def said(point: Mapping[str, Any]) -> str:
        one = point["flip"]
        # What cannot happen needs no interval.
        return _number(one[key]) + ("" if point["blind"] else _ends(one.get("interval")))

    surely = " (cannot, by construction)" if after["blind"] else ""
    return [f"{what} if only protected attributes change: {said(before)} before, {said(after)} after{surely}"]


def _attack(one: Mapping[str, Any]) -> str:
    """The AUC, with its interval if there is one of the AUC and otherwise with the accuracy and its interval."""
    turned = " (from the opposite of its guesses)" if one.get("reversed") and one["auc"] >= 0.6 else ""
    ends = _ends([one["low"], one["high"]])
    if one["interval_of"] == "auc":
        return f"{_number(one['auc'])}{ends}{turned}"
    return f"{_number(one['auc'])}{turned} with accuracy {_number(one['accuracy'])}{ends}"


def _certified(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    one, was = after["certificate"], before["certificate"]
    if one["epsilon"] is None:
        return []
    return [
        f"certificate: with {one['confidence']:.0%} confidence at most {one['share']:.0%} of pairs exceed "
        f"epsilon = {one['epsilon']:.3g} ({'none' if was['epsilon'] is None else format(was['epsilon'], '.3g')} before)"
    ]


def tuning_text(tuning: Mapping[str, Any]) -> str:
    """The front and the three choices."""
    names = _by_point(tuning["choices"])
    rows = [["", tuning["utility"], "yNN", "choice"]]
    for point in tuning["front"]:
        reached = point["validation"]
        rows.append([point["name"], _number(reached["utility"]), _number(reached["yNN"]), names.get(point["id"], "")])
    return f"The front of {len(tuning['trials'])} settings, on validation people:\n\n{aligned(rows)}"


def _by_point(choices: Mapping[str, str]) -> dict[str, str]:
    """What each chosen point is called: one may be chosen by several rules."""
    return {id_: ", ".join(name for name, other in choices.items() if other == id_) for id_ in choices.values()}


def _head(evidence: Mapping[str, Any]) -> Sequence[str]:
    flips = "flips" if evidence["task"] == "classification" else "moves"
    return ["", evidence["utility"]["name"], "yNN", flips, "adversary", "group gap", "epsilon", "choice, caution"]


def _row(evidence: Mapping[str, Any], point: Mapping[str, Any], choice: str) -> list[str]:
    key = "share_flipped" if evidence["task"] == "classification" else "mean"
    return [
        point["name"],
        _interval(point, "utility"),
        _interval(point, "yNN"),
        _number(point["flip"][key] if point["flip"] else None),
        _number(point["adversary"][0]["auc"] if point["adversary"] else None),
        _number(point["groups"][0]["parity"] if point["groups"] else None),
        _number(point["certificate"]["epsilon"]),
        ", ".join([*filter(None, [choice]), *(one["tag"] for one in point.get("cautions", []))]),
    ]


def _interval(point: Mapping[str, Any], measure: str) -> str:
    one = point["test"][measure]
    return _number(one["estimate"]) + _ends([one["low"], one["high"]])


def measured(one: Mapping[str, Any], key: str) -> str:
    """A measure of a group or of groups and, where it was taken, its interval."""
    return _number(one[key]) + _ends(one.get(f"{key}_interval"))


def _ends(interval: Sequence[float | None] | None) -> str:
    return "" if interval is None else f" [{_number(interval[0])}, {_number(interval[1])}]"


def _gain(point: Mapping[str, Any]) -> str:
    one = point["test"]["gain"]
    return f"{one['estimate']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]" if one["estimate"] is not None else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
