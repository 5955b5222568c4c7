"""Masked data: the table without its protected columns, the paper's second baseline."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ifair.errors import IfairError
from ifair.models.validation import protected_columns

__all__ = ["Masked"]


class Masked(TransformerMixin, BaseEstimator):
    """Leave the protected columns out.

    Parameters
    ----------
    protected : as in :class:`ifair.IFair`, default=None
        A name also stands for all columns that :class:`ifair.Encoder` made of the attribute.

    Attributes
    ----------
    protected_mask_ : ndarray of bool, shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the table has column names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> Masked(protected=[1]).fit_transform(np.array([[1.0, 0.0], [2.0, 1.0]]))
    array([[1.],
           [2.]])
    """

    def __init__(self, protected: Any = None) -> None:
        self.protected = protected

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the protected columns of ``X``."""
        validate_data(self, X, dtype=[np.float64, np.float32])
        mask = protected_columns(self, X)
        if mask.all():
            raise IfairError("every column is protected: without them nothing is left of the table")
        self.protected_mask_ = mask
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """The other columns of ``X``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        kept: NDArray[np.floating[Any]] = X[:, ~self.protected_mask_]
        return kept

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns that are kept."""
        check_is_fitted(self)
        names: NDArray[np.object_] = _check_feature_names_in(self, input_features)[~self.protected_mask_]
        return names
