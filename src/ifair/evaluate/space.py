"""What a search may vary: whole numbers, shares, orders of magnitude and choices, described by a few numbers each.

A dimension has a *position*, the plain number that a sampler moves along, and a *value*, what a setting says. The
position of a share is its log-odds, for between 0.9 and 0.99 there is as much to find as between 0.5 and 0.9.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import exp, log, log10
from typing import Any

ENDS = 0.5
"""Width in log-odds of the stretch beyond either bound of a share that stands for exactly 0 or 1."""


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number between two bounds, both included; as much lies from 5 to 10 as from 20 to 40."""

    low: int
    high: int

    def value(self, position: Any) -> int:
        return int(position)

    def position(self, value: Any) -> int:
        return int(value)


@dataclass(frozen=True, slots=True)
class Share:
    """A number from 0 to 1 whose odds matter, such as mu / (lambda + mu), with 0 and 1 themselves.

    Examples
    --------
    >>> weight = Share(0.1, 0.9)
    >>> weight.value(0.0), weight.value(-2.5), weight.value(2.5)
    (0.5, 0.0, 1.0)
    """

    low: float = 0.01
    high: float = 0.99
    """Log-odds are uniform between those of the bounds."""

    def value(self, position: Any) -> float:
        if position < _log_odds(self.low):
            return 0.0
        if position > _log_odds(self.high):
            return 1.0
        # Six digits are more than a loss can tell apart, and read better.
        return float(f"{1.0 / (1.0 + exp(-position)):.6g}")

    def position(self, value: Any) -> float:
        if value in (0, 1):
            return _log_odds(self.high) + ENDS if value else _log_odds(self.low) - ENDS
        return _log_odds(value)


@dataclass(frozen=True, slots=True)
class Real:
    """A positive number whose order of magnitude matters, such as a penalty.

    Examples
    --------
    >>> strength = Real(0.01, 1.0, zero=True)
    >>> strength.value(0.0), strength.value(-1.0), strength.value(-2.1)
    (1.0, 0.1, 0.0)
    """

    low: float
    high: float
    zero: bool = False
    """Whether exactly 0 belongs to it: the tenth of the range below ``low``, in orders of magnitude, stands for it."""

    def value(self, position: Any) -> float:
        return 0.0 if position < log10(self.low) else float(f"{10.0**position:.3g}")

    def position(self, value: Any) -> float:
        return log10(value) if value else log10(self.low) - 0.1 * log10(self.high / self.low)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few options, in no order."""

    options: tuple[Any, ...]

    def value(self, position: Any) -> Any:
        return position

    def position(self, value: Any) -> Any:
        return value


Space = Mapping[str, Integer | Share | Real | Choice]


def to_distributions(space: Space) -> dict[str, Any]:
    """The positions of every dimension, for Optuna."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, Any] = {}
    for name, dimension in space.items():
        match dimension:
            case Integer(low, high):
                found[name] = IntDistribution(low, high, log=True)
            case Share():
                found[name] = FloatDistribution(dimension.position(0), dimension.position(1))
            case Real(low, high, zero):
                found[name] = FloatDistribution(dimension.position(0 if zero else low), log10(high))
            case Choice(options):
                found[name] = CategoricalDistribution(options)
    return found


def to_setting(space: Space, positions: Mapping[str, Any]) -> dict[str, Any]:
    """The setting at these positions."""
    return {name: dimension.value(positions[name]) for name, dimension in space.items()}


def to_positions(space: Space, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Where a setting lies."""
    return {name: dimension.position(setting[name]) for name, dimension in space.items()}


def describe_space(space: Space) -> dict[str, Any]:
    """Plain data that is different for different spaces."""
    return {name: [type(dimension).__name__, *astuple(dimension)] for name, dimension in space.items()}


def _log_odds(share: float) -> float:
    return log(share / (1.0 - share))
