"""The paper's protocol: thirds, encoding learned on the training part, measures on validation and test."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

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

NEIGHBOURS = 10


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
        return nearest_neighbours(self.may_count, NEIGHBOURS, query=self.query)


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
    hidden = [i for attribute in dataset.protected for i in columns_of(attribute, encoder.get_feature_names_out())]

    def part(positions: NDArray[np.intp]) -> Part:
        X = encoder.transform(dataset.frame.iloc[positions].reset_index(drop=True))
        return Part(
            X,
            dataset.target.to_numpy()[positions],
            dataset.group[positions],
            np.delete(X.to_numpy(), hidden, axis=1),
            None if dataset.query is None else dataset.query.to_numpy()[positions],
        )

    return Split(part(train_rows), part(rows.validation), part(rows.test), dataset.protected)


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
