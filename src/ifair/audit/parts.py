"""The three parts of a table, encoded alike: one to learn on, one to choose on, one to judge on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.data import DataError, Dataset, thirds
from ifair.encode import Encoder, columns_of
from ifair.metrics import nearest_neighbours

NEIGHBOURS = 10
SHOWN_VALUES = 12
"""Groups of one attribute; with more values than this, only the protected group as a whole is compared."""


@dataclass(frozen=True)
class Part:
    """Records of one third.

    Attributes
    ----------
    records : Dataset
        As they were given.
    X : DataFrame of shape (M, N)
        Encoded.
    hidden : list of int
        The encoded columns that came from protected attributes.
    rows : int array of shape (M,)
        Where they stand in the table.
    """

    records: Dataset
    X: pd.DataFrame
    hidden: list[int]
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def y(self) -> NDArray[Any]:
        return self.records.target.to_numpy()

    @property
    def query(self) -> NDArray[Any] | None:
        return None if self.records.query is None else self.records.query.to_numpy()

    @cached_property
    def may_count(self) -> NDArray[np.float64]:
        """The unprotected columns, shape (M, L)."""
        return np.delete(self.X.to_numpy(), self.hidden, axis=1)

    @cached_property
    def neighbours(self) -> NDArray[np.intp]:
        """The people most like each on what may count, shape (M, k); for rankings of the same query."""
        sizes = [len(self)] if self.query is None else pd.Series(self.query).value_counts().tolist()
        k = min(NEIGHBOURS, min(sizes) - 1)
        return nearest_neighbours(self.may_count, k, query=self.query)

    @cached_property
    def partitions(self) -> dict[str, NDArray[Any]]:
        """Who belongs together, by name: the protected group, each protected attribute, and their combinations.

        An attribute that tells the protected group from the others, and nothing else, stands for it.
        """
        frame, names = self.records.frame, self.records.protected
        found = {"protected group": np.where(self.records.group, "protected", "others")}
        single = {name: _labels(frame[name]) for name in names if frame[name].nunique() <= SHOWN_VALUES}
        same = [name for name, labels in single.items() if _same_partition(labels, self.records.group)]
        if same:
            found = {same[0]: single[same[0]]}
        found.update(single)
        if len(single) > 1:
            crossed = pd.DataFrame(single).agg(" · ".join, axis=1)
            found[" × ".join(single)] = crossed.to_numpy(dtype=object)
        return {name: labels for name, labels in found.items() if len(set(labels)) > 1}


@dataclass(frozen=True)
class Parts:
    """Train, validation and test part, what encoded them, and what is to be decided."""

    train: Part
    validation: Part
    test: Part
    encoder: Encoder
    task: str


def task_of(dataset: Dataset) -> str:
    """What is decided about people: "classification", "regression", or with queries "ranking"."""
    if dataset.target is None:
        raise DataError("an audit is about decisions: name the target column")
    if dataset.query is not None:
        return "ranking"
    return "classification" if set(dataset.target.unique()) <= {0, 1} else "regression"


def split(dataset: Dataset, seed: int, *, most_people: int = 10_000, categorical: Sequence[str] = ()) -> Parts:
    """Split at random into thirds and encode; categories and scales are learned on the training part alone.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    most_people : int
        Of the validation and the test part at most so many are kept (of rankings, whole queries).
    categorical : sequence of str
        Columns of numbers that are codes of categories.
    """
    task = task_of(dataset)
    if dataset.query is not None:
        sizes = dataset.query.map(dataset.query.value_counts())
        kept = np.flatnonzero(dataset.query.notna() & (sizes > 1))
    else:
        kept = np.arange(len(dataset))
    people = dataset.take(kept)
    few = people.query.nunique() < 3 if people.query is not None else len(people) < 3 * (NEIGHBOURS + 1)
    if few:
        raise DataError(f"{dataset.name} is too small: three parts need at least 33 records, or three queries")
    found = thirds(people, seed, by_query=True) if task == "ranking" else thirds(people, seed, stratify=True)
    judged = [_at_most(people, rows, most_people, seed) for rows in found[1:]]
    try:
        encoder = Encoder(categorical=list(categorical) or "auto").fit(people.frame.iloc[found.train])
    except (ValueError, TypeError) as error:
        # The encoder refuses bad tables this way, in words.
        raise DataError(str(error)) from error

    def part(rows: NDArray[np.intp]) -> Part:
        records = people.take(rows)
        X = encoder.transform(records.frame)
        hidden = [i for name in dataset.protected for i in columns_of(name, X.columns)]
        return Part(records, X, hidden, kept[rows])

    return Parts(part(found.train), part(judged[0]), part(judged[1]), encoder, task)


def _at_most(people: Dataset, rows: NDArray[np.intp], most: int, seed: int) -> NDArray[np.intp]:
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng([seed, len(rows)])
    if people.query is None:
        return np.sort(rng.permutation(rows)[:most])
    queries = people.query.iloc[rows]
    sizes = queries.value_counts().loc[rng.permutation(queries.unique())].cumsum()
    return rows[queries.isin(sizes.index[: max(1, int((sizes <= most).sum()))]).to_numpy()]


def _same_partition(labels: NDArray[Any], group: NDArray[np.bool_]) -> bool:
    """Whether labels are two names for those inside and outside of a group."""
    inside, outside = set(labels[group]), set(labels[~group])
    return len(inside) == len(outside) == 1 and inside != outside


def _labels(column: pd.Series) -> NDArray[Any]:
    """The values as text; a missing one is a value too."""
    return np.array([shown(value) for value in column], dtype=object)


def shown(value: Any) -> str:
    """A value of the table as people read it."""
    if pd.isna(value):
        return "(missing)"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return str(value)
