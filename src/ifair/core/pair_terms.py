"""Terms over pairs of records: the fairness loss (Def. 5) of all pairs, or of pairs with landmarks.

Both sum over ordered pairs. All pairs of squared distances have a closed form, in :mod:`ifair.core.moments`.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, ClassVar, NamedTuple

from ifair.core.arrays import Array, zeros
from ifair.core.distance import Pullback
from ifair.core.mapping import Mapping
from ifair.core.pairs import PairKernel
from ifair.core.parameters import Parameters
from ifair.core.terms import Part, Term
from ifair.engines.engine import Engine, add_in_order

STRIPE_BYTES = 128 * 2**20
"""What the stripes' own sums may take together."""

LEAST_TILE_ROWS = 64
"""Products of smaller tiles are not worth asking for."""


def tiles(n_records: int, tile_rows: int) -> list[slice]:
    """Cut records into tiles of equal size, as far as that goes, and of at most ``tile_rows``."""
    n_tiles = -(-n_records // tile_rows)
    edges = [i * n_records // n_tiles for i in range(n_tiles + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def tile_rows_of(engine_rows: int, batch: tuple[int, ...]) -> int:
    """Of many fits at once, a tile holds as many pairs as of one: what fills a cache or a device is the same."""
    return max(min(LEAST_TILE_ROWS, engine_rows), int(engine_rows / prod(batch) ** 0.5)) if batch else engine_rows


class PairSums(NamedTuple):
    """Sums over all pairs: the loss, how it moves with each record, and the part that belongs to no record."""

    loss: Array
    rows: Array
    shared: Array


@dataclass(frozen=True, slots=True)
class AllPairs(Term):
    """Every pair, exactly; each unordered pair is visited once.

    Costs M^2/2 pairs; holds O(M (N + K)) numbers.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters) -> PairSums:
        kernel = self.kernel

        def sides(X: Array, rows: slice) -> list[tuple[slice, Any]]:
            side = kernel.side(X, mapping.memberships(X, parameters), parameters)
            cut = tiles(X.shape[0], tile_rows_of(kernel.tile_rows or engine.tile_rows, parameters.batch))
            return [(slice(rows.start + t.start, rows.start + t.stop), side[t]) for t in cut]

        parts = [tile for block in engine.map(sides) for tile in block]
        batch = parameters.batch
        bytes_each = 8 * engine.n_records * kernel.width * prod(batch)
        n_stripes = max(1, min(engine.stripes, len(parts), STRIPE_BYTES // bytes_each))

        def stripe(first: int) -> tuple[Array, Array, Array]:
            alpha = parameters.alpha
            loss, rows = zeros(batch, alpha), zeros((*batch, engine.n_records, kernel.width), alpha)
            shared = zeros((*batch, kernel.n_shared), alpha)
            for i in range(first, len(parts), n_stripes):
                at_i, a = parts[i]
                for at_j, b in parts[i:]:
                    part = kernel.tile(a, b, same=a is b)
                    # Tile (i, j) stands for (j, i) too; a tile on the diagonal holds both orders already.
                    times = 1.0 if a is b else 2.0
                    loss = loss + times * part.loss
                    rows[..., at_i, :] += times * part.rows_a
                    rows[..., at_j, :] += times * part.rows_b
                    shared += times * part.shared
            return loss, rows, shared

        return PairSums(*add_in_order(engine.run(stripe, n_stripes)))

    def block(self, known: PairSums, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        d_memberships, direct = self.kernel.pull(X, U, known.rows[..., rows, :], parameters)
        return d_memberships, (direct,)

    def finish(self, known: PairSums, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        (direct,) = sums
        return known.loss, direct + self.kernel.pull_shared(known.shared, parameters)


@dataclass(frozen=True, slots=True)
class LandmarkSide:
    """What is known of the landmarks at given parameters.

    Another process makes it anew, instead of being sent arrays that are larger than what they are made of.
    """

    term: "Landmarks"
    mapping: Mapping
    parameters: Parameters
    tile_rows: int
    U: Array
    pullback: Pullback
    side: Any
    tiles: list[slice]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.term.describe, (self.mapping, self.parameters, self.tile_rows)


@dataclass(frozen=True, slots=True)
class Landmarks(Term):
    """Every record paired with some records drawn once, scaled so that the expectation is the sum over all pairs.

    Given the landmarks the sum is separable over records: one pass, any split into blocks or shards.

    Parameters
    ----------
    kernel : PairKernel
    X : ndarray of shape (L, N)
        The landmarks.
    n_records : int
        M, the number of records they were drawn from.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel
    X: Array
    n_records: int

    @property
    def scale(self) -> float:
        return self.n_records / self.X.shape[0]

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters) -> LandmarkSide:
        rows = self.kernel.tile_rows or engine.tile_rows
        return self.describe(mapping, parameters, tile_rows_of(rows, parameters.batch))

    def describe(self, mapping: Mapping, parameters: Parameters, tile_rows: int) -> LandmarkSide:
        """What is known of the landmarks at ``parameters``."""
        U, pullback = mapping.with_pullback(self.X, parameters)
        side, cut = self.kernel.side(self.X, U, parameters), tiles(self.X.shape[0], tile_rows)
        return LandmarkSide(self, mapping, parameters, tile_rows, U, pullback, side, cut)

    def block(self, known: LandmarkSide, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        kernel = self.kernel
        records, landmarks = kernel.side(X, U, parameters), known.side
        batch = parameters.batch
        loss, by_record = zeros(batch, U), zeros((*batch, X.shape[0], kernel.width), U)
        by_landmark = zeros((*batch, self.X.shape[0], kernel.width), U)
        shared = zeros((*batch, kernel.n_shared), U)
        for at_i in tiles(X.shape[0], known.tile_rows):
            a = records[at_i]
            for at_j in known.tiles:
                part = kernel.tile(a, landmarks[at_j])
                loss = loss + part.loss
                by_record[..., at_i, :] += part.rows_a
                by_landmark[..., at_j, :] += part.rows_b
                shared += part.shared
        d_memberships, direct = kernel.pull(X, U, by_record, parameters)
        direct = direct + kernel.pull_shared(shared, parameters)
        return self.scale * d_memberships, (self.scale * loss, by_landmark, direct)

    def finish(self, known: LandmarkSide, sums: tuple[Any, ...], parameters: Parameters) -> tuple[Array, Parameters]:
        loss, by_landmark, direct = sums
        d_memberships, more = self.kernel.pull(self.X, known.U, by_landmark, parameters)
        return loss, self.scale * (direct + more + known.pullback(d_memberships))
