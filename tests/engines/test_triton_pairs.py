"""Fused tiles against the same tiles in steps and double precision; without a device, as Triton interprets them."""

import numpy as np
import pytest

from ifair.core.euclidean_pairs import EuclideanPairs, pair_kernel
from ifair.core.mapping import Mapping, Parameters

from devices import import_torch, interpret_triton, open_torch

torch = import_torch()


@pytest.fixture(autouse=True)
def fused(monkeypatch):
    interpret_triton()
    from ifair.engines import triton_pairs as fused

    # So short that several programs share the work of a few records.
    monkeypatch.setattr(fused, "CHUNK", 64)
    return fused


def draw(rng, M=150, N=12, K=4):
    X = rng.normal(size=(M, N))
    X[:, N // 2 :] = rng.integers(0, 2, size=(M, N - N // 2))
    X[M // 2 : M // 2 + 20] = X[:20]  # twins
    X -= X.mean(axis=0)
    return X, rng.normal(size=(K, N)), rng.uniform(0.01, 1.0, size=N)


def gradients(kernel, X, other, V, alpha):
    """Loss and gradients over the pairs of ``X`` with ``other``; of X with itself where there is no other."""
    at = Parameters(torch.from_numpy(V), torch.from_numpy(alpha))
    tables = [torch.from_numpy(table) for table in (X, other) if table is not None]
    U = [Mapping().memberships(table, at) for table in tables]
    sides = [kernel.side(table, u, at) for table, u in zip(tables, U)]
    tile = kernel.tile(sides[0], sides[-1], same=other is None)
    rows = [tile.rows_a + tile.rows_b] if other is None else [tile.rows_a, tile.rows_b]
    total = kernel.pull_shared(tile.shared, at)
    found = []
    for table, u, r in zip(tables, U, rows):
        d_memberships, direct = kernel.pull(table, u, r, at)
        total = total + direct
        found.append(d_memberships)
    return {
        "loss": np.asarray(tile.loss),
        "memberships": np.concatenate(found),
        "prototypes": np.asarray(total.prototypes),
        "weights": np.asarray(total.alpha),
    }


def assert_right(fused, X, other, V, alpha, weighted=True, weights=2e-6):
    """Whether the fused kernel has the gradients of the exact one; those of attribute weights so closely."""
    unprotected = torch.arange(X.shape[1] - 2)
    largest = torch.from_numpy(np.abs(X).max(axis=0))[unprotected]
    exact = gradients(EuclideanPairs(unprotected, len(V), weighted), X, other, V, alpha)
    kernel = fused.FusedPairs(unprotected, len(V), weighted, np.float32, largest=largest)
    ours = gradients(kernel, X, other, V, alpha)
    # A record's own slope depends on who is closest to it, of whom single precision knows few digits.
    for name, tolerance in {"loss": 2e-6, "memberships": 5e-5, "prototypes": 2e-6, "weights": weights}.items():
        atol = tolerance * np.abs(exact[name]).max(initial=1e-300)
        np.testing.assert_allclose(ours[name], exact[name], atol=atol, rtol=0)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_others", [None, 1, 33, 100])
def test_a_tile_is_that_in_steps(rng, fused, weighted, n_others):
    X, V, alpha = draw(rng)
    other = None if n_others is None else X[40 : 40 + n_others]
    assert_right(fused, X, other, V, alpha, weighted)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("N", "K"), [(3, 1), (18, 13), (131, 14), (300, 30)])
def test_any_number_of_attributes_and_prototypes_will_do(rng, fused, weighted, N, K):
    X, V, alpha = draw(rng, M=70, N=N, K=K)
    assert_right(fused, X, None, V, alpha, weighted)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_the_size_of_numbers_does_not_matter(rng, fused, size):
    X, V, alpha = draw(rng)
    # Without other weights memberships would be all or nothing.
    assert_right(fused, size * X, None, size * V, alpha / size**2)


def test_weights_of_zero_still_have_a_slope(rng, fused):
    X, V, alpha = draw(rng)
    alpha[:3] = 0.0
    # The solver multiplies these slopes by zero: three digits are more than it needs.
    assert_right(fused, X, None, V, alpha, weights=1e-3)


def test_what_a_device_cannot_do_in_one_kernel_or_does_wrong_it_does_in_steps(rng, fused, monkeypatch):
    X, V, _ = draw(rng)
    counts, right = np.arange(X.shape[1]) < 10, fused.FusedPairs.tile

    def too_small(self, a, b, *, same=False):
        raise RuntimeError("out of shared memory")

    def wrong(self, a, b, *, same=False):
        return right(self, a, b)._replace(loss=torch.tensor(7.0))

    with open_torch(X, None, None, fused=True) as engine:
        assert isinstance(pair_kernel(engine, counts, len(V), weighted=True, single=True), fused.FusedPairs)
        assert type(pair_kernel(engine, counts, len(V), weighted=True, single=False)) is EuclideanPairs
        for tile, reason in ((too_small, "out of shared memory"), (wrong, "differs by")):
            monkeypatch.setattr(fused.FusedPairs, "tile", tile)
            with pytest.warns(RuntimeWarning, match=f"compared in steps.*{reason}"):
                kernel = pair_kernel(engine, counts, len(V), weighted=True, single=True)
            assert type(kernel) is EuclideanPairs


def test_few_pairs_are_compared_in_steps(rng, fused):
    X, V, _ = draw(rng)
    counts = np.ones(X.shape[1], bool)
    with open_torch(X, None, None) as engine:
        for fused_from, n_landmarks, expected in (
            (len(X) ** 2, None, fused.FusedPairs),
            (len(X) ** 2 + 1, None, EuclideanPairs),
            (10 * len(X), 10, fused.FusedPairs),
            (10 * len(X), 9, EuclideanPairs),
        ):
            engine.fused_from = fused_from
            kernel = pair_kernel(engine, counts, len(V), weighted=True, single=True, n_landmarks=n_landmarks)
            assert type(kernel) is expected
