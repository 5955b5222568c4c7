"""Boosted trees out of a file: scikit-learn follows the indices in them unchecked, so that they are checked here."""

import gc
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

from ifair.errors import ModelFileError

TREE = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
"""The type of one tree of scikit-learn's HistGradientBoosting estimators. It is data, if its indices are in range."""

_BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_ARRAYS = {"nodes", "binned_left_cat_bitsets", "raw_left_cat_bitsets"}
_NO_PARTS = (str, bytes, int, float, complex, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def explain_unsafe_trees(model: Any) -> str | None:
    """Why the boosted trees anywhere in a model are not known to be safe; None if they are.

    They are if each belongs to a HistGradientBoosting estimator of numbers that checks how many columns it gets, and
    leads from its root to leaves, by columns that there are. Nodes that point out of their tree or beyond the columns,
    which no fit leaves behind, are a ModelFileError.
    """
    for part in _walk_parts(model):
        if isinstance(part, TreePredictor):
            return "a tree stands alone"
        if type(part) in _BOOSTING and "_predictors" in vars(part):  # if not, it is still to be fitted
            if why := _explain_unsafe_estimator(part):
                return f"{type(part).__name__} {why}"
            for tree in (tree for stage in part._predictors for tree in stage):
                _check_nodes(tree.nodes, part.n_features_in_)
    return None


def _explain_unsafe_estimator(model: Any) -> str | None:
    """What keeps an estimator from checking its input, or its trees from being looked at."""
    held = vars(model)
    if any(hasattr(type(model), name) for name in held):
        return "has other methods than scikit-learn's"
    if held.get("_preprocessor") is not None or held.get("is_categorical_") is not None:
        return "splits by categories"
    if "_in_fit" in held or held.get("warm_start") is not False:
        return "goes on fitting (warm_start)"
    if type(held.get("n_features_in_")) is not int:
        return "does not say how many columns it takes"
    stages = held["_predictors"]
    if type(stages) is not list or any(type(stage) is not list for stage in stages):
        return "holds no trees"
    if any(type(tree) is not TreePredictor or vars(tree).keys() != _ARRAYS for stage in stages for tree in stage):
        return "holds something else than trees"
    return None


def _check_nodes(nodes: Any, n_columns: int) -> None:
    """Refuse nodes that are no binary tree, or that look at categories or at columns that there are not."""
    sound = type(nodes) is np.ndarray and nodes.ndim == 1 and nodes.dtype == PREDICTOR_RECORD_DTYPE and len(nodes) > 0
    if sound:
        inner = nodes["is_leaf"] == 0
        children = np.concatenate([nodes["left"][inner], nodes["right"][inner]]).astype(np.int64)
        parents = np.tile(np.flatnonzero(inner), 2)
        columns = nodes["feature_idx"][inner]
        # Every node but the root has one parent, which stands before it: no way is endless.
        sound = (
            np.array_equal(np.sort(children), np.arange(1, len(nodes)))
            and bool((children > parents).all())
            and bool(((columns >= 0) & (columns < n_columns)).all())
            and not nodes["is_categorical"][inner].any()
        )
    if not sound:
        raise ModelFileError(
            "nodes of its boosted trees point to where nothing is; the file was altered: do not use it"
        )


def _walk_parts(model: Any) -> Iterator[Any]:
    """All objects that a model consists of; the trees of boosting estimators are left to these."""
    seen: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, _NO_PARTS):
            continue
        seen[id(part)] = part
        yield part
        if type(part) in _BOOSTING:
            waiting += [value for name, value in vars(part).items() if name != "_predictors"]
            continue
        waiting += gc.get_referents(part)
        if isinstance(part, np.ndarray) and part.dtype.hasobject:  # which the collector does not look into
            waiting += np.asarray(part).ravel().tolist()  # what a mask covers, too
