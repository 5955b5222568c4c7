"""From numbers to verdicts: a claim holds if all its parts do, and in part if some do. Nothing else decides."""

from collections.abc import Sequence

from ifair.evaluate.statistics import Comparison, Spread
from ifair.report.blocks import Finding, Line, Number, inlines

LEVEL = 0.05
HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
YES, NO = "✓ ", "✗ "

Part = tuple[bool, Line]


def judge_claim(claim: str, rule: str, parts: Sequence[Part]) -> list[Finding]:
    """The verdict on a claim, from whether it holds in each of its parts; nothing where there is nothing to judge."""
    if not parts:
        return []
    held = [ok for ok, _ in parts]
    verdict = HOLDS if all(held) else IN_PART if any(held) else FAILS
    return [Finding(verdict, claim, rule, [(YES if ok else NO, *inlines(line)) for ok, line in parts])]


def is_clearly_above(comparison: Comparison) -> bool:
    """Ours is larger, and the paired test over splits says so after Holm's adjustment."""
    return comparison["difference"] > 0 and comparison["adjusted"] < LEVEL


def format_p(p: float) -> str:
    """``p = 0.012``, or that it is below 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def format_spread(spread: Spread, digits: int = 2) -> str:
    """``0.71 ± 0.02``."""
    return Number.of(spread, digits=digits).ours
