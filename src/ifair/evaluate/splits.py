"""Thirds of a dataset, encoded alike: one to learn on, one to choose on, one to judge on."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_numeric_dtype
from sklearn.base import clone

from ifair.datasets.dataset import Dataset
from ifair.datasets.thirds import thirds
from ifair.encode import Encoder
from ifair.errors import IfairError, name_setting
from ifair.evaluate.number_bins import BINS, name_bins
from ifair.results import Task
from ifair.similarity import Peers, Similarity
from ifair.similarity.peers import Points, find_peers
from ifair.similarity.similarity import make_similarity

NEIGHBOURS = 10
"""How many peers the paper compares everybody with."""

SHOWN_VALUES = 12
"""Groups of one attribute: with more values than this, numbers are compared in bins, and text cannot be compared."""

FEWEST_IN_BIN = 25
"""People whom a bin of numbers has on average: of fewer than 20 gaps say nothing."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Part:
    """Records of one third, as they were given and encoded (``X``, of shape (M, N)), and their rows in the dataset.

    The ``hidden`` columns of X came from protected attributes. The similarity, who is like whom, was fitted on the
    training part; None is the paper's reading: Euclidean distances of the encoded unprotected columns, ten neighbours,
    no caliper.
    """

    records: Dataset
    X: pd.DataFrame
    hidden: list[int]
    rows: Rows
    encoder: Encoder
    similarity: Similarity | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def y(self) -> NDArray[Any]:
        """The outcome, shape (M,)."""
        return self.records.outcome.to_numpy()

    @property
    def group(self) -> NDArray[np.bool_]:
        """Who is protected, shape (M,)."""
        return self.records.group

    @property
    def query(self) -> NDArray[Any] | None:
        """Which ranking everybody is in, shape (M,)."""
        return None if self.records.query is None else self.records.query.to_numpy()

    @cached_property
    def weight(self) -> NDArray[np.float64] | None:
        """How many of these people each one stands for, 1 on average, shape (M,); None where each counts once."""
        return self.records.relative_weight

    @cached_property
    def may_count(self) -> NDArray[np.float64]:
        """The encoded unprotected columns, shape (M, L)."""
        return np.delete(self.X.to_numpy(), self.hidden, axis=1)

    @cached_property
    def points(self) -> Points:
        """The people as their similarity sees them."""
        if self.similarity is None:
            return Points.from_columns(self.may_count)
        return self.similarity.embed(self.records.frame)

    @cached_property
    def peers(self) -> Peers:
        """The people most like each within the caliper; for rankings of the same query."""
        return self.find_peers(self.n_neighbors)

    @property
    def neighbours(self) -> Rows:
        """Positions of the peers, shape (M, k); -1 where there is nobody else within reach."""
        return self.peers.indices

    @cached_property
    def neighbours_of_all(self) -> Rows:
        """The same in whichever query."""
        return find_peers(self.points, None, self.n_neighbors).within(self._reach).indices

    @cached_property
    def rankings(self) -> list[tuple[Rows, Rows]]:
        """For each query its rows, and for each of them the peers by their position among these rows, or -1."""
        codes, names = pd.factorize(np.asarray(self.query))
        by_query = [np.flatnonzero(codes == number) for number in range(len(names))]
        near = [self.neighbours[rows] for rows in by_query]
        return [(rows, np.where(near < 0, -1, np.searchsorted(rows, near))) for rows, near in zip(by_query, near)]

    @property
    def n_neighbors(self) -> int:
        """Peers that everybody is compared with, at most."""
        return NEIGHBOURS if self.similarity is None else self.similarity.n_neighbors

    def find_peers(self, n_neighbors: int) -> Peers:
        """So many of the people most like each, at most."""
        codes = None if self.query is None else pd.factorize(self.query)[0]
        return find_peers(self.points, None, n_neighbors, codes).within(self._reach)

    @property
    def _reach(self) -> float:
        return np.inf if self.similarity is None else self.similarity.caliper_

    @cached_property
    def partitions(self) -> dict[str, NDArray[Any]]:
        """Who belongs together, by name: the protected group, each protected attribute, and their combinations.

        An attribute that tells the protected group from the others, and nothing else, stands for it. Numbers of many
        values are cut into bins; see :func:`find_unjudged` for text of many values.
        """
        frame, names = self.records.frame, self.records.protected
        found = {"protected group": np.where(self.group, "protected", "others")}
        unjudged = find_unjudged(self.records, self.encoder.categorical)
        single = {name: name_groups_judged(frame[name]) for name in names if name not in unjudged}
        same = [name for name, labels in single.items() if _same_partition(labels, self.group)]
        if same:
            found = {same[0]: single[same[0]]}
        found.update(single)
        # Of two, and of all of them.
        for some in [*combinations(single, 2), *([tuple(single)] if len(single) > 2 else [])]:
            crossed = [" · ".join(labels) for labels in zip(*(single[name] for name in some))]
            found[" × ".join(some)] = np.array(crossed, dtype=object)
        return {name: labels for name, labels in found.items() if len(set(labels)) > 1}


