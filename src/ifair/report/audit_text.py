"""An audit and a tuning for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from ifair.report.document import align_columns


def format_audit(evidence: Mapping[str, Any]) -> str:
    """All points in one table, then before and after for each named choice."""
    about, points = evidence["data"], evidence["points"]
    chosen = _name_points(evidence["choices"])
    before = points[0]
    lines = [
        f"{about['name']}: {about['records']:,} people, protected: {', '.join(about['protected'])}; measured on "
        f"{about['parts']['test']:,} people whom no model has seen",
        "",
        align_columns(
            [_make_head(evidence), *(_make_row(evidence, point, chosen.get(point["id"], "")) for point in points)]
        ),
    ]
    for id_, name in chosen.items():
        after = next(point for point in points if point["id"] == id_)
        lines += ["", f"{name}: {after['name']}", *(f"  CAUTION: {said}" for said in list_cautions(after))]
        lines += [f"  {line}" for line in compare_points(evidence, before, after)]
    lines += [f"left out: {one['name']} ({one['why']})" for one in evidence["left_out"]]
    return "\n".join(lines)


def compare_points(evidence: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What changes from one point to another, one line per measure."""
    lines = [
        f"{evidence['utility']['name']}: {_contrast_intervals(before, after, 'utility')}"
        + (f", difference {_format_gain(after)}" if "gain" in after["test"] else ""),
        f"consistency yNN: {_contrast_intervals(before, after, 'yNN')}",
    ]
    lines += [*_compare_decisions(before, after), *_compare_flips(evidence, before, after)]
    for was, now in zip(before["adversary"], after["adversary"]):
        lines.append(
            f"adversary's AUC for {was['partition']}: {_format_attack(was)} before, {_format_attack(now)} after"
        )
    for was, now in zip(before["groups"], after["groups"]):
        gaps = [f"gap in outcomes {_contrast(*(format_measure(one, 'parity') for one in (was, now)))}"]
        if "opportunity" in now:
            rates = " and ".join(format_measure(one, "opportunity") for one in (was, now))
            gaps.append(f"in true positive rates {rates}")
        lines.append(f"{was['partition']}: {'; '.join(gaps)}")
    return [*lines, *_compare_certificates(before, after)]


def list_cautions(point: Mapping[str, Any]) -> list[str]:
    """What to know before praising a point; evidence of earlier releases has none."""
    return [one["text"] for one in point.get("cautions", [])]


def _compare_decisions(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    if "positive" not in after["test"]:
        return []
    return [f"positive decisions: {_contrast_intervals(before, after, 'positive')}"]


def _compare_flips(evidence: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    if not (before["flip"] and after["flip"]):
        return []
    key = "share_flipped" if evidence["task"] == "classification" else "mean"
    what = "decisions that flip" if key == "share_flipped" else "mean move of scores"

    def format_flip(point: Mapping[str, Any]) -> str:
        one = point["flip"]
        # What cannot happen needs no interval.
        return _format_number(one[key]) + ("" if point["blind"] else _format_ends(one.get("interval")))

    surely = " (cannot, by construction)" if after["blind"] else ""
    return [
        f"{what} if only protected attributes change: {format_flip(before)} before, {format_flip(after)} after{surely}"
    ]


def _format_attack(one: Mapping[str, Any]) -> str:
    """The AUC, with its interval if there is one of the AUC and otherwise with the accuracy and its interval."""
    turned = " (from the opposite of its guesses)" if one.get("reversed") and one["auc"] >= 0.6 else ""
    ends = _format_ends([one["low"], one["high"]])
    if one["interval_of"] == "auc":
        return f"{_format_number(one['auc'])}{ends}{turned}"
    return f"{_format_number(one['auc'])}{turned} with accuracy {_format_number(one['accuracy'])}{ends}"


def _compare_certificates(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    one, was = after["certificate"], before["certificate"]
    if one["epsilon"] is None:
        return []
    return [
        f"certificate: with {one['confidence']:.0%} confidence at most {one['share']:.0%} of pairs exceed "
        f"epsilon = {one['epsilon']:.3g} ({'none' if was['epsilon'] is None else format(was['epsilon'], '.3g')} before)"
    ]


def format_tuning(tuning: Mapping[str, Any]) -> str:
    """The front and the three choices."""
    names = _name_points(tuning["choices"])
    rows = [["", tuning["utility"], "yNN", "choice"]]
    for point in tuning["front"]:
        reached = point["validation"]
        rows.append(
            [
                point["name"],
                _format_number(reached["utility"]),
                _format_number(reached["yNN"]),
                names.get(point["id"], ""),
            ]
        )
    return f"The front of {len(tuning['trials'])} settings, on validation people:\n\n{align_columns(rows)}"


def _name_points(choices: Mapping[str, str]) -> dict[str, str]:
    """What each chosen point is called: one may be chosen by several rules."""
    return {id_: ", ".join(name for name, other in choices.items() if other == id_) for id_ in choices.values()}


def _make_head(evidence: Mapping[str, Any]) -> Sequence[str]:
    flips = "flips" if evidence["task"] == "classification" else "moves"
    return ["", evidence["utility"]["name"], "yNN", flips, "adversary", "group gap", "epsilon", "choice, caution"]


def _make_row(evidence: Mapping[str, Any], point: Mapping[str, Any], choice: str) -> list[str]:
    key = "share_flipped" if evidence["task"] == "classification" else "mean"
    return [
        point["name"],
        _format_interval(point, "utility"),
        _format_interval(point, "yNN"),
        _format_number(point["flip"][key] if point["flip"] else None),
        _format_number(point["adversary"][0]["auc"] if point["adversary"] else None),
        _format_number(point["groups"][0]["parity"] if point["groups"] else None),
        _format_number(point["certificate"]["epsilon"]),
        ", ".join([*filter(None, [choice]), *(one["tag"] for one in point.get("cautions", []))]),
    ]


def _contrast(before: str, after: str) -> str:
    return f"{before} before, {after} after"


def _contrast_intervals(before: Mapping[str, Any], after: Mapping[str, Any], measure: str) -> str:
    return _contrast(_format_interval(before, measure), _format_interval(after, measure))


def _format_interval(point: Mapping[str, Any], measure: str) -> str:
    one = point["test"][measure]
    return _format_number(one["estimate"]) + _format_ends([one["low"], one["high"]])


def format_measure(one: Mapping[str, Any], key: str) -> str:
    """A measure of a group or of groups and, where it was taken, its interval."""
    return _format_number(one[key]) + _format_ends(one.get(f"{key}_interval"))


def _format_ends(interval: Sequence[float | None] | None) -> str:
    return "" if interval is None else f" [{_format_number(interval[0])}, {_format_number(interval[1])}]"


def _format_gain(point: Mapping[str, Any]) -> str:
    one = point["test"]["gain"]
    return f"{one['estimate']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]" if one["estimate"] is not None else "-"


def _format_number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
