"""From numbers to verdicts: a claim holds if all its parts do, and in part if some do. Nothing else decides.

A part that was not tested, for there were too few splits, decides nothing.
"""

from collections.abc import Sequence

from ifair.evaluate.statistics import Comparison, Spread
from ifair.report.blocks import Finding, Line, Number, add_sign, inlines

LEVEL = 0.05
HOLDS, IN_PART, FAILS, OPEN = "holds", "holds in part", "not shown", "not tested"
YES, NO, UNTESTED = "✓ ", "✗ ", "– "

Part = tuple[bool | None, Line]


def judge_claim(claim: str, rule: str, parts: Sequence[Part]) -> list[Finding]:
    """The verdict on a claim, from whether it holds in each of its parts; nothing where there is nothing to judge."""
    if not parts:
        return []
    held = [ok for ok, _ in parts if ok is not None]
    verdict = OPEN if not held else HOLDS if all(held) else IN_PART if any(held) else FAILS
    marks = {True: YES, False: NO, None: UNTESTED}
    return [Finding(verdict, claim, rule, [(marks[ok], *inlines(line)) for ok, line in parts])]


def is_clearly_above(comparison: Comparison) -> bool | None:
    """Ours is larger, and the test over splits says so after Holm's adjustment; None where nothing was tested."""
    adjusted = comparison["adjusted"]
    return None if adjusted is None else comparison["difference"] > 0 and adjusted < LEVEL


def is_clear(comparison: Comparison) -> bool:
    """The test over splits, where there was one, tells the two apart."""
    return comparison["adjusted"] is not None and comparison["adjusted"] < LEVEL


def format_difference(comparison: Comparison, digits: int = 2) -> str:
    """The difference, then interval and p-value, where there are any: ``+0.05 [+0.01, +0.09], p = 0.012``."""
    text = add_sign(comparison["difference"], digits)
    if comparison["low"] is not None and comparison["high"] is not None:
        text += f" [{add_sign(comparison['low'], digits)}, {add_sign(comparison['high'], digits)}]"
    return text if comparison["adjusted"] is None else f"{text}, {format_p(comparison['adjusted'])}"


def format_p(p: float | None) -> str:
    """``p = 0.012``, or that it is below 0.001, or that there were too few splits for a test."""
    if p is None:
        return "not tested"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def format_spread(spread: Spread, digits: int = 2) -> str:
    """``0.71 ± 0.02``."""
    return Number.from_spread(spread, digits=digits).ours
