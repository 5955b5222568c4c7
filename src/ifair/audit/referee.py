"""The referee: every point against the full data and against deleting the protected columns, by one rule for words."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ifair.audit.cautions import ONE_DECISION, list_besides, percent
from ifair.evaluate.measures import plain_number
from ifair.evaluate.resampling import Measured
from ifair.evaluate.statistics import quantile_interval
from ifair.results import Choices, Difference, Estimate, FrontStep, Point, Utility, Verdict, find_measure

REFERENCES = ("full", "deleted", "penalised")
"""Roles of the points that others are compared with."""

SMALLER_IS_BETTER = ("flip", "leak", "gap:")
WITHOUT_DIRECTION = ("positive",)

CONSISTENCY = "ranks"
"""The consistency that verdicts go by: like the utility it is one of scores, and no constant wins it."""

NOTHING = 1e-9
"""What arithmetic may leave of a difference of zero."""

NEVER: Estimate = {"estimate": 0.0, "low": 0.0, "high": 0.0}
"""What cannot happen by construction."""

MATTERS = 0.01
"""Of what lies between chance and perfection: a smaller difference decides nothing."""

RULE = (
    "Better or worse is said where the 95 % interval of the difference, taken on the same people, excludes zero; of "
    "flips and of guesses at the group it is taken from end to end of two intervals, which is wider than needed. "
    "Otherwise there is no clear difference. It is worth it if, against deleting the protected columns, and against "
    "deleting them with a tuned penalty, what is clearly gained in {utility} and in consistency of ranks is more than "
    f"what is clearly lost, both as shares of the way from chance to perfection; less than {MATTERS:g} counts as "
    "nothing. Never where the decisions are no better than chance, or nearly the same for everybody."
)

SCOPE = (
    "This is about one random split of the people: another may decide otherwise, so try several seeds before you rely "
    "on it."
)

WORTH = "Worth it: "
"""How a verdict in favour of a point begins."""

Word = Literal["better", "worse", "more", "fewer", "the same", "no clear difference"]


def judge_difference(measure: str, low: float | None, high: float | None) -> Word:
    """The one rule for words: what a difference is called, by the interval of a point minus a reference.

    Examples
    --------
    >>> judge_difference("utility", -0.03, -0.01), judge_difference("gap:sex", -0.03, -0.01)
    ('worse', 'better')
    >>> judge_difference("utility", -0.03, 0.01)
    'no clear difference'
    """
    if low is None or high is None:
        return "no clear difference"
    if max(abs(low), abs(high)) < NOTHING:
        return "the same"
    if low < NOTHING and high > -NOTHING:
        return "no clear difference"
    if measure in WITHOUT_DIRECTION:
        return "more" if low > 0 else "fewer"
    return "better" if (low > 0) != measure.startswith(SMALLER_IS_BETTER) else "worse"


def compare_points(points: Sequence[Point], measured: Sequence[Mapping[str, Measured]]) -> None:
    """Fill in every point's differences to the references, the first point of each role."""
    references = {p["role"]: (p, m) for p, m in reversed(list(zip(points, measured))) if p.get("role") in REFERENCES}
    for point, mine in zip(points, measured):
        point["differences"] = {}
        for role in REFERENCES:
            other, theirs = references.get(role, (point, mine))
            if other is not point:
                found = {name: (mine[name] - theirs[name]).describe() for name in mine if name in theirs}
                found |= _compare_ends(point, other)
                point["differences"][role] = {name: _with_word(name, one) for name, one in found.items()}


def _with_word(measure: str, one: Estimate) -> Difference:
    return {**one, "word": judge_difference(measure, one["low"], one["high"])}


def _compare_ends(one: Point, other: Point) -> dict[str, Estimate]:
    """Differences that were not taken pair by pair: from end to end of two intervals, which is wider than needed.

    What cannot flip by construction is zero without an interval.
    """
    found = {}
    if one["flip"] and other["flip"]:
        found["flip"] = _subtract(*(NEVER if point["blind"] else find_measure(point, "flip") for point in (one, other)))
    if one["adversary"] and other["adversary"] and one["adversary"][0]["interval_of"] == "auc":
        # Whoever sees the same is told the same.
        same = one["adversary"][0] == other["adversary"][0]
        found["leak"] = NEVER if same else _subtract(*(find_measure(point, "leak") for point in (one, other)))
    return found


def _subtract(one: Estimate, other: Estimate) -> Estimate:
    if None in (*one.values(), *other.values()):
        return {"estimate": None, "low": None, "high": None}
    a, b = (np.array([e["estimate"], e["low"], e["high"]], dtype=np.float64) for e in (one, other))
    ends = (a[0] - b[0], a[1] - b[2], a[2] - b[1])
    return {name: plain_number(end) for name, end in zip(("estimate", "low", "high"), ends)}  # type: ignore[return-value]


