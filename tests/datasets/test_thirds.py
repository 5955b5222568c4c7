"""Thirds: disjoint, seeded, the same for every method; stratified or by query on request."""

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from refusals import must_raise

from ifair.data import DataError, Dataset, load_credit, make_synthetic, thirds


def ranking(sizes, unranked=0):
    """A ranking dataset with queries of the given sizes."""
    names = [f"q{i}" for i, size in enumerate(sizes) for _ in range(size)] + [None] * unranked
    n = len(names)
    return Dataset(
        name="ranking",
        frame=pd.DataFrame({"x": np.arange(n), "sex": pd.Categorical(["f", "m"] * (n // 2) + ["f"] * (n % 2))}),
        target=pd.Series(np.arange(n, dtype=float), name="score"),
        protected=("sex",),
        group=np.arange(n) % 2 == 0,
        query=pd.Series(pd.Categorical(names), name="query"),
    )


@given(n=st.integers(2, 200), seed=st.integers(0, 10_000), stratify=st.booleans())
def test_the_parts_are_equal_disjoint_and_complete(n, seed, stratify):
    parts = thirds(make_synthetic(n_records=n), seed, stratify=stratify)
    assert sorted(np.concatenate(parts)) == list(range(n))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_same_seed_gives_the_same_split_as_in_earlier_releases_and_another_another():
    first, again, other = (thirds(load_credit(), 3), thirds(load_credit(recipe="plain"), 3), thirds(load_credit(), 4))
    for one, two in zip(first, again):
        np.testing.assert_array_equal(one, two)
    assert len(np.intersect1d(first.test, other.test)) < len(first.test)
    # Results are compared across releases: a split must not change under them.
    assert thirds(make_synthetic(n_records=12), 0).test.tolist() == [1, 4, 5, 10]


def count_members(members, *arguments, **options):
    return [members[part].sum() for part in thirds(*arguments, **options)]


def test_stratified_parts_have_the_same_share_of_every_kind_of_given_strata_and_of_the_group_in_rankings():
    credit = load_credit()
    housing = credit.frame["housing"].astype(str).to_numpy()
    counts = [count_members(housing == "for free", credit, 0, stratify=housing)]
    for kind in (credit.group, ~credit.group):
        for outcome in (0, 1):
            members = kind & (credit.target == outcome).to_numpy()
            counts.append(count_members(members, credit, 1, stratify=True))
    assert all(max(one) - min(one) <= 1 for one in counts)
    data = ranking([10] * 6)
    assert count_members(data.group, data, 0, stratify=True) == [10, 10, 10]


@given(sizes=st.lists(st.integers(1, 4), min_size=6, max_size=40), seed=st.integers(0, 100), stratify=st.booleans())
def test_by_id_nobody_is_in_two_parts(sizes, seed, stratify):
    people = make_synthetic(n_records=sum(sizes))
    ids = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    people = replace(people, ids=pd.Series(ids, name="person"))
    parts = thirds(people, seed, stratify=stratify, by_id=True)
    assert sorted(np.concatenate(parts)) == list(range(len(people)))
    counts = [len(set(ids[part])) for part in parts]
    assert sum(counts) == len(sizes)
    assert max(counts) - min(counts) <= 1


def test_ids_that_are_all_different_or_missing_change_nothing():
    credit = load_credit()
    for ids in (np.arange(1000), [None] * 1000):
        named = replace(credit, ids=pd.Series(ids, name="person"))
        for one, other in zip(thirds(credit, 5, stratify=True), thirds(named, 5, stratify=True, by_id=True)):
            np.testing.assert_array_equal(one, other)


def test_fewer_ids_than_parts_are_refused():
    named = replace(load_credit(), ids=pd.Series(np.arange(1000) % 2, name="person"))
    must_raise(DataError, "id column 'person' names 2 people in all", thirds, named, by_id=True)


def test_by_query_no_query_is_torn_apart():
    data = ranking([5, 7, 1, 12, 3, 9, 4], unranked=10)
    parts = thirds(data, 0, by_query=True)
    assert sorted(np.concatenate(parts)) == list(range(len(data)))
    queries = [set(data.query.iloc[part].dropna()) for part in parts]
    assert sum(map(len, queries)) == 7
    assert sorted(map(len, queries)) == [2, 2, 3]
    assert [data.query.iloc[part].isna().sum() for part in parts] == [4, 3, 3]


def test_a_part_is_a_dataset_of_its_own_and_impossible_ones_are_refused():
    credit = load_credit()
    rows = thirds(credit, 0).test
    part = credit.take(rows)
    assert len(part) == len(rows) == len(part.target) == len(part.group)
    assert part.frame.iloc[0].equals(credit.frame.iloc[rows[0]].rename(0))
    assert part.protected == credit.protected
    assert len(credit.take(credit.group)) == 399
    must_raise(DataError, "mask of 3 values", credit.take, [True, False, True])
    must_raise(DataError, "no queries", thirds, credit, by_query=True)
    must_raise(DataError, "either stratified or by query", thirds, ranking([3, 3, 3]), by_query=True, stratify=True)
    must_raise(DataError, "one value for each of the 1000", thirds, credit, stratify=[1, 2, 3])
