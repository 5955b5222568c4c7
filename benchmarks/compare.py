"""Times of two versions, and what got slower."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SLOWER = 1.2
"""More than this many times the time of the earlier version is called slower."""


@dataclass(frozen=True, slots=True)
class Change:
    """A measure whose time is ``times`` that of the earlier version."""

    name: str
    before: float
    now: float

    @property
    def times(self) -> float:
        return self.now / self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """Measures slower and faster by more than the limit; how many are neither; those that only one version has."""

    slower: list[Change]
    faster: list[Change]
    same: int
    new: list[str]
    gone: list[str]


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


def compare(before: Mapping[str, float], now: Mapping[str, float], limit: float = SLOWER) -> Comparison:
    """Which measures are slower now than before, worst first, and which faster, best first."""
    both = [Change(name, before[name], time) for name, time in now.items() if name in before]
    slower = sorted((c for c in both if c.times > limit), key=lambda c: -c.times)
    faster = sorted((c for c in both if c.times < 1.0 / limit), key=lambda c: c.times)
    return Comparison(
        slower,
        faster,
        len(both) - len(slower) - len(faster),
        [name for name in now if name not in before],
        [name for name in before if name not in now],
    )


def describe_comparison(comparison: Comparison, limit: float = SLOWER) -> str:
    """The comparison in words."""
    per_cent = f"{100 * (limit - 1):.0f} %"
    lines = []
    for word, changes in (("slower", comparison.slower), ("faster", comparison.faster)):
        lines.append(f"{word} by more than {per_cent}: {len(changes) or 'nothing'}")
        lines += [f"  {c.times:5.2f} times  {c.name}" for c in changes]
    lines.append(f"within {per_cent}: {comparison.same}")
    for word, names in (("only here", comparison.new), ("only there", comparison.gone)):
        if names:
            lines.append(f"{word}: {len(names)}")
            lines += [f"  {name}" for name in names]
    return "\n".join(lines)
