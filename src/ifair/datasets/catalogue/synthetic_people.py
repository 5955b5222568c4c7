"""Synthetic people: two Gaussian clouds, and three ways to belong to the protected group."""

from __future__ import annotations

from typing import Any

from ifair.datasets.about import About, Statistics
from ifair.errors import IfairError, check_known

ABOUT = About(
    name="synthetic",
    place=6,
    title="Synthetic",
    description="Points from two Gaussians in the plane, one for each outcome, and a binary protected "
    "attribute: at random, or by a threshold on one coordinate.",
    licence="generated, free of rights",
    citation="Lahoti, P., Gummadi, K. P., Weikum, G. (2019). iFair: Learning Individually Fair Data "
    "Representations for Algorithmic Decision Making. ICDE.",
    source="ifair.data.make_synthetic",
    task="classification",
    outcome="which Gaussian a point comes from",
    group="A is 1",
    reached=Statistics(100, 2, 30 / 100, 13 / 30, 37 / 70),
    paper=Statistics(100, 2),
    deviations=(
        "The paper gives neither the means nor the rule for the outcome: here the means are (2, 2) "
        "and (4, 4), on both sides of its threshold 3, and the outcome says which Gaussian a point "
        "comes from.",
        "The figures are those of the random variant with the default seed.",
    ),
)

VARIANTS = ("random", "x1", "x2")
THRESHOLD = 3.0
COVARIANCE = 0.95


def make_synthetic(
    variant: str = "random",
    n_records: int = 100,
    *,
    random_state: int = 0,
    means: tuple[tuple[float, float], tuple[float, float]] = ((2.0, 2.0), (4.0, 4.0)),
    share: float = 0.3,
    return_X_y: bool = False,
    as_frame: bool = True,
) -> Any:
    """Draw the paper's synthetic data: the same X1, X2 and Y whatever the variant, only the group A differs.

    Half of the records come from an isotropic Gaussian with unit variance and have Y = 0, the others from a Gaussian
    with variance 1 and covariance 0.95 and have Y = 1. The paper gives neither the means nor the rule for Y. The
    default means lie one standard deviation below and above the paper's threshold of 3 in both attributes, so that ``X1
    <= 3`` and ``X2 <= 3`` each hold for about half of the records, for 84 % of those with Y = 0 and for 16 % of those
    with Y = 1: the group then goes along with the outcome, without being a copy of it.

    Parameters
    ----------
    variant : {"random", "x1", "x2"}, default="random"
        A = 1 at random with probability ``share``, or where ``X1 <= 3``, or where ``X2 <= 3``.
    n_records : int, default=100
        At least 2.
    random_state : int, default=0
        Seed. The same seed gives the same X1, X2 and Y for all variants.
    means : pair of pairs, default=((2, 2), (4, 4))
        Centres of the clouds with Y = 0 and Y = 1.
    share : float, default=0.3
        Probability of A = 1 in the random variant.
    return_X_y, as_frame : bool
        As in scikit-learn's loaders, see :meth:`Dataset.deliver`.

    Returns
    -------
    Dataset
        Columns ``X1``, ``X2``, ``A``; ``target`` is Y. Or what ``return_X_y`` and ``as_frame`` ask for.

    Examples
    --------
    >>> from ifair.data import make_synthetic
    >>> make_synthetic("x1", n_records=1000).frame.shape
    (1000, 3)
    """
    import numpy as np
    import pandas as pd

    from ifair.datasets.dataset import Dataset

    check_known("variant", variant, VARIANTS)
    if isinstance(n_records, bool) or not isinstance(n_records, (int, np.integer)) or n_records < 2:
        raise IfairError(f"n_records must be a whole number of at least 2; got {n_records!r}")
    if not 0 <= share <= 1:
        raise IfairError(f"share must lie between 0 and 1; got {share!r}")
    centres = np.asarray(means, dtype=float)
    if centres.shape != (2, 2) or not np.isfinite(centres).all():
        raise IfairError(f"means must be two points of the plane; got {means!r}")
    # A stream for each purpose: drawing the group cannot disturb the points.
    points, membership = (np.random.default_rng(seed) for seed in np.random.SeedSequence(random_state).spawn(2))
    outcome = points.permutation(np.arange(n_records) % 2)
    plain = points.standard_normal((n_records, 2))
    correlated = plain @ np.linalg.cholesky([[1.0, COVARIANCE], [COVARIANCE, 1.0]]).T
    X = centres[outcome] + np.where(outcome[:, None] == 1, correlated, plain)
    if variant == "random":
        in_group = membership.random(n_records) < share
    else:
        in_group = X[:, VARIANTS.index(variant) - 1] <= THRESHOLD
    frame = pd.DataFrame({"X1": X[:, 0], "X2": X[:, 1], "A": in_group.astype("int64")})
    target = pd.Series(outcome.astype("int64"), name="Y")
    dataset = Dataset(frame=frame, target=target, protected=("A",), group=in_group, **ABOUT.provenance)
    return dataset.deliver(return_X_y, as_frame)
