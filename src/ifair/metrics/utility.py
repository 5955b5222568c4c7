"""How useful decisions are: accuracy, and the area under the ROC curve from scores or from hard labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, roc_auc_score

from ifair.errors import IfairError
from ifair.metrics.arguments import check_numbers, check_vector, check_weights, warn_undefined


def accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of people who are predicted right; in [0, 1], higher is better.

    ``sample_weight``, shape (M,), says how many people each one stands for.

    Examples
    --------
    >>> from ifair.metrics import accuracy
    >>> accuracy([1, 0, 1, 1], [1, 0, 0, 1])
    0.75
    """
    truth = check_vector(y_true, "y_true")
    weights = check_weights(sample_weight, len(truth))
    return float(accuracy_score(truth, check_vector(y_pred, "y_pred", len(truth)), sample_weight=weights))


def auc(
    y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """Probability that a positive has a higher score than a negative, ties counting one half.

    In [0, 1], 1/2 for chance, higher is better. NaN with a warning when one class is absent.

    Parameters
    ----------
    y_true : labels of shape (M,)
        0/1, booleans or -1/1; other labels with ``pos_label``.
    y_score : array of shape (M,)
        Scores or probabilities. Hard labels are scores too: see :func:`hard_auc`.
    sample_weight : array of shape (M,), optional
        How many people each one stands for.

    Examples
    --------
    >>> from ifair.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    truth = find_positives(y_true, "y_true", pos_label)
    scores = check_numbers(y_score, "y_score", len(truth))
    weights = check_weights(sample_weight, len(truth))
    counted = truth if weights is None else truth[weights > 0]
    if counted.all() or not counted.any():
        return warn_undefined("AUC needs people of both classes in y_true")
    return float(roc_auc_score(truth, scores, sample_weight=weights))


def hard_auc(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> float:
    """AUC of decisions instead of scores, as the paper reports it: (true positive rate + true negative
    rate) / 2.

    Lower than :func:`auc` of the scores behind the decisions in most cases; compare it only with its like.

    Examples
    --------
    >>> from ifair.metrics import hard_auc
    >>> hard_auc([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    truth = find_positives(y_true, "y_true", pos_label)
    return auc(truth, find_positives(y_pred, "y_pred", pos_label, len(truth)), sample_weight=sample_weight)


def find_positives(
    y: ArrayLike | None, name: str, pos_label: Any = None, length: int | None = None
) -> NDArray[np.bool_]:
    """Who has the positive label: 1 or True, or ``pos_label``."""
    labels = check_vector(y, name, length)
    if pos_label is not None:
        return np.asarray(labels == pos_label)
    seen = set(np.unique(labels).tolist())
    if not (seen <= {0, 1} or seen <= {-1, 1}):
        raise IfairError(f"{name} holds {sorted(seen)[:5]}; say which label is positive with pos_label")
    return np.asarray(labels == 1)
