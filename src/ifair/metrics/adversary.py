"""The adversary: how well can somebody tell the protected group from a representation?"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ifair.core.checked_numbers import check_matrix
from ifair.errors import IfairError, warn_user
from ifair.metrics.arguments import Floats, Ints, Result, find_groups
from ifair.metrics.bootstrap import Interval, auc_interval, share_interval
from ifair.metrics.utility import auc


@dataclass(frozen=True, slots=True)
class Adversary(Result):
    """How well the protected group can be predicted, on people whom the adversary has not seen.

    Attributes
    ----------
    model : str
    accuracy : float
        Mean over the folds. Lower is better for privacy, but never below ``majority``: compare the two.
    majority : float
        Share of the largest group among those predicted, the accuracy of always naming it.
    auc : float
        Mean over the folds; 1/2 when nothing is given away. With more than two groups: each against the
        others, weighted by size.
    accuracy_sd, auc_sd : float
        Standard deviations over the folds.
    folds : int
    truth, chances : arrays of shape (M',) and (M', G)
        The group of everybody who was predicted, and the chances that the fold's adversary gave to each group, which
        had not seen them.
    """

    model: str
    accuracy: float
    majority: float
    auc: float
    accuracy_sd: float
    auc_sd: float
    folds: int
    truth: Ints = field(repr=False, compare=False)
    chances: Floats = field(repr=False, compare=False)

    def __str__(self) -> str:
        return (
            f"{self.model}: accuracy {self.accuracy:.3f} (majority {self.majority:.3f}), "
            f"AUC {self.auc:.3f}, {self.folds} folds"
        )

    def interval(self, measure: str = "accuracy", **options: Any) -> Interval:
        """An interval over people for "accuracy", an exact one, or, between two groups, by the bootstrap for "auc".

        It holds for the adversaries as they were trained: people are resampled, the training is not repeated. All
        folds' predictions are taken together, so that the estimate may differ a little from the mean over folds.

        Parameters
        ----------
        measure : {"accuracy", "auc"}
        **options
            ``n_resamples``, ``confidence`` and ``random_state`` of :func:`ifair.metrics.bootstrap`.
        """
        if measure == "accuracy":
            return share_interval(self.truth == self.chances.argmax(axis=1), confidence=options.get("confidence", 0.95))
        if measure == "auc" and self.chances.shape[1] == 2:
            return auc_interval(self.truth, self.chances[:, 1], **options)
        raise IfairError(f'measure must be "accuracy" or, between two groups, "auc"; got {measure!r}')


def adversary(
    Z: ArrayLike,
    *,
    sensitive_features: Any,
    model: Any = "logistic",
    folds: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Adversary:
    """Predict the protected group from a representation, cross-validated (the paper's Section V-F).

    Parameters
    ----------
    Z : array or frame of shape (M, D)
        The representation, or any other view of the records, such as the masked data.
    sensitive_features : labels of shape (M,), or a frame whose columns are crossed
    model : {"logistic", "boosting"} or a scikit-learn classifier
        "logistic": logistic regression on standardised columns, the paper's adversary. "boosting":
        gradient-boosted trees, which also find what is not linear.
    folds : int
        Stratified folds. Groups with fewer people than folds are left out, with a warning.
    random_state : int
        Of the folds and the trees.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair.metrics import adversary
    >>> sex = np.repeat(["f", "m"], 50)
    >>> Z = np.column_stack([np.arange(100) % 7, np.arange(100) % 5])
    >>> print(adversary(Z, sensitive_features=sex, folds=2))
    logistic: accuracy 0.470 (majority 0.500), AUC 0.486, 2 folds
    """
    records = check_matrix(Z, "Z")
    found = find_groups(sensitive_features, len(records))
    sizes = np.bincount(found.codes, minlength=len(found))
    large = np.flatnonzero(sizes >= folds)
    if len(large) < 2:
        raise IfairError(f"{folds} folds need two groups of {folds} people or more; take fewer folds")
    if (sizes[sizes < folds] > 0).any():
        names = [label for label, size in zip(found.labels, sizes) if 0 < size < folds]
        warn_user(f"groups of fewer than {folds} people are left out: {names}")
    kept = np.isin(found.codes, large)
    estimator = make_attacker(model, random_state)
    # Numbered anew, without the groups that were left out.
    truth = np.searchsorted(large, found.codes[kept])
    scores = cross_validate(
        estimator,
        records[kept],
        truth,
        cv=StratifiedKFold(folds, shuffle=True, random_state=random_state),
        scoring=_score_guesses,
        n_jobs=n_jobs,
        error_score="raise",
        return_estimator=True,
        return_indices=True,
    )
    # The chances that each fold's model gives to the people it has not seen.
    chances = np.empty((len(truth), len(large)))
    for fitted, rows in zip(scores["estimator"], scores["indices"]["test"]):
        chances[rows] = fitted.predict_proba(records[kept][rows])
    return Adversary(
        model=model if isinstance(model, str) else type(model).__name__,
        accuracy=float(scores["test_accuracy"].mean()),
        majority=float(sizes.max() / kept.sum()),
        auc=float(scores["test_auc"].mean()),
        accuracy_sd=float(scores["test_accuracy"].std()),
        auc_sd=float(scores["test_auc"].std()),
        folds=folds,
        truth=truth,
        chances=chances,
    )


def _score_guesses(model: Any, records: NDArray[Any], truth: Ints) -> dict[str, float]:
    """Accuracy and AUC of a model on people it has not seen; scikit-learn's own scorers take longer than the model."""
    if len(model.classes_) > 2:
        area = float(roc_auc_score(truth, model.predict_proba(records), multi_class="ovr", average="weighted"))
    elif hasattr(model, "decision_function"):
        area = auc(truth, model.decision_function(records))
    else:
        area = auc(truth, model.predict_proba(records)[:, 1])
    return {"accuracy": float(np.mean(model.predict(records) == truth)), "auc": area}


def make_attacker(model: Any, random_state: int = 0) -> Any:
    """The classifier, unfitted, that :func:`adversary` calls by this name; or a copy of the one given."""
    if model == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    if model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(early_stopping=False, random_state=random_state)
    if hasattr(model, "fit"):
        return clone(model)
    raise IfairError(f'model must be "logistic", "boosting" or a classifier, got {model!r}')
