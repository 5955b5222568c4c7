"""A weight counts people: a measure with weights is the measure of the table with its rows repeated."""

import numpy as np
import pytest
from refusals import must_raise
from sklearn.exceptions import UndefinedMetricWarning

from ifair import metrics
from ifair.errors import IfairError

RNG = np.random.default_rng(7)
TRUTH, DECIDED, TIMES = RNG.integers(0, 2, 60), RNG.integers(0, 2, 60), RNG.integers(0, 4, 60)
SCORES, GROUP, QUERY = RNG.random(60).round(1), RNG.choice(["a", "b", "c"], 60), RNG.integers(0, 3, 60)
OF_GROUPS = [
    metrics.statistical_parity_difference,
    metrics.statistical_parity,
    metrics.equal_opportunity_difference,
    metrics.equal_opportunity,
    metrics.equalised_odds_difference,
    metrics.equalised_odds,
]
OF_ALL = [metrics.accuracy, metrics.hard_auc, metrics.true_positive_rate, metrics.false_positive_rate]


def repeat(values):
    return np.repeat(values, TIMES)


@pytest.mark.parametrize("measure", [*OF_ALL, metrics.selection_rate, metrics.auc])
def test_a_weighted_measure_of_all_people_is_that_of_repeated_rows(measure):
    outcome = SCORES if measure is metrics.auc else DECIDED
    found = measure(TRUTH, outcome, sample_weight=TIMES)
    assert found == pytest.approx(measure(repeat(TRUTH), repeat(outcome)), abs=1e-12)
    assert found != pytest.approx(measure(TRUTH, outcome), abs=1e-4)
    assert measure(TRUTH, outcome, sample_weight=np.full(60, 2.5)) == pytest.approx(measure(TRUTH, outcome), abs=1e-12)


@pytest.mark.parametrize("protected", [None, "b"])
@pytest.mark.parametrize("measure", OF_GROUPS)
def test_a_weighted_comparison_of_groups_is_that_of_repeated_rows(measure, protected):
    found = measure(TRUTH, DECIDED, sensitive_features=GROUP, protected=protected, sample_weight=TIMES)
    plain = measure(repeat(TRUTH), repeat(DECIDED), sensitive_features=repeat(GROUP), protected=protected)
    assert found == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("query", [None, QUERY])
def test_weighted_consistency_averages_people_as_often_as_they_count(query):
    records = RNG.normal(size=(60, 2))
    person = metrics.consistency_per_person(DECIDED, records, k=3, query=query)
    parts = [np.ones(60, dtype=bool)] if query is None else [query == name for name in range(3)]
    expected = np.mean([np.repeat(person[part], TIMES[part]).mean() for part in parts])
    found = metrics.consistency(DECIDED, records, k=3, query=query, sample_weight=TIMES)
    assert found == pytest.approx(expected, abs=1e-12)


def copies_with_the_same_neighbours(near):
    """Neighbours of people who are scored as often as they count: the first copy of everybody's neighbours."""
    rows = np.repeat(np.arange(60), TIMES)
    first = np.full(60, -1)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    return np.where(near[rows] < 0, -1, first[near[rows]])


@pytest.mark.parametrize("query", [None, QUERY])
def test_weighted_corrected_measures_are_those_of_people_scored_again_against_the_same_neighbours(query):
    # Only people who count have a copy to be compared with.
    near = metrics.nearest_neighbours(RNG.normal(size=(60, 2)), 4, query=query)
    near = np.where(TIMES[near] == 0, -1, near)
    again = {"neighbours": copies_with_the_same_neighbours(near), "query": None if query is None else repeat(query)}
    options = {"neighbours": near, "query": query, "sample_weight": TIMES}
    corrected = metrics.corrected_consistency(DECIDED, **options)
    assert corrected == pytest.approx(metrics.corrected_consistency(repeat(DECIDED), **again), abs=1e-12)
    ranks = metrics.rank_consistency(SCORES, **options)
    assert ranks == pytest.approx(metrics.rank_consistency(repeat(SCORES), **again), abs=1e-12)
    assert ranks != pytest.approx(metrics.rank_consistency(SCORES, neighbours=near, query=query), abs=1e-4)


@pytest.mark.parametrize("selected", [3, 20, 41, 70])
def test_weighted_consistency_at_a_rate_selects_that_share_of_the_people(selected):
    near = metrics.nearest_neighbours(RNG.normal(size=(60, 2)), 4)
    near = np.where(TIMES[near] == 0, -1, near)
    rate = selected / TIMES.sum()
    expected = metrics.consistency_at_rate(repeat(SCORES), neighbours=copies_with_the_same_neighbours(near), rate=rate)
    found = metrics.consistency_at_rate(SCORES, neighbours=near, rate=rate, sample_weight=TIMES)
    assert found == pytest.approx(expected, abs=1e-12)


def test_weights_that_are_shares_of_one_are_refused_where_people_take_places():
    options = {
        "neighbours": metrics.nearest_neighbours(RNG.normal(size=(60, 2)), 4),
        "sample_weight": np.full(60, 1 / 60),
    }
    must_raise(IfairError, "these stand for 1 together", metrics.rank_consistency, SCORES, **options)
    must_raise(IfairError, "these stand for 1 together", metrics.consistency_at_rate, SCORES, rate=0.25, **options)


def test_a_group_without_weight_has_nobody_and_bad_weights_are_refused():
    rest = {"sensitive_features": GROUP, "sample_weight": (GROUP != "b").astype(float)}
    with pytest.warns(UndefinedMetricWarning, match="group 'b' has no member"):
        assert np.isnan(metrics.statistical_parity(None, DECIDED, **rest))
    with pytest.warns(UndefinedMetricWarning, match="both classes"):
        assert np.isnan(metrics.auc(TRUTH, SCORES, sample_weight=TRUTH))
    for wrong, message in ((-TIMES, "must not be negative"), (0 * TIMES, "nor zero for everybody"), ([1], "1 entries")):
        must_raise(IfairError, message, metrics.accuracy, TRUTH, DECIDED, sample_weight=wrong)
