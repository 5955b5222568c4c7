"""Boosted trees load without a word where their nodes are sound, and are refused where these point anywhere else."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ifair
from ifair.persist import ModelFileError, ModelFileWarning
from ifair.persist.archive import pack, unpack
from ifair.persist.boosted_trees import TREE
from ifair.persist.manifest import write_manifest
from ifair.persist.schema import list_types, read_schema

skops = pytest.importorskip("skops.io")

X = np.random.default_rng(0).normal(size=(200, 3))
CLASSES = (X[:, 0] + X[:, 1] > 0).astype(int)


def boosted(**options):
    return HistGradientBoostingClassifier(max_iter=3, random_state=0, **options).fit(X, CLASSES)


def forge(model, path):
    """A file of a model that `save` would refuse."""
    payload = skops.dumps(model)
    types = list_types(read_schema(unpack(payload, 2**30)))
    path.write_bytes(pack({"manifest.json": write_manifest(payload, {}, types, []), "model.skops": payload}))
    return path


@pytest.mark.parametrize(
    ("model", "outcome"),
    [
        (HistGradientBoostingClassifier(max_iter=3), CLASSES),
        (HistGradientBoostingClassifier(max_iter=3), np.digitize(X[:, 0], [-0.5, 0.5])),
        (HistGradientBoostingClassifier(max_iter=3, early_stopping=True), CLASSES),
        (HistGradientBoostingRegressor(max_iter=3, loss="quantile", quantile=0.3), X[:, 1]),
        (make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=3)), X[:, 1]),
        (ifair.ConsistentClassifier(HistGradientBoostingClassifier(max_iter=3)), CLASSES),
    ],
    ids=["two classes", "three classes", "stopped early", "numbers", "in a pipeline", "made consistent"],
)
def test_boosted_trees_are_saved_and_loaded_without_a_word(tmp_path, model, outcome):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model.fit(table, outcome)
    ifair.save(model, tmp_path / "m.ifair")
    assert ifair.inspect(tmp_path / "m.ifair")["trust_needed"] == []
    loaded = ifair.load(tmp_path / "m.ifair")
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))


def point_left(nodes):
    nodes["left"][0] = len(nodes)


def point_back(nodes):
    nodes["right"][nodes["is_leaf"] == 0] = 0


def share_a_child(nodes):
    nodes["right"][0] = nodes["left"][0]


def look_beyond(nodes):
    nodes["feature_idx"][0] = 3


def look_before(nodes):
    nodes["feature_idx"][0] = -1


def ask_for_a_category(nodes):
    nodes["is_categorical"][0] = 1


ALTERED = [point_left, point_back, share_a_child, look_beyond, look_before, ask_for_a_category]


@pytest.mark.parametrize("alter", ALTERED, ids=lambda alter: alter.__name__)
def test_nodes_that_point_to_where_nothing_is_are_refused(tmp_path, alter):
    model = boosted()
    alter(model._predictors[1][0].nodes)
    path = forge(make_pipeline(StandardScaler().fit(X), model), tmp_path / "m.ifair")
    with pytest.raises(ModelFileError, match=r"boosted trees point to where nothing is.*do not use it"):
        ifair.load(path)


@pytest.mark.parametrize("nodes", [np.zeros(0), np.zeros(3), np.zeros((1, 3)), [1, 2]], ids=["0", "3", "2-D", "list"])
def test_nodes_that_are_none_are_refused(tmp_path, nodes):
    model = boosted()
    model._predictors[0][0].nodes = nodes
    with pytest.raises(ModelFileError, match="altered"):
        ifair.load(forge(model, tmp_path / "m.ifair"))


def widen(model):
    del model.n_features_in_


def bin_already(model):
    model._in_fit = True


def prepare_otherwise(model):
    model._preprocessor = FunctionTransformer()


def check_nothing(model):
    model._preprocess_X = np.abs


def hide_in_a_tuple(model):
    model._predictors = tuple(model._predictors)


def hold_something_else(model):
    model._predictors = [[StandardScaler()]]
    model._spare = boosted()._predictors


@pytest.mark.parametrize(
    "alter",
    [widen, bin_already, prepare_otherwise, check_nothing, hide_in_a_tuple, hold_something_else],
    ids=lambda alter: alter.__name__,
)
def test_an_estimator_that_would_not_check_its_columns_needs_the_readers_word(tmp_path, alter):
    model = boosted()
    alter(model)
    path = forge(model, tmp_path / "m.ifair")
    with pytest.raises(ModelFileError, match=r"boosted trees that are not known to be safe: Hist.*TreePredictor"):
        ifair.load(path)
    ifair.load(path, trusted=[TREE])


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"a": [x]}, lambda x: np.array([x, 1], dtype=object)])
def test_a_tree_without_its_estimator_is_found_wherever_it_is(tmp_path, wrap):
    model = boosted()
    scaler = StandardScaler().fit(X)
    scaler.extra_ = wrap(copy.copy(model._predictors[0][0]))
    path = forge(make_pipeline(scaler, model), tmp_path / "m.ifair")
    with pytest.raises(ModelFileError, match="not known to be safe: a tree stands alone"):
        ifair.load(path)


def test_trees_that_split_by_categories_need_the_readers_word(tmp_path):
    table = pd.DataFrame({"a": pd.Categorical(np.where(X[:, 0] > 0, "x", "y")), "b": X[:, 1]})
    model = HistGradientBoostingClassifier(max_iter=3).fit(table, CLASSES)
    with pytest.warns(ModelFileWarning, match="TreePredictor"):
        ifair.save(model, tmp_path / "m.ifair")
    assert TREE in ifair.inspect(tmp_path / "m.ifair")["trust_needed"]
    with pytest.raises(ModelFileError, match="not known to be safe"):
        ifair.load(tmp_path / "m.ifair")
