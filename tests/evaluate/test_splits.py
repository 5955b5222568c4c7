"""Splits: thirds encoded alike, for a table of one's own and for the paper."""

import numpy as np
from refusals import must_raise

from ifair.data import DataError, load_credit
from ifair.encode import Encoder
from ifair.errors import IfairError
from ifair.evaluate.splits import (
    comparable_rows,
    limit_rows,
    reuse_records,
    split_candidates,
    split_dataset,
    split_table,
)

from samples import applicants, dataset


def test_a_query_of_one_candidate_is_left_out_of_every_part():
    frame = applicants()
    frame.loc[[3, 7], "team"] = ["alone", "lonely"]
    frame.loc[11, "team"] = None
    people = dataset("ranking", frame=frame)
    assert set(range(240)) - set(comparable_rows(people)) == {3, 7, 11}
    parts = split_table(people, 0)
    used = np.concatenate([part.rows for part in (parts.train, parts.validation, parts.test)])
    assert sorted(used) == sorted(comparable_rows(people))
    # With a query of one there would be nobody to compare with, and no neighbours for all the others.
    assert parts.test.neighbours.shape[1] == 10


def test_too_few_queries_of_two_or_more_and_an_outcome_that_three_parts_cannot_share_are_refused():
    lonely = applicants().assign(team=["a", "b"] * 2 + [f"alone {i}" for i in range(236)])
    must_raise(DataError, "too small", split_table, dataset("ranking", frame=lonely), 0)
    rare = dataset(frame=applicants(60).assign(hired=[1] + [0] * 59))
    must_raise(IfairError, r"of 60 people there are 59 with 0, 1 with 1 in 'hired'", split_table, rare, 0)


def test_split_candidates_of_a_query_are_in_all_parts_and_rankings_that_become_too_short_are_none():
    people = dataset("ranking")
    every, long = (split_candidates(people, 0, encoder=Encoder(), smallest_query=least) for least in (1, 12))
    parts = [(split.train, split.validation, split.test) for split in (every, long)]
    assert sorted(np.concatenate([part.rows for part in parts[1]])) == list(range(240))
    assert set.intersection(*(set(part.query) for part in parts[0])) == set(people.query)
    for part, kept in zip(*parts):
        sizes, left = part.records.query.value_counts(), kept.records.query.dropna()
        assert set(left) == set(sizes.index[sizes >= 12])
    assert len(set(people.query)) > len(set(long.test.records.query.dropna())) > 0


def test_rows_say_where_people_stand_in_the_table():
    parts = split_table(dataset(), 0, most_people=40)
    for part in (parts.train, parts.validation, parts.test):
        heights = applicants()["height"].to_numpy()[part.rows]
        np.testing.assert_array_equal(part.records.frame["height"].to_numpy(), heights)
    assert len(parts.validation) == len(parts.test) == 40
    assert len(parts.train) == 80
    reused = reuse_records(dataset(), encoder=Encoder())
    assert reused.train is reused.test
    assert len(reused.test) == 240


def test_training_records_are_limited_before_the_encoder_learns_from_them():
    credit = load_credit()
    parts = split_dataset(credit, 0, encoder=Encoder(missing="ignore"), most_training=50)
    whole = split_dataset(credit, 0, encoder=Encoder(missing="ignore"))
    assert len(parts.train) == 50
    assert set(parts.train.rows) <= set(whole.train.rows)
    np.testing.assert_array_equal(parts.test.rows, whole.test.rows)
    assert np.abs(parts.train.X.to_numpy().mean(axis=0)).max() < 1e-9


def test_limits_take_whole_queries_and_at_least_so_many():
    people = dataset("ranking")
    rows = limit_rows(people, np.arange(240), 100, 0)
    taken = people.query.iloc[rows]
    assert 0 < len(rows) <= 100
    assert (taken.value_counts() == people.query.value_counts()[taken.unique()]).all()
    assert people.query.iloc[limit_rows(people, np.arange(240), 1, 0, least_queries=3)].nunique() == 3
