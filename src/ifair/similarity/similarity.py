"""Similarity of people by attribute: learned units, weights, a reach, and the paper's reading beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ifair.core.nearest import to_ten_digits
from ifair.core.neighbour_graph import graph_of
from ifair.encode import Encoder
from ifair.encode.column_names import find_positions
from ifair.encode.table_forms import FEW, read_cells, to_pandas
from ifair.errors import IfairError, unknown_name
from ifair.plain_data import map_leaves
from ifair.similarity.layout import Layout, Unit, learn_unit
from ifair.similarity.pair_words import Comparison, compare_pairs
from ifair.similarity.parameters import check_parameters
from ifair.similarity.peers import Peers, Points, find_peers

REACHED_BY = 0.05
"""``caliper="auto"``: peers are closer to each other than all but this share of pairs of people."""

SAMPLED_PAIRS = 200_000


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
    units : mapping from str to float, optional
        What difference of a number, or how many steps of an order, counts as one unit: ``{"age": 10}``. By default
        what is learned from the spread of its middle half.
    categorical : "auto" or sequence of str, default="auto"
        Columns of numbers that are codes of categories.
    n_neighbors : int, default=10
        Peers that each person is compared with, at most.
    caliper : "auto", float or None, default="auto"
        The largest distance of a peer, itself included, to ten digits. "auto": 95 % of pairs of people are farther
        apart, or as far. None: no limit.
    reading : {"attributes", "paper"}, default="attributes"
        "paper": Euclidean distance of one-hot encoded columns with unit variance each, missing values with a column of
        their own, as in the paper; rare values then count more the rarer they are. No caliper unless a number is given;
        `weights` apply to all columns of an attribute, `ordered` and `units` are not taken.
    approximate : bool, default=False
        Search peers among people themselves by cells of faiss (the extra ``approximate``), where nobody has a gap: see
        :func:`ifair.graph.neighbour_graph`. Newcomers are searched for exactly.

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
        units: Mapping[str, float] | None = None,
        categorical: str | Sequence[str] = "auto",
        n_neighbors: int = 10,
        caliper: str | float | None = "auto",
        reading: str = "attributes",
        approximate: bool = False,
    ) -> None:
        self.protected = protected
        self.weights = weights
        self.ordered = ordered
        self.units = units
        self.categorical = categorical
        self.n_neighbors = n_neighbors
        self.caliper = caliper
        self.reading = reading
        self.approximate = approximate

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
        check_parameters(self, names)
        self.attributes_ = [name for name in names if name not in self.protected and self._weight(name) > 0]
        if not self.attributes_:
            raise IfairError("no attribute is left to compare people by: all are protected or have weight 0")
        codes = {names[i] for i in find_positions(self.categorical, names)}
        counted = frame.set_axis(names, axis=1)[self.attributes_]
        if self.reading == "paper":
            listed = [name for name in self.attributes_ if name in codes]
            self._encoder = Encoder(categorical=listed or "auto").fit(counted)
        else:
            ordered, sizes = self.ordered or {}, self.units or {}
            units = [
                learn_unit(
                    counted[name], name, categorical=name in codes, order=ordered.get(name), size=sizes.get(name)
                )
                for name in self.attributes_
            ]
            self.units_ = [{**asdict(unit), "values": list(unit.values)} for unit in units]
        self.caliper_ = self._reach(self._points(counted))
        return self

    def distances(self, A: Any, B: Any = None) -> NDArray[np.float64]:
        """Distances of all people of one table to all of another, or among themselves, to ten digits; (n_A, n_B)."""
        a = self.embed(A)
        return np.sqrt(to_ten_digits(a.squared_distances(a if B is None else self.embed(B))))

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
        others = None if reference is None else self.embed(reference)
        codes = None if query is None else pd.factorize(np.asarray(query))[0]
        if codes is not None and others is not None:
            raise IfairError("query is for people who are compared with each other: leave it or the reference out")
        if codes is not None and len(codes) != len(people):
            raise IfairError(f"query has {len(codes)} entries where {len(people)} are expected")
        k = n_neighbors or self.n_neighbors
        return find_peers(people, others, k, codes, approximate=self.approximate).within(self.caliper_)

    def embed(self, X: Any) -> Points:
        """People as points, to be the reference of many searches."""
        if isinstance(X, Points):
            return X
        check_is_fitted(self)
        if self.reading == "attributes" and isinstance(X, pd.DataFrame) and len(X) <= FEW:
            layout = self._layout()
            # An order has values to be checked, by columns.
            if all(unit.kind != "ordered" for unit in layout.units):
                points = layout.embed_cells(read_cells(X, self._find_counted(X.columns)))
                if points is not None:
                    return points
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
        return self.explain_pairs(X, [a], [b], other)[0]

    def explain_pairs(self, X: Any, a: Sequence[int], b: Sequence[int], other: Any = None) -> list[Comparison]:
        """:meth:`explain` of many pairs at once, which is many times quicker; ``a`` and ``b`` of shape (n_pairs,)."""
        ones, others = self._take_people(X, a, "a"), self._take_people(X if other is None else other, b, "b")
        if len(ones) != len(others):
            raise IfairError(f"a and b must be of one length, got {len(ones)} and {len(others)}")
        return compare_pairs(ones, others, (self.embed(ones), self.embed(others)), self._units(), self.caliper_)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that :meth:`from_dict` rebuilds it of; fitted, with what was learned (not of reading "paper")."""
        data: dict[str, Any] = map_leaves(_to_python, self.get_params())
        if hasattr(self, "units_"):
            reach = None if np.isinf(self.caliper_) else self.caliper_
            data["learned"] = {"attributes": list(self.attributes_), "units": self.units_, "caliper": reach}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What :meth:`to_dict` wrote, or parameters by name.

        Examples
        --------
        >>> Similarity.from_dict({"weights": {"education": 2}, "caliper": None})
        Similarity(caliper=None, weights={'education': 2})
        """
        known = cls().get_params()
        for name in data:
            if name not in known and name != "learned":
                raise unknown_name("parameter of a similarity", str(name), list(known))
        found = cls(**{name: value for name, value in data.items() if name != "learned"})
        if learned := data.get("learned"):
            try:
                found.attributes_, found.units_ = list(learned["attributes"]), list(learned["units"])
                found.caliper_ = np.inf if learned["caliper"] is None else float(learned["caliper"])
            except (KeyError, TypeError, ValueError) as error:
                raise IfairError(
                    f"learned of a similarity must be attributes, units and a caliper; got {learned!r:.60}"
                ) from error
        return found

    def _take_people(self, X: Any, positions: Sequence[int], parameter: str) -> pd.DataFrame:
        """Rows of a table, with the columns that count."""
        check_is_fitted(self)
        n_people = len(X)
        for position in positions:
            if not -n_people <= position < n_people:
                raise IfairError(f"{parameter} must be the position of one of {n_people} people, got {position}")
        if isinstance(X, pd.DataFrame):
            return X.iloc[list(positions), self._find_counted(X.columns)].set_axis(self.attributes_, axis=1)
        return self._select_counted(X).iloc[list(positions)]

    def _select_counted(self, X: Any) -> pd.DataFrame:
        """The columns that count, of a table that may lack the others."""
        if not hasattr(X, "columns"):
            frame = to_pandas(self, X, reset=False)
            return frame.set_axis([str(name) for name in frame.columns], axis=1)[self.attributes_]
        if isinstance(X, pd.DataFrame):
            return X.iloc[:, self._find_counted(X.columns)].set_axis(self.attributes_, axis=1)
        self._find_counted(X.columns)
        return to_pandas(Encoder(), X[self.attributes_], reset=True)

    def _find_counted(self, columns: Any) -> list[int]:
        """Where the columns that count stand."""
        place = {str(name): i for i, name in enumerate(np.asarray(columns, dtype=object).tolist())}
        for name in self.attributes_:
            if name not in place:
                raise IfairError(f"the table lacks the column {name!r}, by which people are compared")
        return [place[name] for name in self.attributes_]

    def _points(self, counted: pd.DataFrame) -> Points:
        if self.reading == "paper":
            weights = np.array([self._weight(name) for name in self.attributes_])
            encoded = self._encoder.transform(counted)
            columns = np.array([self.attributes_.index(name) for name in self._encoder.origin_])
            present = np.ones((len(counted), len(self.attributes_)), dtype=bool)
            return Points.from_coordinates(
                encoded.to_numpy() * np.sqrt(weights)[columns], present, np.zeros(len(weights)), columns
            )
        return self._layout().embed(counted)

    def _layout(self) -> Layout:
        """The attributes' columns; made once, and not part of files."""
        known: tuple[Any, Layout] | None = self.__dict__.get("_made_layout")
        if known is not None and known[0] is self.units_:
            return known[1]
        layout = Layout(self._units(), np.array([self._weight(name) for name in self.attributes_]))
        self._made_layout = self.units_, layout
        return layout

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_made_layout"}

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
        if not len(squared):
            return np.inf
        # To ten digits, like distances: often it is that of many pairs, which are all within reach.
        return float(np.sqrt(to_ten_digits(np.quantile(squared, [REACHED_BY])))[0])

    def _weight(self, name: str) -> float:
        return float((self.weights or {}).get(name, 1.0))


