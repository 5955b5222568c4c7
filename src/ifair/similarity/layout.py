"""People as points: the unit of every attribute, and the columns of all side by side, weighted.

Numbers count in robust units, two categories are one unit apart.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.encode.attribute import LARGEST, robust_size
from ifair.encode.cell_by_cell import BOOLEANS, NUMBERS, TEXT, is_gap
from ifair.errors import IfairError
from ifair.similarity.peers import Points

GAP = 0.5
"""What a missing value counts, of the mean squared difference of its attribute. With this share people with and without
gaps find each other as if there were none."""

_AMBIGUOUS = re.compile(r"[\s,;()“”]")
"""In a text that needs quotes, where values are listed."""

_CATEGORIES = NUMBERS | BOOLEANS | TEXT


@dataclass(frozen=True, slots=True)
class Unit:
    """The scale of one attribute."""

    name: str
    kind: str  # "number", "ordered" or "category"
    size: float = 1.0  # what counts as one unit of difference; of numbers and of positions in an order
    values: tuple[Any, ...] = ()  # those seen: of an order from lowest to highest, of categories in any order
    typical: float = 1.0  # mean squared difference of two people, in units

    @property
    def width(self) -> int:
        """Columns that hold the attribute: one slot per category, and one for all categories never seen."""
        return len(self.values) + 1 if self.kind == "category" else 1

    def embed(self, column: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Coordinates whose squared Euclidean distance is the squared difference in units, and who has a value."""
        present = column.notna().to_numpy()
        coordinates = np.zeros((len(column), self.width))
        if self.kind == "number":
            coordinates[:, 0] = np.where(present, pd.to_numeric(column).to_numpy(dtype=float, na_value=0.0), 0.0)
            coordinates /= self.size
        else:
            codes = pd.Index(self.values).get_indexer(pd.Index(column.where(present, None)))
            if self.kind == "ordered":
                if (unknown := present & (codes < 0)).any():
                    value = column.to_numpy()[int(unknown.argmax())]
                    raise IfairError(
                        f"ordered[{self.name!r}] has no place for the value {value!r}; add it to the order"
                    )
                coordinates[:, 0] = np.where(present, codes, 0) / self.size
            else:
                # Two different slots are then at a squared distance of 1, however rare the category.
                coordinates[np.flatnonzero(present), codes[present]] = np.sqrt(0.5)
        return coordinates, present

    def describe(self, a: Any, b: Any) -> str:
        """Two people's values in words."""
        if pd.isna(a) or pd.isna(b):
            return f"{self.name} not known of {'either' if pd.isna(a) and pd.isna(b) else 'one'}"
        if a == b:
            return f"same {self.name}"
        if self.kind == "number":
            return f"{_plain(abs(a - b), 4)} apart in {self.name} ({_plain(a, 6)}, {_plain(b, 6)})"
        one, other = _plain_value(a), _plain_value(b)
        if _AMBIGUOUS.search(one + other):
            one, other = (f"“{text}”" if isinstance(value, str) else text for text, value in ((one, a), (other, b)))
        return f"{self.name} differs ({one}, {other})"


def _plain_value(value: Any) -> str:
    """A value of a category as people write it: whole numbers without decimals."""
    return _plain(value, 6) if isinstance(value, float) else str(value)


def _plain(value: float, digits: int) -> str:
    """A number as people write it: whole ones in full, others with so many digits, and hardly ever a power of ten."""
    return f"{value if float(value).is_integer() else float(f'{value:.{digits}g}'):.12g}"


def learn_unit(
    column: pd.Series, name: str, *, categorical: bool, order: Sequence[Any] | None, size: float | None = None
) -> Unit:
    """The unit of an attribute, from the values of a population.

    A number's unit is its interquartile range as that of a normal distribution is to its standard deviation. Where half
    of all people share one value, it is the mean distance of the others from it: a rare value is then about one unit
    away, and not the farther the rarer it is. A number with two values is a category. ``size`` is given by the user.
    """
    present = column.dropna()
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if order is not None:
        unit = Unit(name, "ordered", 1.0, tuple(order))
    elif is_number and not categorical and (present.nunique() > 2 or size is not None):
        check_sizes(column.to_numpy(dtype=float, na_value=np.nan)[:, None], [name])
        unit = Unit(name, "number")
    else:
        unit = Unit(name, "category", 1.0, tuple(pd.unique(present).tolist()))
    if size is not None and unit.kind == "category":
        raise IfairError(f"units[{name!r}]: the column holds categories, which are one unit apart; use weights")
    if unit.kind != "category":
        unit = replace(unit, size=robust_size(unit.embed(present)[0][:, 0]) if size is None else float(size))
    # The mean over pairs is twice the variance, summed over columns.
    return replace(unit, typical=float(2.0 * unit.embed(present)[0].var(axis=0).sum()) if len(present) else 0.0)


def check_sizes(values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse numbers that have no distance: ``values`` of shape (n_people, n_columns), not a number where missing."""
    wrong = np.abs(values) > LARGEST
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise IfairError(
            f"column {names[column]!r} holds {values[row, column]} in row {row + 1}: numbers must be finite, and at "
            f"most {LARGEST:g} in size because their squares are added up"
        )


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
            numbers = people.iloc[:, np.flatnonzero(self._numbers)]
            values = numbers.to_numpy(dtype=float, na_value=np.nan)
            check_sizes(values, list(numbers.columns))
            present[:, self._numbers] = ~np.isnan(values)
            coordinates[:, self._numbers[self.columns]] = np.nan_to_num(values) / self._sizes
        for i, unit in enumerate(self.units):
            if unit.kind != "number":
                coordinates[:, self.columns == i], present[:, i] = unit.embed(people.iloc[:, i])
        return Points.from_coordinates(coordinates * self._roots, present, self.gaps, self.columns)

    def embed_cells(self, cells: list[list[Any]]) -> Points | None:
        """A few people by their cells, one for every attribute; the same points as by columns.

        None where a cell is not a usual one: it is read, or named, by columns.
        """
        people = [self._place_cells(person) for person in cells]
        if None in people:
            return None
        coordinates, present = (np.array(part) for part in zip(*people))
        return Points.from_coordinates(coordinates * self._roots, present, self.gaps, self.columns)

    def _place_cells(self, cells: list[Any]) -> tuple[list[float], list[float]] | None:
        """One person's coordinates before weights, and 1.0 where there is a value."""
        coordinates, present = [0.0] * len(self.columns), [1.0] * len(cells)
        for i, (cell, first, size, places) in enumerate(zip(cells, *self._cells)):
            if is_gap(cell):
                present[i] = 0.0
            elif places is not None and type(cell) in _CATEGORIES:
                coordinates[first + places.get(cell, len(places))] = size
            elif places is None and type(cell) in NUMBERS and -LARGEST <= (number := float(cell)) <= LARGEST:
                coordinates[first] = number / size
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