@dataclass(frozen=True)
class Split:
    """Train, validation and test part, and what is decided: see :func:`task_of`."""

    train: Part
    validation: Part
    test: Part
    task: Task

    def __iter__(self) -> Iterator[Part]:
        return iter((self.train, self.validation, self.test))

    @cached_property
    def blind(self) -> Part:
        """The training part for what must not see the protected columns: encoded without them."""
        return encode_table(self.train.records, self.train.encoder, blind=True, similarity=self.train.similarity)

    @property
    def similarity(self) -> dict[str, Any]:
        """Who counts as alike, as plain data."""
        found = self.train.similarity
        return {"reading": "paper"} if found is None else found.to_dict()

    @property
    def protected(self) -> tuple[str, ...]:
        """Names of the protected attributes."""
        return self.train.records.protected

    @property
    def score_range(self) -> tuple[float, float]:
        """Between which values scores lie, to measure differences by."""
        return find_score_range(self.train.y, self.task)


def find_score_range(y: NDArray[Any], task: Task) -> tuple[float, float]:
    """Between which values the scores of people with these outcomes lie; its width is the unit of strengths."""
    if task == "classification":
        return 0.0, 1.0
    low, high = float(np.min(y)), float(np.max(y))
    return (low, high) if high > low else (low, low + 1.0)


def find_all_peers(parts: Split) -> None:
    """Search for all whom consistent decisions compare: within parts, and with those that were learned from.

    For :func:`ifair.similarity.peers.share_searches`, so that models find it done.
    """
    train, k = parts.train, parts.train.n_neighbors
    if train.similarity is None:
        return  # the paper's reading, whose points every model makes for itself
    train.find_peers(k)
    for part in (parts.validation, parts.test):
        part.find_peers(k)
        find_peers(part.points, train.points, k)


def task_of(dataset: Dataset) -> Task:
    """What is decided about people: "classification", "regression", or with queries "ranking".

    Text is classes, two or more.
    """
    if dataset.target is None:
        raise IfairError("an audit is about decisions: name the target column")
    if dataset.query is not None:
        return "ranking"
    is_class = not is_numeric_dtype(dataset.target) or set(dataset.target.unique()) <= {0, 1}
    return "classification" if is_class else "regression"


def split_dataset(
    dataset: Dataset,
    seed: int,
    *,
    encoder: Encoder,
    stratify: bool = False,
    rows: ArrayLike | None = None,
    most_training: int | None = None,
    most_judged: int | None = None,
    similarity: Any = "paper",
    known: pd.DataFrame | None = None,
) -> Split:
    """Split at random into thirds and encode; scales and categories are learned on the training part alone.

    Whole queries are split, where there are any; else people with all the rows of their id, and ``stratify`` keeps the
    shares of group and outcome alike in all parts.

    Of the records at these ``rows``, by default all, at most so many are learned from, and kept of the
    validation third, and of the test third (whole queries). Who is like whom, the similarity ("paper", "attributes", a
    Similarity, or a mapping of its parameters), is learned on the training part too; "paper": see :class:`Part`, and
    protected columns never count. Categories are ``known`` from a table that has all of them, if there is one.
    """
    kept = np.arange(len(dataset)) if rows is None else np.asarray(rows)
    people = dataset if rows is None else dataset.take(kept)
    by_query = people.query is not None
    parts = thirds(people, seed, by_query=by_query, by_id=not by_query, stratify=stratify and not by_query)
    train = parts.train
    if most_training is not None and len(train) > most_training:
        train = np.sort(np.random.default_rng([seed, 431]).permutation(train)[:most_training])
    judged = [limit_rows(people, part, most_judged, [seed, len(part)]) for part in parts[1:]]
    learned_from = people.frame.iloc[train]
    fit_encoder(encoder, learned_from) if known is None else fit_encoder(encoder, known).rescale(learned_from)
    alike = None
    if not (isinstance(similarity, str) and similarity == "paper"):
        alike = make_similarity(
            similarity, columns=people.frame.columns, protected=people.protected, categorical=encoder.categorical
        )
        alike.fit(learned_from)
    encoded = [encode_part(dataset, kept[part], encoder, alike) for part in (train, *judged)]
    return Split(encoded[0], encoded[1], encoded[2], task_of(dataset))


