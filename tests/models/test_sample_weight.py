"""sample_weight in the estimators: whole numbers are copies of a record, whatever the kind of pairs and of table."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from quiet import quietly
from refusals import must_raise
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data
from sklearn.utils.fixes import parse_version

from ifair import LFR, IFair, fit_many
from ifair.engines.engine import Engine
from ifair.errors import IfairError

pytestmark = quietly

K, M, N = 3, 40, 4


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(M, N, n_informative=3, n_redundant=0, random_state=0)
    X[:, 3] = np.arange(M) % 2
    return X, y, np.random.default_rng(1).permutation(np.arange(M) % 4)


def given_starts(X, **options):
    """The same start for both, and few steps: a descent magnifies rounding."""
    common = {"init": X[:K], "alpha_init": np.full(N, 0.5), "protected": [3], "max_iter": 6, "n_restarts": 1}
    return {**common, "random_state": 0, **options}


def assert_same_fit(one, other, X):
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-8)
    np.testing.assert_allclose(one.shares_, other.shares_, rtol=1e-6)
    np.testing.assert_allclose(one.transform(X), other.transform(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"pairs": "all"},
        {"pairs": "all", "p": 1.5},
        {"pairs": "all", "reduction": "sum", "precision": "double", "fairness_distance": "euclidean"},
        {"pairs": "moments", "reduction": "norm"},
        {"pairs": "all", "engine": "torch"},
        {"pairs": "moments", "engine": "torch"},
        {"pairs": "all", "fairness_weight": 0.0},
        {"pairs": "all", "utility_columns": "unprotected"},
    ],
    ids=str,
)
def test_whole_weights_fit_as_copies_of_the_records(data, options):
    X, _, counts = data
    if options.get("engine") == "torch":
        pytest.importorskip("torch")
    weighted = IFair(K, **given_starts(X, **options)).fit(X, sample_weight=counts)
    assert_same_fit(weighted, IFair(K, **given_starts(X, **options)).fit(np.repeat(X, counts, axis=0)), X)
    (again,) = fit_many([clone(weighted)], X, sample_weight=counts)
    assert again.loss_ == weighted.loss_


@pytest.mark.parametrize(("each", "precision"), [(1e-3, "single"), (0.9, "single"), (0.2, "double")])
def test_the_precision_is_that_of_so_many_records_or_people(data, monkeypatch, each, precision):
    """Weights that sum to 1 make no table small."""
    X, _, counts = data
    monkeypatch.setattr("ifair.models.ifair.SINGLE_PRECISION_FROM", M if precision == "single" else M + 1)
    auto, given = (IFair(K, **given_starts(X, precision=how)) for how in ("auto", precision))
    for model in (auto, given):
        model.fit(X, sample_weight=each * (1 + counts))
    np.testing.assert_array_equal(auto.prototypes_, given.prototypes_)


def test_a_fit_with_landmarks_is_one_of_all_pairs_where_every_record_that_counts_is_a_landmark(data):
    X, _, counts = data
    n_counted = np.count_nonzero(counts)
    every = IFair(K, **given_starts(X, pairs=int(n_counted))).fit(X, sample_weight=counts)
    assert_same_fit(every, IFair(K, **given_starts(X, pairs="all")).fit(X, sample_weight=counts), X)
    fewer = IFair(K, **given_starts(X, pairs=int(n_counted) - 2)).fit(X, sample_weight=counts)
    assert fewer.fairness_loss_ == pytest.approx(every.fairness_loss_, rel=0.3)
    assert fewer.fairness_loss_ != every.fairness_loss_


@pytest.mark.parametrize("attribute_weights", ["shared", "per group"])
def test_lfr_with_whole_weights_fits_as_with_copies(data, attribute_weights):
    X, y, counts = data
    options = given_starts(X, attribute_weights=attribute_weights)
    weighted = LFR(K, **options).fit(X, y, sample_weight=counts)
    copies = LFR(K, **options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_same_fit(weighted, copies, X)
    for name in ("reconstruct_loss_", "target_loss_", "fairness_loss_"):
        assert getattr(weighted, name) == pytest.approx(getattr(copies, name), rel=1e-7)
    np.testing.assert_allclose(weighted.predict_proba(X), copies.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("init", ["principal", "k-means++", "k-means"])
def test_starts_look_at_weights_and_leave_out_who_counts_nothing(data, init):
    """The same order of records draws the same starts, as whole weights and as copies."""
    X, _, counts = data
    far = np.vstack([X, np.full((1, N), 50.0)])
    options = {"init": init, "max_iter": 1, "n_restarts": 1, "random_state": 0, "protected": [3]}
    without = IFair(K, **options).fit(X, sample_weight=np.maximum(counts, 1))
    ignored = IFair(K, **options).fit(far, sample_weight=np.append(np.maximum(counts, 1), 0))
    assert ignored.loss_ == pytest.approx(without.loss_, rel=1e-8)
    if init == "k-means++":
        copies = IFair(K, **options).fit(np.repeat(X, np.maximum(counts, 1), axis=0))
        assert without.loss_ == pytest.approx(copies.loss_, rel=1e-8)


def test_a_table_on_disk_has_its_weights_in_a_column_or_beside_it(data, tmp_path):
    pytest.importorskip("pyarrow")
    X, y, counts = data
    names = list("abcd")
    pd.DataFrame(X, columns=names).assign(stands_for=counts, label=y).to_parquet(tmp_path / "people.parquet")
    options = given_starts(X)
    here = LFR(K, **options).fit(X, y, sample_weight=counts)
    there = LFR(K, **options).fit(str(tmp_path / "people.parquet"), "label", sample_weight="stands_for")
    assert list(there.feature_names_in_) == names
    assert there.loss_ == pytest.approx(here.loss_, rel=1e-10)
    np.save(tmp_path / "X.npy", X)
    mapped = IFair(K, **options).fit(tmp_path / "X.npy", sample_weight=counts)
    assert mapped.loss_ == pytest.approx(IFair(K, **options).fit(X, sample_weight=counts).loss_, rel=1e-10)


@pytest.mark.parametrize("model", [IFair, LFR])
@pytest.mark.filterwarnings("ignore:LFR. no protected groups")
def test_scikit_learns_check_of_weights_against_copies_passes_from_given_starts(model):
    """From drawn starts it does not: they depend on the order of records, which the check shuffles."""
    if model is LFR and parse_version(sklearn.__version__) < parse_version("1.7"):
        pytest.skip("scikit-learn 1.6 makes two classes by the first record, and shuffles one of its two tables")
    starts = np.random.default_rng(0).normal(size=(K, 30))
    options = {"init": starts, "alpha_init": np.full(30, 0.1), "max_iter": 6, "n_restarts": 1}
    check_sample_weight_equivalence_on_dense_data(model.__name__, model(K, **options))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * (M - 1), "must not be negative"),
        ([0.0] * M, "nor zero for everybody"),
        ([1.0] * 5, "5 entries where 40"),
        ([np.nan] + [1.0] * (M - 1), "missing or infinite"),
        (["a"] * M, "must hold numbers"),
        ([1.0] * 2 + [0.0] * (M - 2), "n_prototypes=3 needs at least 3 records of a weight above 0"),
    ],
)
def test_weights_that_cannot_be_are_refused(data, weights, message):
    X, y, _ = data
    must_raise(IfairError, message, IFair(K).fit, X, sample_weight=weights)
    rival = LFR(K, protected=[3])
    must_raise(IfairError, f"{message}|of the class", rival.fit, X, y, sample_weight=weights)
    must_raise(IfairError, "0 for all records of the class 1", rival.fit, X, y, sample_weight=1 - y)
    must_raise(IfairError, r"0 for all records of the group 1\.0", rival.fit, X, y, sample_weight=1 - X[:, 3])


@pytest.mark.parametrize("options", [{}, {"pairs": "moments"}, {"pairs": 5}, {"fairness_weight": 0}], ids=str)
def test_weights_go_to_the_engine_once_also_in_a_pipeline(monkeypatch, data, options):
    X, y, counts = data
    sent, send = [], Engine.send

    def watch(engine, *arrays):
        sent.extend(array for array in arrays if np.shape(array) == (len(X),))
        return send(engine, *arrays)

    monkeypatch.setattr(Engine, "send", watch)
    alone = IFair(K, **given_starts(X, **options)).fit(X, sample_weight=counts)
    assert len(sent) == 1
    with sklearn.config_context(enable_metadata_routing=True):
        fair = clone(alone).set_fit_request(sample_weight=True)
        model = make_pipeline(fair, LogisticRegression().set_fit_request(sample_weight=True))
        model.fit(X, y, sample_weight=counts)
    np.testing.assert_array_equal(model[0].prototypes_, alone.prototypes_)
