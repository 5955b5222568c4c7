"""One person against all others in one pass over few numbers, for newcomers: who can be among the nearest?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.arrays import Array, Indices, Mask
from ifair.core.copies import Copies

GROUP = 32  # values of which only the smallest counts at first
COMBINATIONS = 1024  # of the values of attributes in one table, which then stays in the cache
PEEK = 512  # records that mostly show whether an attribute has many values
TINY = float(np.finfo(np.float32).tiny)
INFINITY = np.float32(np.inf)
FAR = 2.0**40  # people so far from all others, relative to these, are not for single precision


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of attributes that have few, one after the other: V values with E coordinates together."""

    coordinates: Array  # (E,)
    columns: Indices  # (E,) the column that a coordinate is of
    starts: Indices  # (V,) where the coordinates of a value start
    owner: Indices  # (V,) the attribute
    is_gap: Mask  # (V,) stands for people who have none

    def differences(self, query: Array, has: Mask | None, gaps: Array) -> Array:
        """Squared differences of a person to every value, shape (V,)."""
        found = np.add.reduceat((self.coordinates - query[self.columns]) ** 2, self.starts)
        unknown = self.is_gap if has is None else self.is_gap | ~has[self.owner]
        found[unknown] = gaps[self.owner[unknown]]
        return found


@dataclass(frozen=True, slots=True)
class _Table:
    """Attributes that are looked up together: a record's place is its combination of their values."""

    parts: list[slice]  # the values of each attribute, among all
    places: Indices  # (U,), or of records in the order of their places how many have each

    @property
    def size(self) -> int:
        return math.prod(part.stop - part.start for part in self.parts)

    def fill(self, differences: Array) -> Array:
        """What every combination adds to the squared distance."""
        added = differences[self.parts[0]]
        for part in self.parts[1:]:
            added = np.add.outer(added, differences[part]).ravel()
        return added


@dataclass(frozen=True, slots=True)
class Scan:
    """Records as a search for one person after the other needs them.

    The squared distance of two people is a sum over attributes; one that either has no value for adds a fixed gap.
    Attributes of many values are columns of a product in single precision, as ``|x|^2 + |y|^2 - 2 x.y``. Those of few
    values, such as categories, share as few tables as possible: which place a record has there is known beforehand,
    and what the place adds is computed for the person.
    """

    columns: Indices  # (N,) the attribute of a column
    mean: Array  # (N,)
    scale: float  # a power of two, which is exact; centred records times this are at most one in size
    gaps: Array  # (A,) times the square of the scale
    order: Indices  # (U,) that of the factors and places: by the places in the first table
    plain: Indices  # (P,) columns that are multiplied
    owner: Indices  # (P,) their attributes
    uncertain: Indices  # (G,) their attributes that some records have no value for
    factors: NDArray[np.float32]  # (P + G + 1, U): columns, gaps, and squared lengths
    values: _Values
    tables: list[_Table]
    n_looked_up: int  # attributes
    slack: float

    @classmethod
    def from_records(
        cls, records: Array, columns: Indices, present: NDArray[Any] | None = None, gaps: Array | None = None
    ) -> "Scan":
        """Prepare different records, shape (U, N), which are zero in the columns of an attribute without a value.

        ``columns``, shape (N,), are the attributes of the columns, from 0 in rising order; ``present``, (U, A), is not
        zero where a record has a value, by default everywhere; ``gaps``, (A,), is what a missing value adds.
        """
        n_attributes = int(columns[-1]) + 1 if len(columns) else 0
        lacks = np.zeros((len(records), n_attributes), dtype=bool) if present is None else np.asarray(present == 0)
        gaps = np.zeros(n_attributes) if gaps is None else gaps
        lacks_column = lacks[:, columns]
        mean = records.sum(axis=0) / np.maximum(len(records) - lacks_column.sum(axis=0), 1)
        centred = np.where(lacks_column, 0.0, records - mean)
        largest = max(float(np.abs(centred).max(initial=0.0)), float(np.sqrt(gaps.max(initial=0.0))))
        scale = 2.0 ** -int(np.frexp(largest)[1]) if largest > 0 else 1.0
        centred *= scale
        listed = {a: _list_values(centred[:, columns == a], lacks[:, a]) for a in range(n_attributes)}
        found = {a: values for a, values in listed.items() if values is not None}
        values, tables = _gather(found, columns, centred, lacks), _join(found.values())
        plain = np.flatnonzero(~np.isin(columns, list(found)))
        uncertain = np.flatnonzero(np.isin(np.arange(n_attributes), columns[plain]) & lacks.any(axis=0))
        n_terms = 2 * len(plain) + len(uncertain) + 2 * len(tables) + 16
        slack = n_terms * float(np.finfo(np.float32).eps)
        factors = np.empty((len(plain) + len(uncertain) + 1, len(records)), dtype=np.float32)
        factors[: len(plain)] = centred[:, plain].T
        factors[len(plain) : -1] = lacks[:, uncertain].T
        factors[-1] = np.einsum("ij,ij->i", centred[:, plain], centred[:, plain])
        order = np.arange(len(records))
        if tables:
            order = np.argsort(tables[0].places, kind="stable")
            first = _Table(tables[0].parts, np.bincount(tables[0].places, minlength=tables[0].size))
            tables = [first, *(_Table(table.parts, table.places[order]) for table in tables[1:])]
        return cls(
            columns,
            mean,
            scale,
            gaps * scale**2,
            order,
            plain,
            columns[plain],
            uncertain,
            np.take(factors, order, axis=1),
            values,
            tables,
            len(found),
            slack,
        )

    def candidates(self, query: Array, n: int, has: Mask | None = None) -> Indices:
        """Records that rounding cannot rule out to be among the ``n`` nearest, or as far as the last of these.

        The person may lack a value for some attributes, which ``has``, shape (A,), tells. Nobody is named for a person
        out of the range of single precision.
        """
        if has is None or has.all():
            has = None
        centred = (query - self.mean) * self.scale
        if has is not None:
            centred[~has[self.columns]] = 0.0
        if not np.abs(centred).max(initial=0.0) < FAR:
            return np.zeros(0, dtype=np.intp)
        multiplied = centred[self.plain]
        weights = np.ones(len(self.factors), dtype=np.float32)
        weights[: len(multiplied)] = -2.0 * multiplied
        if len(self.uncertain):
            lengths = np.bincount(self.owner, multiplied**2, minlength=len(self.gaps))
            gain = self.gaps - lengths if has is None else np.where(has, self.gaps - lengths, 0.0)
            weights[len(multiplied) : -1] = gain[self.uncertain]
        # The squared distances less that of the person from the mean, and what they can err by.
        found = weights @ self.factors
        squares, error = float(multiplied @ multiplied), float(self.gaps.sum())
        if self.tables:
            differences = self.values.differences(centred, has, self.gaps)
            error += self.n_looked_up * float(differences.max())
            for i, table in enumerate(self.tables):
                added = table.fill(differences).astype(np.float32)
                found += added.take(table.places) if i else np.repeat(added, table.places)
        error = self.slack * (3 * squares + error) + len(weights) * TINY
        low = high = found
        if has is not None and not has[self.owner].all():
            # What the records have and the person lacks does not count, but for the error.
            excess = (self.factors[: len(multiplied)][~has[self.owner]] ** 2).sum(axis=0)
            low, high = found - (1 + self.slack) * excess, found - (1 - self.slack) * excess
        # A squared distance d to y errs by slack * |y|^2 besides, and |y|^2 <= 2 |x|^2 + 2 d.
        reach = (bound_nth(high, n) + squares + error) / (1 - 2 * self.slack)
        most = reach * (1 + 2 * self.slack) - squares + error
        return self.order[np.flatnonzero(low <= np.nextafter(np.float32(most), INFINITY))]