def make_similarity(
    given: Any, *, columns: Iterable[str], protected: Sequence[str] = (), categorical: Any = "auto"
) -> Similarity:
    """An unfitted similarity of what a user may give: one, a mapping of its parameters, the name of a reading, or None.

    Attributes protected here count as little as those that it protects itself; what is categorical it may say itself. A
    mapping comes from settings that were checked against the whole table: columns that it does not count, and that the
    table has left out since, are no error.
    """
    if given is None or isinstance(given, str):
        given = {"reading": given or "attributes"}
    if isinstance(given, Mapping):
        given = Similarity.from_dict(given)
        kept = {name: weight for name, weight in (given.weights or {}).items() if weight != 0 or name in set(columns)}
        given.set_params(weights=kept or None)
    if not isinstance(given, Similarity):
        raise IfairError(f"similarity must be a Similarity, its parameters, or the name of a reading; got {given!r}")
    hidden = list(dict.fromkeys([*protected, *given.protected]))
    if isinstance(given.categorical, str) and not isinstance(categorical, str):
        given = clone(given).set_params(categorical=[name for name in categorical if name not in hidden] or "auto")
    return clone(given).set_params(protected=hidden)


def _to_python(value: Any) -> Any:
    """Numbers of Python for those of NumPy, and lists for arrays."""
    if isinstance(value, Mapping):
        return map_leaves(_to_python, dict(value))
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
