"""The different records of a table, and where each stands: copies of a person are searched for once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ifair.core.arrays import Array, Indices, namespace


@dataclass(frozen=True, slots=True)
class Copies:
    """The different records of a table, in the order of their first rows, and the rows where each stands.

    In arrays of NumPy, or tensors of PyTorch.
    """

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
        return cls.from_groups(firsts, of_record)

    @classmethod
    def from_groups(cls, firsts: Any, group: Any) -> "Copies":
        """From the first row of every group of equal records, in any order, and the group of every row."""
        xp = namespace(firsts)
        order = xp.argsort(firsts)
        position = xp.empty_like(order)
        position[order] = xp.arange(len(order), device=order.device)
        of_record = position[group]
        size = xp.bincount(of_record, minlength=len(firsts))
        return cls(firsts[order], of_record, xp.argsort(of_record, stable=True), size.cumsum(0) - size, size)

    def expand(self, index: Any, squared: Any, n: int) -> tuple[Any, Any]:
        """From the nearest different records, by distance and first row, to the ``n`` nearest rows.

        A row among the n nearest holds one of the n nearest different records: each of these has a first row that
        comes before the row of any other.
        """
        if len(self.firsts) == len(self.rows):
            return index, squared
        xp, parts = namespace(squared), []
        at_once = 8192 if xp is np else 65_536
        for start in range(0, len(index), at_once):
            near, distances = index[start : start + at_once], squared[start : start + at_once]
            row = xp.arange(len(near) * near.shape[1], device=near.device) // near.shape[1]
            parts.append(self.expand_pairs(row, near.ravel(), distances.ravel(), n))
        return xp.concat([a for a, _ in parts]), xp.concat([b for _, b in parts])

    def expand_pairs(self, row: Any, record: Any, squared: Any, n: int) -> tuple[Any, Any]:
        """The ``n`` nearest rows of every query, from pairs with all different records that may be among them."""
        if len(self.firsts) < len(self.rows):
            xp = namespace(squared)
            repeat = np.repeat if xp is np else xp.repeat_interleave
            times = self.size[record].clip(max=n)
            nth = xp.arange(int(times.sum()), device=times.device) - repeat(times.cumsum(0) - times, times)
            record = self.rows[repeat(self.start[record], times) + nth]
            row, squared = repeat(row, times), repeat(squared, times)
        return first_of_each(row, record, squared, n)


def first_of_each(row: Any, member: Any, key: Any, n: int) -> tuple[Any, Any]:
    """The ``n`` members with the smallest keys of every row, equal ones by their number; every row has so many."""
    xp = namespace(key)
    if xp is np:
        order = np.lexsort((member, key, row))
    else:
        order = xp.argsort(member, stable=True)
        for more_important in (key, row):
            order = order[xp.argsort(more_important[order], stable=True)]
    row, member, key = row[order], member[order], key[order]
    begin = xp.searchsorted(row, xp.arange(int(row[-1]) + 1, device=row.device))
    chosen = begin[:, None] + xp.arange(n, device=row.device)
    return member[chosen], key[chosen]
