"""Many models at once: each ends as its own fit would leave it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from quiet import quietly
from refusals import must_raise
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ifair import LFR, IFair, fit_many
from ifair.core.batch import Batch
from ifair.core.objective import Objective
from ifair.engines.engine import LocalEngine
from ifair.models.masking import Masked
from ifair.models.starts import first_parameters

from devices import import_torch

pytestmark = quietly

WEIGHTS = [(1.0, 0.0), (1.0, 0.1), (1.0, 1.0), (0.1, 1.0)]
LEARNED = ("prototypes_", "alpha_", "shares_", "loss_", "utility_loss_", "fairness_loss_", "restarts_", "n_iter_")


@pytest.fixture
def X(rng):
    table = rng.normal(size=(50, 5))
    table[:, 4] = rng.integers(0, 2, size=50)
    return table


def grid(dimensions=(3, 4), **options):
    options = {"protected": [4], "init": "k-means++", "n_restarts": 2, "max_iter": 15, "random_state": 0, **options}
    return [IFair(k, utility_weight=lam, fairness_weight=mu, **options) for k in dimensions for lam, mu in WEIGHTS]


@pytest.fixture
def batched(monkeypatch):
    """Have the local engine evaluate many fits at once, as a device does; the sizes of the batches."""
    sizes, evaluate = [], Batch.values_and_grads

    def watched(self, theta):
        sizes.append(len(theta))
        return evaluate(self, theta)

    monkeypatch.setattr(LocalEngine, "batch_bytes", 10**9)
    monkeypatch.setattr(Batch, "values_and_grads", watched)
    return sizes


def assert_alike(models, others, tolerance):
    for model, other in zip(models, others, strict=True):
        for name in LEARNED:
            np.testing.assert_allclose(getattr(model, name), getattr(other, name), rtol=tolerance, atol=tolerance)
        assert model.converged_ == other.converged_
        np.testing.assert_array_equal(model.protected_mask_, other.protected_mask_)
        assert model.n_features_in_ == other.n_features_in_


@pytest.mark.parametrize("form", ["array", "frame", "file"])
def test_on_the_processor_every_model_ends_bit_by_bit_as_alone_and_goes_on_from_there(X, tmp_path, form):
    np.save(tmp_path / "table.npy", X)
    table = {"array": X, "frame": pd.DataFrame(X, columns=list("abcde")), "file": tmp_path / "table.npy"}[form]
    models = grid(max_iter=5, warm_start=True, protected=["e"] if form == "frame" else [4])
    assert fit_many(models, table) == models
    alone = [clone(model).fit(table) for model in models]
    assert_alike(models, alone, 0.0)
    assert form != "frame" or all(list(model.feature_names_in_) == list("abcde") for model in models)
    before = [model.loss_ for model in models]
    assert_alike(fit_many(models, table), [model.fit(table) for model in alone], 0.0)
    assert all(model.loss_ < loss for model, loss in zip(models, before))
    assert all(len(model.restarts_) == 1 for model in models)


# Searches that differ by rounding drift apart, as far as tol allows: a few steps tell whether they are the same.
FEW_STEPS = [
    pytest.param({}, id="all pairs"),
    pytest.param({"pairs": 12}, id="landmarks"),
    pytest.param({"pairs": "moments"}, id="moments"),
    pytest.param({"fairness_distance": "euclidean", "freeze_protected": True}, id="plain distances, frozen"),
    pytest.param({"reduction": "norm", "squared": True}, id="norms, squared"),
    pytest.param({"p": 3.0}, id="p = 3"),
    pytest.param({"init": "principal", "utility_columns": "unprotected"}, id="principal components"),
]


@pytest.mark.parametrize("options", FEW_STEPS)
def test_evaluated_at_once_every_model_takes_the_steps_that_it_takes_alone(X, batched, options):
    models = fit_many(grid(max_iter=4, **options), X)
    assert_alike(models, [clone(model).fit(X) for model in models], 1e-8)
    assert (max(batched, default=0) > 1) == ("p" not in options)


def test_every_model_rehearses_with_its_own_weights(X, monkeypatch):
    monkeypatch.setattr("ifair.models.ifair.REHEARSED_FROM", 50)
    monkeypatch.setattr("ifair.models.ifair.REHEARSED", 25)
    models = fit_many(grid((3,), pairs=20), X)
    assert_alike(models, [clone(model).fit(X) for model in models], 0.0)


def test_evaluated_at_once_models_end_about_as_low_as_alone(X, batched):
    models = fit_many(grid((3,), max_iter=100, tol=1e-5), X)
    alone = [clone(model).fit(X) for model in models]
    np.testing.assert_allclose([one.loss_ for one in models], [one.loss_ for one in alone], rtol=0.05)


def test_all_weights_and_starts_come_in_one_call_and_of_many_records_those_of_one_number_of_prototypes(
    X, batched, monkeypatch
):
    starts = len(WEIGHTS) * 2
    fit_many(grid(max_iter=3), X)
    assert max(batched) == batched[0] == 2 * starts
    batched.clear()
    monkeypatch.setattr("ifair.core.batch.PADDED_UP_TO", len(X) - 1)
    fit_many(grid(max_iter=3), X)
    assert max(batched) == starts
    assert batched[:2] == [starts, starts]


def test_in_whatever_order_models_come_those_of_one_k_are_evaluated_side_by_side(X, batched, monkeypatch):
    monkeypatch.setattr("ifair.core.batch.APART_FROM", 1)
    sizes, sums = [], Objective.sums

    def watched(self, parameters, mixtures):
        sizes.append(parameters.prototypes.shape[:2])
        return sums(self, parameters, mixtures)

    monkeypatch.setattr(Objective, "sums", watched)
    models = [IFair(k, max_iter=2, fairness_weight=w, init="k-means++", random_state=0) for w in (0, 2) for k in (4, 3)]
    fit_many(models, X)
    assert sizes[:2] == [(6, 3), (6, 4)]
    assert [len(model.prototypes_) for model in models] == [4, 3] * 2


def test_without_a_fairness_weight_nothing_is_evaluated_in_vain_where_batches_do_not_pay(X, monkeypatch):
    prepared, sums = [], Objective.sums

    def watched(self, *arguments):
        prepared.append([type(term).__name__ for _, term in self.terms])
        return sums(self, *arguments)

    monkeypatch.setattr(Objective, "sums", watched)
    fit_many([IFair(3, fairness_weight=0.0, n_restarts=2, max_iter=5, random_state=0)], X)
    assert prepared[-1] == ["Reconstruction", "KeptPairs"]  # the loss that is reported
    assert prepared[:-1]
    assert all(terms == ["Reconstruction"] for terms in prepared[:-1])


def test_models_with_different_landmarks_do_not_share_them(X, batched):
    models = [IFair(3, pairs=12, n_restarts=1, max_iter=4, random_state=seed) for seed in (0, 0, 1)]
    fit_many(models, X)
    assert max(batched) == 3  # searched together, and each compared with its own
    assert_alike(models, [clone(model).fit(X) for model in models], 1e-8)


def test_models_of_several_tables_are_searched_together(X, rng, batched):
    tables = [X, X[::-1].copy(), np.vstack([X, X + 0.1])]
    models = grid(max_iter=4)
    of_each = [tables[i % 3] for i in range(len(models))]
    weights = [rng.uniform(1.0, 2.0, len(table)) for table in tables]
    sample_weight = [weights[i % 3] for i in range(len(models))]
    fit_many(models, of_each, sample_weight=sample_weight)
    assert max(batched) == 2 * len(models)
    given = zip(models, of_each, sample_weight)
    assert_alike(models, [clone(model).fit(table, sample_weight=w) for model, table, w in given], 1e-8)


def test_lfr_is_fitted_to_the_labels_and_groups_of_its_own_table(X, rng, batched):
    tables = [X, X[:40] + 1.0]
    labels = [rng.integers(0, 2, len(table)) for table in tables]
    groups = [rng.integers(0, 2, len(table)) for table in tables]
    models = [LFR(3, fairness_weight=w, n_restarts=1, max_iter=4, random_state=0) for w in (0.1, 5.0)]
    fit_many(models, tables, labels, sensitive_features=groups)
    assert max(batched) == 2
    for model, table, y, group in zip(models, tables, labels, groups):
        alone = clone(model).fit(table, y, sensitive_features=group)
        np.testing.assert_allclose(model.prototypes_, alone.prototypes_, rtol=1e-8)
        np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table), rtol=1e-8)


def test_lists_of_tables_have_one_for_every_model(X):
    models = grid()[:2]
    must_raise(ValueError, "X .* each of the 2 models.* a list of 3", fit_many, models, [X] * 3)
    must_raise(ValueError, "sample_weight .* ndarray", fit_many, models, [X, X], sample_weight=np.ones(50))
    assert len(fit_many(grid(max_iter=2)[:2], X.tolist())) == 2  # rows are no tables


def test_models_may_differ_in_everything(X, batched):
    models = [
        IFair(3, random_state=0, max_iter=4),
        IFair(3, random_state=1, max_iter=4, protected=[4]),
        IFair(3, random_state=2, max_iter=3, tol=0.1, precision="single", output="membership"),
        IFair(3, random_state=3, max_iter=4, p=1.0, n_restarts=1),
        IFair(5, random_state=4, max_iter=4, engine="local", n_jobs=2),
        IFair(2, random_state=5, max_iter=4, init=X[:2], alpha_init=np.full(5, 0.3), n_restarts=1),
    ]
    fit_many(models, X)
    assert_alike(models, [clone(model).fit(X) for model in models], 1e-4)


@pytest.mark.parametrize("batch_bytes", [None, 10**9], ids=["one by one", "in batches"])
def test_on_torch_models_take_the_same_steps(X, monkeypatch, batch_bytes):
    import_torch()
    from ifair.engines.torch import TorchEngine

    class Roomy(TorchEngine):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.batch_bytes = batch_bytes or self.batch_bytes

    monkeypatch.setattr("ifair.engines.torch.TorchEngine", Roomy)
    models = fit_many(grid(max_iter=4, engine="torch:cpu"), X)
    assert_alike(models, [clone(model).set_params(engine="local").fit(X) for model in models], 1e-8)


def lfr_grid(**options):
    options = {"n_restarts": 2, "max_iter": 4, "random_state": 0, **options}
    weights = [(0.1, 1.0, 1.0), (1.0, 0.5, 0.0), (1.0, 1.0, 5.0), (0.01, 1.0, 0.1)]
    return [
        LFR(k, reconstruct_weight=x, target_weight=y, fairness_weight=z, **options)
        for k in (3, 4)
        for x, y, z in weights
    ]


@pytest.mark.parametrize("options", [{}, {"p": 1.5}, {"engine": "torch:cpu"}], ids=["p = 2", "p = 1.5", "torch"])
def test_a_grid_of_lfr_takes_the_steps_of_single_fits(X, batched, options):
    if "engine" in options:
        import_torch()
    y, groups = X[:, 0] + X[:, 1] > 0, X[:, 4]
    models = fit_many([*lfr_grid(**options), *grid((3,), max_iter=4)], X, y, sensitive_features=groups)
    assert max(batched) > 1
    for model in models[:8]:
        alone = clone(model).fit(X, y, sensitive_features=groups)
        for name in ("prototypes_", "label_chances_", "loss_", "target_loss_", "fairness_loss_", "reconstruct_loss_"):
            np.testing.assert_allclose(getattr(model, name), getattr(alone, name), rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
        assert model.group_labels_ == alone.group_labels_
    assert_alike(models[8:], [clone(model).fit(X) for model in models[8:]], 1e-8)


def test_lfr_with_weights_per_group_is_fitted_beside_others_of_its_seed(rng, X):
    y = rng.integers(0, 2, size=len(X))
    options = {"attribute_weights": "per group", "protected": [4], "n_restarts": 1, "max_iter": 4, "random_state": 0}
    models = [LFR(3, fairness_weight=weight, **options) for weight in (1.0, 5.0)]
    for model in fit_many(models, X, y):
        own = clone(model).fit(X, y)
        np.testing.assert_allclose(model.group_alpha_, own.group_alpha_)
        np.testing.assert_allclose(model.alpha_, own.alpha_)


def test_lfr_with_different_groups_are_searched_together_each_with_its_own(X, batched):
    X[:, 3] = X[:, 3] > 0
    y = X[:, 0] > 0
    models = [LFR(3, protected=[column], n_restarts=1, max_iter=4, random_state=0) for column in (3, 4, 4)]
    fit_many(models, X, y)
    assert max(batched) == 3
    for model in models:
        np.testing.assert_allclose(model.prototypes_, clone(model).fit(X, y).prototypes_, rtol=1e-7)


def test_bad_models_are_refused_before_any_work(X):
    models = grid()
    must_raise(ValueError, "the same model twice", fit_many, [*models, models[2]], X)
    must_raise(TypeError, "fit_many fits IFair and LFR models, got Masked", fit_many, [*models, Masked()], X)
    must_raise(ValueError, "LFR needs labels: pass y to fit_many", fit_many, [*models, LFR()], X)
    must_raise(ValueError, "n_prototypes=51 needs at least 51 records", fit_many, [*models, IFair(51)], X)
    must_raise(ValueError, "utility_weight must be", fit_many, [*models, IFair(utility_weight=-1.0)], X)
    assert not any(hasattr(model, "prototypes_") for model in models)
    assert fit_many([], X) == []


def test_warnings_point_at_the_caller(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_many([IFair(3, utility_weight=0.0, max_iter=2, random_state=0)], X)
    assert [warning.category for warning in caught] == [UserWarning, ConvergenceWarning]
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    ("ended_by", "said"), [(StopIteration, "ended by its callback"), (KeyboardInterrupt, "was interrupted")]
)
def test_what_was_found_is_kept_of_a_model_that_its_callback_ends_and_of_the_others(X, ended_by, said):
    def callback(iteration, loss, gradient_norm):
        if iteration == 3:
            raise ended_by

    models = [IFair(3, callback=callback, n_restarts=1, random_state=0), *grid(max_iter=20)]
    with pytest.warns(ConvergenceWarning, match=f"{said} after 3 iterations"):
        fit_many(models, X)
    assert all(hasattr(model, "prototypes_") for model in models)
    assert models[0].n_iter_ <= 3
    assert not models[0].converged_
    assert ended_by is KeyboardInterrupt or max(model.n_iter_ for model in models) > 3


def test_an_interrupt_before_the_first_value_is_an_interrupt(X, monkeypatch):
    def interrupted(self, parameters):
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "value_and_grad", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit_many(grid(), X)


def test_starts_that_models_share_are_drawn_once(X, monkeypatch):
    drawn = []

    def watched(*arguments):
        drawn.append(arguments)
        return first_parameters(*arguments)

    monkeypatch.setattr("ifair.models.ifair.first_parameters", watched)
    models = fit_many(grid(max_iter=2, pairs=12), X)
    assert len(drawn) == 2 * 2 * 2  # starts of either number of prototypes, with landmarks drawn before and without
    monkeypatch.undo()
    assert_alike(models, [clone(model).fit(X) for model in models], 0.0)


@pytest.mark.parametrize("batch_bytes", [0, 10**9])
def test_a_model_whose_loss_overflows_is_named_by_fit_and_when_the_others_are_fitted(X, monkeypatch, batch_bytes):
    monkeypatch.setattr(LocalEngine, "batch_bytes", batch_bytes)
    told = r"loss of IFair\(.*n_prototypes=3.*\) is not a finite number at any of its 3 starts: .* overflow"
    broken, others = IFair(3, init=np.full((3, 5), 1e200)), grid(max_iter=3)
    with np.errstate(all="ignore"):
        must_raise(ValueError, told, broken.fit, X)
        must_raise(ValueError, told, fit_many, [others[0], broken, *others[1:]], X)
    assert not hasattr(broken, "loss_")
    assert_alike(others, fit_many(grid(max_iter=3), X), 1e-6)
