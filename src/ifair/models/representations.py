"""Every representation of the paper by name, so that experiments loop over names.

All take encoded records (:class:`ifair.Encoder`) and give what a classifier or ranker is trained on.
"""

from typing import Any

from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import Pipeline, make_pipeline

from ifair.errors import check_known
from ifair.models.ifair import IFair
from ifair.models.lfr import LFR
from ifair.models.masking import Masked

__all__ = ["representation"]

REPRESENTATIONS = ("full", "masked", "svd", "svd-masked", "lfr", "ifair-a", "ifair-b", "ifair-frozen", "ifair-plus")
"""The paper's seven, and two of ours.

``ifair-a`` and ``ifair-b`` are the paper to the letter: sums over all pairs, prototypes from uniform (0, 1) starts,
distances with the learned weights.

``ifair-frozen`` holds the protected weights at 0. ``ifair-plus`` does so too, leaves protected columns out of the
utility loss, compares pairs by plain Euclidean distances, and starts along principal components.
"""

PAPER: dict[str, Any] = {"reduction": "sum", "init": "uniform", "pairs": "all", "freeze_protected": False}
"""What the paper writes, where this library has another default."""


def representation(name: str, *, protected: Any = None, k: int = 10, random_state: Any = None) -> Pipeline:
    """Make the representation of this name.

    Parameters
    ----------
    name : str
        ``"full"``, ``"masked"``, ``"svd"``, ``"svd-masked"``, ``"lfr"``, ``"ifair-a"``, ``"ifair-b"``, or beyond the
        paper ``"ifair-frozen"`` and ``"ifair-plus"``; all of them are in ``REPRESENTATIONS``.
    protected : as in :class:`ifair.IFair`, default=None
    k : int, default=10
        Dimension: prototypes of iFair and LFR, components of SVD.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    Pipeline
        Unfitted; ``"lfr"`` needs a label in `fit`, the others ignore it.

    Examples
    --------
    >>> representation("svd-masked", protected=["age"], k=5).steps[0][0]
    'masked'
    """
    check_known("representation", name, REPRESENTATIONS)
    masked = Masked(protected)
    svd = TruncatedSVD(k, random_state=random_state)
    common = {"protected": protected, "random_state": random_state}
    steps: dict[str, list[Any]] = {
        "full": ["passthrough"],
        "masked": [masked],
        "svd": [svd],
        "svd-masked": [masked, svd],
        "lfr": [LFR(k, **common)],
        "ifair-a": [IFair(k, alpha_init="random", **PAPER, **common)],
        "ifair-b": [IFair(k, alpha_init="masked", **PAPER, **common)],
        "ifair-frozen": [IFair(k, **common)],
        "ifair-plus": [
            IFair(k, init="principal", fairness_distance="euclidean", utility_columns="unprotected", **common)
        ],
    }
    return make_pipeline(*steps[name])
