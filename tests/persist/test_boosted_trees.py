"""Boosted trees load without a word where their nodes are sound, are refused where not, and others are asked about."""

import copy

import numpy as np
import pandas as pd
import pytest
from archives import forge
from refusals import must_raise
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ifair
from ifair.persist import ModelFileError, ModelFileWarning
from ifair.persist.boosted_trees import TREE

skops = pytest.importorskip("skops.io")

X = np.random.default_rng(0).normal(size=(200, 3))
CLASSES = (X[:, 0] + X[:, 1] > 0).astype(int)


def boosted(**options):
    return HistGradientBoostingClassifier(max_iter=3, random_state=0, **options).fit(X, CLASSES)


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


NODES = boosted()._predictors[1][0].nodes
ALTERED = {
    "a child that is not there": ("left", 0, len(NODES)),
    "a child that is a parent": ("right", NODES["is_leaf"] == 0, 0),
    "a child of two": ("right", 0, NODES["left"][0]),
    "a column beyond the last": ("feature_idx", 0, 3),
    "a column before the first": ("feature_idx", 0, -1),
    "a category": ("is_categorical", 0, 1),
}
"""Which nodes are given what in which field."""


@pytest.mark.parametrize(("field", "rows", "value"), ALTERED.values(), ids=ALTERED)
def test_nodes_that_point_to_where_nothing_is_are_refused(tmp_path, field, rows, value):
    model = boosted()
    model._predictors[1][0].nodes[field][rows] = value
    path = forge(tmp_path / "m.ifair", skops.dumps(make_pipeline(StandardScaler().fit(X), model)))
    must_raise(ModelFileError, r"boosted trees point to where nothing is.*do not use it", ifair.load, path)
    for nodes in (np.zeros(0), np.zeros(3), np.zeros((1, 3)), [1, 2]):  # none at all
        model._predictors[1][0].nodes = nodes
        must_raise(ModelFileError, "altered", ifair.load, forge(path, skops.dumps(model)))


UNCHECKED = {
    "no width": {"n_features_in_": ...},
    "binned already": {"_in_fit": True},
    "prepared otherwise": {"_preprocessor": FunctionTransformer()},
    "prepared by a function": {"_preprocess_X": np.abs},
    "trees in a tuple": {"_predictors": tuple(boosted()._predictors)},
    "trees elsewhere": {"_predictors": [[StandardScaler()]], "_spare": boosted()._predictors},
}
"""Attributes of an estimator that are others, or gone."""


@pytest.mark.parametrize("changes", UNCHECKED.values(), ids=UNCHECKED)
def test_an_estimator_that_would_not_check_its_columns_needs_the_readers_word(tmp_path, changes):
    model = boosted()
    model.__dict__ = {name: value for name, value in {**vars(model), **changes}.items() if value is not ...}
    path = forge(tmp_path / "m.ifair", skops.dumps(model))
    must_raise(ModelFileError, r"boosted trees that are not known to be safe: Hist.*TreePredictor", ifair.load, path)
    ifair.load(path, trusted=[TREE])


def test_a_tree_without_its_estimator_is_found_wherever_it_is(tmp_path):
    model, scaler = boosted(), StandardScaler().fit(X)
    tree = copy.copy(model._predictors[0][0])
    listed = np.array([tree, 1], dtype=object)
    for extra in (tree, {"a": [tree]}, listed, np.ma.MaskedArray(listed, True)):
        scaler.extra_ = extra
        path = forge(tmp_path / "m.ifair", skops.dumps(make_pipeline(scaler, model)))
        must_raise(ModelFileError, "not known to be safe: a tree stands alone", ifair.load, path)


@pytest.mark.parametrize(
    ("model", "tree"),
    [
        (HistGradientBoostingClassifier(max_iter=3), TREE),  # splits by categories
        (RandomForestClassifier(3, random_state=0), "sklearn.tree._tree.Tree"),
    ],
)
def test_trees_whose_nodes_are_followed_unchecked_need_the_readers_word(tmp_path, model, tree):
    table = pd.DataFrame({"a": pd.Categorical(X[:, 0] > 0), "b": X[:, 1]})
    model.fit(table, CLASSES)
    path = tmp_path / "m.ifair"
    with pytest.warns(ModelFileWarning, match=rf"trusted=\[.*'{tree}'"):
        ifair.save(model, path)
    needed = ifair.inspect(path)["trust_needed"]
    assert tree in needed
    must_raise(ModelFileError, f"not known to be safe: .*{tree}", ifair.load, path)
    np.testing.assert_array_equal(ifair.load(path, trusted=needed).predict_proba(table), model.predict_proba(table))
