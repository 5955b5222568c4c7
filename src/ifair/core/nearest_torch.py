"""Exact nearest neighbours on a device of PyTorch, in tiles; the rules are those of :mod:`ifair.core.nearest`.

A tile holds lower bounds of the squared distances between some people and all others, from one product. Its columns
are put into groups, and only the smallest bound of a group is looked at first: the n nearest are in the n groups with
the smallest ones, so that choosing takes place among few numbers. Some spare candidates are taken as well. The true
distances of the candidates, in double precision, then show whether anybody left out could be as near; rows where that
cannot be told (many equal distances) look at everyone within reach.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from ifair.core.copies import Copies, first_of_each
from ifair.core.nearest import to_ten_digits, without_self

GROUP = 32  # columns of which the smallest bound is kept
SPARE = 6  # groups and candidates beyond those needed
TILE, DEVICE_TILE = 2**23, 2**30  # bounds held at once
SPLIT = frozenset({"cuda"})  # devices whose products in single precision are made of shorter numbers
PAIRS = 2**18  # true distances at a time; on a device with 100 columns 200 MB


def nearest(reference: Tensor, k: int, queries: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What :func:`ifair.core.nearest.nearest` finds, of and in tensors on one device."""
    copies = find_copies(reference)
    all_differ = len(copies.firsts) == len(reference)
    distinct = reference if all_differ else reference[copies.firsts]
    n = k + (queries is None)
    search = _Search.from_records(distinct, distinct if queries is None else queries, min(n, len(distinct)))
    index, squared = copies.expand(*search.all(), n)
    if queries is None:
        if not all_differ:
            index, squared = index[copies.of_record], squared[copies.of_record]
        index, squared = without_self(index, squared, k)
    return index, squared / search.scale**2


def find_copies(records: Tensor) -> Copies:
    """The different records, told apart as in :meth:`Copies.from_records`."""
    bits = (records + 0.0).view(torch.int64)
    generator = torch.Generator().manual_seed(0)
    factors = torch.randint(2**62, (bits.shape[1],), generator=generator).to(bits.device) * 2 + 1
    hashes = torch.zeros(len(bits), dtype=torch.int64, device=bits.device)
    for column in range(bits.shape[1]):
        hashes += (bits[:, column] ^ (bits[:, column] >> 32)) * factors[column]
    values, group = torch.unique(hashes, return_inverse=True)
    row = torch.arange(len(bits), device=bits.device)
    firsts = torch.full_like(values, len(bits)).scatter_reduce_(0, group, row, "amin")
    if len(values) == len(bits) or not torch.equal(records[firsts[group]], records):
        firsts = group = row
    return Copies.from_groups(firsts, group)


