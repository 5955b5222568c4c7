"""Estimators on tensors of PyTorch, and fits that torch computes."""

import os
import pickle

import numpy as np
import pytest
from quiet import quietly
from refusals import must_raise

from ifair import LFR, IFair
from ifair.engines.engine import LocalEngine
from ifair.inputs.table import open_table

from devices import import_torch

torch = import_torch()
pytestmark = quietly

FEW = {"n_restarts": 1, "max_iter": 6, "tol": 0.0, "random_state": 0}
DEVICES = ["cpu", *filter(None, os.environ.get("IFAIR_TEST_DEVICES", "").split(","))]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def X(rng):
    X = rng.normal(size=(70, 5))
    X[:, 4] = rng.integers(0, 2, size=70)
    return X


@pytest.fixture
def y(X):
    return (X[:, 0] + X[:, 4] > 0.5).astype(int)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": 20, "precision": "double", "freeze_protected": True},
        {"pairs": "moments", "fairness_distance": "euclidean", "reduction": "norm"},
        {"p": 1.5, "utility_columns": "unprotected"},
        {"fairness_weight": 0.0, "squared": True},
        {"target_weight": 1.0},
    ],
    ids=str,
)
def test_a_fit_on_torch_is_the_local_fit_up_to_rounding(X, y, device, options):
    make = LFR if "target_weight" in options else IFair
    local, there = (
        make(3, protected=[4], engine=engine, **options, **FEW).fit(X, y) for engine in ("local", f"torch:{device}")
    )
    for name in ("prototypes_", "alpha_", "shares_", "restarts_", *(["label_chances_"] if make is LFR else [])):
        assert type(getattr(there, name)) is np.ndarray
        np.testing.assert_allclose(getattr(there, name), getattr(local, name), rtol=1e-6, atol=1e-8)
    for name in ("loss_", "fairness_loss_", *(["utility_loss_"] if make is IFair else [])):
        assert getattr(there, name) == pytest.approx(getattr(local, name), rel=1e-8)
        assert type(getattr(there, name)) is float


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_tensor_is_fitted_as_the_array_it_holds(X, device, dtype):
    tensor = torch.tensor(X, dtype=dtype, device=device, requires_grad=True)
    engine = "local" if device == "cpu" else f"torch:{device}"
    expected = IFair(3, protected=[4], engine=engine, **FEW).fit(tensor.detach().cpu().numpy())
    actual = IFair(3, protected=[4], **FEW).fit(tensor)
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    assert actual.n_features_in_ == 5


def test_auto_computes_where_a_tensor_is(X, device):
    with open_table(torch.tensor(X, device=device), "auto", np.asarray).open_engine() as engine:
        assert isinstance(engine, LocalEngine) == (device == "cpu")
        assert device == "cpu" or engine.device == torch.device(device)


def test_lfr_takes_tensors_for_records_labels_and_groups(X, y, device):
    expected = LFR(3, **FEW).fit(X, y, sensitive_features=X[:, 4])
    sent, labels = torch.tensor(X, device=device), torch.tensor(y, device=device)
    actual = LFR(3, engine="local", **FEW).fit(sent, labels, sensitive_features=sent[:, 4])
    np.testing.assert_array_equal(actual.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(actual.predict(sent), expected.predict(X))
    np.testing.assert_array_equal(actual.predict_proba(sent), expected.predict_proba(X))
    assert actual.archetypes(sent).equals(expected.archetypes(X))


@pytest.mark.parametrize("output", ["representation", "membership", "nearest"])
@pytest.mark.parametrize("frozen", [True, False])
def test_tensors_are_transformed_to_tensors_where_they_are(X, device, output, frozen):
    model = IFair(3, protected=[4], output=output, freeze_protected=frozen, **FEW).fit(X)
    expected = model.transform(X)
    assert type(expected) is np.ndarray
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        sent = torch.tensor(X, dtype=dtype, device=device, requires_grad=True)
        actual = model.transform(sent)
        assert isinstance(actual, torch.Tensor)
        assert (actual.dtype, actual.device) == (dtype, sent.device)
        assert not actual.requires_grad
        np.testing.assert_allclose(actual.cpu().numpy(), expected, rtol=tolerance, atol=tolerance)
    whole_numbers = torch.tensor([[0, 1, 2, 3, 1]], device=device)
    assert model.transform(whole_numbers).dtype == torch.float64
    np.testing.assert_allclose(model.membership(sent).cpu().numpy(), model.membership(X), rtol=1e-4, atol=1e-5)
    model.set_params(output="nearest")
    assert model.consistency_bound(torch.tensor(X, device=device)) == model.consistency_bound(X)


def test_fit_transform_of_a_tensor_gives_a_tensor_and_what_is_kept_needs_no_torch(X, device):
    model, sent = IFair(3, **FEW), torch.tensor(X, device=device)
    assert torch.equal(model.fit_transform(sent), model.transform(sent))
    assert b"torch" not in pickle.dumps(model)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(3, 4), "X has 4 features, but IFair is expecting 5 features as input"),
        (torch.zeros(5), "Expected 2D array, got 1D tensor instead"),
        (torch.full((2, 5), torch.nan), "Input X contains NaN or infinity"),
        (torch.full((2, 5), torch.inf), "Input X contains NaN or infinity"),
    ],
)
def test_a_tensor_that_cannot_be_transformed_or_fitted_is_refused(X, device, tensor, message):
    must_raise(ValueError, message, IFair(3, **FEW).fit(X).transform, tensor.to(device))
    if tensor.shape != (3, 4):
        must_raise(ValueError, r"Expected 2D array|contains (NaN|infinity)", IFair(3, **FEW).fit, tensor.to(device))


def test_a_fit_rounds_no_products_and_leaves_the_setting_of_torch_as_it_was(X):
    seen = []

    def look(*progress):
        seen.append(torch.get_float32_matmul_precision())

    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        IFair(3, engine="torch:cpu", callback=look, **FEW).fit(X)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert set(seen) == {"highest"}
