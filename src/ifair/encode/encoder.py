"""The transformer that puts attributes side by side as scaled columns, and finds the way back."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted

from ifair.encode.attribute import Attribute, check_attributes, robust_size
from ifair.encode.cell_by_cell import Cells, encode_cells
from ifair.encode.column_names import INFREQUENT, MISSING, check_unambiguous, find_positions, format_suffix
from ifair.encode.table_forms import FEW, detect_form, read_cells, shape_matrix, to_pandas, to_polars
from ifair.errors import IfairError, check_choice

FLAG = 10.0
"""``scale="attribute"``: a flag counts a hundredth of a category. What is filled in is neither like nor unlike."""


class Encoder(TransformerMixin, BaseEstimator):
    """Encode a table of people as a float matrix that remembers its attributes.

    Text and categories become one 0/1 column per category (``race=Black``), booleans one 0/1 column, numbers
    stay. Then every column is centred and scaled to unit variance, the 0/1 columns too, as in the paper.

    Parameters
    ----------
    categorical : "auto" or sequence of str or int, default="auto"
        Columns, by name or position, to treat as categories although they hold numbers or booleans, such as
        codes. Columns of text and of pandas or polars categories always are. Text that names people, an identifier or
        free text, is refused unless it is listed here or is a column of pandas categories.
    missing : {"flag", "impute", "ignore"}, default="flag"
        What becomes of None, NaN, NA and NaT. A number gets the column's median, and so does a boolean: its
        more frequent value, or one half on a tie. A category gets 0 in every column of the attribute, or with
        "impute" the most frequent category. "flag" adds a 0/1 column ``attribute=missing`` for every
        attribute that has missing values in `fit`.
    scale : {"unit-variance", "attribute", "numeric", "none"}, default="unit-variance"
        How to centre and scale columns. "unit-variance": all of them, as in the paper; a category then counts the more
        the rarer it is. "attribute": as :class:`ifair.Similarity` does, numbers in robust units, two categories one
        unit apart however rare, a missing value as far from others as these are from each other, and its flag next to
        nothing. "numeric": only columns that came from numbers, to unit variance. "none": none.
    min_frequency : int or float, default=None
        Lump categories with fewer records (int) or a smaller share of them (float) into
        ``attribute=infrequent``; see `sklearn.preprocessing.OneHotEncoder`.
    max_categories : int, default=None
        Lump the rarest categories so that no attribute has more than this many.

    Attributes
    ----------
    attributes_ : list of str
        Names of the input attributes; ``x0``, ``x1``, ... if the input had no names.
    origin_ : ndarray of shape (n_features_out,)
        Name of the input attribute of every output column.
    mean_ : ndarray of shape (n_features_out,)
        What is subtracted from every output column; 0 where it is not scaled.
    scale_ : ndarray of shape (n_features_out,)
        What every output column is then divided by; 1 where it is constant or not scaled.
    n_features_in_ : int
        Number of input attributes.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the input attributes; only if all of them are strings.

    See Also
    --------
    ifair.encode.columns_of : Find the encoded columns of an attribute.

    Notes
    -----
    The output has the form of the input, pandas for pandas, polars for polars, an array for an array, unless
    `set_output` or scikit-learn's global configuration asks for "pandas" or "polars".

    A category never seen in `fit` gets 0 in every column of its attribute. An attribute without any value in
    `fit` becomes one constant column, whatever it holds later. A column must be all text, all numbers or all
    booleans apart from missing values, and stay so: a mixture is refused rather than guessed at.

    `fit` warns of text with very many categories (more than 100, or more than 20 and a quarter of the records), unless
    `min_frequency` or `max_categories` lumps them, and of whole numbers that are called an id and are one.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [20, 30, 40], "race": ["Black", "White", "White"]})
    >>> encoder = Encoder().fit(people)
    >>> encoder.transform(people).round(2)
        age  race=Black  race=White
    0 -1.22        1.41       -1.41
    1  0.00       -0.71        0.71
    2  1.22       -0.71        0.71
    >>> encoder.decode([[1.0, 0.9, -0.9]]).round(1)
        age   race
    0  38.2  Black
    """

    def __init__(
        self,
        *,
        categorical: str | Sequence[str | int] = "auto",
        missing: str = "flag",
        scale: str = "unit-variance",
        min_frequency: int | float | None = None,
        max_categories: int | None = None,
    ) -> None:
        self.categorical = categorical
        self.missing = missing
        self.scale = scale
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the categories, the values to fill in, and the scale of every column.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_samples, n_features)
            The records.
        y : None
            Ignored.

        Returns
        -------
        Encoder
            The encoder itself.
        """
        check_choice("missing", self.missing, ("flag", "impute", "ignore"))
        check_choice("scale", self.scale, ("unit-variance", "attribute", "numeric", "none"))
        frame = to_pandas(self, X, reset=True)
        self._fitted_form = detect_form(X)
        self.attributes_ = [str(name) for name in _check_feature_names_in(self)]
        forced = find_positions(self.categorical, self.attributes_)
        self._plan = [
            Attribute.from_column(frame.iloc[:, i], name, is_categorical=i in forced)
            for i, name in enumerate(self.attributes_)
        ]
        lumped = self.min_frequency is not None or self.max_categories is not None
        check_attributes(frame, self._plan, listed=forced, lumped=lumped)
        numbers, choices, is_missing = self._split_columns(frame)

        if numbers.shape[1]:
            self._median = SimpleImputer(strategy="median", keep_empty_features=True).fit(numbers)
        if choices.shape[1]:
            if self.missing == "impute":
                self._most_frequent = SimpleImputer(strategy="most_frequent", missing_values=None).fit(choices)
            attributes = [attribute for attribute in self._plan if attribute.kind == "categorical"]
            self._one_hot = OneHotEncoder(
                # Given, so that a missing value is no category of its own.
                categories=[a.list_categories(column) for a, column in zip(attributes, choices.T)],
                handle_unknown="ignore",
                sparse_output=False,
                min_frequency=self.min_frequency,
                max_categories=self.max_categories,
            ).fit(_transform_array(self._most_frequent, choices) if self.missing == "impute" else choices)
        self._arrange_columns(flagged=np.flatnonzero(is_missing.any(axis=0) & (self.missing == "flag")).tolist())
        self._find_places()
        return self._fit_scale(numbers, choices, is_missing)

    def rescale(self, X: Any) -> Self:
        """Learn the scale of every column anew from other records; categories stay those of `fit`.

        Where all categories are known beforehand, fit on a table that has them all, and rescale on the training
        records. A column in which these are all alike is left unscaled.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_samples, n_features)
            Records with the columns of `fit`.

        Returns
        -------
        Encoder
            The encoder itself.
        """
        check_is_fitted(self)
        return self._fit_scale(*self._split_columns(to_pandas(self, X, reset=False)))

    def _fit_scale(self, numbers: Any, choices: Any, is_missing: Any) -> Self:
        scaler = StandardScaler().fit(self._assemble(numbers, choices, is_missing))
        kinds = np.array([attribute.kind for attribute in self._plan])[self._source]
        is_number = (kinds == "numeric") & (np.array(self._suffixes) == "")
        is_scaled = is_number if self.scale == "numeric" else np.full(len(kinds), self.scale != "none")
        self.mean_ = np.where(is_scaled, scaler.mean_, 0.0)
        self.scale_ = np.where(is_scaled, scaler.scale_, 1.0)
        if self.scale == "attribute":
            self.scale_ = self._find_units(kinds, numbers)
        return self

    def _find_units(self, kinds: NDArray[Any], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """What every output column is divided by so that attributes count alike, shape (n_features_out,)."""
        # Two columns differ between two categories: 1 / 2 + 1 / 2 is a squared distance of one.
        units = np.where(kinds == "categorical", np.sqrt(2.0), 1.0)
        of_number = np.cumsum([attribute.kind != "categorical" for attribute in self._plan]) - 1
        for column, (source, end) in enumerate(zip(self._source, self._suffixes)):
            if source in self._flagged and end == format_suffix(MISSING):
                units[column] = FLAG
            elif kinds[column] == "numeric":
                values = numbers[:, of_number[source]]
                values = values[~np.isnan(values)]
                two = len(np.unique(values)) == 2
                units[column] = float(np.ptp(values)) if two else robust_size(values)
        return units

    def transform(self, X: Any) -> Any:
        """Encode records.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_samples, n_features)
            The records, with the columns of `fit` in the same order.

        Returns
        -------
        DataFrame or ndarray of shape (n_samples, n_features_out)
            The encoded records, as float64.
        """
        check_is_fitted(self)
        frame = to_pandas(self, X, reset=False)
        cells = read_cells(frame, range(frame.shape[1])) if len(frame) <= FEW else None
        Z = None if cells is None else encode_cells(cells, self._find_places(), len(self._source))
        if Z is None:
            Z = self._assemble(*self._split_columns(frame))
        Z -= self.mean_
        Z /= self.scale_
        output = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if output != "default":
            return Z  # scikit-learn makes it the table that was asked for
        names = self.get_feature_names_out().tolist()
        return shape_matrix(detect_form(X), Z, names, index=getattr(X, "index", None))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the output columns: ``age``, ``race=Black``, ``race=missing``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input attributes if `fit` saw an array; otherwise checked against those it saw.

        Returns
        -------
        ndarray of shape (n_features_out,)
            The names.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([f"{names[i]}{end}" for i, end in zip(self._source, self._suffixes)], dtype=object)

    def decode(self, Z: Any, *, proportions: bool = False) -> Any:
        """Turn encoded records, or points between them such as prototypes, into readable ones.

        Parameters
        ----------
        Z : DataFrame or array-like of shape (n_samples, n_features_out)
            Points in the encoded space.
        proportions : bool, default=False
            Give the columns of `transform` before scaling instead: numbers in the user's units, and for every
            category its 0/1 value, which for a point between records reads as a share.

        Returns
        -------
        DataFrame of shape (n_samples, n_features), or (n_samples, n_features_out) with `proportions`
            A polars table if `Z` is one, or if `Z` is an array and `fit` saw one; otherwise pandas. Numbers
            are not rounded, a boolean is true from one half on, a category is the one with the largest value.
            A missing value comes back where the flag wins, or where all of an attribute's columns are 0.
        """
        check_is_fitted(self)
        names = self.get_feature_names_out().tolist()
        form = detect_form(Z)
        if form != "array" and list(Z.columns) != names:
            raise IfairError(f"the columns to decode must be {names}, got {list(Z.columns)}")
        points = check_array(Z if form == "array" else Z.to_numpy(), dtype=np.float64, input_name="Z")
        if points.shape[1] != len(names):
            raise IfairError(f"encoded records have {len(names)} columns, Z has {points.shape[1]}")
        points = points * self.scale_ + self.mean_
        if form == "array":
            form = "polars" if self._fitted_form == "polars" else "pandas"
        index = Z.index if isinstance(Z, pd.DataFrame) else None
        if proportions:
            return shape_matrix(form, points, names, index=index)
        decoded = pd.DataFrame(
            {
                attribute.name: attribute.decode(points[:, self._source == i], self._categories[i])
                for i, attribute in enumerate(self._plan)
            }
        )
        if form == "polars":
            return to_polars(decoded)
        return decoded if index is None else decoded.set_axis(index, axis=0)

    def inverse_transform(self, X: Any) -> Any:
        """Decode records: `decode` under the name that scikit-learn gives it.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features_out)
            Encoded records.

        Returns
        -------
        DataFrame of shape (n_samples, n_features)
            The records in the user's own units and categories.
        """
        return self.decode(X)

    def _split_columns(self, frame: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.object_], NDArray[np.bool_]]:
        """Split a table into numbers (missing: NaN), categories (missing: None), and what is missing."""
        columns = [attribute.read(frame.iloc[:, i]) for i, attribute in enumerate(self._plan)]
        is_missing = np.stack([pd.isna(cells) for cells in columns], axis=1)
        numbers = [cells for cells in columns if cells.dtype != object]
        choices = [cells for cells in columns if cells.dtype == object]
        shape = (-1, len(frame))
        return np.reshape(numbers, shape).T, np.array(choices, dtype=object).reshape(shape).T, is_missing

    def _assemble(
        self, numbers: NDArray[np.float64], choices: NDArray[np.object_], is_missing: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Fill in, one-hot encode, and put an attribute's columns side by side; nothing is scaled yet."""
        parts = []
        if numbers.shape[1]:
            parts.append(_transform_array(self._median, numbers))
        if choices.shape[1]:
            if self.missing == "impute":
                choices = _transform_array(self._most_frequent, choices)
            parts.append(_transform_array(self._one_hot, choices))
        parts.append(is_missing[:, self._flagged].astype(np.float64))
        return np.take(np.hstack(parts), self._order, axis=1)

    def _arrange_columns(self, *, flagged: list[int]) -> None:
        """Decide order and names of the output columns: attribute by attribute, the flag last."""
        is_choice = [attribute.kind == "categorical" for attribute in self._plan]
        one_hot = iter(_list_one_hot_categories(self._one_hot) if any(is_choice) else ())
        self._categories = [next(one_hot) if choice else [] for choice in is_choice]
        # In the order in which _assemble makes them.
        columns = [(i, "") for i, choice in enumerate(is_choice) if not choice]
        columns += [(i, format_suffix(c)) for i, categories in enumerate(self._categories) for c in categories]
        columns += [(i, format_suffix(MISSING)) for i in flagged]
        self._flagged = flagged
        self._order = np.argsort([i for i, _ in columns], kind="stable")
        self._source = np.array([columns[j][0] for j in self._order])
        self._suffixes = [columns[j][1] for j in self._order]
        self.origin_ = np.array([self.attributes_[i] for i in self._source], dtype=object)
        check_unambiguous(self.get_feature_names_out().tolist(), self.origin_.tolist())

    def _find_places(self) -> list[Cells]:
        """Where the cells of every attribute go; made once, and not part of files."""
        made: tuple[Any, list[Cells]] | None = self.__dict__.get("_made_places")
        if made is not None and made[0] is self._order:
            return made[1]
        column = iter(np.argsort(self._order).tolist())
        is_choice = [attribute.kind == "categorical" for attribute in self._plan]
        numbers = {i: next(column) for i, choice in enumerate(is_choice) if not choice}
        places = {i: {c: next(column) for c in self._categories[i]} for i, choice in enumerate(is_choice) if choice}
        flags = dict(zip(self._flagged, column))
        lumped = getattr(self._one_hot, "infrequent_categories_", ()) if places else ()
        for known, rare in zip(places.values(), lumped):
            if rare is not None:
                known |= dict.fromkeys(rare, known.pop(INFREQUENT))
        fills: dict[int, Any] = {}
        if numbers:
            fills |= dict(zip(numbers, self._median.statistics_.tolist()))
        if places and self.missing == "impute":
            fills |= dict(zip(places, self._most_frequent.statistics_))
        found = [
            Cells(attribute, numbers.get(i, -1), fills.get(i), places.get(i, {}), flags.get(i))
            for i, attribute in enumerate(self._plan)
        ]
        self._made_places = self._order, found
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_made_places"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _transform_array(transformer: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Transform an array to an array, whatever output scikit-learn's global configuration asks for."""
    return transformer.set_output(transform="default").transform(X)


def _list_one_hot_categories(one_hot: OneHotEncoder) -> list[list[Any]]:
    """List what each one-hot column stands for, attribute by attribute; lumped categories come last."""
    lumped = getattr(one_hot, "infrequent_categories_", [None] * len(one_hot.categories_))
    return [
        list(categories) if rare is None else [*(c for c in categories if c not in set(rare)), INFREQUENT]
        for categories, rare in zip(one_hot.categories_, lumped)
    ]
