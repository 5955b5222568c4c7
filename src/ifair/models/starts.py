"""Where the search starts: first prototypes and first attribute weights."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.random import sample_without_replacement
from threadpoolctl import threadpool_limits

from ifair.core.mapping import Parameters
from ifair.engines.engine import Engine
from ifair.inputs.table import Table

NEAR_ZERO = 1e-4
"""First weight of a protected attribute in iFair-b: near zero, with room to move."""

NEARLY_LINEAR = 0.25
"""Spread of the softmax's arguments in a start along principal components: small enough for a nearly linear map, large
enough for room to move."""


SAMPLED = 50_000
"""Records that starts are drawn from: of larger tables a sample has to do, which every place can hold."""


class Sample(NamedTuple):
    """Records, shape (M, N), and how much each counts, shape (M,); None where everyone counts once."""

    X: NDArray[np.floating[Any]]
    weights: NDArray[np.float64] | None

    def take(self, rows: NDArray[Any]) -> "Sample":
        """Some of the records."""
        return Sample(self.X[rows], None if self.weights is None else self.weights[rows])


def draw_sample(
    engine: Engine,
    table: Table,
    n_prototypes: int,
    random_state: np.random.RandomState,
    weights: NDArray[np.float64] | None = None,
) -> Sample:
    """The records to draw starts from: all, or so many as can be held, drawn at random; without those of weight 0.

    The engine holds the records of the table less their mean.
    """
    most = max(SAMPLED, n_prototypes)
    counted = None if weights is None else np.flatnonzero(weights)
    n_records = table.n_records if counted is None else len(counted)
    if table.n_records <= most:
        sample = Sample(table.load_records(), weights)
        return sample if counted is None else sample.take(counted)
    drawn = np.sort(sample_without_replacement(n_records, min(most, n_records), random_state=random_state))
    drawn = drawn if counted is None else counted[drawn]
    (rows,) = engine.fetch(engine.take(drawn))
    return Sample(rows + table.statistics.mean, None if weights is None else weights[drawn])


REHEARSED = 5_000
"""Records in the sample of a large table that a search begins on."""

REHEARSED_FROM = 4 * REHEARSED
"""Records from which on a search begins on a sample."""


def choose_init(alpha_init: Any, n_prototypes: int, n_columns: int) -> str:
    """What "auto" stands for: "principal", unless weights are given, or prototypes are more than columns that count.

    With so many prototypes the start would be the identity, which smooths nothing; then "k-means++".
    """
    return "principal" if isinstance(alpha_init, str) and n_prototypes <= n_columns else "k-means++"


CLUSTERED_FOR = 50
"""Most iterations of K-means: the search goes on from there anyway."""

SHUFFLED_UP_TO = 10_000_000
"""Records that are shuffled to draw some of them; beyond, shuffling takes longer than the rest of a start."""


def draw_positions(n_records: int, n_wanted: int, random_state: np.random.RandomState) -> NDArray[np.intp]:
    """Positions of different records drawn at random, in their order."""
    if n_records <= SHUFFLED_UP_TO:
        return np.sort(random_state.choice(n_records, n_wanted, replace=False))
    return np.sort(sample_without_replacement(n_records, n_wanted, random_state=random_state))


def first_parameters(
    X: NDArray[np.floating[Any]],
    n_prototypes: int,
    init: Any,
    alpha_init: Any,
    protected: NDArray[np.bool_],
    frozen: NDArray[np.bool_],
    random_state: np.random.RandomState,
    squared: bool = False,
    weights: NDArray[np.float64] | None = None,
) -> Parameters:
    """Draw a start; ``init`` and ``alpha_init`` as of :class:`ifair.IFair`, but for "auto".

    Whether memberships are taken from ``squared`` distances matters to :func:`principal_parameters`. ``weights`` say
    how much every record counts, more than 0.
    """
    if isinstance(init, str) and init == "principal":
        relative = np.ones(X.shape[1])
        if alpha_init == "masked":
            relative[protected] = NEAR_ZERO
        relative[frozen] = 0.0
        return principal_parameters(X, n_prototypes, relative, random_state, squared, weights)
    n_features = X.shape[1]
    alpha: NDArray[np.float64]
    if isinstance(alpha_init, str):
        alpha = np.asarray(random_state.uniform(size=n_features))
        if alpha_init == "masked":
            alpha[protected] = NEAR_ZERO
    else:
        alpha = np.array(alpha_init, dtype=np.float64)
    alpha[frozen] = 0.0
    if not isinstance(init, str):
        prototypes = np.array(init, dtype=np.float64)
    elif init == "uniform":
        prototypes = random_state.uniform(size=(n_prototypes, n_features))
    else:
        scaled = X * np.sqrt(alpha)
        _, chosen = kmeans_plusplus(scaled, n_prototypes, sample_weight=weights, random_state=random_state)
        prototypes = X[chosen]
        if init == "k-means":
            prototypes = cluster_means(X, np.sqrt(alpha), prototypes, weights)
    return Parameters(prototypes, alpha)


def cluster_means(
    X: NDArray[np.floating[Any]],
    scales: NDArray[np.float64],
    prototypes: NDArray[np.floating[Any]],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """K-means from these prototypes, with columns scaled; the mean records of the clusters, shape (K, N)."""
    search = KMeans(len(prototypes), init=prototypes * scales, n_init=1, max_iter=CLUSTERED_FOR)
    with threadpool_limits(1), warnings.catch_warnings():  # more threads add up in another order each time
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different records than clusters
        cluster = search.fit_predict(X * scales, sample_weight=weights)
    means = np.array(prototypes, dtype=np.float64)
    for k in np.unique(cluster):
        some = cluster == k
        means[k] = np.average(X[some], axis=0, weights=None if weights is None else weights[some])
    return means


def principal_parameters(
    X: NDArray[np.floating[Any]],
    n_prototypes: int,
    relative: NDArray[np.float64],
    random_state: np.random.RandomState,
    squared: bool = False,
    weights: NDArray[np.float64] | None = None,
) -> Parameters:
    """A start from which records are represented by nearly their projection on principal components.

    Prototypes lie on a large sphere around the mean, evenly in the space of the first K - 1 principal components, and
    weights are small: memberships are then nearly linear in the record ("What the utility loss can reach" in the
    documentation). Not in the paper. First weights are ``relative``, shape (N,), up to a common factor: columns that
    weigh less than others are left out of the components, and prototypes have their mean there. At random, prototypes
    are turned around the mean.
    """
    centre = X.mean(axis=0, dtype=np.float64) if weights is None else np.average(X, axis=0, weights=weights)
    counted = np.where(relative == relative.max(), X - centre, 0.0)
    if weights is not None:
        counted *= np.sqrt(weights / weights.mean())[:, None]
    _, sizes, components = np.linalg.svd(counted, full_matrices=False)
    directions = even_directions(n_prototypes, int(np.sum(sizes > 1e-9 * sizes[0])))
    dimension = directions.shape[1]
    if dimension == 0:
        return Parameters(np.repeat(centre[None, :], n_prototypes, axis=0), relative.copy())
    turn = np.linalg.qr(random_state.normal(size=(dimension, dimension)))[0]
    # With this radius, as the weights measure it, the mixture of prototypes is as long as the projection itself.
    radius, slope = (np.sqrt(dimension / 2), np.sqrt(2 * dimension)) if squared else (float(dimension), 1.0)
    length = np.sqrt(np.sum(sizes[:dimension] ** 2) / len(X))
    small = NEARLY_LINEAR * np.sqrt(dimension) / (slope * length)
    return Parameters(
        centre + radius / small * (directions @ turn @ components[:dimension]),
        small**2 * relative,
    )


def even_directions(n_directions: int, most: int) -> NDArray[np.float64]:
    """Unit vectors that sum to zero and favour no direction, in at most so many dimensions.

    Rows of the real Fourier basis without its constant. In K - 1 dimensions they are the corners of a regular simplex.

    Returns
    -------
    ndarray of shape (K, D)
        ``S' S = K/D I``; D is the most possible, at most K - 1.

    Examples
    --------
    >>> even_directions(3, most=2).round(3).tolist()
    [[1.0, 0.0], [-0.5, 0.866], [-0.5, -0.866]]
    """
    dimension = min(most, n_directions - 1)
    angles = 2 * np.pi / n_directions * np.outer(np.arange(n_directions), 1 + np.arange(dimension // 2))
    waves = [np.sqrt(2) * np.cos(angles), np.sqrt(2) * np.sin(angles)]
    if dimension % 2 == 1 and (n_directions % 2 == 0 or dimension == 1):
        # An odd number of directions in one dimension cannot sum to zero; nearly has to do.
        waves.append((-1.0) ** np.arange(n_directions)[:, None])
    basis = np.hstack(waves)
    return basis / np.sqrt(max(basis.shape[1], 1))