def split_candidates(dataset: Dataset, seed: int, *, encoder: Encoder, smallest_query: int = NEIGHBOURS) -> Split:
    """Split the candidates of every query at random into thirds; too short a ranking of a part is none.

    Candidates of the same query are then in all parts, so that what is judged is not new to a model.
    """
    parts = thirds(dataset, seed)
    fit_encoder(encoder, dataset.frame.iloc[parts.train])
    encoded = [_drop_short(encode_part(dataset, rows, encoder), smallest_query) for rows in parts]
    if any(np.all(pd.isna(part.query)) for part in encoded):
        raise IfairError(f"no query of {dataset.name} has {smallest_query} candidates in every third")
    return Split(encoded[0], encoded[1], encoded[2], task_of(dataset))


def _drop_short(part: Part, smallest: int) -> Part:
    query: Any = part.records.query
    long = query.map(query.value_counts()).astype(float) >= smallest
    return replace(part, records=replace(part.records, query=query.where(long)))


def reuse_records(dataset: Dataset, *, encoder: Encoder) -> Split:
    """All records in all three parts: what learned from them is chosen and judged on them."""
    part = encode_part(dataset, np.arange(len(dataset)), fit_encoder(encoder, dataset.frame))
    return Split(part, part, part, task_of(dataset))


def split_table(
    dataset: Dataset,
    seed: int,
    *,
    most_people: int = 10_000,
    most_training: int | None = None,
    categorical: Any = (),
    similarity: Any = None,
) -> Split:
    """The split for tuning and auditing a table: stratified, without queries of one candidate.

    At most ``most_people`` of the validation part, and of the test part, are kept. Categorical columns are numbers that
    are codes. Similarity as in :func:`split_dataset`, by default :class:`ifair.Similarity` of all unprotected
    attributes.
    """
    task_of(dataset)
    if not is_numeric_dtype(dataset.outcome):
        raise IfairError(
            f"{dataset.name} has {dataset.outcome.nunique()} classes of {dataset.outcome.name!r}: here one is judged "
            f"against all others; say which, such as {name_setting('positive', dataset.outcome.iloc[0])}"
        )
    kept = comparable_rows(dataset)
    few = len(kept) < 3 * (NEIGHBOURS + 1) if dataset.query is None else dataset.query.iloc[kept].nunique() < 3
    if few:
        raise IfairError(f"{dataset.name} is too small: three parts need at least 33 records, or three queries")
    encoder = make_encoder(categorical, similarity)
    try:
        limits: Any = {"most_training": most_training, "most_judged": most_people}
        alike = similarity or "attributes"
        parts = split_dataset(dataset, seed, encoder=encoder, stratify=True, rows=kept, similarity=alike, **limits)
    except IfairError:
        raise
    except (ValueError, TypeError) as error:
        # The encoder refuses bad tables this way, in words.
        raise IfairError(str(error)) from error
    _refuse_constant_outcomes(parts, dataset)
    return parts


def _refuse_constant_outcomes(parts: Split, dataset: Dataset) -> None:
    """Refuse parts in which everybody has the same outcome: nothing can be learned from them, or judged on them."""
    if parts.task == "ranking":
        return
    for name, part in {"learn from": parts.train, "choose by": parts.validation, "judge on": parts.test}.items():
        if np.ptp(part.y) == 0:
            counts = ", ".join(f"{n} with {value_text(value)}" for value, n in dataset.outcome.value_counts().items())
            raise IfairError(
                f"{dataset.name} cannot be split into three parts with different outcomes: of {len(dataset)} people "
                f"there are {counts} in {dataset.outcome.name!r}, and the {len(part)} people to {name} all have "
                f"{value_text(part.y[0])}; at least three people of each are needed"
            )


