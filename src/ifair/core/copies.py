"""The different records of a table, and where each stands: copies of a person are searched for once."""

from dataclasses import dataclass

import numpy as np

from ifair.core.arrays import Array, Indices


@dataclass(frozen=True, slots=True)
class Copies:
    """The different records of a table, in the order of their first rows, and the rows where each stands."""

    firsts: Indices  # (U,) the first row of each different record
    of_record: Indices  # (M,) the different record that a row holds
    rows: Indices  # the rows of the first different record, of the second, ...
    start: Indices  # (U,) where they start in ``rows``
    size: Indices  # (U,) how many of them there are

    @classmethod
    def from_records(cls, records: Array) -> "Copies":
        """Rows are told apart by a hash of their bits, and compared: a collision only costs the time that it saves."""
        bits = np.ascontiguousarray(records + 0.0).view(np.uint64)  # -0.0 is 0.0
        factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64) * 2 + 1
        _, firsts, of_record = np.unique((bits ^ (bits >> 32)) @ factors, return_index=True, return_inverse=True)
        if not np.array_equal(records[firsts][of_record], records):
            firsts = of_record = np.arange(len(records))
        order = np.argsort(firsts)
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        firsts, of_record = firsts[order], position[of_record]
        size = np.bincount(of_record, minlength=len(firsts))
        rows = np.argsort(of_record, kind="stable")
        return cls(firsts, of_record, rows, np.cumsum(size) - size, size)

    def expand(self, index: Indices, squared: Array, n: int) -> tuple[Indices, Array]:
        """From the nearest different records, by distance and first row, to the ``n`` nearest rows.

        A row among the n nearest holds one of the n nearest different records: each of these has a first row that
        comes before the row of any other.
        """
        if len(self.firsts) == len(self.rows):
            return index, squared
        parts = []
        for start in range(0, len(index), 8192):
            near = index[start : start + 8192]
            row = np.repeat(np.arange(len(near)), near.shape[1])
            parts.append(self.expand_pairs(row, near.ravel(), squared[start : start + 8192].ravel(), n))
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def expand_pairs(self, row: Indices, record: Indices, squared: Array, n: int) -> tuple[Indices, Array]:
        """The ``n`` nearest rows of every query, from pairs with all different records that may be among them."""
        if len(self.firsts) < len(self.rows):
            repeat = np.minimum(self.size[record], n)
            nth = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
            record = self.rows[np.repeat(self.start[record], repeat) + nth]
            row, squared = np.repeat(row, repeat), np.repeat(squared, repeat)
        return first_of_each(row, record, squared, n)


def first_of_each(row: Indices, member: Indices, key: Array, n: int) -> tuple[Indices, Array]:
    """The ``n`` members with the smallest keys of every row, equal ones by their number; every row has so many."""
    order = np.lexsort((member, key, row))
    row, member, key = row[order], member[order], key[order]
    begin = np.searchsorted(row, np.arange(row[-1] + 1))
    chosen = begin[:, None] + np.arange(n)
    return member[chosen], key[chosen]
