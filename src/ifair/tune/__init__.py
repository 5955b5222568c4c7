"""Choosing settings: search spaces, a multi-objective search, Pareto fronts, and the paper's three rules."""

from ifair.evaluate.search import Progress, SearchError, Trial, front_of, search
from ifair.evaluate.space import Choice, Integer, Share, Space
from ifair.pareto import hypervolume, pareto_front
from ifair.tune.rules import RULES, choose, harmonic_mean

__all__ = [
    "Choice",
    "Integer",
    "Progress",
    "RULES",
    "SearchError",
    "Share",
    "Space",
    "Trial",
    "choose",
    "front_of",
    "harmonic_mean",
    "hypervolume",
    "pareto_front",
    "search",
]
