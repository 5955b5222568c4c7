"""Comparisons over splits, against scipy and by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

from ifair.experiments.statistics import compare, holm, spread


def test_the_spread_is_the_sample_standard_deviation(rng):
    values = rng.normal(size=5)
    assert spread(values) == {"mean": pytest.approx(values.mean()), "sd": pytest.approx(values.std(ddof=1)), "n": 5}
    assert spread([0.5])["sd"] == 0.0


def test_comparisons_are_paired_t_tests(rng):
    ours, theirs = rng.normal(size=6), rng.normal(size=6)
    result = compare(ours, {"rival": theirs})["rival"]
    assert result["p"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
    assert result["adjusted"] == result["p"]
    assert result["difference"] == pytest.approx(np.mean(ours - theirs))


def test_equal_values_claim_nothing():
    assert compare([0.5, 0.6], {"twin": [0.5, 0.6]})["twin"]["p"] == 1.0


def test_holms_adjustment_is_monotone_and_never_below_the_p_value(rng):
    p = {str(i): float(v) for i, v in enumerate(rng.uniform(size=8))}
    adjusted = holm(p)
    order = sorted(p, key=p.get)
    assert all(adjusted[name] >= p[name] for name in p)
    assert all(adjusted[a] <= adjusted[b] for a, b in itertools.pairwise(order))
    assert adjusted[order[0]] == pytest.approx(min(1.0, 8 * p[order[0]]))
