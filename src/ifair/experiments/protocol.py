"""The paper's protocol: thirds, encoding learned on the training part, measures on validation and test."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from ifair.data import Dataset, load, thirds
from ifair.encode import Encoder, columns_of
from ifair.metrics import (
    accuracy,
    auc,
    consistency,
    equal_opportunity,
    hard_auc,
    nearest_neighbours,
    statistical_parity,
)
from ifair.models.representations import representation
from ifair.tune import choose

NEIGHBOURS = 10

ON_GPU_FROM = 2000
"""Records from which an evaluation on a GPU is faster than on a core, see docs/performance.md."""

# The paper's letters, and what iFair and LFR call them.
_PARAMETERS = {
    "K": "n_prototypes",
    "lambda": "utility_weight",
    "mu": "fairness_weight",
    "A_x": "reconstruct_weight",
    "A_y": "target_weight",
    "A_z": "fairness_weight",
}


@dataclass(frozen=True)
class Part:
    """Encoded records of one third.

    Attributes
    ----------
    X : DataFrame of shape (n_records, n_columns)
    y : ndarray of shape (n_records,)
    group : ndarray of bool, shape (n_records,)
    may_count : ndarray of shape (n_records, n_unprotected)
        The unprotected columns, on which neighbours are searched.
    query : ndarray or None
    """

    X: Any
    y: NDArray[Any]
    group: NDArray[np.bool_]
    may_count: NDArray[np.float64]
    query: NDArray[Any] | None

    @cached_property
    def neighbours(self) -> NDArray[np.intp]:
        """The ten nearest records of each, searched once for all methods."""
        return nearest_neighbours(self.may_count, NEIGHBOURS)

    @cached_property
    def rankings(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Of each query its rows, and of each of them the ten nearest (all, where there are fewer) among them."""
        codes, names = pd.factorize(np.asarray(self.query))
        found = [np.flatnonzero(codes == number) for number in range(len(names))]
        near = [nearest_neighbours(self.may_count[rows], min(NEIGHBOURS, len(rows) - 1)) for rows in found]
        return list(zip(found, near))


@dataclass(frozen=True, slots=True)
class Split:
    """Train, validation and test parts of a dataset under one seed."""

    train: Part
    validation: Part
    test: Part
    protected: tuple[str, ...]


def load_subset(name: str, options: dict[str, Any], most: int | None, seed: int) -> Dataset:
    """A dataset of the registry, or at most so many of its records, drawn at random (whole queries of a ranking)."""
    dataset = load(name, **options)
    if most is None or len(dataset) <= most:
        return dataset
    rng = np.random.default_rng([seed, 20190408])
    if dataset.query is None:
        return dataset.take(np.sort(rng.permutation(len(dataset))[:most]))
    queries = rng.permutation(dataset.query.dropna().unique())
    sizes = dataset.query.value_counts().loc[queries].cumsum()
    return dataset.take(dataset.query.isin(queries[: max(3, int((sizes <= most).sum()))]).to_numpy())


def prepared(dataset: str, options: dict[str, Any], most: int | None, most_training: int | None, seed: int) -> Split:
    """:func:`load_subset` and :func:`split`, kept for the units to come: neighbours are searched once for all methods.

    Units are run dataset by dataset and split by split, so that the last few are enough.
    """
    return _prepared(dataset, json.dumps(options, sort_keys=True), most, most_training, seed)


@lru_cache(maxsize=2)
def _prepared(dataset: str, options: str, most: int | None, most_training: int | None, seed: int) -> Split:
    return split(load_subset(dataset, json.loads(options), most, seed), seed, most_training=most_training)


def split(dataset: Dataset, seed: int, *, most_training: int | None = None) -> Split:
    """Encode a split into thirds; scales and categories are learned on the training part alone.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    most_training : int, optional
        Train on at most so many records of the training third.
    """
    rows = thirds(dataset, seed, by_query=dataset.query is not None)
    train_rows = rows.train
    if most_training is not None and len(train_rows) > most_training:
        chosen = np.random.default_rng([seed, 431]).permutation(len(train_rows))[:most_training]
        train_rows = train_rows[np.sort(chosen)]
    encoder = Encoder(missing="ignore").fit(dataset.frame.iloc[train_rows])
    train, validation, test = (encoded(dataset, part, encoder) for part in (train_rows, rows.validation, rows.test))
    return Split(train, validation, test, dataset.protected)


def encoded(dataset: Dataset, rows: ArrayLike, encoder: Encoder) -> Part:
    """The records at these positions, as a fitted encoder sees them."""
    chosen = dataset.take(rows)
    X = encoder.transform(chosen.frame)
    hidden = [i for attribute in dataset.protected for i in columns_of(attribute, X.columns)]
    return Part(
        X,
        chosen.target.to_numpy(),
        chosen.group,
        np.delete(X.to_numpy(), hidden, axis=1),
        None if chosen.query is None else chosen.query.to_numpy(),
    )


