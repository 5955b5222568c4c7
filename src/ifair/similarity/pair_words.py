"""Two people compared, attribute by attribute, in numbers and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ifair.errors import join_words
from ifair.similarity.layout import Unit
from ifair.similarity.peers import Points, is_within


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two people compared.

    Attributes
    ----------
    distance : float
    within_reach : bool
    parts : dict of str to float
        What every attribute adds to the squared distance, the largest first.
    text : str
        The same in words.
    differences : tuple of str
        The words for every attribute that is not the same, the largest difference first.
    """

    distance: float
    within_reach: bool
    parts: dict[str, float]
    text: str
    differences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def compare_pairs(
    ones: pd.DataFrame, others: pd.DataFrame, points: tuple[Points, Points], units: Sequence[Unit], reach: float
) -> list[Comparison]:
    """The first of one table with the first of another, the second with the second, and so on."""
    pairs = np.arange(len(ones))
    distances = np.sqrt(points[0].squared_differences(points[1], pairs, pairs))
    both = points[0].present * points[1].present > 0
    members = np.eye(len(units))[points[0].columns]
    parts = np.where(both, (points[0].coordinates - points[1].coordinates) ** 2 @ members, points[0].gaps)
    cells = (frame.to_numpy(dtype=object).tolist() for frame in (ones, others))
    found = []
    for one, other, part, distance, near in zip(*cells, parts, distances, is_within(distances, reach)):
        order = np.argsort(part, kind="stable")
        words = [units[i].describe(one[i], other[i]) for i in order]
        same = [word.removeprefix("same ") for word in words if word.startswith("same ")]
        told = [word for word in words if not word.startswith("same ")]
        differences = tuple(told[::-1])
        if same:
            told.insert(0, f"same {join_words(same)}")
        named = {units[i].name: float(part[i]) for i in order[::-1]}
        found.append(Comparison(float(distance), bool(near), named, ", ".join(told), differences))
    return found
