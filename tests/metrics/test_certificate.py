"""The certificate keeps its promise: coverage by simulation, limits against scipy."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from ifair.metrics import certify, minkowski
from ifair.metrics.certificate import sample_pairs


def people(rng, n):
    """Records, and a representation that is off by heavy-tailed noise."""
    X = rng.normal(size=(n, 2))
    return X + 0.1 * rng.standard_t(3, size=(n, 2)), X


@pytest.mark.parametrize(("share", "confidence"), [(0.05, 0.95), (0.2, 0.8)])
def test_epsilon_covers_new_pairs_as_often_as_promised(share, confidence, rng):
    many = certify(*people(rng, 800_000), share=share)
    limit = np.quantile(many.gaps, 1 - share)
    repeats, n = 300, 130
    kept = 0
    for seed in range(repeats):
        Z, X = people(rng, 2 * n)
        kept += certify(Z, X, share=share, confidence=confidence, random_state=seed).epsilon >= limit
    r = next(r for r in range(1, n + 1) if binom.cdf(r - 1, n, 1 - share) >= confidence)
    exact = binom.cdf(r - 1, n, 1 - share)
    assert exact >= confidence
    assert abs(kept / repeats - exact) < 4 * np.sqrt(exact * (1 - exact) / repeats)


def test_epsilon_covers_all_pairs_of_these_records_as_often_as_promised(rng):
    Z, X = people(rng, 60)
    i, j = np.triu_indices(60, 1)
    d = minkowski()
    limit = np.quantile(np.abs(d(Z[i], Z[j]) - d(X[i], X[j])), 0.9, method="inverted_cdf")
    options = {"share": 0.1, "confidence": 0.9, "about": "records", "n_pairs": 100}
    found = [certify(Z, X, random_state=seed, **options) for seed in range(400)]
    assert np.mean([one.epsilon >= limit for one in found]) > 0.9 - 4 * np.sqrt(0.09 / 400)
    assert "90 % confidence at most 10 % of pairs of these records exceed epsilon" in str(found[0])


def test_the_share_exceeding_an_epsilon_is_clopper_pearsons_and_that_of_its_own_is_the_share(rng):
    result = certify(*people(rng, 1200), share=0.05)
    for epsilon in (0.0, 0.1, 0.5, 100.0):
        share, limit = result.share_exceeding(epsilon)
        above = int((result.gaps > epsilon).sum())
        assert share == above / 600
        interval = binomtest(above, 600, alternative="less").proportion_ci(0.95, method="exact")
        assert limit == pytest.approx(interval.high)
    assert result.share_exceeding(result.epsilon)[1] <= 0.05
    below = result.gaps[np.searchsorted(result.gaps, result.epsilon) - 1]
    assert result.share_exceeding(below)[1] > 0.05
    stored = result.to_dict()
    assert (stored["n_pairs"], stored["quantiles"][0.5]) == (600, np.median(result.gaps))
    assert "gaps" not in stored


def test_too_few_pairs_certify_nothing():
    X = np.arange(100.0)[:, None]
    with pytest.warns(UserWarning, match="299 are needed"):
        assert certify(X / 2, X).epsilon == np.inf
    X = np.arange(598.0)[:, None]
    assert np.isfinite(certify(X / 2, X).epsilon)


def test_pairs_of_the_population_are_disjoint_and_those_of_the_records_uniform(rng):
    left, right = sample_pairs(101, None, "population", rng)
    assert len(np.unique(np.concatenate([left, right]))) == 100
    left, right = sample_pairs(4, 60_000, "records", rng)
    counts = np.bincount(4 * left + right, minlength=16).reshape(4, 4)
    assert (np.diag(counts) == 0).all()
    assert (np.abs(counts[~np.eye(4, dtype=bool)] - 5000) < 350).all()


def test_distances_are_the_papers(rng):
    A, B, alpha = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.uniform(size=3)
    for p in (1, 2, 3.5):
        expected = [sum(alpha * np.abs(a - b) ** p) ** (1 / p) for a, b in zip(A, B)]
        np.testing.assert_allclose(minkowski(alpha, p)(A, B), expected)
    for wrong in ({"p": 0.5}, {"p": np.nan}, {"weights": [-1.0]}, {"weights": [np.nan]}):
        with pytest.raises(ValueError):
            minkowski(**wrong)


def test_what_keeps_all_distances_has_epsilon_zero_whatever_the_distances_of_either_side(rng):
    X = rng.normal(size=(700, 4))
    assert certify(X[:, ::-1], X).epsilon == pytest.approx(0, abs=1e-12)
    alpha = np.array([1.0, 2.0, 0.5, 0.0])
    weighted = certify(X, X[:, :3], distance=minkowski(alpha), record_distance=minkowski(alpha[:3]))
    assert weighted.epsilon == pytest.approx(0, abs=1e-12)
    cosine = certify(X, X[:, :3], distance=lambda A, B: 1 - (A * B).sum(axis=1))
    assert cosine.largest > 0


@pytest.mark.parametrize(
    "change",
    [
        *({"share": 0}, {"confidence": 1}, {"about": "everybody"}, {"X": np.zeros((99, 1))}),
        *({"n_pairs": 51}, {"n_pairs": 0}, {"n_pairs": 0, "about": "records"}),
    ],
)
def test_wrong_arguments_are_refused(change):
    with pytest.raises(ValueError):
        certify(**{"Z": np.zeros((100, 1)), "X": np.zeros((100, 1)), **change})
    with pytest.raises(ValueError):
        certify([[0.0]], [[0.0]])
