"""When good numbers mean little: decisions no better than chance, or nearly the same for everybody; and what to know
beside a verdict that stands."""

from collections.abc import Mapping
from typing import Any

from ifair.evaluate.rules import ONE_DECISION, is_nearly_one_decision
from ifair.results import Caution, Point

CHANCE = {"classification": 0.5, "regression": 0.0}
"""The utility of a model that knows nothing; there is no one number for rankings."""

NARROW = 0.1
"""Of the spread of the scores on the full data."""


def list_cautions(task: str, utility: str, point: Mapping[str, Any], before: Mapping[str, Any]) -> list[Caution]:
    """What a reader must know before praising a point, by its measure of ``utility``; ``before`` is the full data."""
    found = [_at_chance(task, utility, point), _one_decision(point, before), _one_score(point, before)]
    return [{"tag": tag, "text": text} for tag, text in filter(None, found)]


def _at_chance(task: str, utility: str, point: Mapping[str, Any]) -> tuple[str, str] | None:
    chance, one = CHANCE.get(task), point["test"]["utility"]
    if chance is None or one["low"] is None or one["low"] > chance:
        return None
    return "at chance", (
        f"These decisions are not clearly better than chance: {utility} {one['estimate']:.3f}, 95 % interval "
        f"{one['low']:.3f} to {one['high']:.3f}; chance is {chance:g}. What is worth nothing is easily consistent."
    )


def _one_decision(point: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[str, str] | None:
    one = point["test"].get("positive")
    if one is None or not is_nearly_one_decision(one["estimate"]):
        return None
    share, was = one["estimate"], before["test"]["positive"]["estimate"]
    lot = share**2 + (1 - share) ** 2
    return ONE_DECISION, (
        f"{percent(share)} of people get a positive decision (full data: {percent(was)}): consistency is easy when "
        f"nearly all get the same decision. Drawing lots at this rate would give a yNN of {lot:.3f}."
    )


def _one_score(point: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[str, str] | None:
    spread, was = point["test"].get("spread"), before["test"].get("spread")
    if spread is None or not was or spread > NARROW * was:
        return None
    return "nearly one score", (
        f"Scores spread by {spread:.3g} (standard deviation; full data: {was:.3g}): consistency is easy when nearly "
        f"all get the same score."
    )


TELLING = 0.98
"""An AUC of the adversary from which on the group is as good as known."""

OTHER_PEERS = {"mahalanobis": "by the Mahalanobis distance", "k5": "by 5 peers", "k20": "by 20 peers"}


def list_besides(point: Point, deleted: Point, advised: Point, least: float) -> list[Caution]:
    """What to know beside a verdict on a point that advises to use another, or itself.

    The group is as good as known to what is advised; or other peers than those used speak against it, by the
    consistency of ranks compared with deleting the columns. Differences below ``least`` count as nothing.
    """
    found = [_group_known(advised), _turned_round(point, deleted, advised, least)]
    return [{"tag": tag, "text": text} for tag, text in filter(None, found)]


def _group_known(point: Point) -> tuple[str, str] | None:
    attack = next((one for one in point["adversary"] if (one["auc"] or 0.0) >= TELLING), None)
    if attack is None:
        return None
    label = point.get("label", point["name"])
    seen = f"the scores of {label}" if point["family"] == "existing" else f"what {label} sees"
    why = "it sees the protected columns, or others that tell them."
    if point["blind"]:
        why = "other columns tell it, and hiding the protected ones hides little. "
        why += "Find those columns, and protect them too or leave them out."
    return "group is known", (
        f"From {seen}, “{attack['partition']}” can be guessed with an AUC of {attack['auc']:.3f}: {why}"
    )


def _turned_round(point: Point, deleted: Point, advised: Point, least: float) -> tuple[str, str] | None:
    judged, sign = (point, -1.0) if advised is deleted else (advised, 1.0)

    def gain(way: str) -> tuple[float, float, float]:
        now, was = ((one.get("graders", {}).get(way) or {}).get("ranks") for one in (judged, deleted))
        return (0.0, 0.0, 0.0) if now is None or was is None else (sign * (now - was), now, was)

    if gain("similarity")[0] < least:
        return None
    for way, words in OTHER_PEERS.items():
        other, now, was = gain(way)
        if other <= -least:
            than, then = "with the columns deleted", ""
            if judged.get("role") == "penalised":
                than, then = f"{than} and no more", ": whoever compares people that way deletes without that penalty"
            return "depends on who is like whom", (
                f"It depends on who counts as like whom: {words}, the consistency of ranks of "
                f"{judged.get('label', judged['name'])} is {now:.3f}, {than} {was:.3f}{then}."
            )
    return None


def percent(share: float) -> str:
    # Halves upwards, as the page's own script rounds.
    return f"{100 * share + 1e-9:.1f} %"
