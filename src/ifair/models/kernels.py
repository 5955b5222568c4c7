"""Which kernel evaluates tiles of pairs: by the distance, the precision and where the records are."""

import warnings
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.core.mapping import Mapping
from ifair.core.pairs import EuclideanPairs, MinkowskiPairs, PairKernel
from ifair.core.parameters import Parameters
from ifair.engines.protocol import Engine

TRIAL_RECORDS = 256
TRIAL_TOLERANCE = 1e-3


def pair_kernel(
    engine: Engine,
    counts: NDArray[np.bool_],
    n_prototypes: int,
    p: float = 2.0,
    *,
    weighted: bool,
    single: bool,
    n_landmarks: int | None = None,
) -> PairKernel:
    """The fastest kernel for the pairs of an engine's records.

    Parameters
    ----------
    engine : Engine
    counts : ndarray of bool, shape (N,)
        The attributes that may count.
    n_prototypes : int
    p : float, default=2.0
    weighted, single : bool
        Distances with weights; single precision inside a tile.
    n_landmarks : int, optional
        Records that each one is compared with; by default all.
    """
    (unprotected,) = engine.send(np.flatnonzero(counts))
    dtype = np.float32 if single else np.float64
    if p != 2:
        return MinkowskiPairs(unprotected, len(counts), p, weighted, dtype)
    plain = EuclideanPairs(unprotected, n_prototypes, weighted, dtype)
    n_pairs = engine.n_records * (n_landmarks or engine.n_records)
    if not single or n_pairs < getattr(engine, "fused_from", np.inf) or find_spec("triton") is None:
        return plain
    return _fused(engine, plain) or plain


def _fused(engine: Any, plain: EuclideanPairs) -> PairKernel | None:
    """The same kernel in one piece, if the device can do it."""
    from ifair.core.fused import FusedPairs

    in_blocks = engine.map(lambda X, _: abs(X[:, plain.unprotected]).amax(0))
    largest = reduce(lambda a, b: a.maximum(b), in_blocks)
    fused = FusedPairs(
        plain.unprotected, plain.n_prototypes, plain.weighted, plain.dtype, engine.fused_tile_rows, largest
    )
    try:
        off = _largest_difference(engine, replace(plain, dtype=np.float64), fused)
    except Exception as error:  # Whatever a compiler, a driver or an older device objects to.
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    else:
        if off <= TRIAL_TOLERANCE:
            return fused
        reason = f"it differs by {off:.1g} from the same in steps"
    warnings.warn(
        f"pairs are compared in steps, which takes longer: the kernel that does it in one does not work on "
        f"{engine.device} ({reason})",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


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