@contextmanager
def _products_as(precision: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass(frozen=True, slots=True)
class _Search:
    """Blocks of queries against all records of a reference, whose rows all differ."""

    reference: Tensor  # (M, N) times a power of two, which is exact
    queries: Tensor  # (Q, N) likewise
    left: Tensor  # (Q, L) single: -2 x, and a one
    right: Tensor  # (L, P) single: y and |y|^2 less its share of the rounding error; P columns with the padding
    squares: Tensor  # (Q,) squared norms of the queries about the mean
    slack: float
    tiny: float
    n: int
    scale: float

    @classmethod
    def from_records(cls, reference: Tensor, queries: Tensor, n: int) -> "_Search":
        mean = reference.mean(dim=0)
        n_columns = len(mean)
        centred, others = reference - mean, queries - mean
        largest = [float(part.abs().max()) if part.numel() else 0.0 for part in (centred, others, mean)]
        scale = 2.0 ** -math.frexp(max(largest[:2]))[1] if max(largest[:2]) > 0 else 1.0
        centred, others = centred * scale, others * scale
        squares, query_squares = (centred * centred).sum(dim=1), (others * others).sum(dim=1)
        # Tensor cores multiply numbers of ten bits: each number is split into two of them, three products of which
        # make one of single precision. The error bound counts one unit for each addition of 3 N + 1 numbers.
        split = centred.device.type in SPLIT
        info = torch.finfo(torch.float32)
        slack = (3 * n_columns + 64 if split else n_columns + 16) * info.eps
        tiny = (n_columns + 16) * info.tiny
        tiny += 8 * n_columns * scale * largest[2] * torch.finfo(torch.float64).eps
        lower = ((1 - slack) * squares - tiny)[:, None]
        ones = torch.ones_like(query_squares)[:, None]
        left, right = _stack_left(-2 * others, ones, split), _stack_right(centred, lower, split)
        padding = -len(right) % GROUP
        if padding:  # columns that nobody is near to
            far = torch.zeros(padding, right.shape[1], device=right.device, dtype=right.dtype)
            far[:, 3 * n_columns if split else n_columns] = 1e30
            right = torch.cat([right, far])
        right = right.T.contiguous()
        return cls(reference * scale, queries * scale, left, right, query_squares, slack, tiny, n, scale)

    def all(self) -> tuple[Tensor, Tensor]:
        """The n nearest of every query and their squared distances."""
        device = self.queries.device
        n_queries, width = len(self.queries), self.right.shape[1]
        rows = max(1, min(n_queries, _bounds_at_once(device) // width))
        index = torch.empty((n_queries, self.n), dtype=torch.int64, device=device)
        squared = torch.empty((n_queries, self.n), dtype=torch.float64, device=device)
        unsure = torch.empty(n_queries, dtype=torch.bool, device=device)
        tile = torch.empty((rows, width), dtype=torch.float32, device=device)
        with _products_as("high" if device.type in SPLIT else "highest"):
            for start in range(0, n_queries, rows):
                block = slice(start, min(start + rows, n_queries))
                bounds = torch.mm(self.left[block], self.right, out=tile[: block.stop - start])
                index[block], squared[block], unsure[block] = self._nearest_candidates(bounds, block)
            again = torch.nonzero(unsure)[:, 0]  # the one time that the host waits
            for rest in again.split(max(1, rows // 8)) if len(again) else ():
                index[rest], squared[rest] = self._search_within(squared[rest, -1], rest)
        return index, squared

    def _nearest_candidates(self, bounds: Tensor, block: slice) -> tuple[Tensor, Tensor, Tensor]:
        """The nearest among the candidates, their distances, and whether someone left out may be as near."""
        n_rows, width = bounds.shape
        n_groups = width // GROUP
        smallest = bounds.view(n_rows, GROUP, n_groups).amin(dim=1)
        wanted = min(self.n + SPARE, n_groups)
        more = min(wanted + 1, n_groups)
        value, group = torch.topk(smallest, more, dim=1, largest=False)
        columns = (group[:, :wanted, None] + n_groups * torch.arange(GROUP, device=bounds.device)).flatten(1)
        values = torch.gather(bounds, 1, columns)
        few = min(self.n + SPARE, columns.shape[1])
        bound, place = torch.topk(values, min(few + 1, columns.shape[1]), dim=1, largest=False)
        left_out = torch.full((n_rows,), torch.inf, device=bounds.device)
        if more > wanted:
            left_out = value[:, wanted]
        if few < columns.shape[1]:
            left_out = torch.minimum(left_out, bound[:, few])
        member = torch.gather(columns, 1, place[:, :few])
        true = self._true_distances(block, member)
        # By distance, equal ones by their number: two stable sorts.
        member, order = torch.sort(member, dim=1)
        true, order = torch.sort(torch.gather(true, 1, order), dim=1, stable=True)
        member = torch.gather(member, 1, order)[:, : self.n]
        true = true[:, : self.n]
        # The bound of a distance lacks |x|^2, of which the slack is taken here.
        lowest = left_out.double() + (1 - self.slack) * self.squares[block] - self.tiny
        return member, true, lowest * (1 - 1e-9) <= true[:, -1]

    def _true_distances(self, block: slice, member: Tensor) -> Tensor:
        few = member.shape[1]
        result = torch.empty(member.shape, dtype=torch.float64, device=member.device)
        last = len(self.reference) - 1
        at_once = max(1, PAIRS // few)
        for first in range(0, len(member), at_once):
            part = member[first : first + at_once]
            people = self.queries[block.start + first : block.start + first + len(part)]
            difference = self.reference[torch.clamp(part, max=last)]
            difference -= people[:, None, :]
            true = to_ten_digits(torch.linalg.vecdot(difference, difference))
            result[first : first + len(part)] = torch.where(part > last, torch.inf, true)
        return result

    def _search_within(self, reach: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The n nearest of these queries, from everyone whose bound is within the n-th distance found so far."""
        n_records = len(self.reference)
        bounds = torch.mm(self.left[rows], self.right)[:, :n_records].double()
        bounds += ((1 - self.slack) * self.squares[rows] - self.tiny)[:, None]
        row, member = torch.nonzero(bounds * (1 - 1e-9) <= reach[:, None], as_tuple=True)
        parts = []
        for a, b in zip(row.split(PAIRS), member.split(PAIRS)):
            difference = self.queries[rows[a]] - self.reference[b]
            parts.append(to_ten_digits(torch.linalg.vecdot(difference, difference)))
        return first_of_each(row, member, torch.cat(parts), self.n)


def _bounds_at_once(device: torch.device) -> int:
    if device.type != "cuda":
        return TILE
    return min(DEVICE_TILE, torch.cuda.mem_get_info(device)[0] // 16)


# The two sides of a product. Where numbers are split, it adds up high x high, high x low and low x high; its width is a
# multiple of four, as tensor cores like it.


def _stack_left(numbers: Tensor, one: Tensor, split: bool) -> Tensor:
    if not split:
        return torch.cat([numbers, one], dim=1).float()
    high, low = _split(numbers)
    return _join_columns([high, high, low, one.float(), one.float()])


def _stack_right(numbers: Tensor, last: Tensor, split: bool) -> Tensor:
    if not split:
        return torch.cat([numbers, last], dim=1).float()
    (high, low), halves = _split(numbers), _split(last)
    return _join_columns([high, low, high, *halves])


def _join_columns(columns: list[Tensor]) -> Tensor:
    missing = -sum(part.shape[1] for part in columns) % 4
    return torch.cat([*columns, *(torch.zeros_like(columns[-1]) for _ in range(missing))], dim=1)


def _split(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers of ten bits and what is left."""
    single = numbers.float()
    high = (single.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return high, (numbers - high.double()).float()
