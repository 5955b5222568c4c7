"""Train, validation, test: seeded thirds, the same for every method."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ifair.datasets.dataset import Dataset
from ifair.errors import IfairError

Positions = npt.NDArray[np.intp]


class Thirds(NamedTuple):
    """Positions of the records in each part: disjoint, sorted, together all records."""

    train: Positions
    validation: Positions
    test: Positions


def thirds(
    dataset: Dataset,
    seed: int = 0,
    *,
    stratify: bool | npt.ArrayLike = False,
    by_query: bool = False,
    by_id: bool = False,
) -> Thirds:
    """Split the records into three equal parts at random.

    The split depends on nothing but the number of records (and the strata or queries) and the seed, so that
    all methods see the same one.

    Parameters
    ----------
    dataset : Dataset
    seed : int, default=0
    stratify : bool or array-like of shape (n_records,), default=False
        True keeps the shares of group and outcome alike in all parts (for rankings, of the group only); an
        array keeps the shares of its values.
    by_query : bool, default=False
        Keep the records of a query together, for rankings: each part gets a third of the queries. Records in
        no query are split on their own.
    by_id : bool, default=False
        Keep the records of an id together, so that nobody who is in several rows is in several parts; of these the
        first one's stratum counts. Parts are then equal in the number of ids.

    Returns
    -------
    Thirds
        ``train``, ``validation`` and ``test``: arrays of positions for :meth:`Dataset.take`.

    Examples
    --------
    >>> from ifair.data import load_credit, thirds
    >>> credit = load_credit()
    >>> train, validation, test = (credit.take(rows) for rows in thirds(credit, seed=1))
    >>> len(train), len(validation), len(test)
    (334, 333, 333)
    """
    n_records = len(dataset)
    if by_id and dataset.ids is not None and dataset.ids.duplicated().any():
        if by_query:
            raise IfairError("a split is either by id or by query")
        return _split_by_id(dataset, dataset.ids, seed, stratify)
    rng = np.random.default_rng(seed)
    if by_query:
        if stratify is not False:
            raise IfairError("a split is either stratified or by query")
        if dataset.query is None:
            raise IfairError(f"{dataset.name} has no queries to split by")
        codes, queries = dataset.query.factorize()
        part = np.empty(n_records, dtype=np.intp)
        part[codes >= 0] = _deal(len(queries), rng)[codes[codes >= 0]]
        part[codes < 0] = _deal(int((codes < 0).sum()), rng)
    elif stratify is not False:
        strata = dataset.group.astype(np.intp) if stratify is True else np.asarray(stratify)
        target = dataset.target
        if stratify is True and dataset.query is None and target is not None and target.nunique() <= 2:
            strata = strata + 2 * target.factorize()[0]
        if strata.shape != (n_records,):
            raise IfairError(f"stratify must hold one value for each of the {n_records} records")
        order = np.lexsort((rng.random(n_records), np.unique(strata, return_inverse=True)[1]))
        # Dealt like cards, stratum after stratum: no part gets two records more of a stratum than another.
        part = np.empty(n_records, dtype=np.intp)
        part[order] = np.arange(n_records) % 3
    else:
        part = _deal(n_records, rng)
    return Thirds(*(np.flatnonzero(part == number) for number in range(3)))


def _split_by_id(dataset: Dataset, ids: pd.Series, seed: int, stratify: bool | npt.ArrayLike) -> Thirds:
    # Somebody without an id is nobody else.
    names = ids.astype(object).where(ids.notna(), pd.Series([object() for _ in ids], index=ids.index))
    codes, _ = names.factorize()
    firsts = np.unique(codes, return_index=True)[1]
    if len(firsts) < 3:
        raise IfairError(f"id column {ids.name!r} names {len(firsts)} people in all: three parts need three at least")
    strata = stratify if isinstance(stratify, bool) else np.asarray(stratify)[firsts]
    part = np.empty(len(firsts), dtype=np.intp)
    for number, rows in enumerate(thirds(dataset.take(firsts), seed, stratify=strata)):
        part[rows] = number
    return Thirds(*(np.flatnonzero(part[codes] == number) for number in range(3)))


def _deal(n_items: int, rng: np.random.Generator) -> Positions:
    """Give each item a part 0, 1 or 2 at random, in numbers that differ by one at most."""
    return rng.permutation(np.arange(n_items, dtype=np.intp) % 3)
