"""Exact neighbours: against all distances, on processors and in tiles."""

import numpy as np
import pytest

from ifair.core.nearest import nearest, to_ten_digits

from devices import import_torch


def by_all_distances(reference, k, queries=None):
    """The nearest by sorting all distances."""
    asked = reference if queries is None else queries
    squared = to_ten_digits(((asked[:, None] - reference[None]) ** 2).sum(axis=2))
    if queries is None:
        np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(squared, order, axis=1)


def on_two_threads(reference, k, queries=None):
    return nearest(reference, k, queries, n_jobs=2)


def on_tensors(reference, k, queries=None):
    torch = import_torch()
    from ifair.core import nearest_torch

    asked = None if queries is None else torch.from_numpy(queries)
    index, squared = nearest_torch.nearest(torch.from_numpy(reference), k, asked)
    return index.numpy(), squared.numpy()


def as_on_tensor_cores(reference, k, queries=None):
    import_torch()
    from ifair.core import nearest_torch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_torch, "SPLIT", frozenset({"cpu"}))
        patch.setattr(nearest_torch, "TILE", 2**14)
        return on_tensors(reference, k, queries)


TABLES = {
    "numbers": lambda rng: rng.normal(size=(700, 7)),
    "categories, many equally far": lambda rng: rng.integers(0, 3, size=(900, 4)).astype(float),
    "more equally far than candidates": lambda rng: rng.integers(0, 4, size=(1500, 6)).astype(float),
    "everybody the same": lambda rng: np.zeros((30, 2)),
    "five people, six copies each": lambda rng: np.repeat(rng.normal(size=(5, 3)), 6, axis=0),
    "close together, far from zero": lambda rng: rng.normal(size=(300, 20)) + 1e6,
    "a few far away": lambda rng: np.vstack([rng.normal(size=(500, 30)), 1e3 * rng.normal(size=(3, 30))]),
    "few people": lambda rng: rng.normal(size=(12, 2)),
    "no columns": lambda rng: np.zeros((20, 0)),
}


@pytest.mark.parametrize("search", [nearest, on_two_threads, on_tensors, as_on_tensor_cores])
@pytest.mark.parametrize("table", TABLES)
def test_neighbours_are_those_of_all_distances(table, search, rng):
    X = TABLES[table](rng)
    newcomers = X[:37] + 0.5 * rng.integers(0, 2, size=X[:37].shape)
    for queries in (None, newcomers):
        expected, distances = by_all_distances(X, 10, queries)
        for k in (1, 10):
            index, squared = search(X, k, queries)
            np.testing.assert_array_equal(index, expected[:, :k])
            np.testing.assert_allclose(squared, distances[:, :k], rtol=1e-9, atol=0)


def test_few_queries_in_a_wide_table_find_their_neighbours(rng):
    latent = rng.normal(size=(5000, 5)) @ rng.normal(size=(5, 80))
    noise = rng.normal(size=latent.shape)
    for X in (latent + 0.1 * noise, np.repeat(latent[:2500] + noise[:2500], 2, axis=0), noise, noise + 1e5):
        queries = np.vstack([X[:3], X[3:6] + 0.2, X[:1] + 50.0])
        index, squared = nearest(X, 10, queries)
        many = np.vstack([queries] * 3)
        expected, distances = nearest(X, 10, many)
        np.testing.assert_array_equal(index, expected[:7])
        np.testing.assert_array_equal(squared, distances[:7])
        np.testing.assert_array_equal(index, by_all_distances(X, 10, queries)[0])


def test_a_query_beyond_all_measure_finds_its_neighbours(rng):
    X = rng.normal(size=(5000, 3))
    far = np.array([[1e20, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(nearest(X, 3, far)[0][1], by_all_distances(X, 3, far)[0][1])
