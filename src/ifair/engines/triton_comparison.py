"""What happens to every pair of a tile between the products, in one pass over memory: for fits evaluated together.

In steps, as :func:`ifair.core.euclidean_pairs.compare_tile` takes them, every step reads and writes arrays of the size
of the tile, some thirty times in all. Here squared distances are read once, and what they are replaced by is written
once.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

from ifair.core.euclidean_pairs import compare_tile
from ifair.core.pairs import PairWeights
from ifair.errors import warn_user

ROWS, COLUMNS = 16, 128
"""Pairs that one program compares."""

TRIAL_TOLERANCE = 1e-4


def compare_in_one(
    squared: Any,
    input_squared: Any,
    floor: Any,
    input_floor: Any,
    *,
    weighted: bool,
    same: bool,
    weights: PairWeights | None,
) -> tuple[Any, Any, Any]:
    """The same as :func:`compare_tile`, whose arguments are in the way of it; also in place."""
    batch, (R, C) = squared.shape[:-2], squared.shape[-2:]
    squared, input_squared = squared.contiguous(), input_squared.contiguous()
    slopes = input_squared if weighted else squared  # not written to where weights do not count
    B = batch.numel()
    parts = squared.new_empty((B, triton.cdiv(R, ROWS), triton.cdiv(C, COLUMNS)))
    of_rows, of_columns = (squared, squared) if weights is None else weights
    _compare[(parts.shape[2], parts.shape[1], B)](
        squared,
        input_squared,
        floor.expand(*batch, C).contiguous(),
        input_floor.expand(*batch, C).contiguous(),
        of_rows,
        of_columns,
        slopes,
        parts,
        R,
        C,
        R * C if input_squared.ndim == squared.ndim else 0,
        SAME=same,
        COUNTED=weights is not None,
        WEIGHTED=weighted,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
    )
    return parts.sum(dim=(-2, -1), dtype=torch.float64).reshape(batch), squared, slopes if weighted else None


@triton.jit
def _divide(a, b):  # type: ignore[no-untyped-def]
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    return a / b


@triton.jit
def _sqrt(a):  # type: ignore[no-untyped-def]
    if a.dtype == tl.float32:
        return tl.sqrt_rn(a)
    return tl.sqrt(a)


@triton.jit
def _compare(  # type: ignore[no-untyped-def]
    squared_at,
    input_at,
    floor_at,
    input_floor_at,
    row_weights,
    column_weights,
    slopes_at,
    parts_at,
    R,
    C,
    apart,
    SAME: tl.constexpr,
    COUNTED: tl.constexpr,
    WEIGHTED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Some rows and columns of one fit's tile; the inputs of fits lie ``apart``, or 0 where all have the same."""
    fit = tl.program_id(2).to(tl.int64)
    i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    here = (i < R)[:, None] & (j < C)[None, :]
    at = i.to(tl.int64)[:, None] * C + j[None, :]
    own = squared_at + fit * R * C + at
    squared = tl.load(own, mask=here, other=1.0)
    input_squared = tl.load(input_at + fit * apart + at, mask=here, other=1.0)
    squared = tl.maximum(squared, tl.load(floor_at + fit * C + j, mask=j < C, other=1.0)[None, :])
    input_squared = tl.maximum(input_squared, tl.load(input_floor_at + fit * C + j, mask=j < C, other=1.0)[None, :])
    # As torch rounds them: Triton's own in single precision are a little off, and small differences would show it.
    ratio = _sqrt(_divide(input_squared, squared))
    if SAME:
        ratio = tl.where(i[:, None] == j[None, :], 1.0, ratio)
    relative = tl.where(here, 1.0 - ratio, 0.0)
    W = relative
    if COUNTED:
        W *= tl.load(row_weights + i, mask=i < R, other=0.0)[:, None].to(W.dtype)
        W *= tl.load(column_weights + j, mask=j < C, other=0.0)[None, :].to(W.dtype)
    loss = tl.sum(tl.sum(squared * relative * W, axis=1), axis=0)
    tl.store(parts_at + (fit * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0), loss)
    tl.store(own, W, mask=here)
    if WEIGHTED:
        tl.store(slopes_at + fit * apart + at, _divide(W, ratio), mask=here)


@cache
def choose_comparison(device: torch.device, dtype: torch.dtype) -> Any:
    """The comparison in one pass, if the device can do it; else that in steps, with a warning."""
    trouble = (
        f"pairs of many fits are compared in steps, which takes longer: that in one pass does not work on {device}"
    )
    return prefer(compare_in_one, compare_tile, lambda: _largest_difference(device, dtype), TRIAL_TOLERANCE, trouble)


def prefer(fast: Any, plain: Any, try_out: Callable[[], float], tolerance: float, trouble: str) -> Any:
    """The fast way where a trial finds it near the plain one; else that, and a warning of the trouble."""
    try:
        off = try_out()
    except Exception as error:  # Whatever a compiler, a driver or an older device objects to.
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    else:
        if off <= tolerance:
            return fast
        reason = f"it differs by {off:.1g} from the same in steps"
    warn_user(f"{trouble} ({reason})", RuntimeWarning)
    return plain


def _largest_difference(device: torch.device, dtype: torch.dtype) -> float:
    """Of what both say of a few pairs, relative to its largest number."""
    squared = torch.arange(1.0, 2 * 150**2 + 1, device=device, dtype=dtype).reshape(2, 150, 150)
    inputs, floor = squared.flip(-1).sqrt(), torch.full((2, 150), 9.0, device=device, dtype=dtype)
    weights = tuple(torch.linspace(1.0, 2.0, 150, device=device, dtype=torch.float64) for _ in range(2))
    found = [
        compare(squared.clone(), inputs.clone(), floor, floor, weighted=True, same=True, weights=weights)
        for compare in (compare_tile, compare_in_one)
    ]
    return max(float(abs(a - b).max() / abs(a).max()) for a, b in zip(*found))
