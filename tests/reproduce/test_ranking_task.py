"""Ranking, the weights of its score, and FA*IR on top: measured over queries, on test only."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reproduce.made_up import GRID, brief

from ifair.evaluate.measures import paper_measures, ranking_measures
from ifair.evaluate.training import POST_PROCESSING
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.experiments.parity import enforce_parity
from ifair.reproduce.experiments.ranking_task import measure_rankings, measure_variants, prepare_variants
from ifair.reproduce.experiments.sensitivity import measure_weights

from samples import load_job_searches

METHODS = ["chance", "full", "masked", "svd", "svd-masked", "ifair-b", "ifair-frozen", "fair"]


@pytest.fixture
def test_part(job_searches):
    return prepare(Case("xing", 0)).test


def rank(method, dataset="xing", seed=0, **fields):
    """The rows of a method on a split."""
    return measure_rankings(brief(dataset, method, seed, **fields))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_measured_at_every_setting(job_searches, method):
    rows = rank(method)
    assert json.loads(json.dumps(rows)) == rows
    assert len(rows) == {"ifair-b": 2, "ifair-frozen": 2, "fair": 3}.get(method, 1)
    for row in rows:
        for part in ("validation", "test"):
            assert {"MAP", "KT", "yNN", "yNN_of_all", "percent_protected"} <= set(row[part])
            assert all(0 <= row[part][name] <= 1 for name in ("MAP", "yNN", "yNN_of_all"))
            assert 0 <= row[part]["percent_protected"] <= 100


def test_regression_on_masked_data_finds_a_score_that_is_linear_in_it(job_searches):
    (row,) = rank("masked", seed=1)
    assert row["test"]["MAP"] == pytest.approx(1)
    assert row["test"]["KT"] == pytest.approx(1)


def test_chance_is_what_random_orders_reach_on_average(job_searches, rng):
    case = Case("xing", 0, method="chance")
    (row,) = measure_rankings(case)
    part = prepare(case).test
    drawn = [ranking_measures(part, rng.normal(size=len(part))) for _ in range(100)]
    for name in ("MAP", "percent_protected", "KT"):
        values = [one[name] for one in drawn]
        assert row["test"][name] == pytest.approx(np.mean(values), abs=4 * np.std(values) / 10)


def test_variants_of_the_score_are_measured_as_if_each_were_alone(job_searches):
    case = brief("xing", "ifair-b")
    variants = [{"weights": [1.0, 0.0, 0.0]}, {"weights": [0.0, 0.5, 1.0]}]
    together = measure_variants(case, prepare_variants(case, variants))
    assert together[0] != together[1]
    for variant, rows in zip(variants, together):
        assert rows == measure_rankings(replace(case, options=variant))


def test_variants_with_other_queries_have_the_same_of_some_records(made_up_data):
    def load_with_queries(name, *, by="jobs", **options):
        jobs = load_job_searches(name, **options)
        halves = pd.Series(np.where(np.arange(len(jobs)) % 2, "odd", "even"), dtype="category")
        return replace(jobs, query=halves) if by == "halves" else jobs

    with made_up_data() as patched:
        patched.setattr("ifair.reproduce.case.load", load_with_queries)
        some = Case("xing", 0, max_records=90, held_out="nothing")
        first, other = prepare_variants(some, [{}, {"by": "halves"}])
        assert 30 < len(first.test) == len(other.test) <= 90
        pd.testing.assert_frame_equal(first.test.records.frame, other.test.records.frame)
        assert set(other.test.records.query) == {"odd", "even"}


def test_significance_that_is_not_corrected_asks_for_no_fewer_protected_people(job_searches):
    rows = rank("fair", grid={"p": [0.5, 0.6, 0.9]})
    shares = {(r["setting"]["p"], r["setting"].get("adjust", True)): r["test"]["percent_protected"] for r in rows}
    assert len(shares) == 6
    assert all(shares[p, False] >= shares[p, True] for p in (0.5, 0.6, 0.9))
    assert shares[0.9, False] > shares[0.9, True]


def test_records_in_no_query_are_neighbours_and_not_ranked(test_part):
    rows = np.concatenate([rows for rows, _ in test_part.rankings])
    assert 0 < len(test_part.y) - len(rows) < 5
    assert len(np.unique(rows)) == len(rows)


def test_equal_scores_tell_nobody_apart_and_the_scale_of_scores_does_not_matter(test_part, rng):
    measures = ranking_measures(test_part, np.zeros(len(test_part.y)))
    assert (measures["yNN"], measures["yNN_of_all"], measures["KT"]) == (1, 1, 0)
    scores = rng.normal(size=len(test_part.y))
    assert ranking_measures(test_part, scores) == pytest.approx(ranking_measures(test_part, 7 + 3 * scores))


def test_one_extreme_score_hides_differences_only_across_queries(test_part, rng):
    scores = rng.normal(size=len(test_part.y))
    before = ranking_measures(test_part, scores)
    (first, *_), _ = test_part.rankings[0]
    scores[first] = 1000
    after = ranking_measures(test_part, scores)
    assert before["yNN_of_all"] < 0.85
    assert after["yNN_of_all"] > 0.9
    assert after["yNN"] < 0.85


def test_fair_rankings_protect_more_the_more_is_asked_for(test_part):
    rerank = POST_PROCESSING["fa-star-ir"]
    plain = ranking_measures(test_part, test_part.y)
    asked = [paper_measures(test_part, rerank(test_part.y, test_part, "ranking", p=p)) for p in (0.0, 0.5, 1.0)]
    assert asked[0].items() >= plain.items()
    shares = [one["percent_protected"] for one in asked]
    assert shares == sorted(shares)
    assert asked[2]["MAP"] < 1


def test_parity_is_enforced_on_the_chosen_setting(job_searches):
    case = brief("xing", "ifair-b")
    for row in measure_rankings(case):
        found = enforce_parity(replace(case, setting=row["setting"]))
        assert [one["p"] for one in found["rows"]] == GRID["p"]
        assert found["without"] == row["test"]


def test_the_weights_change_who_deserves_the_first_places(job_searches):
    found = measure_weights(brief("xing", "ifair-b"))
    assert json.loads(json.dumps(found)) == found
    assert len({row["base_rate"] for row in found}) > 1
    assert all({"test", "validation", "setting"} <= set(row) for rows in found for row in rows["rows"])


@pytest.mark.data
def test_masked_data_on_xing_ranks_as_in_the_paper(real_data):
    (row,) = rank("masked")
    assert row["test"]["MAP"] == pytest.approx(1)
    assert row["test"]["yNN"] == pytest.approx(0.85, abs=0.05)


@pytest.mark.slow
@pytest.mark.data
def test_airbnb_with_listings_in_no_query_is_ranked(real_data):
    rows = rank("fair", "airbnb", max_training=300)
    assert 0.5 < rows[0]["test"]["MAP"] < 1
