"""Loss and gradient: against plain loops, finite differences, and each other."""

import itertools

import numpy as np
import pytest

from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.mapping import Mapping, Packing, Parameters
from ifair.core.minkowski_pairs import MinkowskiPairs
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine

import oracles
from oracles import assert_gradient_is_right, assert_same

M, N, K = 17, 4, 3
UNPROTECTED = np.array([0, 1, 3])
LANDMARKS = [2, 3, 5, 7, 11, 13]
LAMBDA, MU = 1.3, 0.7


def combine():
    """All options with each other; half of them, in which every two options meet, are tried by default."""
    options = (False, True), (True, False), ("mean", "sum", "norm"), ("all", "landmarks", "moments")
    for i, (squared, weighted, reduction, pairs) in enumerate(itertools.product(*options)):
        for j, p in enumerate((1.0, 1.5, 2.0, 3.0)):
            if pairs != "moments" or p == 2.0:
                marks = () if p == 2.0 or (i // 9 + i // 3 + i + j) % 3 == 0 else pytest.mark.slow
                name = f"p{p}-{squared}-{weighted}-{reduction}-{pairs}"
                yield pytest.param(p, squared, weighted, reduction, pairs, id=name, marks=marks)


COMBINATIONS = list(combine())


def objective(
    X,
    p=2.0,
    squared=False,
    weighted=True,
    reduction="sum",
    pairs="all",
    threads=1,
    unprotected=UNPROTECTED,
    n_prototypes=K,
):
    # Blocks and tiles so small that these few records need several, of uneven size.
    engine = LocalEngine(X, block_rows=6, tile_rows=5, threads=threads)
    euclidean = EuclideanPairs(unprotected, n_prototypes, weighted)
    pair_kernel = euclidean if p == 2.0 else MinkowskiPairs(unprotected, X.shape[1], p, weighted)
    pair_term = {
        "all": lambda: AllPairs(pair_kernel),
        "landmarks": lambda: Landmarks(pair_kernel, X[LANDMARKS], len(X)),
        "moments": lambda: Moments(unprotected, input_products(engine, unprotected), weighted),
    }[pairs]()
    terms = (LAMBDA, Reconstruction(np.ones(X.shape[1]))), (MU, pair_term)
    return Objective(engine, Mapping(p, squared), terms, reduction)


def expected_losses(X, at, pairs="all", unprotected=UNPROTECTED, **options):
    """Both sums in plain loops."""
    partners = LANDMARKS if pairs == "landmarks" else None
    options = {"square_pairs": pairs == "moments", "partners": partners, **options}
    return oracles.losses(X, at.prototypes, at.alpha, unprotected, **options)


def draw(rng, n_records=M, n_attributes=N, n_prototypes=K):
    X = rng.normal(size=(n_records, n_attributes))
    return X, Parameters(rng.normal(size=(n_prototypes, n_attributes)), rng.uniform(0.1, 1.0, size=n_attributes))


@pytest.mark.parametrize(("p", "squared", "weighted", "reduction", "pairs"), COMBINATIONS)
def test_the_loss_equals_the_papers_definition_in_plain_loops(rng, p, squared, weighted, reduction, pairs):
    X, parameters = draw(rng)
    sums = expected_losses(X, parameters, pairs, p=p, squared=squared, weighted=weighted)
    expected = oracles.total(*sums, LAMBDA, MU, reduction, M)
    losses, _ = objective(X, p, squared, weighted, reduction, pairs).value_and_grad(parameters)
    assert losses.total == pytest.approx(expected, rel=1e-9)
    assert losses.total == pytest.approx(LAMBDA * losses.terms[0] + MU * losses.terms[1])


@pytest.mark.every_seed
@pytest.mark.parametrize(("p", "squared", "weighted", "reduction", "pairs"), COMBINATIONS)
def test_the_gradient_equals_central_differences(rng, p, squared, weighted, reduction, pairs):
    X, parameters = draw(rng)
    assert_gradient_is_right(objective(X, p, squared, weighted, reduction, pairs), parameters)


def test_the_authors_options_give_the_authors_published_formula(rng):
    """Squared distances in the softmax, plain Euclidean pairs, Frobenius norms; written out once more on its own."""
    X, parameters = draw(rng)
    V, alpha = parameters.prototypes, parameters.alpha
    M_nk = np.exp([[-sum(alpha[n] * (x[n] - v[n]) ** 2 for n in range(N)) for v in V] for x in X])
    reconstructed = (M_nk / M_nk.sum(axis=1, keepdims=True)) @ V

    def pairwise(A):
        return np.array([[np.linalg.norm(a - b) for b in A] for a in A])

    data_loss = np.linalg.norm(X - reconstructed)
    fairness_loss = np.linalg.norm(pairwise(reconstructed) - pairwise(X[:, UNPROTECTED]))
    losses, _ = objective(X, squared=True, weighted=False, reduction="norm").value_and_grad(parameters)
    assert losses.terms == pytest.approx((data_loss, fairness_loss), rel=1e-12)
    assert losses.total == pytest.approx(LAMBDA * data_loss + MU * fairness_loss, rel=1e-12)


@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments"])
def test_threads_change_nothing_not_even_the_last_bit(rng, pairs):
    X, parameters = draw(rng, n_records=40)
    assert_same(*(objective(X, pairs=pairs, threads=n).value_and_grad(parameters) for n in (1, 3)), 0.0)


@pytest.mark.parametrize("weighted", [True, False])
def test_single_precision_tiles_agree_with_double_ones(rng, weighted):
    X, parameters = draw(rng, n_records=300, n_attributes=20)
    unprotected = np.arange(18)
    kernels = (EuclideanPairs(unprotected, K, weighted, dtype) for dtype in (np.float64, np.float32))
    double, single = (
        Objective(LocalEngine(X), Mapping(), ((1.0, AllPairs(kernel)),)).value_and_grad(parameters)
        for kernel in kernels
    )
    assert single[0].total == pytest.approx(double[0].total, rel=1e-6)
    assert_same(single, double, 1e-5)


# ---- where formulas divide by zero or lose digits ----


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("pairs", ["all", "landmarks"])
def test_duplicate_records_are_finite_and_right(rng, p, pairs):
    X, parameters = draw(rng)
    X[1] = X[0]
    X[3, UNPROTECTED] = X[2, UNPROTECTED]  # twins but for the protected attribute
    losses, _ = objective(X, p, pairs=pairs).value_and_grad(parameters)
    assert losses.terms == pytest.approx(expected_losses(X, parameters, pairs, p=p), rel=1e-7)
    assert_gradient_is_right(objective(X, p, pairs=pairs), parameters, rtol=1e-4)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("squared", [True, False])
def test_a_record_on_a_prototype_has_a_finite_gradient(rng, p, squared):
    X, parameters = draw(rng)
    parameters.prototypes[0] = X[0]
    losses, gradient = objective(X, p, squared).value_and_grad(parameters)
    assert losses.terms == pytest.approx(expected_losses(X, parameters, p=p, squared=squared), rel=1e-6)
    assert_finite(gradient)
    # Moving the other prototypes is smooth even here.
    packing = Packing(K, N, np.zeros(N, dtype=bool))
    theta = packing.pack(parameters)
    numeric = oracles.central_difference(
        lambda t: objective(X, p, squared).value_and_grad(packing.unpack(t))[0].total, theta, step=1e-5
    )
    others = slice(N, K * N)
    np.testing.assert_allclose(
        packing.pack_gradient(gradient, theta)[others], numeric[others], rtol=1e-4, atol=1e-4 * np.abs(numeric).max()
    )


def assert_finite(gradient):
    assert np.all(np.isfinite(gradient.prototypes))
    assert np.all(np.isfinite(gradient.alpha))


@pytest.mark.parametrize(("pairs", "p"), [("moments", 2.0), *itertools.product(("all", "landmarks"), (1.0, 2.0, 3.0))])
def test_some_weights_exactly_zero_are_right(rng, p, pairs):
    X, parameters = draw(rng)
    parameters.alpha[[1, 2]] = 0.0
    whole = objective(X, p, pairs=pairs)
    losses, gradient = whole.value_and_grad(parameters)
    assert losses.terms == pytest.approx(expected_losses(X, parameters, pairs, p=p), rel=1e-9)
    assert_finite(gradient)
    if p == 1.0:
        # Records beyond all prototypes on the same side have equal memberships when p = 1: pairs at a kink, where any
        # number between the one-sided slopes is a subgradient.
        return
    # The slope with respect to a weight of 0 is one-sided.
    h = 1e-9
    for n in (1, 2):
        alpha = parameters.alpha.copy()
        alpha[n] = h
        above = whole.value_and_grad(Parameters(parameters.prototypes, alpha))[0].total
        assert gradient.alpha[n] == pytest.approx((above - losses.total) / h, rel=1e-2, abs=1e-5 * losses.total)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments"])
@pytest.mark.parametrize(
    "case",
    ["all weights zero", "one prototype", "constant columns", "one unprotected column", "all columns protected"],
)
def test_degenerate_problems_are_finite_and_right(rng, case, pairs, weighted):
    n_prototypes = 1 if case == "one prototype" else K
    X, parameters = draw(rng, n_prototypes=n_prototypes)
    unprotected = UNPROTECTED
    if case == "all weights zero":
        parameters.alpha[:] = 0.0
    elif case == "constant columns":
        X[:, [0, 3]] = 2.5
    elif case == "one unprotected column":
        unprotected = np.array([1])
    elif case == "all columns protected":
        unprotected = np.array([], dtype=int)
    X = X - X.mean(axis=0)
    expected = expected_losses(X, parameters, pairs, unprotected, weighted=weighted)
    whole = objective(X, weighted=weighted, pairs=pairs, unprotected=unprotected, n_prototypes=n_prototypes)
    losses, gradient = whole.value_and_grad(parameters)
    assert losses.terms == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert_finite(gradient)


@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments"])
def test_an_outlier_does_not_blur_the_others(rng, pairs):
    """One record a million units away; distances among the rest keep their digits."""
    X, parameters = draw(rng)
    X[4] += 1e6
    losses, gradient = objective(X, pairs=pairs).value_and_grad(parameters)
    assert losses.terms == pytest.approx(expected_losses(X, parameters, pairs), rel=1e-9)
    assert_finite(gradient)
    if pairs == "all":
        tiles, near = EuclideanPairs(UNPROTECTED, K), [slice(0, 4), slice(5, M)]
        side = tiles.side(X, Mapping().memberships(X, parameters), parameters)
        pairwise = sum(tiles.tile(side[a], side[b], same=a is b).loss for a in near for b in near)
        assert pairwise == pytest.approx(expected_losses(np.delete(X, 4, axis=0), parameters)[1], rel=1e-9)
