"""FA*IR's tables: published ones, exact ones found by brute force, and enumeration of every ranking."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ifair.ranking import adjusted_alpha, failure_probability, minimum_counts

ASSETS = Path(__file__).parent / "assets"
EXACT = json.loads((ASSETS / "exact_tables.json").read_text(encoding="utf-8"))
PEER = json.loads((ASSETS / "fairsearchcore_1_0_4.json").read_text(encoding="utf-8"))


def name(case):
    return f"k{case['k']}-p{case['p']}-alpha{case['alpha']}"


def failure_by_enumeration(counts, shares):
    """Add up the probabilities of all sequences of groups that fall below a minimum."""
    counts = np.atleast_2d(counts)
    chances = [*shares, 1 - sum(shares)]
    total = 0.0
    for sequence in itertools.product(range(len(chances)), repeat=counts.shape[1]):
        held = np.array([np.cumsum(np.array(sequence) == g) for g in range(len(shares))])
        if (held < counts).any():
            total += np.prod([chances[g] for g in sequence])
    return total


@pytest.mark.parametrize("case", EXACT, ids=name)
def test_tables_equal_the_exact_ones(case):
    k, p, alpha = case["k"], case["p"], case["alpha"]
    np.testing.assert_array_equal(minimum_counts(k, p, alpha, adjust=False), case["unadjusted"])
    adjusted = minimum_counts(k, p, alpha)
    np.testing.assert_array_equal(adjusted, case["adjusted"])
    assert failure_probability(adjusted, p) == pytest.approx(case["failure"], abs=1e-12)


@pytest.mark.parametrize(
    ("p", "printed"),
    [
        (0.1, "0 0 0 0 0 0 0 0 0 0 0 0"),
        (0.3, "0 0 0 0 0 0 1 1 1 1 1 2"),
        (0.5, "0 0 0 1 1 1 2 2 3 3 3 4"),
        (0.7, "0 1 1 2 2 3 3 4 5 5 6 6"),
    ],
)
def test_tables_equal_those_printed_in_the_fa_star_ir_paper(p, printed):
    assert minimum_counts(12, p, 0.1, adjust=False).tolist() == [int(m) for m in printed.split()]


def test_tables_equal_fairsearchcore_wherever_it_keeps_the_level_and_nowhere_else():
    equal = [minimum_counts(c["k"], c["p"], c["alpha"]).tolist() == c["adjusted"] for c in PEER]
    keeps = [failure_probability(c["adjusted"], c["p"]) <= c["alpha"] for c in PEER]
    assert equal == keeps
    assert (sum(equal), len(equal)) == (32, 72)


ONE_GROUP = [(k, (p,)) for k in (1, 4, 9) for p in (0.0, 0.25, 0.5, 0.9, 1.0)]


@pytest.mark.parametrize(("k", "shares"), [*ONE_GROUP, (6, (0.3, 0.25)), (6, (0.3, 0.2, 0.1))])
def test_failure_probability_is_that_of_all_sequences(k, shares, rng):
    counts = np.minimum(np.sort(rng.integers(0, k, (len(shares), k)), axis=1), np.arange(1, k + 1))
    expected = failure_by_enumeration(counts, shares)
    assert failure_probability(counts, shares) == pytest.approx(expected, abs=1e-13)
    assert len(shares) > 1 or failure_probability(counts[0], shares[0]) == pytest.approx(expected, abs=1e-13)


levels = st.floats(0.01, 0.6)


@given(k=st.integers(1, 12), p=st.floats(0.02, 0.98), alpha=levels)
def test_no_larger_table_of_the_family_keeps_the_level(k, p, alpha):
    table = minimum_counts(k, p, alpha)
    assert failure_probability(table, p) <= alpha * (1 + 1e-8)
    values = np.unique([binom.cdf(m, i, p) for i in range(1, k + 1) for m in range(i)])
    for a in values[(values > 0) & (values < 1)]:
        candidate = minimum_counts(k, p, a, adjust=False)
        if (candidate >= table).all() and (candidate > table).any():
            assert failure_probability(candidate, p) > alpha * (1 - 1e-8)


@given(k=st.integers(1, 60), p=st.floats(0, 1), alpha=levels)
def test_tables_grow_by_at_most_one_per_position_and_one_group_may_be_a_list(k, p, alpha):
    np.testing.assert_array_equal(minimum_counts(k, [p], alpha), minimum_counts(k, p, alpha)[None])
    for adjust in (True, False):
        steps = np.diff(minimum_counts(k, p, alpha, adjust), prepend=0)
        assert ((steps == 0) | (steps == 1)).all()


@given(k=st.integers(1, 80), p=st.floats(0, 1), alpha=levels)
def test_adjusted_alpha_gives_the_adjusted_table(k, p, alpha):
    a = adjusted_alpha(k, p, alpha)
    assert a <= alpha
    np.testing.assert_array_equal(minimum_counts(k, p, a, adjust=False), minimum_counts(k, p, alpha))


@given(k=st.integers(1, 20), a=st.floats(0.01, 0.45), b=st.floats(0.01, 0.45), alpha=levels)
def test_several_groups_keep_the_level_together_and_each_group_its_order(k, a, b, alpha):
    for adjust in (True, "bonferroni"):
        joint, swapped = (minimum_counts(k, shares, alpha, adjust) for shares in ([a, b], [b, a]))
        assert failure_probability(joint, [a, b]) <= alpha * (1 + 1e-8)
        np.testing.assert_array_equal(joint, swapped[::-1])


def test_a_joint_distribution_too_large_to_hold_is_refused_with_advice():
    with pytest.raises(ValueError, match="bonferroni"):
        minimum_counts(1500, [0.3, 0.3, 0.3], 0.1)
    assert minimum_counts(1500, [0.3, 0.3, 0.3], 0.1, adjust="bonferroni").shape == (3, 1500)


@pytest.mark.parametrize(
    ("arguments", "table"),
    [
        # P(Binomial(1, 0.9) <= 0) is 0.1 exactly, 1 - 0.9 in floating point is a little less: ties demand more.
        ((1, 0.9, 0.1, False), [1]),
        ((1, 0.9, 1 - 0.9, False), [1]),
        # A table that fails with exactly alpha keeps the level.
        ((4, 0.5, 0.0625), [0, 0, 0, 1]),
        ((5, 0.0, 0.1), [0, 0, 0, 0, 0]),
        ((5, 1.0, 0.1), [1, 2, 3, 4, 5]),
        ((0, 0.5, 0.1), []),
    ],
)
def test_ties_and_extremes_have_the_tables_of_their_definition(arguments, table):
    assert minimum_counts(*arguments).tolist() == table


@pytest.mark.parametrize(
    "arguments",
    [(-1, 0.5, 0.1), (2.5, 0.5, 0.1), (5, 1.1, 0.1), (5, -0.1, 0.1), (5, [0.6, 0.6], 0.1), (5, float("nan"), 0.1)]
    + [(5, 0.5, alpha) for alpha in (0, 1, -1, float("nan"))]
    + [(5, 0.5, 0.1, "exactly")],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ValueError):
        minimum_counts(*arguments)


def test_nothing_fails_where_nothing_is_demanded_or_all_are_protected_and_counts_must_be_a_table():
    assert failure_probability([1, 2, 3], 1.0) == 0
    assert failure_probability([1], 0.0) == 1
    assert failure_probability([], 0.5) == 0
    for counts in ([[0, 1]], [0.5, 1], ["a"]):
        with pytest.raises(ValueError):
            failure_probability(counts, 0.5)


@pytest.mark.parametrize("share", [0.0, 0.15, 0.29, 0.4, 1.0])
def test_without_significance_the_minimum_is_the_plain_share_rounded_down(share):
    exact = [int(Fraction(str(share)) * length) for length in range(1, 201)]
    assert minimum_counts(200, share, None).tolist() == exact
    assert minimum_counts(200, [share, 0.0], None).tolist() == [exact, [0] * 200]
