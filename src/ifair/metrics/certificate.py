"""The certificate: how far Definition 1 of the paper holds, with a confidence.

No useful mapping keeps the distance of *every* pair to within a small epsilon, so the certificate states it for all but
a share of pairs. Both directions are exact, for any distribution of the gaps, and follow from the binomial
distribution, which needs independent gaps: the page about measures has the argument. For a statement about people like
these, pairs are therefore disjoint, and of records that phi was not fitted on, for it knows those.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from ifair.core.checked_numbers import check_matrix
from ifair.errors import IfairError, check_choice, warn_user
from ifair.metrics.arguments import Floats, Result, check_numbers
from ifair.similarity import Similarity
from ifair.similarity.peers import Points

Distance = Callable[[Floats, Floats], Floats]
PAIRS = 32_768  # distances at a time
QUANTILES = (0.5, 0.9, 0.95, 0.99)


def minkowski(weights: ArrayLike | None = None, p: float = 2.0) -> Distance:
    """The paper's distance ``(sum_n weights_n |a_n - b_n|^p)^(1/p)`` between rows of two arrays of shape (n,
    N)."""
    alpha = None if weights is None else check_numbers(weights, "weights")
    if not p >= 1 or (alpha is not None and (alpha < 0).any()):
        raise IfairError("a distance needs p of at least 1 and weights of at least 0")

    def distance(A: Floats, B: Floats) -> Floats:
        powers = np.abs(A - B) ** p
        sums = powers.sum(axis=1) if alpha is None else powers @ alpha
        return np.asarray(sums ** (1 / p))

    return distance


@dataclass(frozen=True, slots=True)
class Certificate(Result):
    """With ``confidence``, at most a ``share`` of pairs differ by more than ``epsilon``.

    Attributes
    ----------
    epsilon : float
        Infinite when there are too few pairs for any statement.
    share, confidence : float
    about : str
        "population" or "records".
    n_pairs : int
    mean, largest : float
        Of the sampled gaps.
    quantiles : dict of float to float
        Of the sampled gaps.
    gaps : array of shape (n_pairs,)
        ``| d(phi(x_i), phi(x_j)) - d(x*_i, x*_j) |``, sorted.
    """

    epsilon: float
    share: float
    confidence: float
    about: str
    n_pairs: int
    mean: float
    largest: float
    quantiles: dict[float, float]
    gaps: Floats = field(repr=False, compare=False)

    def share_exceeding(self, epsilon: float) -> tuple[float, float]:
        """Share of sampled pairs that exceed ``epsilon``, and an upper limit for all pairs with this
        confidence.

        Exact for an ``epsilon`` chosen before the gaps were seen.
        """
        n = self.n_pairs
        above = n - int(np.searchsorted(self.gaps, epsilon, side="right"))
        limit = 1.0 if above == n else float(beta.ppf(self.confidence, above + 1, n - above))
        return above / n, limit

    def __str__(self) -> str:
        spread = ", ".join(f"{100 * q:g} % {value:.4g}" for q, value in self.quantiles.items())
        whose = "these records" if self.about == "records" else "people like these"
        return (
            f"with {100 * self.confidence:g} % confidence at most {100 * self.share:g} % of pairs of {whose} "
            f"exceed epsilon = {self.epsilon:.4g} "
            f"({self.n_pairs} pairs: {spread}, largest {self.largest:.4g})"
        )


def certify(
    Z: ArrayLike,
    X: Any,
    *,
    distance: Distance | None = None,
    record_distance: Distance | None = None,
    similarity: Similarity | None = None,
    share: float = 0.01,
    confidence: float = 0.95,
    about: str = "population",
    n_pairs: int | None = None,
    random_state: int = 0,
) -> Certificate:
    """Certify how far a representation keeps the distances of the non-protected attributes (Definition 1).

    Parameters
    ----------
    Z : array or frame of shape (M, D)
        Representations phi(x_i); for ``about="population"`` of records that were not used for fitting.
    X : array or frame of shape (M, L)
        The same records' non-protected attributes x*_i, as they were fitted. With ``similarity`` the table as it is;
        or what ``similarity.embed`` made of it.
    distance : callable, optional
        Distance between rows of two arrays of shape (n, D): ``minkowski(alpha, p)`` with the weights of the
        model, or any other. Default: Euclidean.
    record_distance : callable, optional
        The same for ``X``, for instance ``minkowski(alpha[nonprotected], p)``. Default: ``distance``.
    similarity : Similarity, optional
        Its distances are those of the records, instead of ``record_distance``: one that is fitted.
    share : float
        Share of pairs that may exceed epsilon.
    confidence : float
    about : {"population", "records"}
        Whom the statement is about. "population": pairs of people from the source of these records, from
        disjoint pairs. "records": all pairs of these very records, from pairs drawn with replacement.
    n_pairs : int, optional
        Default, and at most for "population": M // 2. Default for "records": 10,000.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair.metrics import certify
    >>> X = np.linspace(0, 1, 1000)[:, None]
    >>> print(certify(0.9 * X, X))  # every distance shrinks by a tenth
    with 95 % confidence at most 1 % of pairs of people like these exceed epsilon = 0.09289 (500 pairs: ...)
    """
    image = check_matrix(Z, "Z")
    records = X if isinstance(X, Points) else check_matrix(X, "X") if similarity is None else similarity.embed(X)
    if similarity is not None and record_distance is not None:
        raise IfairError("give either similarity or record_distance: both say how far records are apart")
    if len(image) != len(records):
        raise IfairError(f"Z has {len(image)} records and X {len(records)}")
    if not (0 < share < 1 and 0 < confidence < 1):
        raise IfairError("share and confidence must lie strictly between 0 and 1")
    left, right = sample_pairs(len(records), n_pairs, about, np.random.default_rng(random_state))
    near = distance or minkowski()
    gaps = np.empty(len(left))
    for start in range(0, len(left), PAIRS):
        i, j = left[start : start + PAIRS], right[start : start + PAIRS]
        if isinstance(records, Points):
            apart = np.sqrt(records.squared_differences(records, i, j))
        else:
            apart = (record_distance or near)(records[i], records[j])
        gaps[start : start + PAIRS] = np.abs(near(image[i], image[j]) - apart)
    gaps.sort()
    return Certificate(
        epsilon=_bound_gaps(gaps, share, confidence),
        share=share,
        confidence=confidence,
        about=about,
        n_pairs=len(gaps),
        mean=float(gaps.mean()),
        largest=float(gaps[-1]),
        quantiles={q: float(np.quantile(gaps, q)) for q in QUANTILES},
        gaps=gaps,
    )


def sample_pairs(n_records: int, n_pairs: int | None, about: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two int arrays of shape (n_pairs,): disjoint pairs for "population", independent ones for "records"."""
    check_choice("about", about, ("population", "records"))
    if n_records < 2:
        raise IfairError("a pair needs two records")
    if about == "population":
        count = n_records // 2 if n_pairs is None else n_pairs
        if not 1 <= count <= n_records // 2:
            raise IfairError(f"{n_records} records make at most {n_records // 2} disjoint pairs, not {count}")
        order = rng.permutation(n_records)
        return order[:count], order[count : 2 * count]
    count = 10_000 if n_pairs is None else n_pairs
    if count < 1:
        raise IfairError(f"n_pairs must be at least 1, got {count}")
    left = rng.integers(n_records, size=count)
    right = rng.integers(n_records - 1, size=count)
    return left, right + (right >= left)


def _bound_gaps(gaps: Floats, share: float, confidence: float) -> float:
    """An order statistic that with this confidence is at least the (1 - share) quantile of all gaps."""
    n = len(gaps)
    r = int(binom.ppf(confidence, n, 1 - share)) + 1
    if r <= n:
        return float(gaps[r - 1])
    needed = int(np.ceil(np.log(1 - confidence) / np.log(1 - share)))
    warn_user(f"{n} pairs are too few for a certificate; {needed} are needed")
    return float("inf")
