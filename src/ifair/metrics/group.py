"""Group fairness: do groups get favourable outcomes at the same rate?"""

from typing import Any, Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ifair.errors import IfairError
from ifair.metrics.arguments import Floats, Groups, average, check_vector, check_weights, find_groups, warn_undefined
from ifair.metrics.utility import find_positives


class RateOptions(TypedDict, total=False):
    """What all rates take; see :func:`statistical_parity_difference`."""

    pos_label: Any
    sample_weight: ArrayLike | None


class GroupOptions(RateOptions, total=False):
    """What all comparisons of groups take; see :func:`statistical_parity_difference`."""

    sensitive_features: Required[Any]
    protected: Any


def statistical_parity_difference(
    y_true: ArrayLike | None, y_pred: ArrayLike, **options: Unpack[GroupOptions]
) -> float:
    """Difference between groups in the mean outcome.

    Parameters
    ----------
    y_true : ignored
        Here so that all measures are called alike; may be None.
    y_pred : array of shape (M,)
        Decisions (0/1; other labels with ``pos_label``) or probabilities.
    sensitive_features : labels of shape (M,), or a frame whose columns are crossed
    protected : label, or collection of labels, optional
        Compare these people with everybody else, with a sign: protected minus others, negative when the
        protected are worse off, in [-1, 1]. Without it: the largest rate of any group minus the smallest,
        in [0, 1]. 0 is fair either way.
    pos_label : optional
        The favourable label.
    sample_weight : array of shape (M,), optional
        How many people each one stands for.

    Returns
    -------
    float
        NaN with a warning when a group has no member (an unused category, a protected label that nobody
        has) or there is only one group: nothing was compared, which is not fairness.

    Examples
    --------
    >>> from ifair.metrics import statistical_parity_difference
    >>> sex = ["f", "f", "m", "m"]
    >>> statistical_parity_difference(None, [1, 0, 1, 1], sensitive_features=sex)
    0.5
    >>> statistical_parity_difference(None, [1, 0, 1, 1], sensitive_features=sex, protected="f")
    -0.5
    """
    return _compare_groups(y_true, y_pred, "member", **options)


def statistical_parity(y_true: ArrayLike | None, y_pred: ArrayLike, **options: Unpack[GroupOptions]) -> float:
    """The paper's Parity: ``1 - |difference of the mean outcomes|``; in [0, 1], higher is fairer.

    See :func:`statistical_parity_difference`.
    """
    return 1 - abs(statistical_parity_difference(y_true, y_pred, **options))


def equal_opportunity_difference(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[GroupOptions]) -> float:
    """Difference between groups in the true positive rate: the mean outcome of those who deserve it.

    Parameters and sign as in :func:`statistical_parity_difference`; NaN with a warning also when a group
    has no positives.

    Examples
    --------
    >>> from ifair.metrics import equal_opportunity_difference
    >>> sex = ["f", "f", "m", "m"]
    >>> equal_opportunity_difference([1, 1, 1, 0], [1, 0, 1, 1], sensitive_features=sex)
    0.5
    """
    return _compare_groups(y_true, y_pred, "positive", **options)


def equal_opportunity(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[GroupOptions]) -> float:
    """The paper's EqOpp: ``1 - |difference of the true positive rates|``; in [0, 1], higher is fairer."""
    return 1 - abs(equal_opportunity_difference(y_true, y_pred, **options))


def equalised_odds_difference(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[GroupOptions]) -> float:
    """The larger of the groups' differences in true and in false positive rates; in [0, 1], 0 is fair.

    Without a sign: the two rates may differ in opposite directions.
    """
    hits = _compare_groups(y_true, y_pred, "positive", **options)
    alarms = _compare_groups(y_true, y_pred, "negative", **options)
    return float(np.maximum(np.abs(hits), np.abs(alarms)))


def equalised_odds(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[GroupOptions]) -> float:
    """1 - :func:`equalised_odds_difference`; in [0, 1], higher is fairer."""
    return 1 - equalised_odds_difference(y_true, y_pred, **options)


def selection_rate(y_true: ArrayLike | None, y_pred: ArrayLike, **options: Unpack[RateOptions]) -> float:
    """Mean outcome; ``y_true`` is ignored. For fairlearn's MetricFrame, which does the grouping."""
    return _average_outcome(y_true, y_pred, "member", **options)


def true_positive_rate(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[RateOptions]) -> float:
    """Mean outcome of the positives; NaN with a warning when there are none."""
    return _average_outcome(y_true, y_pred, "positive", **options)


def false_positive_rate(y_true: ArrayLike, y_pred: ArrayLike, **options: Unpack[RateOptions]) -> float:
    """Mean outcome of the negatives; NaN with a warning when there are none."""
    return _average_outcome(y_true, y_pred, "negative", **options)


def check_outcomes(y_pred: ArrayLike, pos_label: Any = None, length: int | None = None) -> Floats:
    """Outcomes as numbers from 0 to 1, shape (M,): probabilities, 0/1 decisions, or who has ``pos_label``."""
    values = check_vector(y_pred, "y_pred", length)
    if pos_label is not None:
        return np.asarray(values == pos_label, dtype=np.float64)
    if not (np.issubdtype(values.dtype, np.number) or values.dtype == bool):
        raise IfairError("y_pred does not hold numbers; say which label is favourable with pos_label")
    numeric = values.astype(np.float64)
    if not ((numeric >= 0) & (numeric <= 1)).all():
        raise IfairError("y_pred leaves [0, 1]; say which label is favourable with pos_label")
    return numeric


def _select_outcomes(
    y_true: ArrayLike | None, y_pred: ArrayLike, who: str, pos_label: Any
) -> tuple[Floats, NDArray[np.bool_]]:
    """Everybody's outcome, and who counts: every "member", or of ``y_true`` each "positive" or "negative"."""
    if who == "member":
        outcome = check_outcomes(y_pred, pos_label)
        return outcome, np.ones(len(outcome), dtype=bool)
    truth = find_positives(y_true, "y_true", pos_label)
    return check_outcomes(y_pred, pos_label, len(truth)), truth if who == "positive" else ~truth


def _average_outcome(
    y_true: ArrayLike | None, y_pred: ArrayLike, who: str, *, pos_label: Any = None, sample_weight: Any = None
) -> float:
    outcome, counted = _select_outcomes(y_true, y_pred, who, pos_label)
    found = average(outcome, check_weights(sample_weight, len(outcome)), counted)
    return warn_undefined(f"a group has no {who}") if np.isnan(found) else found


def _compare_groups(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    who: str,
    *,
    sensitive_features: Any,
    protected: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Gap between groups in the mean outcome of those who count."""
    outcome, counted = _select_outcomes(y_true, y_pred, who, pos_label)
    weights = check_weights(sample_weight, len(outcome))
    found = find_groups(sensitive_features, len(outcome))
    if protected is not None:
        inside = found.mask(protected)
        found = Groups(inside.astype(np.intp), ("the others", "the protected group"))
    if len(found) < 2:
        return warn_undefined(f"one group only, {list(found.labels)}: nothing to compare")
    rates = np.full(len(found), np.nan)
    for code in range(len(found)):
        rates[code] = average(outcome, weights, found.members(code) & counted)
        if np.isnan(rates[code]):
            return warn_undefined(f"group {found.labels[code]!r} has no {who}")
    return float(rates[1] - rates[0] if protected is not None else np.ptp(rates))