def give_verdicts(
    points: Sequence[Point],
    choices: Choices,
    utility: Utility,
    columns: Sequence[str],
    *,
    told_by: Sequence[str] = (),
) -> Verdict | None:
    """Give every point that is not itself a reference its verdict, and return that of the choice.

    It advises one thing: where another choice is worth it, and the balanced one is not, to use that other one.
    The columns are the protected ones. No verdict stands without saying which columns the outcome is ``told_by``.
    """
    references: dict[str, Point] = {p["role"]: p for p in points if p.get("role") in REFERENCES[1:]}
    for point in points:
        if point.get("role") not in REFERENCES:
            point["verdict"] = _judge_point(point, references, utility, columns)
    chosen = next((p for p in points if p["id"] == choices.get("balanced")), None)
    found = chosen.get("verdict") if chosen else None
    if chosen and found and not found["worth"]:
        worthy = {p["id"]: p for p in points if p.get("verdict", {}).get("worth")}
        named = {rule.replace("_", " "): worthy[str(id_)] for rule, id_ in choices.items() if id_ in worthy}
        if named:
            rule = max(named, key=lambda rule: _least_gain(named[rule], references, utility["chance"]))
            found["sentence"] = _turn_to(rule, named[rule], chosen, references, utility["chance"])
            found["besides"] = named[rule]["verdict"]["besides"]
    for point in points:
        if told_by and "verdict" in point:
            point["verdict"]["sentence"] += _doubt_of_told(told_by)
    return found


def _doubt_of_told(columns: Sequence[str]) -> str:
    """What a verdict is worth where columns tell the outcome by themselves."""
    named, tell = " and ".join(f"“{name}”" for name in columns), "tells" if len(columns) == 1 else "tell"
    return f" But {named} {tell} the outcome nearly alone: unless known before it, no number here will hold in use."


def _judge_point(point: Point, references: Mapping[str, Point], utility: Utility, columns: Sequence[str]) -> Verdict:
    deleted = " and ".join(f"“{name}”" for name in columns)
    sentence, advised = _sentence(point, references, utility, deleted)
    besides = list_besides(point, references["deleted"], advised, MATTERS) if advised else []
    return {
        "choice": point["id"],
        "worth": advised is point,
        "sentence": sentence,
        "rule": RULE.format(utility=utility["name"]),
        "reasons": list_reasons(point, references.get("deleted"), utility["name"]),
        "besides": besides,
        "scope": SCOPE,
    }


def _sentence(
    point: Point, references: Mapping[str, Point], utility: Utility, deleted: str
) -> tuple[str, Point | None]:
    """The verdict on a point, and the point that it advises to use."""
    label, cautions = point.get("label", point["name"]), point.get("cautions", [])
    if cautions:
        return f"Do not use {label}: {cautions[0]['text'][0].lower()}{cautions[0]['text'][1:]}", None
    if "deleted" not in references:
        return f"Deleting {deleted} could not be judged here: there is nothing to measure {label} by.", None
    better = _find_better(point, references, utility["chance"])
    if better is not None:
        role, how = better
        return f"{how[0].upper()}{how[1:]} here; use that{_need_of_threshold(references[role])}.", references[role]
    return f"{WORTH}{_praise(point, references['deleted'], utility['name'], deleted)}", point


def _find_better(point: Point, references: Mapping[str, Point], chance: float | None) -> tuple[str, str] | None:
    """The role of the first way of deleting that a point does not beat, with words; None of one worth it."""
    ways = {"deleted": "deleting the columns", "penalised": "deleting the columns, with a tuned penalty,"}
    for role in references:
        won = net_gain(point["differences"][role], chance)
        if won <= 0:
            return role, f"{ways[role]} does {'as well' if won == 0 else 'better'}"
    return None


def _least_gain(point: Point, references: Mapping[str, Point], chance: float | None) -> float:
    return min(net_gain(point["differences"][role], chance) for role in references)


def _turn_to(rule: str, other: Point, chosen: Point, references: Mapping[str, Point], chance: float | None) -> str:
    """The verdict where the balanced choice is not worth it and another is: use that one, and why not the first."""
    said = chosen["verdict"]["sentence"]
    if not chosen.get("cautions"):
        better = _find_better(chosen, references, chance)
        why = "" if better is None else f": {better[1]}"
        said = f"{chosen.get('label', chosen['name'])}, the balanced choice, is not worth it{why}."
    praise = other["verdict"]["sentence"].removeprefix(WORTH)
    return f"Use {other.get('label', other['name'])}, the choice “{rule}”: {praise} {said}"


