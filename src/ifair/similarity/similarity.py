"""Similarity of people by attribute: learned units, weights, a reach, and the paper's reading beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ifair.core.neighbour_graph import graph_of
from ifair.encode import Encoder, columns_of
from ifair.encode.column_names import find_positions
from ifair.encode.table_forms import to_pandas
from ifair.errors import IfairError, nearest_name
from ifair.similarity.peers import Peers, Points, find_peers
from ifair.similarity.units import Unit, learn_unit

READINGS = ("attributes", "paper")

REACHED_BY = 0.05
"""``caliper="auto"``: peers are closer to each other than all but this share of pairs of people."""

SAMPLED_PAIRS = 200_000

GAP = 0.5
"""What a missing value counts, of the mean squared difference of its attribute. With this share people with and without
gaps find each other as if there were none."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two people compared.

    Attributes
    ----------
    distance : float
    within_reach : bool
    parts : dict of str to float
        What every attribute adds to the squared distance, the largest first.
    text : str
        The same in words.
    """

    distance: float
    within_reach: bool
    parts: dict[str, float]
    text: str

    def __str__(self) -> str:
        return self.text


class Similarity(BaseEstimator):
    """Who is like whom, on the attributes that may count.

    Built from the table as it is, attribute by attribute: numbers count in robust units, two categories are one unit
    apart however rare they are, and a missing value is neither like nor unlike. With weights w and units u

    ``d(a, b)^2 = sum_n w_n (difference_n / u_n)^2``,

    where an attribute that either person has no value for counts half of what it differs between two random people.

    People with nobody within the caliper have no close peers, and are not compared with strangers.

    Parameters
    ----------
    protected : sequence of str, default=()
        Attributes that must not count. They may be missing from tables that are compared later.
    weights : mapping from str to float, optional
        What an attribute counts, 1 by default: 2 counts like two attributes, 0 not at all.
    ordered : mapping from str to sequence, optional
        Categories from lowest to highest: their differences then count in steps.
    categorical : "auto" or sequence of str, default="auto"
        Columns of numbers that are codes of categories.
    n_neighbors : int, default=10
        Peers that each person is compared with, at most.
    caliper : "auto", float or None, default="auto"
        The largest distance of a peer. "auto": 95 % of pairs of people are farther apart. None: no limit.
    reading : {"attributes", "paper"}, default="attributes"
        "paper": Euclidean distance of one-hot encoded columns with unit variance each, missing values with a column of
        their own, as in the paper; rare values then count more the rarer they are. No caliper unless a number is given;
        `weights` apply to all columns of an attribute, `ordered` is not taken.

    Attributes
    ----------
    caliper_ : float
        Infinite where there is none.
    units_ : list of dict
        Name, kind, size of the unit and values of every attribute that counts; of reading "attributes".

    Examples
    --------
    >>> import pandas as pd
    >>> from ifair import Similarity
    >>> people = pd.DataFrame(
    ...     {
    ...         "experience": [2.0, 4.0, 4.0, 9.0, 20.0, None],
    ...         "education": ["school", "school", "degree", "degree", "degree", "school"],
    ...         "sex": list("fmfmfm"),
    ...     }
    ... )
    >>> alike = Similarity(protected=["sex"], n_neighbors=2, caliper=1.4).fit(people)
    >>> alike.neighbours(people).indices  # nobody is like the fifth
    array([[ 1,  2],
           [ 0,  2],
           [ 1,  0],
           [ 2, -1],
           [-1, -1],
           [-1, -1]])
    >>> print(alike.explain(people, 0, 1))
    same education, 2 apart in experience (2, 4)
    """

    def __init__(
        self,
        *,
        protected: Sequence[str] = (),
        weights: Mapping[str, float] | None = None,
        ordered: Mapping[str, Sequence[Any]] | None = None,
        categorical: str | Sequence[str] = "auto",
        n_neighbors: int = 10,
        caliper: str | float | None = "auto",
        reading: str = "attributes",
    ) -> None:
        self.protected = protected
        self.weights = weights
        self.ordered = ordered
        self.categorical = categorical
        self.n_neighbors = n_neighbors
        self.caliper = caliper
        self.reading = reading

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the units of the attributes, and the caliper, from a population.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array-like of shape (n_people, n_attributes)
        y : None
            Ignored.
        """
        frame = to_pandas(self, X, reset=True)
        names = [str(name) for name in frame.columns]
        self._check_parameters(names)
        self.attributes_ = [name for name in names if name not in self.protected and self._weight(name) > 0]
        if not self.attributes_:
            raise IfairError("no attribute is left to compare people by: all are protected or have weight 0")
        codes = {names[i] for i in find_positions(self.categorical, names)}
        counted = frame.set_axis(names, axis=1)[self.attributes_]
        if self.reading == "paper":
            listed = [name for name in self.attributes_ if name in codes]
            self._encoder = Encoder(categorical=listed or "auto").fit(counted)
        else:
            ordered = self.ordered or {}
            units = [
                learn_unit(counted[name], name, categorical=name in codes, order=ordered.get(name))
                for name in self.attributes_
            ]
            self.units_ = [{**asdict(unit), "values": list(unit.values)} for unit in units]
        self.caliper_ = self._reach(self._points(counted))
        return self

    def distances(self, A: Any, B: Any = None) -> NDArray[np.float64]:
        """Distances of all people of one table to all of another, or among themselves, shape (n_A, n_B)."""
        a = self.embed(A)
        return np.sqrt(a.squared_distances(a if B is None else self.embed(B)))

    def neighbours(self, X: Any, reference: Any = None, *, n_neighbors: int | None = None, query: Any = None) -> Peers:
        """The people most like each, within the caliper.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_people, n_attributes)
        reference : DataFrame, array-like or what `embed` returned, optional
            Whom to look among; by default the other people of X.
        n_neighbors : int, optional
            By default the parameter of this name.
        query : labels of shape (n_people,), optional
            Look among people of the same query only.
        """
        people = self.embed(X)
        others = reference if reference is None or isinstance(reference, Points) else self.embed(reference)
        codes = None if query is None else pd.factorize(np.asarray(query))[0]
        found = find_peers(people, others, n_neighbors or self.n_neighbors, codes)
        return found.within(None if np.isinf(self.caliper_) else self.caliper_)

    def embed(self, X: Any) -> Points:
        """People as points, to be the reference of many searches."""
        return self._points(self._select_counted(X))

    def graph(self, X: Any, *, query: Any = None) -> csr_array:
        """The symmetric graph ``W = (A + A^T) / 2k`` of peers, shape (n_people, n_people).

        ``A_ij`` is 1 where j is a peer of i. People without peers have no edge.
        """
        return graph_of(self.neighbours(X, query=query).indices, self.n_neighbors)

    def explain(self, X: Any, a: int, b: int, other: Any = None) -> Comparison:
        """Why two people are like or unlike.

        Parameters
        ----------
        X : DataFrame or array-like
        a, b : int
            Positions of the two people: both in X, or b in ``other``.
        other : DataFrame or array-like, optional
        """
        one, two = self._person(X, a, "a"), self._person(X if other is None else other, b, "b")
        pair = self._points(one), self._points(two)
        distance = float(np.sqrt(pair[0].squared_differences(pair[1], *np.zeros((2, 1), dtype=np.intp))[0]))
        both = pair[0].present * pair[1].present
        difference = ((pair[0].coordinates - pair[1].coordinates) ** 2)[0]
        parts = np.bincount(pair[0].columns, difference, len(self.attributes_))
        parts = np.where(both[0] > 0, parts, pair[0].gaps)
        order = np.argsort(parts, kind="stable")
        units = self._units()
        words = [units[i].describe(one.iloc[0, i], two.iloc[0, i]) for i in order]
        same = [word.removeprefix("same ") for word in words if word.startswith("same ")]
        listed = [f"same {_join(same)}"] if same else []
        text = ", ".join(listed + [word for word in words if not word.startswith("same ")])
        named = {self.attributes_[i]: float(parts[i]) for i in order[::-1]}
        return Comparison(distance, distance <= self.caliper_, named, text)

    def _person(self, X: Any, position: int, parameter: str) -> pd.DataFrame:
        """One row of a table, with the columns that count."""
        counted = self._select_counted(X)
        if not -len(counted) <= position < len(counted):
            raise IfairError(f"{parameter} must be the position of one of {len(counted)} people, got {position}")
        return counted.iloc[[position]]

    def _select_counted(self, X: Any) -> pd.DataFrame:
        """The columns that count, of a table that may lack the others."""
        check_is_fitted(self)
        if not hasattr(X, "columns"):
            frame = to_pandas(self, X, reset=False)
            return frame.set_axis([str(name) for name in frame.columns], axis=1)[self.attributes_]
        missing = [name for name in self.attributes_ if name not in X.columns]
        if missing:
            raise IfairError(f"the table lacks the column {missing[0]!r}, by which people are compared")
        if isinstance(X, pd.DataFrame):
            return X[self.attributes_]
        return to_pandas(Encoder(), X[self.attributes_], reset=True)

    def _points(self, counted: pd.DataFrame) -> Points:
        weights = np.array([self._weight(name) for name in self.attributes_])
        if self.reading == "paper":
            encoded = self._encoder.transform(counted)
            owner = [columns_of(name, encoded.columns) for name in self.attributes_]
            columns = np.empty(encoded.shape[1], dtype=np.intp)
            for i, positions in enumerate(owner):
                columns[positions] = i
            present = np.ones((len(counted), len(self.attributes_)), dtype=bool)
            return Points.of(encoded.to_numpy() * np.sqrt(weights)[columns], present, np.zeros(len(weights)), columns)
        units = self._units()
        columns = np.repeat(np.arange(len(units)), [unit.width for unit in units])
        coordinates = np.empty((len(counted), len(columns)))
        present = np.empty((len(counted), len(units)), dtype=bool)
        numbers = np.array([unit.kind == "number" for unit in units])
        if numbers.any():
            # At once: pandas takes longer for a column than the search for a newcomer.
            values = counted.iloc[:, np.flatnonzero(numbers)].to_numpy(dtype=float, na_value=np.nan)
            present[:, numbers] = ~np.isnan(values)
            coordinates[:, numbers[columns]] = np.nan_to_num(values) / [u.size for u in units if u.kind == "number"]
        for i, unit in enumerate(units):
            if unit.kind != "number":
                coordinates[:, columns == i], present[:, i] = unit.embed(counted[unit.name])
        coordinates *= np.sqrt(weights)[columns]
        gaps = GAP * weights * np.array([unit.typical for unit in units])
        return Points.of(coordinates, present, gaps, columns)

    def _units(self) -> list[Unit]:
        if self.reading == "paper":
            kinds = {a.name: "number" if a.kind == "numeric" else "category" for a in self._encoder._plan}
            return [Unit(name, kinds[name]) for name in self.attributes_]
        return [Unit(**{**unit, "values": tuple(unit["values"])}) for unit in self.units_]

    def _reach(self, points: Points) -> float:
        if self.caliper is None or (self.caliper == "auto" and self.reading == "paper"):
            return np.inf
        if self.caliper != "auto":
            return float(self.caliper)
        rng = np.random.default_rng(0)
        a, b = rng.integers(len(points), size=(2, SAMPLED_PAIRS))
        squared = points.squared_differences(points, a[a != b], b[a != b])
        squared = squared[np.isfinite(squared)]
        return float(np.sqrt(np.quantile(squared, REACHED_BY))) if len(squared) else np.inf

    def _weight(self, name: str) -> float:
        return float((self.weights or {}).get(name, 1.0))

    def _check_parameters(self, names: list[str]) -> None:
        if self.reading not in READINGS:
            raise IfairError(f"reading must be one of {', '.join(map(repr, READINGS))}, got {self.reading!r}")
        for parameter, example in (("weights", "{'age': 2}"), ("ordered", "{'education': ['school', 'degree']}")):
            if not isinstance(getattr(self, parameter) or {}, Mapping):
                raise IfairError(f"{parameter} must map columns, as in {example}; got {getattr(self, parameter)!r}")
        if isinstance(self.protected, str):
            raise IfairError(f"protected must be a list of columns, as in [{self.protected!r}]; got {self.protected!r}")
        for parameter in ("protected", "weights", "ordered"):
            for name in getattr(self, parameter) or ():
                if name not in names:
                    near = nearest_name(name, names)
                    hint = f"; did you mean {near!r}?" if near else f"; the columns are {', '.join(names)}"
                    raise IfairError(f"{parameter} names {name!r}, which is not a column{hint}")
        for name, weight in (self.weights or {}).items():
            if not np.isfinite(weight) or weight < 0:
                raise IfairError(f"weights[{name!r}] must be a finite number of at least 0, got {weight!r}")
        if self.ordered and self.reading == "paper":
            raise IfairError("reading='paper' knows no order of categories: leave ordered out")
        known = self.caliper is None or self.caliper == "auto"
        if not known and (isinstance(self.caliper, str) or not float(self.caliper or 0) > 0):
            raise IfairError(f"caliper must be 'auto', None or a number above 0, got {self.caliper!r}")
        if self.n_neighbors < 1:
            raise IfairError(f"n_neighbors must be at least 1, got {self.n_neighbors}")


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
