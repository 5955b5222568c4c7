"""Where searches start: directions that favour none, and maps that are nearly projections on principal components."""

import numpy as np
import pytest
from quiet import quietly
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from ifair import IFair
from ifair.core.mapping import Mapping
from ifair.models import starts
from ifair.models.starts import NEAR_ZERO, even_directions, first_parameters, principal_parameters


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 6)) * [3.0, 2.0, 1.5, 1.0, 0.7, 0.5] + rng.normal(size=6)


@pytest.mark.parametrize(
    ("n", "most"), [(2, 9), (3, 9), (7, 20), (8, 9), (9, 9), (9, 4), (8, 5), (8, 4), (30, 11), (12, 1)]
)
def test_even_directions_are_of_length_one_sum_to_zero_and_favour_none(n, most):
    S = even_directions(n, most)
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1.0)
    np.testing.assert_allclose(S.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(S.T @ S, n / S.shape[1] * np.eye(S.shape[1]), atol=1e-12)
    assert S.shape[1] == min(most, n - 1)
    if most >= n - 1:  # as many as corners allow make a regular simplex
        np.testing.assert_allclose((S @ S.T)[~np.eye(n, dtype=bool)], -1 / (n - 1), atol=1e-12)


@pytest.mark.parametrize(("n", "most", "dimension"), [(9, 5, 4), (3, 1, 1), (1, 5, 0), (4, 0, 0)])
def test_where_no_even_directions_exist_fewer_dimensions_do(n, most, dimension):
    assert even_directions(n, most).shape == (n, dimension)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("n_prototypes", [2, 3, 4, 5, 7, 12])
def test_the_map_at_the_start_tends_to_the_projection_on_principal_components(X, monkeypatch, squared, n_prototypes):
    expected = PCA(min(n_prototypes - 1, 6)).fit(X)
    expected = expected.inverse_transform(expected.transform(X))
    errors = []
    for step in (0.1, 0.001):
        monkeypatch.setattr(starts, "NEARLY_LINEAR", step)
        parameters = principal_parameters(X, n_prototypes, np.ones(6), np.random.RandomState(3), squared)
        Z = Mapping(squared=squared).memberships(X, parameters) @ parameters.prototypes
        errors.append(np.abs(Z - expected).max())
    assert errors[1] < 0.02
    assert errors[1] < 0.05 * errors[0]


def test_protected_columns_are_left_out_of_the_components(X):
    protected = np.array([True, False, False, False, False, False])
    nothing = np.zeros(6, dtype=bool)
    masked = first_parameters(X, 4, "principal", "masked", protected, nothing, np.random.RandomState(0))
    frozen = first_parameters(X, 4, "principal", "masked", protected, protected, np.random.RandomState(0))
    everything = first_parameters(X, 4, "principal", "random", protected, nothing, np.random.RandomState(0))
    np.testing.assert_allclose(masked.prototypes[:, 0], X[:, 0].mean())
    np.testing.assert_allclose(frozen.prototypes, masked.prototypes)
    assert masked.alpha[0] == pytest.approx(NEAR_ZERO * masked.alpha[1])
    assert frozen.alpha[0] == 0.0
    assert np.ptp(everything.prototypes[:, 0]) > 1.0
    assert np.ptp(everything.alpha) == 0.0


def test_another_start_turns_the_prototypes_within_the_same_space_if_there_is_any(X):
    one, other = (principal_parameters(X, 4, np.ones(6), np.random.RandomState(seed)) for seed in (0, 1))
    assert np.abs(one.prototypes - other.prototypes).max() > 0.1
    both = np.vstack([one.prototypes, other.prototypes]) - X.mean(axis=0)
    assert np.linalg.matrix_rank(both, tol=1e-8) == 3
    for K in (1, 3):
        parameters = principal_parameters(np.full((5, 2), 7.0), K, np.ones(2), np.random.RandomState(0))
        np.testing.assert_array_equal(parameters.prototypes, np.full((K, 2), 7.0))


@quietly
def test_a_few_steps_from_principal_components_keep_nearly_all_that_prototypes_can(X):
    """The least possible loss is that of principal components; random records are still far from it."""
    least = np.sum(np.linalg.svd(X - X.mean(axis=0))[1][3:] ** 2) / len(X)
    options = {"fairness_weight": 0.0, "n_restarts": 1, "max_iter": 3, "random_state": 0}
    principal = IFair(4, init="principal", **options).fit(X)
    assert least <= principal.utility_loss_ < 1.6 * least
    assert IFair(4, init="k-means++", **options).fit(X).utility_loss_ > 2.0 * least


@quietly
@pytest.mark.parametrize(
    ("n_prototypes", "options", "expected"),
    [
        (4, {}, "principal"),
        (6, {"alpha_init": "random", "freeze_protected": False}, "principal"),
        (6, {}, "k-means++"),  # more than the unprotected columns: the start would be the identity
        (4, {"alpha_init": np.ones(6)}, "k-means++"),
    ],
)
def test_the_default_start_is_principal_where_there_is_something_to_leave_out(X, n_prototypes, options, expected):
    common = {"protected": [5], "n_restarts": 2, "max_iter": 3, "random_state": 0, **options}
    model = IFair(n_prototypes, **common).fit(X)
    n_restarts = 1 if expected == "principal" else 2
    same = IFair(n_prototypes, **{**common, "init": expected, "n_restarts": n_restarts}).fit(X)
    np.testing.assert_array_equal(model.prototypes_, same.prototypes_)
    assert len(model.restarts_) == n_restarts


def test_large_tables_begin_on_a_sample_and_end_as_low(rng, monkeypatch):
    X = rng.normal(size=(900, 5)) @ rng.normal(size=(5, 5))
    options = {"protected": [4], "pairs": 60, "tol": 1e-3, "random_state": 0}
    found = []
    for first in (10_000, 600):
        monkeypatch.setattr("ifair.models.ifair.REHEARSED_FROM", first)
        monkeypatch.setattr("ifair.models.ifair.REHEARSED", 150)
        losses = []
        model = IFair(3, callback=lambda _, loss, __, heard=losses: heard.append(loss), **options).fit(X)
        found.append((model, losses))
    (whole, heard_whole), (after_sample, heard_both) = found
    assert len(heard_whole) == whole.n_iter_
    assert len(heard_both) > after_sample.n_iter_  # the callback hears of the search on the sample too
    # How many steps are left hangs on the rounding of sums, where they begin does not.
    assert heard_both[-after_sample.n_iter_] < heard_whole[0]
    assert after_sample.loss_ < 1.01 * whole.loss_


@pytest.mark.parametrize("ended_by", [StopIteration, KeyboardInterrupt])
def test_a_fit_called_off_on_its_sample_keeps_the_best_so_far(rng, monkeypatch, ended_by):
    monkeypatch.setattr("ifair.models.ifair.REHEARSED_FROM", 80)
    monkeypatch.setattr("ifair.models.ifair.REHEARSED", 40)
    X = rng.normal(size=(80, 5))

    def callback(iteration, loss, norm):
        if iteration == 3:
            raise ended_by

    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        model = IFair(3, callback=callback, random_state=0).fit(X)
    assert model.n_iter_ == 3
    np.testing.assert_allclose(model.utility_loss_, ((model.transform(X) - X) ** 2).sum() / 80)
