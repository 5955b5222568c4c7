"""Nearest prototypes: near people are the same person to every model, and how consistent that makes all of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from quiet import quietly

import ifair
from ifair import LFR, IFair, Similarity
from ifair.core.mapping import Mapping, Parameters
from ifair.errors import IfairError
from ifair.metrics import consistency, nearest_neighbours
from ifair.models.starts import first_parameters

FAST = {"n_prototypes": 6, "n_restarts": 1, "max_iter": 15, "random_state": 0, "output": "nearest"}

pytestmark = quietly


@pytest.fixture
def X(rng):
    X = rng.normal(size=(120, 4))
    X[:, 3] = rng.integers(0, 2, size=120)
    return X


def fit_model(kind, X, **options):
    if kind == "LFR":
        y, group = (X[:, 0] > 0).astype(int), (X[:, 3] > 0).astype(int)
        return LFR(protected=[3], **{**FAST, **options}).fit(X, y, sensitive_features=group)
    return IFair(protected=[3], **{**FAST, **options}).fit(X)


def distances(model, X):
    differences = np.abs(X[:, None, :] - model.prototypes_[None])
    return (model.alpha_ * differences**model.p).sum(axis=2)


@pytest.mark.parametrize("options", [{}, {"squared": True}, {"p": 1.0}, {"p": 3.0}], ids=str)
@pytest.mark.parametrize("kind", ["IFair", "LFR"])
def test_every_record_becomes_its_nearest_prototype_and_nothing_else_depends_on_the_output(X, kind, options):
    model = fit_model(kind, X, **options)
    shown = model.transform(X)
    assert np.array_equal(shown, model.prototypes_[distances(model, X).argmin(axis=1)])
    assert np.array_equal(shown, model.prototypes_[model.membership(X).argmax(axis=1)])
    soft = fit_model(kind, X, output="representation", **options)
    assert np.array_equal(model.prototypes_, soft.prototypes_)
    assert np.array_equal(model.membership(X), soft.membership(X))
    with pytest.raises(IfairError, match=r"needs output='nearest': model.set_params"):
        soft.consistency_bound(X)
    assert np.array_equal(soft.set_params(output="nearest").transform(X), shown)
    assert 0 < soft.consistency_bound(X) == model.consistency_bound(X) <= 1


@pytest.mark.parametrize("output", ["representation", "membership", "nearest"])
@pytest.mark.parametrize("kind", [IFair, LFR])
def test_names_are_those_of_the_table_or_of_the_prototypes(X, kind, output):
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(120) * 2)
    model = kind(**{**FAST, "protected": ["d"], "output": output}).fit(frame, X[:, 0] > 0)
    shown = model.set_output(transform="pandas").transform(frame)
    expected = [f"prototype{k}" for k in range(6)] if output == "membership" else list("abcd")
    assert list(shown.columns) == list(model.get_feature_names_out()) == expected
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        model.get_feature_names_out(list("abce"))
    assert shown.index.equals(frame.index)
    assert output != "nearest" or len(shown.drop_duplicates()) <= 6
    assert list(model.prototypes_frame().columns) == ["share", *"abcd"]


def test_equally_near_prototypes_give_way_to_the_first():
    V = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    X = np.array([[0.0, 0.0], [0.0, 0.5], [1.0, 0.0], [-0.5, -0.5], [0.5, 0.5]])
    for p in (1.0, 2.0, 3.0):
        near = Mapping(p).nearest(X, Parameters(V, np.ones(2)))
        assert near.tolist() == [0, 2, 0, 1, 0]
    assert Mapping().nearest(X, Parameters(V, np.zeros(2))).tolist() == [0] * 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_copies_of_a_record_between_two_prototypes_never_part(rng, far, dtype):
    V = rng.normal(size=(2, 7)) + far
    X = np.vstack([rng.normal(size=(997, 7)), np.repeat(V.mean(axis=0)[None], 1003, axis=0)]).astype(dtype)
    parameters = Parameters(V.astype(dtype), np.ones(7, dtype=dtype))
    for rows in (2000, 1500, 1024, 1003):
        assert not Mapping().nearest(X[-rows:], parameters)[-1003:].any()


@pytest.mark.parametrize("alpha_init", [[1.0, 1.0, 0.0, 0.0], "masked"], ids=str)
def test_columns_of_weight_zero_show_the_prototype_and_not_the_person(X, alpha_init):
    model = fit_model("IFair", X, alpha_init=alpha_init, freeze_protected=True)
    blind = np.flatnonzero(model.alpha_ == 0)
    assert 3 in blind
    other = X.copy()
    other[:, blind] = 99.0
    assert np.array_equal(model.transform(other), model.transform(X))
    cells = distances(model, X).argmin(axis=1)
    assert np.array_equal(model.transform(X)[:, blind], model.prototypes_[cells][:, blind])


@pytest.mark.parametrize("kind", ["IFair", "LFR"])
def test_in_files_in_blocks_in_single_precision_and_by_a_loaded_model_people_become_the_same(X, kind, tmp_path):
    pytest.importorskip("skops")
    model = fit_model(kind, X)
    expected = model.transform(X)
    np.save(tmp_path / "X.npy", X)
    assert np.array_equal(model.transform(tmp_path / "X.npy"), expected)
    assert np.array_equal(np.concatenate(list(model.transform_blocks(X, rows=50))), expected)
    assert np.array_equal(np.concatenate(list(model.transform_blocks(tmp_path / "X.npy", rows=50))), expected)
    single = model.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.array_equal(single, expected.astype(np.float32))
    ifair.save(model, tmp_path / "m.ifair")
    loaded = ifair.load(tmp_path / "m.ifair")
    assert np.array_equal(loaded.transform(X), expected)
    assert loaded.consistency_bound(X) == model.consistency_bound(X)


# ---- the bound ----


def test_the_bound_is_the_share_of_neighbours_with_the_same_prototype_of_those_who_have_any(X):
    model = fit_model("IFair", X)
    cells = distances(model, X).argmin(axis=1)
    near = nearest_neighbours(X[:, :3], 7)
    bound = model.consistency_bound(X, n_neighbors=7)
    assert bound == pytest.approx((cells[near] == cells[:, None]).mean())
    # A model of an older file does not know what to search neighbours by.
    known = model.__dict__.pop("protected_mask_")
    with pytest.raises(IfairError, match="older than protected_mask_: give neighbours"):
        model.consistency_bound(X)
    assert model.consistency_bound(X, neighbours=near) == bound
    model.protected_mask_ = known
    similarity = Similarity(protected=["3"], caliper=0.5).fit(X)
    near = similarity.neighbours(X, n_neighbors=4).indices
    assert (near == -1).any()
    shares = [(cells[row[row >= 0]] == cells[i]).mean() for i, row in enumerate(near) if (row >= 0).any()]
    assert model.consistency_bound(X, neighbours=near) == pytest.approx(np.mean(shares))
    assert model.consistency_bound(X, similarity=similarity, n_neighbors=4) == pytest.approx(np.mean(shares))
    with pytest.raises(IfairError, match="either neighbours or similarity"):
        model.consistency_bound(X, similarity=similarity, neighbours=near)
    with pytest.warns(UserWarning, match="nobody has a neighbour"):
        assert np.isnan(model.consistency_bound(X, neighbours=np.full_like(near, -1)))


K = 6


@given(
    cells=arrays(np.intp, 40, elements=st.integers(0, K - 1)),
    near=arrays(np.intp, (40, 3), elements=st.integers(-1, 39)),
    scores=arrays(np.float64, K, elements=st.floats(0, 1)),
    labels=arrays(np.intp, K, elements=st.integers(0, 3)),
)
def test_no_function_of_the_prototype_is_less_consistent_than_the_bound(cells, near, scores, labels):
    near[near == np.arange(40)[:, None]] = -1  # nobody is their own
    near[0, 0] = 1  # somebody has a neighbour
    model = IFair(**FAST)
    model.prototypes_, model.alpha_ = 10.0 * np.arange(K)[:, None], np.ones(1)
    model.protected_mask_, model.n_features_in_ = np.zeros(1, dtype=bool), 1
    X = model.prototypes_[cells] + 1.0
    bound = model.consistency_bound(X, neighbours=near)
    chances = np.column_stack([scores, 1 - scores])
    assert consistency(scores[cells], neighbours=near, kind="score") >= bound - 1e-12
    assert consistency(chances[cells], neighbours=near) >= bound - 1e-12
    assert consistency(labels[cells], neighbours=near, kind="label") >= bound - 1e-12
    # A label of its own for every prototype attains it.
    assert consistency(cells, neighbours=near, kind="label") == pytest.approx(bound)


# ---- many prototypes ----


def test_a_k_means_start_is_nearer_to_the_records_than_those_it_begins_with_and_shows_means_where_it_does_not_look(X):
    nothing, frozen, errors = np.zeros(4, dtype=bool), np.array([False, False, False, True]), {}
    for init in ("k-means++", "k-means"):
        start = first_parameters(X, 10, init, [1.0] * 4, nothing, nothing, np.random.RandomState(0))
        D = ((X[:, None] - start.prototypes[None]) ** 2).sum(axis=2)
        errors[init] = D.min(axis=1).mean()
    assert errors["k-means"] < 0.9 * errors["k-means++"]
    means = [X[D.argmin(axis=1) == k].mean(axis=0) for k in range(10)]
    np.testing.assert_allclose(start.prototypes, means, atol=1e-9)
    start = first_parameters(X, 5, "k-means", "masked", frozen, frozen, np.random.RandomState(0))
    assert start.alpha[3] == 0
    assert ((start.prototypes[:, 3] > 0) & (start.prototypes[:, 3] < 1)).any()
    # Of few different records it has all of them as prototypes.
    few = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    start = first_parameters(few, 5, "k-means", "random", nothing[:2], nothing[:2], np.random.RandomState(0))
    assert {tuple(v) for v in start.prototypes} == {(0.0, 1.0), (2.0, 3.0)}


@pytest.mark.parametrize("kind", ["IFair", "LFR"])
def test_as_many_prototypes_as_records_tell_all_apart_or_not_worse(X, kind):
    model = fit_model(kind, X, n_prototypes=120, init="k-means", max_iter=2)
    assert 0 <= model.consistency_bound(X) < 0.5
    assert len(np.unique(model.transform(X), axis=0)) > 20