def _need_of_threshold(point: Point) -> str:
    """What to change about the decisions of a point whose scores are good, if nearly all of them are the same."""
    if not any(caution["tag"] == ONE_DECISION for caution in point.get("cautions", [])):
        return ""
    share = point["test"]["positive"]["estimate"] or 0.0
    return f", with another threshold or a rate: {percent(share)} of people get a positive decision by it"


def net_gain(differences: Mapping[str, Difference], chance: float | None) -> float:
    """What is clearly gained less what is clearly lost, in utility and in consistency."""
    scales = {"utility": 1 - (chance or 0.0), CONSISTENCY: 1.0}
    total = 0.0
    for name, scale in scales.items():
        one = differences.get(name)
        share = (one["estimate"] or 0.0) / scale if one and one["word"] in ("better", "worse") else 0.0
        total += share if abs(share) >= MATTERS else 0.0
    return total


def _praise(point: Point, reference: Point, utility: str, deleted: str) -> str:
    """What is gained, for what; and for what more, where a tuned penalty is clearly cheaper."""
    words = {"utility": utility, CONSISTENCY: "consistency of ranks"}
    gains, prices = [], []
    for name, what in words.items():
        one = point["differences"]["deleted"][name]
        now, was = (p["test"][name]["estimate"] for p in (point, reference))  # type: ignore[literal-required]
        if one["word"] == "better":
            gains.append(f"{what} {now:.3f} instead of {was:.3f}")
        elif one["word"] == "worse":
            prices.append(f"{-(one['estimate'] or 0.0):.3f} less {what}")
        else:
            prices.append(f"no clear loss of {what}")
    # Against the penalty alone there may be a gain where there is none against deleting.
    gained = " and ".join(gains) or "more than with a tuned penalty"
    price = f", for {' and '.join(prices)}" if prices else ""
    besides = {words[name]: one for name, one in point["differences"].get("penalised", {}).items() if name in words}
    more, less = (
        [f"{abs(one['estimate'] or 0.0):.3f} {side} {what}" for what, one in besides.items() if one["word"] == word]
        for word, side in (("better", "more"), ("worse", "less"))
    )
    with_penalty = f" Against deleting with a tuned penalty: {' and '.join((*more, *less))}." if less else ""
    return f"{gained}, compared with deleting {deleted}{price}.{with_penalty}"


def list_reasons(point: Point, reference: Point | None, utility: str) -> list[str]:
    """A line per measure: the value, that of deleting the columns, and the word for the difference."""
    if reference is None or "deleted" not in point.get("differences", {}):
        return []
    names = {
        "utility": utility,
        "ranks": "consistency of ranks",
        "matched": "consistency at one rate",
        "accuracy": "accuracy",
        "yNN": "yNN",
    }
    lines = []
    for name, what in names.items():
        one = point["differences"]["deleted"].get(name)
        if one is None or one["estimate"] is None:
            continue
        now, was = (p["test"][name]["estimate"] for p in (point, reference))  # type: ignore[literal-required]
        ends = (
            ""
            if one["low"] is None
            else f" ({one['estimate']:+.3f}, 95 % interval {one['low']:+.3f} to {one['high']:+.3f})"
        )
        lines.append(f"{what} {now:.3f}, with the columns deleted {was:.3f}: {one['word']}{ends}")
    return lines


STEPS = 24


def draw_front(points: Sequence[Point], measured: Sequence[Mapping[str, Measured]]) -> list[FrontStep]:
    """The best consistency of ranks that can be reached at each utility, with 95 % intervals.

    Of all points without a caution. In every resample the best is taken anew; a utility that fewer than half of them
    reach is left out.
    """
    kept = [m for p, m in zip(points, measured) if not p.get("cautions")]
    values = np.array([[np.r_[m[name].estimate, m[name].drawn] for name in ("utility", CONSISTENCY)] for m in kept])
    if not len(kept) or np.isnan(values[:, :, 0]).any():
        return []
    utility, consistency = values[:, 0], values[:, 1]
    knots = np.unique(np.r_[utility[:, 0], np.linspace(utility[:, 0].min(), utility[:, 0].max(), STEPS)])
    steps: list[FrontStep] = []
    for knot in knots:
        best = np.where(utility >= knot, consistency, -np.inf).max(axis=0)
        if np.mean(np.isfinite(best[1:])) < 0.5:
            continue
        low, high = quantile_interval(best[1:][np.isfinite(best[1:])])
        knots_at: Any = {"utility": knot, "best": best[0], "low": low, "high": high}
        step: Any = {name: plain_number(value) for name, value in knots_at.items()}
        steps.append(step)
    return steps
