"""Products with records by what departs from the others: the same numbers, from blocks that are arrays as before."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from ifair.core import arrays
from ifair.core.arrays import SparseBlock, is_sparse, split_departures, square
from ifair.core.euclidean_pairs import EuclideanPairs
from ifair.core.lfr_terms import LabelCrossEntropy
from ifair.core.mapping import Mapping, Parameters
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs
from ifair.engines import engine as engines
from ifair.engines.engine import LocalEngine, open_engine

from oracles import assert_same

M, N, K = 60, 25, 3


@pytest.fixture
def people(rng, monkeypatch):
    """Two numbers and 23 categories, in no unit and less their mean, of a table that counts as large."""
    monkeypatch.setattr(engines, "SPARSE_BLOCK_ROWS", 25)
    monkeypatch.setattr(arrays, "WORTH_IT_FROM", 1)
    monkeypatch.setattr(arrays, "LEAST_COLUMNS", 1)
    X = np.hstack([rng.normal(size=(M, 2)), 3.0 * np.eye(N - 2)[rng.integers(0, N - 2, M)]])
    return X - X.mean(axis=0)


@pytest.fixture
def block(people):
    (one,) = split_departures(people, [slice(0, M)])
    return one


def test_products_are_those_of_the_array(rng, people, block):
    assert is_sparse(block)
    for shape in ((), (4,)):
        right, left = rng.normal(size=(N, *shape)), rng.normal(size=(*shape, M))
        np.testing.assert_allclose(block @ right, people @ right, atol=1e-12)
        np.testing.assert_allclose(left @ block, left @ people, atol=1e-12)
        np.testing.assert_allclose(square(block) @ right, people**2 @ right, atol=1e-12)
        np.testing.assert_allclose(left @ square(block), left @ people**2, atol=1e-12)
        single = left.astype(np.float32)
        np.testing.assert_allclose(single @ square(block), single @ people**2, atol=1e-12)
        np.testing.assert_array_equal(block @ right.tolist(), people @ right.tolist())
        np.testing.assert_array_equal(left.tolist() @ block, left.tolist() @ people)
    np.testing.assert_allclose(block @ csr_array(np.eye(N)), people)
    np.testing.assert_allclose(csr_array(np.eye(M)) @ block, people)
    several = rng.normal(size=(2, N, 4))
    np.testing.assert_allclose(block @ several, people @ several)
    np.testing.assert_allclose(several.mT @ block.T, several.mT @ people.T)


def test_everything_else_is_that_of_an_array(people, block):
    assert isinstance(block, np.ndarray)
    np.testing.assert_array_equal(block, people)
    for made in (block - 1.0, block * block, block.sum(axis=0), np.abs(block)):
        assert type(made) is np.ndarray
    assert isinstance(block.sum(), float)
    for part in (block[3:9], block[:, [0, 4]], block.T, block.copy()):
        assert not is_sparse(part)
    np.testing.assert_array_equal(block[3:9] @ people.T, people[3:9] @ people.T)
    np.testing.assert_array_equal(people.T @ block[:, :4], people.T @ people[:, :4])


def test_tables_in_which_much_departs_or_that_are_small_or_narrow_stay_as_they_are(rng, people, monkeypatch):
    assert split_departures(rng.normal(size=(M, N)), [slice(0, M)]) is None
    for name, least in (("WORTH_IT_FROM", M * N + 1), ("LEAST_COLUMNS", N + 1)):
        with monkeypatch.context() as here:
            here.setattr(arrays, name, least)
            assert split_departures(people, [slice(0, M)]) is None


TERMS = {
    "reconstruction": lambda: Reconstruction(np.ones(N)),
    "some columns": lambda: Reconstruction(np.arange(N) % 2.0),
    "with weights": lambda: Reconstruction(np.ones(N), np.linspace(0.1, 3.0, M)),
    "pairs": lambda: AllPairs(EuclideanPairs(np.arange(N - 1), K)),
    "labels": lambda: LabelCrossEntropy(np.arange(M) % 2.0),
}


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("p", [2.0, 3.0])
def test_losses_and_gradients_are_those_of_arrays(rng, people, term, p):
    at = Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, N), {"log_odds": rng.normal(size=K)})
    assert_same(*evaluate_both(people, at, TERMS[term](), p), 1e-11)


def evaluate_both(records, at, term, p=2.0, reduction="mean"):
    """Losses and gradients by what departs, and as of arrays."""
    for sparse in (True, False):
        engine = LocalEngine(records, block_rows=25, sparse=sparse)
        assert all(is_sparse(X) == sparse for X in engine.map(lambda X, _: X))
        yield Objective(engine, Mapping(p), ((1.0, term),), reduction).value_and_grad(at)


def test_fits_on_this_machine_look_for_what_departs(people):
    with open_engine("local", people) as engine:
        assert all(type(X) is SparseBlock for X in engine.map(lambda X, _: X))


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-4, 1e-2])
@pytest.mark.parametrize("reduction", ["mean", "norm"])
def test_the_loss_of_records_that_are_prototypes_keeps_its_digits(rng, off, reduction):
    """It is a small difference of large squares; below zero it would have no root."""
    V = np.tile(rng.normal(size=N), (2, 1))
    V[1, :2] += 5.0
    X, at = V[np.arange(M) % 2], Parameters(V + off * rng.normal(size=V.shape), np.full(N, 1e4))
    answers = evaluate_both(X, at, Reconstruction(np.ones(N)), reduction=reduction)
    (losses, gradient), (expected_losses, expected) = answers
    assert losses.total == pytest.approx(expected_losses.total, rel=1e-7, abs=0.0)
    np.testing.assert_allclose(gradient.prototypes, expected.prototypes, rtol=1e-6, atol=1e-12)