def fit_encoder(encoder: Encoder, frame: pd.DataFrame) -> Encoder:
    """Fit on the attributes of a dataset: doubts about them were told when it was made of a table."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="column ")
        return encoder.fit(frame)


def make_encoder(categorical: Any, similarity: Any) -> Encoder:
    """The unfitted encoder of a table: with distances like those of the similarity that people are compared by.

    By attribute, unless the paper's reading is asked for: what iFair reaches then is more useful at the same
    consistency (``benchmarks/attribute_scale.py``).
    """
    reading = (
        similarity.get("reading") if isinstance(similarity, Mapping) else getattr(similarity, "reading", similarity)
    )
    codes = "auto" if isinstance(categorical, str) else list(categorical) or "auto"
    return Encoder(categorical=codes, scale="unit-variance" if reading == "paper" else "attribute")


def comparable_rows(dataset: Dataset) -> Rows:
    """Positions of the records that can be compared: where there are queries, of those with two candidates or more."""
    if dataset.query is None:
        return np.arange(len(dataset))
    sizes = dataset.query.map(dataset.query.value_counts())
    return np.flatnonzero(dataset.query.notna() & (sizes > 1))


def encode_part(dataset: Dataset, rows: Rows, encoder: Encoder, similarity: Similarity | None = None) -> Part:
    """The records at these rows, as a fitted encoder sees them."""
    chosen = dataset.take(rows)
    X = encoder.transform(chosen.frame)
    hidden = [i for name in dataset.protected for i in np.flatnonzero(encoder.origin_ == name).tolist()]
    return Part(chosen, X, hidden, rows, encoder, similarity)


def encode_table(
    people: Dataset, encoder: Encoder, *, blind: bool = False, similarity: Similarity | None = None
) -> Part:
    """A whole table, encoded with these options as it is learned from it; ``blind``: without its protected columns."""
    codes, kept = encoder.categorical, people
    if blind:
        kept = replace(people, frame=people.masked, protected=())
        codes = codes if isinstance(codes, str) else [name for name in codes if name not in people.protected] or "auto"
    fitted = fit_encoder(clone(encoder).set_params(categorical=codes), kept.frame)
    return encode_part(kept, np.arange(len(kept)), fitted, similarity=similarity)


def limit_rows(dataset: Dataset, rows: Rows, most: int | None, seed: Any, *, least_queries: int = 1) -> Rows:
    """At most so many of the rows, drawn at random; where there are queries whole ones, at least so many of them."""
    if most is None or len(rows) <= most:
        return rows
    rng = np.random.default_rng(seed)
    if dataset.query is None:
        return np.sort(rng.permutation(rows)[:most])
    queries = dataset.query.iloc[rows]
    drawn = rng.permutation(queries.dropna().unique())
    sizes = queries.value_counts().loc[drawn].cumsum()
    return rows[queries.isin(drawn[: max(least_queries, int((sizes <= most).sum()))]).to_numpy()]


def _same_partition(labels: NDArray[Any], group: NDArray[np.bool_]) -> bool:
    """Whether labels are two names for those inside and outside of a group."""
    inside, outside = set(labels[group]), set(labels[~group])
    return len(inside) == len(outside) == 1 and inside != outside


def value_text(value: Any) -> str:
    """A value of the table as people read it; a missing one is a value too."""
    if pd.isna(value):
        return "(missing)"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return str(value)


def find_unjudged(people: Dataset, categorical: Any) -> list[str]:
    """Protected attributes by whose groups nobody can be compared.

    Of too many values: text, or codes of categories, and numbers where people are too few for two bins.
    """
    codes = () if isinstance(categorical, str) else categorical

    def is_unjudged(column: pd.Series) -> bool:
        no_measure = column.name in codes or not is_numeric_dtype(column)
        return column.nunique() > SHOWN_VALUES and (no_measure or _count_bins(column) < 2)

    return [name for name in people.protected if is_unjudged(people.frame[name])]


def _count_bins(column: pd.Series) -> int:
    return min(BINS, int(column.notna().sum()) // FEWEST_IN_BIN)


def name_groups_judged(column: pd.Series) -> NDArray[Any]:
    """Everybody's group as text by which people are compared, shape (M,): a value, or a bin of many numbers."""
    if column.nunique() > SHOWN_VALUES:
        return name_bins(column, value_text(None), _count_bins(column))
    return name_groups(column.to_frame(), str(column.name))


def name_groups(frame: pd.DataFrame, column: str) -> NDArray[Any]:
    """Everybody's group as text, shape (M,); a missing value is one too."""
    return np.array([value_text(value) for value in frame[column]], dtype=object)
