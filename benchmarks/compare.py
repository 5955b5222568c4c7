"""Times of two runs, each in units of a reference operation of its own run, and what got slower.

A machine that is twice as slow, or busy, is twice as slow at the reference operation too: the ratio stays, roughly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SLOWER = 1.2
"""More than this many times the baseline is called slower."""


@dataclass(frozen=True, slots=True)
class Change:
    """A measure whose time, in units of the reference operation, is ``times`` that of the baseline."""

    name: str
    before: float
    now: float

    @property
    def times(self) -> float:
        return self.now / self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a run says of a baseline: measures slower and faster by more than the limit; those only one of them has."""

    slower: list[Change]
    faster: list[Change]
    same: int
    new: list[str]
    gone: list[str]


def relative(seconds: Mapping[str, float], reference: float) -> dict[str, float]:
    """Seconds in units of the reference operation.

    Parameters
    ----------
    seconds : mapping from the name of a measure to its seconds
    reference : float
        Seconds of the reference operation in the same run.
    """
    if not reference > 0:
        raise ValueError(f"the reference operation took {reference} s, which nothing can be compared with")
    return {name: value / reference for name, value in seconds.items()}


def measures(bench: str, rows: list[dict[str, Any]], keys: tuple[str, ...], field: str) -> dict[str, float]:
    """The times in a benchmark's rows by name: the benchmark and the fields that say what a row is about."""
    found: dict[str, float] = {}
    for row in rows:
        value = row.get(field)
        if value is None:
            continue
        name = ": ".join([bench, ", ".join(str(row[key]) for key in keys if row.get(key) is not None)])
        if name in found:
            raise ValueError(f"two rows of {bench} are called {name!r}: name more fields that tell them apart")
        found[name] = float(value)
    return found


def compare(baseline: Mapping[str, float], run: Mapping[str, float], limit: float = SLOWER) -> Comparison:
    """Which measures of a run are slower than the baseline, worst first, and which faster, best first."""
    both = [Change(name, baseline[name], now) for name, now in run.items() if name in baseline]
    slower = sorted((c for c in both if c.times > limit), key=lambda c: -c.times)
    faster = sorted((c for c in both if c.times < 1.0 / limit), key=lambda c: c.times)
    return Comparison(
        slower,
        faster,
        len(both) - len(slower) - len(faster),
        [name for name in run if name not in baseline],
        [name for name in baseline if name not in run],
    )


def describe_comparison(comparison: Comparison, limit: float = SLOWER) -> str:
    """The comparison in words."""
    per_cent = f"{100 * (limit - 1):.0f} %"
    lines = []
    for word, changes in (("slower", comparison.slower), ("faster", comparison.faster)):
        lines.append(f"{word} by more than {per_cent}: {len(changes) or 'nothing'}")
        lines += [f"  {c.times:5.2f} times  {c.name}" for c in changes]
    lines.append(f"within {per_cent}: {comparison.same}")
    for word, names in (("not in the baseline", comparison.new), ("in the baseline only", comparison.gone)):
        if names:
            lines.append(f"{word}: {len(names)}")
            lines += [f"  {name}" for name in names]
    return "\n".join(lines)
