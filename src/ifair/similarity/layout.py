"""People as points: every attribute's columns side by side, weighted."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.encode.cell_by_cell import BOOLEANS, NUMBERS, TEXT, is_gap
from ifair.similarity.peers import Points
from ifair.similarity.units import Unit

GAP = 0.5
"""What a missing value counts, of the mean squared difference of its attribute. With this share people with and without
gaps find each other as if there were none."""

_CATEGORIES = NUMBERS | BOOLEANS | TEXT


class Layout:
    """Where the columns of every attribute stand, and what they weigh: ``weights`` of shape (n_attributes,)."""

    def __init__(self, units: Sequence[Unit], weights: NDArray[np.float64]) -> None:
        self.units = tuple(units)
        widths = [unit.width for unit in units]
        self.columns = np.repeat(np.arange(len(widths)), widths)
        self.gaps = GAP * weights * np.array([unit.typical for unit in units])
        self._roots = np.sqrt(weights)[self.columns]
        self._numbers = np.array([unit.kind == "number" for unit in units])
        self._sizes = np.array([unit.size for unit in units])[self._numbers]

    def embed(self, people: pd.DataFrame) -> Points:
        """People of any number, by columns; those of the table are the attributes, in their order."""
        present = np.empty(people.shape, dtype=bool)
        coordinates = np.empty((len(people), len(self.columns)))
        if self._numbers.any():
            values = people.iloc[:, np.flatnonzero(self._numbers)].to_numpy(dtype=float, na_value=np.nan)
            present[:, self._numbers] = ~np.isnan(values)
            coordinates[:, self._numbers[self.columns]] = np.nan_to_num(values) / self._sizes
        for i, unit in enumerate(self.units):
            if unit.kind != "number":
                coordinates[:, self.columns == i], present[:, i] = unit.embed(people.iloc[:, i])
        return Points.of(coordinates * self._roots, present, self.gaps, self.columns)

    def embed_cells(self, cells: list[list[Any]]) -> Points | None:
        """A few people by their cells, one for every attribute; the same points as by columns.

        None where a cell is not a usual one: it is read, or named, by columns.
        """
        people = [self._place_cells(person) for person in cells]
        if None in people:
            return None
        coordinates, present = (np.array(part) for part in zip(*people))
        coordinates *= self._roots
        return Points(coordinates, coordinates**2 @ self._members, present, self.gaps, self.columns)

    def _place_cells(self, cells: list[Any]) -> tuple[list[float], list[float]] | None:
        """One person's coordinates before weights, and 1.0 where there is a value."""
        coordinates, present = [0.0] * len(self.columns), [1.0] * len(cells)
        for i, (cell, first, size, places) in enumerate(zip(cells, *self._cells)):
            if is_gap(cell):
                present[i] = 0.0
            elif places is not None and type(cell) in _CATEGORIES:
                coordinates[first + places.get(cell, len(places))] = size
            elif places is None and type(cell) in NUMBERS and math.isfinite(cell):
                coordinates[first] = float(cell) / size
            else:
                return None
        return coordinates, present

    @cached_property
    def _cells(self) -> tuple[list[int], list[float], list[dict[Any, int] | None]]:
        """Of every attribute the first column, a number's unit or a category's height, and the places of categories."""
        numbers = [unit.kind == "number" for unit in self.units]
        return (
            np.searchsorted(self.columns, np.arange(len(self.units))).tolist(),
            [unit.size if number else float(np.sqrt(0.5)) for unit, number in zip(self.units, numbers)],
            [
                None if number else dict(zip(unit.values, range(len(unit.values))))
                for unit, number in zip(self.units, numbers)
            ],
        )

    @cached_property
    def _members(self) -> NDArray[np.float64]:
        return np.eye(len(self.units))[self.columns]
