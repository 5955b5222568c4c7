"""Rivals from other packages: as their authors mean them, reproducible, and missed in words."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from ifair.reproduce import rival_models

SOLVER = {"updates": 60, "batch": 50, "lr": 0.02, "steps": 10, "step": 0.1}


def drawn(rng):
    """The last column is protected, the first follows it, and the second and the last decide."""
    protected = rng.random(200) < 0.5
    X = np.column_stack([protected + 0.5 * rng.normal(size=200), rng.normal(size=(200, 2)), protected])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (X[:, 1] + X[:, 3] > 0).astype(int)


@pytest.fixture
def people(rng):
    return drawn(rng)


@pytest.fixture
def once():
    """One draw, however many seeds are tried: to train SenSeI takes long."""
    return drawn(np.random.default_rng(0))


def test_sensitive_directions_are_the_protected_column_and_what_tells_it(people):
    directions = rival_models.find_sensitive_directions(people[0], [3], 0)
    assert directions.shape == (2, 4)
    np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-12)
    inside = np.linalg.norm(directions, axis=0)
    assert inside[3] == pytest.approx(1)
    assert inside[0] > 0.9
    assert max(inside[1:3]) < 0.4


def test_two_columns_that_say_the_same_make_no_further_direction_and_none_make_none(people):
    X, _ = people
    twice = np.column_stack([X, -X[:, 3]])
    directions = rival_models.find_sensitive_directions(twice, [3, 4], 0)
    assert len(directions) == 3
    alone = rival_models.find_sensitive_directions(X, [3], 0)
    np.testing.assert_allclose((directions.T @ directions)[:3, :3], (alone.T @ alone)[:3, :3], atol=1e-3)
    assert rival_models.find_sensitive_directions(X, [], 0).shape == (0, 4)


def test_the_directions_span_the_space_that_infairness_finds(people):
    torch = pytest.importorskip("torch", reason="SenSeI needs torch: pip install 'ifair[rivals]'")
    pytest.importorskip("inFairness", reason="pip install 'ifair[rivals]'")
    X = people[0].copy()
    X[:, 3] = X[:, 3] > 0
    with warnings.catch_warnings():
        # It calls torch and scikit-learn in ways that are going out of use.
        warnings.filterwarnings("ignore", message=".*(functorch|penalty)")
        from inFairness.distances import LogisticRegSensitiveSubspace

        metric = LogisticRegSensitiveSubspace()
        metric.fit(torch.tensor(X), protected_idxs=[3])
    directions = rival_models.find_sensitive_directions(X, [3], 0)
    np.testing.assert_allclose(np.eye(4) - directions.T @ directions, metric.sigma.numpy(), atol=1e-3)


def test_the_remover_leaves_what_a_regression_on_protected_columns_does_not_explain(people):
    pytest.importorskip("fairlearn.preprocessing")
    X, _ = people
    removed = rival_models.make_correlation_remover(1.0, [3]).fit(X[:120]).transform(X[120:])
    explained = LinearRegression().fit(X[:120, 3:], X[:120, :3])
    # The average stays, as it does in the CorrelationRemover.
    expected = X[120:, :3] - explained.predict(X[120:, 3:]) + X[:120, :3].mean(axis=0)
    # fairlearn regresses without an intercept on centred columns, which gives the same slopes.
    np.testing.assert_allclose(removed, expected, atol=1e-10)
    half = rival_models.make_correlation_remover(0.5, [3]).fit(X[:120]).transform(X[120:])
    np.testing.assert_allclose(half, (expected + X[120:, :3]) / 2, atol=1e-10)


@pytest.mark.parametrize("hidden", [0, 8])
def test_sensei_learns_and_the_protected_direction_counts_less_the_more_fairness_weighs(once, hidden):
    pytest.importorskip("inFairness", reason="pip install 'ifair[rivals]'")
    X, y = once
    flipped = X.copy()
    flipped[:, 3] *= -1
    moved = []
    for rho in (0.0, 20.0):
        scores = rival_models.train_sensei(X, y, [3], {"rho": rho, "eps": 0.1, "hidden": hidden}, SOLVER, 0)
        moved.append(np.abs(scores(flipped) - scores(X)).mean())
        assert scores(X)[y == 1].mean() > scores(X)[y == 0].mean()
        assert ((scores(X) >= 0) & (scores(X) <= 1)).all()
    assert moved[1] < moved[0] / 5


def test_sensei_is_the_same_under_a_seed_and_leaves_torch_as_it_was(once):
    pytest.importorskip("inFairness", reason="pip install 'ifair[rivals]'")
    import torch

    X, y = once
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    setting = {"rho": 5.0, "eps": 0.1, "hidden": 4}
    first, again, other = (rival_models.train_sensei(X, y, [3], setting, SOLVER, seed)(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_missing_packages_are_named_with_what_to_install(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "fairlearn.preprocessing", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"fairlearn.*pip install 'ifair\[rivals\]'"):
        rival_models.make_correlation_remover(1.0, [3])
    with pytest.raises(ImportError, match=r"inFairness.*pip install 'ifair\[rivals\]'"):
        rival_models.train_sensei(*people, [3], {"rho": 1.0, "eps": 0.1, "hidden": 0}, SOLVER, 0)
