"""The fairness loss (Def. 5) of all pairs of records, or of pairs with landmarks, evaluated tile by tile.

Both sum over ordered pairs. A *side* holds what a tile needs to know of some records; a *tile* is the loss of every
pair between the records of two sides, with its gradient. Tiles are small enough to stay in cache, and no array of
records x records is ever held. What a distance is, kernels say: :mod:`ifair.core.euclidean_pairs` and
:mod:`ifair.core.minkowski_pairs`. All pairs of squared distances have a closed form, in :mod:`ifair.core.moments`.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, Protocol

from ifair.core.arrays import Array, zeros
from ifair.core.mapping import Mapping, Parameters, Pullback
from ifair.core.objective import Part, Term
from ifair.engines.engine import Engine, add_in_order, tiles


class TileSums(NamedTuple):
    """Sums over the pairs of a tile.

    ``rows_a`` and ``rows_b`` say how the loss moves with each record of the two sides; ``shared`` (N',) is the part
    that belongs to no record. What they mean is between a kernel's ``tile`` and its ``pull``.
    """

    loss: Array
    rows_a: Array
    rows_b: Array
    shared: Array


PairWeights = tuple[Array, Array]
"""The weights of the records of a tile's two sides; a pair counts their product."""


class PairKernel(Protocol):
    """How a tile of pairs is evaluated."""

    @property
    def tile_rows(self) -> int | None:
        """Most records on each side of a tile; None for what suits the engine."""

    @property
    def width(self) -> int:
        """Columns of ``rows_a`` and ``rows_b``."""

    @property
    def n_shared(self) -> int:
        """Length of ``shared``."""

    def side(self, X: Array, U: Array, parameters: Parameters) -> Any:
        """Prepare records ``X`` with memberships ``U`` as a side."""

    def tile(self, a: Any, b: Any, *, same: bool = False, weights: PairWeights | None = None) -> TileSums:
        """Sum ``(d(x~_i, x~_j) - d(x*_i, x*_j))^2`` over i in ``a`` and j in ``b``; ``same``: a and b are one."""

    def pull(self, X: Array, U: Array, rows: Array, parameters: Parameters) -> tuple[Array, Parameters]:
        """From the ``rows`` of records to gradients on their memberships and directly on the parameters."""

    def pull_shared(self, shared: Array, parameters: Parameters) -> Parameters:
        """From the ``shared`` sums to a gradient on the parameters."""


STRIPE_BYTES = 128 * 2**20
"""What the stripes' own sums may take together."""

LEAST_TILE_ROWS = 64
"""Products of smaller tiles are not worth asking for."""


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

    Parameters
    ----------
    kernel : PairKernel
    sample_weight : array of shape (M,), optional
        How much every record counts; a pair counts the product of its two.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel
    sample_weight: Array | None = None

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> PairSums:
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
                    weights = None
                    if self.sample_weight is not None:
                        weights = self.sample_weight[at_i], self.sample_weight[at_j]
                    part = kernel.tile(a, b, same=a is b, weights=weights)
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
    tiles: list[tuple[slice, Any]]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.term.describe, (self.mapping, self.parameters, self.tile_rows)


@dataclass(frozen=True, slots=True)
class Landmarks(Term):
    """Every record paired with some records drawn once, scaled to stand for the sum over all pairs.

    Without weights its expectation is that sum.

    Given the landmarks the sum is separable over records: one pass, any split into blocks or shards.

    Parameters
    ----------
    kernel : PairKernel
    X : ndarray of shape (L, N)
        The landmarks.
    n_records : int or float
        M, the number of records they were drawn from, or the sum of their weights.
    sample_weight : array of shape (M,), optional
        How much every record counts; a pair counts the product of its two.
    landmark_weight : array of shape (L,), optional
        How much every landmark counts among the landmarks, 1 on average.
    """

    order: ClassVar[int] = 2

    kernel: PairKernel
    X: Array
    n_records: float
    sample_weight: Array | None = None
    landmark_weight: Array | None = None

    @property
    def scale(self) -> float:
        return self.n_records / self.X.shape[0]

    def prepare(self, engine: Engine, mapping: Mapping, parameters: Parameters, U: Array | None) -> LandmarkSide:
        rows = self.kernel.tile_rows or engine.tile_rows
        return self.describe(mapping, parameters, tile_rows_of(rows, parameters.batch))

    def describe(self, mapping: Mapping, parameters: Parameters, tile_rows: int) -> LandmarkSide:
        """What is known of the landmarks at ``parameters``."""
        U, pullback = mapping.with_pullback(self.X, parameters)
        side = self.kernel.side(self.X, U, parameters)
        cut = [(at, side[at]) for at in tiles(self.X.shape[0], tile_rows)]
        return LandmarkSide(self, mapping, parameters, tile_rows, U, pullback, cut)

    def block(self, known: LandmarkSide, X: Array, U: Array, rows: slice, parameters: Parameters) -> Part:
        kernel = self.kernel
        records = kernel.side(X, U, parameters)
        batch = parameters.batch
        loss, by_record = zeros(batch, U), zeros((*batch, X.shape[0], kernel.width), U)
        by_landmark = zeros((*batch, self.X.shape[0], kernel.width), U)
        shared = zeros((*batch, kernel.n_shared), U)
        for at_i in tiles(X.shape[0], known.tile_rows):
            a = records[at_i]
            for at_j, b in known.tiles:
                weights = None
                if self.sample_weight is not None and self.landmark_weight is not None:
                    weights = self.sample_weight[rows][at_i], self.landmark_weight[at_j]
                part = kernel.tile(a, b, weights=weights)
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
