"""A few people encoded cell by cell: a pass of pandas over every column takes a hundred times as long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.encode.attribute import LARGEST, Attribute

NUMBERS = frozenset({int, float, np.float64, np.int64, np.int32, np.int16, np.int8, np.uint8})
BOOLEANS = frozenset({bool, np.bool_})
TEXT = frozenset({str, np.str_})
USUAL = {"numbers": NUMBERS, "booleans": BOOLEANS, "text": TEXT}
"""The types of usual cells, by what a column holds; others are read, or refused, by columns."""


def is_gap(cell: Any) -> bool:
    """Whether a cell has no value, of the usual kinds."""
    return cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the cells of one attribute go in an encoded record."""

    attribute: Attribute
    column: int  # of a number or a boolean
    fill: Any  # the number or category that stands for a missing value; None: no category
    places: dict[Any, int]  # the columns of the categories
    flag: int | None  # the column that is 1 where the value is missing

    def place(self, cell: Any, record: NDArray[np.float64]) -> bool:
        """Write one cell into a record of zeros; False if it is not a usual one."""
        kind = self.attribute.kind
        missing = kind == "empty" or is_gap(cell)
        if not missing and type(cell) not in USUAL.get(self.attribute.holds, ()):
            return False
        if missing and self.flag is not None:
            record[self.flag] = 1.0
        value = self.fill if missing else cell
        if kind != "categorical":
            if not -LARGEST <= value <= LARGEST:
                return False
            record[self.column] = value
            return True
        if value in self.places:
            record[self.places[value]] = 1.0
        return True


def encode_cells(cells: list[list[Any]], attributes: Sequence[Cells], width: int) -> NDArray[np.float64] | None:
    """Records of shape (n_people, width) before scaling, as columns give them; None if a cell is not a usual one."""
    encoded = np.zeros((len(cells), width))
    for record, row in zip(encoded, cells):
        for attribute, cell in zip(attributes, row):
            if not attribute.place(cell, record):
                return None
    return encoded
