"""When good numbers mean little: decisions no better than chance, or nearly the same for everybody."""

from collections.abc import Mapping
from typing import Any

from ifair.evaluate.rules import is_nearly_one_decision
from ifair.results import Caution

CHANCE = {"classification": 0.5, "regression": 0.0}
"""The utility of a model that knows nothing; there is no one number for rankings."""

ONE_DECISION = "nearly one decision"
"""The tag of that caution."""

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


def percent(share: float) -> str:
    # Halves upwards, as the page's own script rounds.
    return f"{100 * share + 1e-9:.1f} %"
