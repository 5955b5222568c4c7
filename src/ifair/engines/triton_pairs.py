"""Tiles of pairs as one kernel of a GPU: nothing of the size of a tile is ever written to memory.

What a tile is, and why, is told in :mod:`ifair.core.pairs`; this is the same sum over pairs of records under the
Euclidean distance, p = 2, in single precision, for CUDA devices. Matrix products run on tensor cores, which multiply
numbers in half precision: every number is split into two of them, a high and a low part, and all products of parts
that matter are added up in single precision, which keeps its accuracy.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from ifair.core.arrays import Array
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Mapping, Parameters
from ifair.core.pairs import PairKernel, PairWeights, TileSums
from ifair.engines.triton_comparison import prefer

TRIAL_RECORDS = 256
TRIAL_TOLERANCE = 1e-3


class Shape(NamedTuple):
    """Records on the two sides of what one multiprocessor works on at a time, and how it is divided."""

    rows: int
    columns: int
    warps: int
    stages: int


SHAPES = {True: Shape(64, 32, 4, 3), False: Shape(128, 64, 8, 2)}
"""With attribute weights and without: weights need a wide sum per block, which leaves registers for fewer pairs."""

WIDEST = 128
"""Attributes that are multiplied at a time; wider tables take several turns."""

CHUNK = 1024
"""Records of the other side that one program goes through. Tensor cores cut off where they should round: longer sums
would show it."""

HALF_RANGE = 2.0**6
"""What the largest number of a matrix is scaled to: far from where half precision ends, above and below."""

STEEPEST = tl.constexpr(6e4)
"""Slopes are cut off here, where half precision ends: distances that differ by this factor."""

LEAST_WEIGHT = 1e-10
"""Weights are at least this share of the largest: too little to show in a distance, enough to be divided by."""

NOISE = 4.0
"""How much the floor of squared distances is above that of plain single precision: parts lose two bits."""


@dataclass(frozen=True, slots=True)
class FusedSide:
    """High and low parts lie side by side, shape (rows, 2 columns), padded to widths that tensor cores like.

    As in :class:`ifair.core.euclidean_pairs.EuclideanSide` a product of left and right is one of vectors less half the
    squared norm of the right one: two columns on the right hold that, and the left ones what they are to be multiplied
    by. The right ones also have a column of ones, which sums up what they are multiplied by.
    """

    left: torch.Tensor
    right: torch.Tensor
    input_left: torch.Tensor
    input_right: torch.Tensor
    numbers: torch.Tensor
    """Of every record the squared norms of representation and inputs, and below what a squared distance is noise."""
    scales: torch.Tensor
    """What products, products of inputs, and right are to be multiplied by; the same for all records."""

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: slice) -> "FusedSide":
        return FusedSide(
            self.left[rows],
            self.right[rows],
            self.input_left[rows],
            self.input_right[rows],
            self.numbers[rows],
            self.scales,
        )


@dataclass(frozen=True, slots=True)
class FusedPairs(EuclideanPairs):
    """Pairs under the (weighted) Euclidean distance, each tile in one kernel.

    Parameters
    ----------
    unprotected, n_prototypes, weighted, dtype, tile_rows
        As of EuclideanPairs; ``dtype`` is single precision.
    largest : Tensor of shape (N',)
        The largest absolute value of every unprotected attribute among all records.
    """

    largest: Any = None

    def side(self, X: Array, U: Array, parameters: Parameters) -> Any:
        roots, U = self._roots(parameters), self._centre_rows(U)
        gram: Any = self._gram(parameters)
        inputs: Any = X[:, self.unprotected] * roots
        weighted: Any = U @ gram
        # Memberships lie between 0 and 1, so that those that are centred make at most twice the largest of the matrix.
        scale, input_scale = _scale(2.0 * gram.abs().max()), _scale((roots * self.largest).max())
        right_scale = torch.full_like(scale, 1.0 / HALF_RANGE)
        left, right, norms = _factors(weighted / scale, U / right_scale)
        inputs = inputs / input_scale
        input_left, input_right, input_norms = _factors(inputs, inputs)
        norms, input_norms = norms * (scale * right_scale), input_norms * input_scale**2
        floors = NOISE * self.find_floor(norms, input_norms), NOISE * self.find_floor(input_norms, norms)
        # In units of the products of representations, so that no product of two squared distances is out of range.
        unit = scale * right_scale
        numbers = (torch.stack([norms, input_norms, *floors], dim=1) / unit).float()
        scales = torch.stack([unit, input_scale**2, right_scale, input_scale**2 / unit])
        return FusedSide(left, right, input_left, input_right, numbers, scales)

    def _roots(self, parameters: Parameters) -> Any:
        """The roots of the weights, of which none is zero."""
        weights: Any = parameters.alpha[self.unprotected]
        if not self.weighted:
            return torch.ones_like(weights)
        return torch.sqrt(torch.maximum(weights, LEAST_WEIGHT * weights.max()))

    def tile(self, a: Any, b: Any, *, same: bool = False, weights: PairWeights | None = None) -> TileSums:
        assert weights is None  # pair_kernel does not choose this kernel for records with weights
        wide, narrow = a.input_left.shape[1] // 2, a.left.shape[1] // 2
        block, shape = min(wide, WIDEST), SHAPES[self.weighted]
        n_blocks, n_parts = triton.cdiv(len(a), shape.rows), wide // block if self.weighted else 1
        n_chunks = triton.cdiv(len(b), CHUNK)
        padded_a, padded_b = n_blocks * shape.rows, triton.cdiv(len(b), shape.columns) * shape.columns
        # Sums over a part of the pairs each, which are added up in a fixed order. Half of the pairs of one side with
        # itself are left out, and what would be written for them stays zero.
        made = torch.zeros if same else torch.empty
        options = {"dtype": torch.float32, "device": a.left.device}
        loss = torch.empty((n_chunks, n_blocks), **options)
        rows_a = torch.empty((n_chunks, padded_a, narrow), **options)
        rows_b = made((n_blocks, padded_b, narrow), **options)
        weighted = (n_chunks, n_blocks) if self.weighted else (0, 0)
        in_sums_a = torch.empty((weighted[0], padded_a), **options)
        in_sums_b = made((weighted[1], padded_b), **options)
        cross = torch.empty((*weighted, wide), **options)
        _tile[(n_blocks, n_chunks, n_parts)](
            TensorDescriptor.from_tensor(a.left, [shape.rows, narrow]),
            TensorDescriptor.from_tensor(a.right, [shape.rows, narrow]),
            TensorDescriptor.from_tensor(a.input_left, [shape.rows, block]),
            a.numbers,
            TensorDescriptor.from_tensor(b.right, [shape.columns, narrow]),
            TensorDescriptor.from_tensor(b.input_right, [shape.columns, block]),
            a.scales,
            loss,
            rows_a,
            rows_b,
            in_sums_a,
            in_sums_b,
            cross,
            len(a),
            len(b),
            int(same),
            ONES=len(self.unprotected),
            WIDE=wide,
            NARROW=narrow,
            BLOCK=block,
            PARTS=n_parts,
            WEIGHTED=self.weighted,
            ROWS=shape.rows,
            COLUMNS=shape.columns,
            CHUNK=CHUNK,
            num_warps=shape.warps,
            num_stages=shape.stages,
        )
        # One side with itself: both orders of every pair.
        times = 2.0 if same else 1.0
        total_a = times * self._rows(rows_a, in_sums_a, b.scales)[: len(a)]
        total_b = times * self._rows(rows_b, in_sums_b, a.scales)[: len(b)]
        crossed = _sum(cross.flatten(0, 1))[: self.n_shared]
        return TileSums(times * a.scales[0] * _sum(loss.flatten()), total_a, total_b, times * a.scales[1] * crossed)

    def _rows(self, rows: torch.Tensor, in_sums: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        """The columns that :meth:`EuclideanPairs.pull` expects, from parts of sums."""
        K, total = self.n_prototypes, _sum(rows)
        columns = [total[:, :K] * scales[2], total[:, K : K + 1]]
        if self.weighted:
            columns.append(_sum(in_sums)[:, None])
        return torch.cat(columns, dim=1)

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        if self.weighted:
            # Sums are of inputs times the roots of their weights.
            shared = shared / self._roots(parameters) ** 2
        return EuclideanPairs.pull_shared(self, shared, parameters)


def fuse_kernel(engine: Any, plain: EuclideanPairs) -> EuclideanPairs:
    """The same kernel in one piece, if the device of a TorchEngine can do it; else the kernel itself."""
    in_blocks = engine.map(lambda X, _: abs(X[:, plain.unprotected]).amax(0))
    largest = reduce(lambda a, b: a.maximum(b), in_blocks)
    parts = plain.unprotected, plain.n_prototypes, plain.weighted, plain.dtype
    fused = FusedPairs(*parts, engine.fused_tile_rows, largest=largest)
    exact = replace(plain, dtype=np.float64)
    trouble = (
        "pairs are compared in steps, which takes longer: the kernel that does it in one does not work on "
        f"{engine.device}"
    )
    best: EuclideanPairs = prefer(
        fused, plain, lambda: _largest_difference(engine, exact, fused), TRIAL_TOLERANCE, trouble
    )
    return best


def _largest_difference(engine: Any, exact: EuclideanPairs, fused: PairKernel) -> float:
    """Of the loss and its gradients over a few records, each relative to its largest number."""
    X = engine.take(np.arange(min(TRIAL_RECORDS, engine.n_records)))
    prototypes = X[np.arange(exact.n_prototypes) % len(X)]
    parameters = Parameters(0.5 * prototypes, X.new_ones(X.shape[1]))
    U = Mapping().memberships(X, parameters)

    def sums(kernel: PairKernel) -> tuple[Any, ...]:
        side = kernel.side(X, U, parameters)
        tile: Any = kernel.tile(side, side, same=True)
        d_memberships, direct = kernel.pull(X, U, tile.rows_a + tile.rows_b, parameters)
        gradient = direct + kernel.pull_shared(tile.shared, parameters)
        return tile.loss, d_memberships, gradient.prototypes, gradient.alpha

    return max(float(abs(a - b).max() / (abs(a).max() + 1e-300)) for a, b in zip(sums(exact), sums(fused)))


def _sum(parts: torch.Tensor) -> torch.Tensor:
    """The sum over the first dimension; torch adds a few hundred numbers of single precision in good order."""
    return parts.sum(0).double()


def _pad_width(width: int) -> int:
    """A width for tensor cores: a power of two, at least 16; beyond WIDEST a multiple of it."""
    return max(16, triton.next_power_of_2(width)) if width <= WIDEST else triton.cdiv(width, WIDEST) * WIDEST


def _scale(largest: torch.Tensor) -> torch.Tensor:
    """The power of two that numbers are divided by to lie in the range of half precision."""
    return torch.exp2(torch.ceil(torch.log2(torch.clamp(largest, min=1e-200) / HALF_RANGE)))


def _factors(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Both factors in parts, with a column of ones, columns for half the squared norm, and the squared norms."""
    zeros = left.new_zeros((len(left), 1))
    # The norms of numbers as split, so that records that coincide are at a distance of zero but for rounding.
    (a, a_low), (b, b_low) = _split_in_two(left), _split_in_two(right)
    norms = ((a + a_low) * b + a * b_low).sum(1)
    # What a norm can be at most fits half precision after a division by this.
    times = float(triton.next_power_of_2(max(1, int(left.shape[1] * HALF_RANGE**2 / 2**16))))
    half = (-0.5 / times) * norms[:, None]
    rest = half - sum(_split_in_two(half))
    left = torch.cat([left, zeros, zeros + times, zeros + times], dim=1)
    right = torch.cat([right, zeros + 1.0, half, rest], dim=1)
    width = _pad_width(left.shape[1])
    return _parts(left, width), _parts(right, width), norms


def _split_in_two(array: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """High and low parts in half precision, as doubles."""
    high = array.half().double()
    return high, (array - high).half().double()


def _parts(array: torch.Tensor, width: int) -> torch.Tensor:
    """High parts and low parts in half precision, shape (rows, 2 width)."""
    parts = array.new_zeros((len(array), 2, width), dtype=torch.float16)
    parts[:, :, : array.shape[1]] = torch.stack(_split_in_two(array), dim=1)
    return parts.flatten(1)


@triton.jit
def _dot(a_high, a_low, b_high, b_low, total):  # type: ignore[no-untyped-def]
    """Add the product of two matrices in parts; low times low is below what single precision holds."""
    total = tl.dot(a_low, b_high, total)
    total = tl.dot(a_high, b_low, total)
    return tl.dot(a_high, b_high, total)


@triton.jit
def _split(x):  # type: ignore[no-untyped-def]
    high = x.to(tl.float16)
    return high, (x - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _tile(  # type: ignore[no-untyped-def]
    a_left,
    a_right,
    a_inputs,
    a_numbers,
    b_right,
    b_inputs,
    scales,
    loss_out,
    rows_a_out,
    rows_b_out,
    in_sums_a_out,
    in_sums_b_out,
    cross_out,
    n_a,
    n_b,
    same,
    ONES: tl.constexpr,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    BLOCK: tl.constexpr,
    PARTS: tl.constexpr,
    WEIGHTED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Some records of one side against a chunk of the other; the third number of a program chooses attributes."""
    block, turn, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    top = block * ROWS
    i = top + tl.arange(0, ROWS)
    k, n = tl.arange(0, NARROW), part * BLOCK + tl.arange(0, BLOCK)
    left_high, left_low = a_left.load([top, 0]), a_left.load([top, NARROW])
    u_i_high, u_i_low = a_right.load([top, 0]), a_right.load([top, NARROW])
    if WIDE == BLOCK:
        x_i_high, x_i_low = a_inputs.load([top, 0]), a_inputs.load([top, WIDE])
    # Rows beyond the last record are zero, and so at equal distances from all others, which adds nothing.
    at, here = a_numbers + 4 * i, i < n_a
    norm, in_norm = tl.load(at, mask=here, other=1.0)[:, None], tl.load(at + 1, mask=here, other=1.0)[:, None]
    floor, in_floor = tl.load(at + 2, mask=here, other=0.5)[:, None], tl.load(at + 3, mask=here, other=0.5)[:, None]
    in_scale = -2.0 * tl.load(scales + 3).to(tl.float32)

    loss = tl.zeros([ROWS], tl.float32)
    rows_a = tl.zeros([ROWS, NARROW], tl.float32)
    if WEIGHTED:
        product = tl.zeros([ROWS, BLOCK], tl.float32)

    first = turn * CHUNK
    if same:
        # Pairs of one side with itself are visited once, except those on the diagonal, which count half.
        first = tl.maximum(first, (top // COLUMNS) * COLUMNS)
    at_b = block.to(tl.int64) * (tl.cdiv(n_b, COLUMNS) * COLUMNS)
    for start in range(first, tl.minimum((turn + 1) * CHUNK, n_b), COLUMNS):
        u_j_high, u_j_low = b_right.load([start, 0]), b_right.load([start, NARROW])
        squared = _dot(left_high, left_low, u_j_high.T, u_j_low.T, tl.zeros([ROWS, COLUMNS], tl.float32))
        in_squared = tl.zeros([ROWS, COLUMNS], tl.float32)
        if WIDE == BLOCK:
            x_j_high, x_j_low = b_inputs.load([start, 0]), b_inputs.load([start, WIDE])
            in_squared = _dot(x_i_high, x_i_low, x_j_high.T, x_j_low.T, in_squared)
        else:
            for offset in range(0, WIDE, BLOCK):
                x_i_high, x_i_low = a_inputs.load([top, offset]), a_inputs.load([top, WIDE + offset])
                x_j_high, x_j_low = b_inputs.load([start, offset]), b_inputs.load([start, WIDE + offset])
                in_squared = _dot(x_i_high, x_i_low, x_j_high.T, x_j_low.T, in_squared)

        j = start + tl.arange(0, COLUMNS)
        share = tl.where((same != 0) & (start < top + ROWS), 0.5, 1.0)
        shares = tl.where(j < n_b, share, 0.0)[None, :]
        squared, in_squared = norm - 2.0 * squared, in_squared * in_scale + in_norm
        # Where records coincide the slope multiplies a difference of zero: leave out what is noise.
        apart, in_apart = squared > floor, in_squared > in_floor
        squared, in_squared = tl.maximum(squared, floor), tl.maximum(in_squared, in_floor)
        # With e = d - d*: W = e / d and E = e / d*, as far as the pair counts here; one root serves both.
        inverse = tl.rsqrt(squared * in_squared)
        W = shares - in_squared * inverse * shares
        loss += tl.sum(squared * W * W, axis=1) / share

        W_high, W_low = _split(tl.where(apart, tl.maximum(W, -STEEPEST), 0.0))
        if WEIGHTED:
            E = tl.where(in_apart, tl.minimum(squared * inverse * shares - shares, STEEPEST), 0.0)
            E_high, E_low = _split(E)
            if PARTS == 1 or part == 0:
                tl.store(in_sums_b_out + at_b + j, tl.sum(E, axis=0))
            if WIDE != BLOCK:
                x_j_high = b_inputs.load([start, part * BLOCK])
                x_j_low = b_inputs.load([start, WIDE + part * BLOCK])
            product = _dot(E_high, E_low, x_j_high, x_j_low, product)
        rows_a += _dot(W_high, W_low, u_j_high, u_j_low, tl.zeros([ROWS, NARROW], tl.float32))
        if WEIGHTED:
            rows_b = _dot(W_high.T, W_low.T, u_i_high, u_i_low, tl.zeros([COLUMNS, NARROW], tl.float32))
        else:
            # Three products and two sums, not one chain: of a chain Triton lets both halves of the warps compute the
            # same. A plain sum it would make a chain of.
            zeros, one = tl.zeros([COLUMNS, NARROW], tl.float32), tl.full([COLUMNS, NARROW], 1.0, tl.float32)
            rows_b = tl.fma(tl.dot(W_high.T, u_i_low, zeros), one, tl.dot(W_low.T, u_i_high, zeros))
            rows_b = tl.fma(tl.dot(W_high.T, u_i_high, zeros), one, rows_b)
        if PARTS == 1 or part == 0:
            tl.store(rows_b_out + (at_b + j)[:, None] * NARROW + k[None, :], rows_b)

    at_block = (turn * tl.num_programs(0) + block).to(tl.int64)
    at_a = at_block * ROWS + tl.arange(0, ROWS)
    if part == 0:
        tl.store(loss_out + at_block, tl.sum(loss))
        tl.store(rows_a_out + at_a[:, None] * NARROW + k[None, :], rows_a)
    if WEIGHTED:
        x_i_high = a_inputs.load([top, part * BLOCK])
        x_i_low = a_inputs.load([top, WIDE + part * BLOCK])
        crossed = tl.sum((x_i_high.to(tl.float32) + x_i_low.to(tl.float32)) * product, axis=0)
        tl.store(cross_out + at_block * WIDE + n, crossed)
        if part == ONES // BLOCK:
            tl.store(in_sums_a_out + at_a, tl.sum(tl.where((n == ONES)[None, :], product, 0.0), axis=1))