def settings_of(method: str, grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every setting of a representation, in the paper's letters: K, lambda and mu, or LFR's three weights.

    Parameters
    ----------
    method : str
        A name of ``ifair.models.representations``.
    grid : mapping
        ``K``, ``ratios`` (pairs lambda, mu of iFair) and ``lfr`` (coefficients of LFR), as far as it needs them.
    """
    if method in ("full", "masked"):
        yield {}
        return
    for k in grid["K"]:
        if method.startswith("svd"):
            yield {"K": k}
        elif method == "lfr":
            yield from ({"K": k, "A_x": x, "A_y": y, "A_z": z} for x, y, z in _distinct_triples(grid["lfr"]))
        else:
            yield from ({"K": k, "lambda": lam, "mu": mu} for lam, mu in grid["ratios"])


def _distinct_triples(weights: Sequence[float]) -> Iterator[tuple[float, float, float]]:
    """LFR's weights A_x, A_y > 0 and A_z; of triples that differ by a factor, and so are one problem, the first."""
    seen = set()
    for triple in product(weights, repeat=3):
        shares = tuple(round(weight / sum(triple), 12) for weight in triple) if triple[1] > 0 else None
        if shares is not None and shares not in seen:
            seen.add(shares)
            yield triple[0], triple[1], triple[2]


def learn(
    method: str,
    setting: Mapping[str, Any],
    train: Part,
    protected: Sequence[str],
    search: Mapping[str, Any],
    seed: int,
    *,
    near: Pipeline | None = None,
) -> Pipeline:
    """Fit the representation of this name on the training part.

    Parameters
    ----------
    method : str
        A name of ``ifair.models.representations``.
    setting : mapping
        One of :func:`settings_of`.
    train : Part
    protected : sequence of str
        Names of the protected attributes.
    search : mapping
        Parameters of the solver for methods that have one: ``n_restarts``, ``max_iter``, ``tol``.
    seed : int
    near : Pipeline, optional
        What was learned at the setting before. Its solution is one of the starts, if it has as many prototypes and
        there is more than one start.
    """
    steps = representation(method, protected=list(protected), random_state=seed)
    if method.startswith("svd"):
        # There are no more components than columns, also where the grid asks for more.
        width = (train.may_count if method == "svd-masked" else train.X).shape[1]
        steps[-1].set_params(n_components=min(setting["K"], width))
    elif setting:
        parameters = {_PARAMETERS[letter]: value for letter, value in setting.items()}
        if method.startswith("ifair"):
            # LFR's loss is linear in the records: there is little for a GPU to do.
            parameters["engine"] = engine_for(len(train.y))
        steps[-1].set_params(**parameters, **search)
    if near is None or not _can_go_on(steps[-1], near[-1]):
        return _fitted(steps, train)
    fresh = clone(steps).set_params(**{f"{steps.steps[-1][0]}__n_restarts": search["n_restarts"] - 1})
    steps[-1].set_params(warm_start=True)
    for name, value in vars(near[-1]).items():
        if name.endswith("_"):
            setattr(steps[-1], name, value)
    return min(_fitted(fresh, train), _fitted(steps, train), key=lambda one: one[-1].loss_)


def engine_for(n_records: int) -> str:
    """A GPU where there is one and the table is large enough to keep it busy, else the processor."""
    if n_records < ON_GPU_FROM or find_spec("torch") is None or find_spec("array_api_compat") is None:
        return "local"
    import torch

    return "torch" if torch.cuda.is_available() else "local"


def learn_again(
    method: str,
    setting: Mapping[str, Any],
    train: Part,
    protected: Sequence[str],
    grid: Mapping[str, Any],
    search: Mapping[str, Any],
    seed: int,
) -> Pipeline:
    """What :func:`learn` gave at this setting while it went through the grid: where starts depend on the setting
    before, the way there is gone again."""
    steps = None
    alone = search["n_restarts"] == 1 or not method.startswith("ifair")
    for one in [setting] if alone else settings_of(method, {**grid, "K": [setting["K"]]}):
        steps = learn(method, one, train, protected, search, seed, near=steps)
        if one == setting:
            return steps
    raise ValueError(f"the grid has no setting {dict(setting)}")


def _can_go_on(model: Any, near: Any) -> bool:
    """Whether a solution of one can be a start of the other, beside others."""
    parameters = model.get_params()
    fits = len(getattr(near, "prototypes_", ())) == parameters.get("n_prototypes")
    return fits and "warm_start" in parameters and parameters["n_restarts"] > 1


def _fitted(steps: Pipeline, train: Part) -> Pipeline:
    fit = {"lfr__sensitive_features": train.group} if "lfr" in steps.named_steps else {}
    with warnings.catch_warnings():
        # Early stopping is part of the protocol; what was reached is what is measured. The trivial optimum at
        # lambda = 0 is part of the paper's grid.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="utility_weight=0")
        return steps.fit(train.X, train.y, **fit)


def best(rows: Sequence[Mapping[str, Any]], rule: str, *, utility: str) -> Mapping[str, Any]:
    """The row of an experiment that a rule of ``ifair.tune`` rates best by its measures on validation data."""
    return rows[choose([row["validation"] for row in rows], rule, utility=utility, fairness="yNN")]


def classify(train: Any, y: NDArray[Any], *others: Any) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Decisions and scores of a logistic regression, trained on the first, for each of the others."""
    model = LogisticRegression(max_iter=2000).fit(np.asarray(train), y)
    return [(model.predict(np.asarray(Z)), model.predict_proba(np.asarray(Z))[:, 1]) for Z in others]


def classification_measures(part: Part, decisions: NDArray[Any], scores: NDArray[np.float64]) -> dict[str, float]:
    """Everything that the paper prints of a classifier, and the AUC of its scores."""
    return {
        "Acc": accuracy(part.y, decisions),
        "AUC": hard_auc(part.y, decisions),
        "AUC of scores": auc(part.y, scores),
        "EqOpp": equal_opportunity(part.y, decisions, sensitive_features=part.group),
        "Parity": statistical_parity(part.y, decisions, sensitive_features=part.group),
        "yNN": consistency(decisions, neighbours=part.neighbours, kind="label"),
    }