def bound_nth(values: Array, n: int) -> float:
    """At least the ``n``-th smallest of many values, and hardly more: n groups of them have a minimum within it."""
    n_groups = len(values) // GROUP
    if n_groups < 8 * n:
        return float(np.partition(values, n - 1)[n - 1])
    return float(np.partition(values[: n_groups * GROUP].reshape(GROUP, n_groups).min(axis=0), n - 1)[n - 1])


def _list_values(block: Array, lacks: Mask) -> Copies | None:
    """The different values of an attribute; None where a product takes less time than to look them up."""
    n_columns = block.shape[1]
    if n_columns == 1:
        return None
    most = min(2**n_columns, COMBINATIONS)
    cells = np.column_stack([block, lacks])
    if len(Copies.from_records(cells[:PEEK]).firsts) > most:
        return None
    values = Copies.from_records(cells)
    return values if len(values.firsts) <= most else None


def _gather(found: dict[int, Copies], columns: Indices, records: Array, lacks: Mask) -> _Values:
    """The values of all attributes that are looked up."""
    own = {a: np.flatnonzero(columns == a) for a in found}
    sizes = [len(own[a]) for a, values in found.items() for _ in values.firsts]
    return _Values(
        np.concatenate([np.zeros(0), *(records[np.ix_(v.firsts, own[a])].ravel() for a, v in found.items())]),
        np.concatenate([columns[:0], *(np.tile(own[a], len(v.firsts)) for a, v in found.items())]),
        np.cumsum(sizes, dtype=np.intp) - np.array(sizes, dtype=np.intp),
        np.repeat(np.array(list(found), dtype=np.intp), [len(v.firsts) for v in found.values()]),
        np.concatenate([np.zeros(0, dtype=bool), *(lacks[v.firsts, a] for a, v in found.items())]),
    )


def _join(found: Iterable[Copies]) -> list[_Table]:
    """The tables that attributes share, as many in each as there is room for."""
    tables: list[_Table] = []
    room = n_before = 0
    for values in found:
        n_values = len(values.firsts)
        part = slice(n_before, n_before + n_values)
        n_before += n_values
        if n_values > room:
            tables.append(_Table([part], values.of_record))
            room = COMBINATIONS // n_values
        else:
            last = tables.pop()
            tables.append(_Table([*last.parts, part], last.places * n_values + values.of_record))
            room //= n_values
    return tables
