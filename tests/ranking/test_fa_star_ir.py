"""Re-ranking: against every permutation on small data, and what is promised for the odd cases."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.ranking import FAStarIR, ShortageWarning, fair_order, fair_scores, is_fair, minimum_counts


def best_by_enumeration(scores, codes, counts):
    """Of all orders that hold the minima, the one that is best at the first position, then the second, ..."""
    k = counts.shape[1]
    best = None
    for order in itertools.permutations(range(len(scores))):
        held = np.array([np.cumsum(codes[list(order)][:k] == g) for g in range(len(counts))])
        key = [(-scores[c], c) for c in order]
        if (held >= counts).all() and (best is None or key < best[0]):
            best = key, order
    return list(best[1]) if best else None


@pytest.mark.parametrize("n_groups", [1, 2])
def test_the_order_is_the_best_that_holds_the_minima_of_all_groups_in_time(rng, n_groups):
    tried = 0
    for _ in range(40):
        scores, codes = rng.integers(0, 4, 6).astype(float), rng.integers(-1, n_groups, 6)
        counts = (
            np.sort(rng.integers(0, 3, (2, 5)), axis=1) if n_groups == 2 else minimum_counts(6, [rng.uniform()], 0.3)
        )
        expected = best_by_enumeration(scores, codes, counts)
        if expected is not None:
            tried += 1
            assert fair_order(scores, codes, counts).tolist() == expected
    assert tried >= 5


rankings = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=40)


@given(rows=rankings, p=st.floats(0, 1), alpha=st.floats(0.02, 0.5))
def test_the_result_is_a_fair_permutation_with_falling_scores(rows, p, alpha):
    scores = np.array([score for score, _ in rows], dtype=float)
    protected = np.array([flag for _, flag in rows])
    result = FAStarIR(p=p, alpha=alpha, shortage="ignore").rank(scores, sensitive_features=protected)
    assert sorted(result.order) == list(range(len(rows)))
    assert result.rank[result.order].tolist() == list(range(1, len(rows) + 1))
    fair = result.scores[result.order]
    assert (np.diff(fair) <= 1e-12).all()
    assert fair.min() >= scores.min()
    assert fair.max() <= scores.max()
    assert result.satisfied[None] == is_fair(protected[result.order], p, alpha)
    for flag in (False, True):  # within a group, by score, ties as they came
        members = [c for c in result.order if protected[c] == flag]
        assert members == sorted(members, key=lambda c: (-scores[c], c))
    # Without a demand the order is a stable sort, and scores stay.
    result = FAStarIR(p=0.0).rank(scores, sensitive_features=protected)
    assert result.order.tolist() == np.argsort(-scores, kind="stable").tolist()
    np.testing.assert_array_equal(result.scores, scores)


def rank_by_the_text(scores, is_protected, counts):
    """The paper's words for one group: queues, and a placeholder at every choice that the minimum counts force.

    Returns the order, the scores in it, and whether a forced choice was the best of all that remained.
    """
    left = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    order, filled, best_anyway = [], [], False
    for minimum in counts:
        queue = [i for i in left if is_protected[i]]
        forced = sum(is_protected[i] for i in order) < minimum and len(queue) > 0
        chosen = queue[0] if forced else left[0]
        best_anyway |= forced and scores[chosen] == scores[left[0]]
        filled.append(np.nan if forced else scores[chosen])
        order.append(chosen)
        left.remove(chosen)
    known = np.flatnonzero(~np.isnan(filled))
    return order, np.interp(np.arange(len(filled)), known, np.array(filled)[known]) if len(known) else None, best_anyway


def test_scores_are_those_of_the_papers_text_unless_a_forced_choice_was_the_best_anyway(rng):
    differ = 0
    for _ in range(200):
        n = int(rng.integers(3, 15))
        scores, is_protected = rng.normal(size=n), rng.random(n) < rng.uniform(0.1, 0.9)
        counts = minimum_counts(n, [rng.uniform(0.1, 0.95)], 0.3)
        order, in_order, best_anyway = rank_by_the_text(scores, is_protected, counts[0])
        ours = fair_order(scores, np.where(is_protected, 0, -1), counts)
        assert ours.tolist() == order
        same = in_order is not None and np.allclose(fair_scores(scores, ours)[ours], in_order)
        assert same or best_anyway
        differ += not same
    assert 0 < differ < 100


@pytest.mark.parametrize(
    ("k", "p", "protected", "order", "scores"),
    [
        (2, 1.0, [0, 0, 1, 1], [2, 3, 0, 1], [4, 3, 4, 4]),
        (1, 1.0, [0, 0, 0, 1, 1], [3, 0, 1, 2, 4], [5, 4, 3, 5, 1]),  # after k by score
        (3, 0.6, [0, 0, 1], [0, 1, 2], [3, 2, 1]),
        (50, 0.6, [0, 0, 1], [0, 1, 2], [3, 2, 1]),  # more places than candidates: all of them
    ],
)
def test_small_rankings_are_those_found_by_hand(k, p, protected, order, scores):
    result = FAStarIR(k=k, p=p).rank(range(len(protected), 0, -1), sensitive_features=protected)
    assert result.order.tolist() == order
    np.testing.assert_array_equal(result.scores, scores)


def test_too_few_protected_candidates_are_all_used_and_reported():
    ranker = FAStarIR(p=0.9, alpha=0.1)
    arguments = {"scores": [5, 4, 3, 2, 1, 0], "sensitive_features": [0, 0, 0, 0, 0, 1]}
    with pytest.warns(ShortageWarning, match="too few protected"):
        result = ranker.rank(**arguments)
    assert result.satisfied == {None: False}
    assert result.order[np.argmax(minimum_counts(6, 0.9, 0.1) > 0)] == 5
    with pytest.raises(ValueError, match="too few"):
        ranker.set_params(shortage="raise").rank(**arguments)
    assert not ranker.set_params(shortage="ignore").rank(**arguments).satisfied[None]


def test_many_queries_are_ranked_one_by_one_also_of_frames(rng):
    n = 60
    scores, protected = rng.normal(size=n), rng.uniform(size=n) < 0.4
    query = rng.choice(["b", "a", "c"], n)
    ranker = FAStarIR(k=10, p=0.5, shortage="ignore")
    together = ranker.rank(scores, sensitive_features=protected, query=query)
    for name in "abc":
        rows = query == name
        alone = ranker.rank(scores[rows], sensitive_features=protected[rows])
        np.testing.assert_array_equal(together.rank[rows], alone.rank)
        np.testing.assert_array_equal(together.scores[rows], alone.scores)
        assert together.satisfied[name] == alone.satisfied[None]
    assert list(together.satisfied) == list(dict.fromkeys(query.tolist()))
    assert "3 ranking(s)" in str(together)
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame({"score": scores, "sex": protected, "query": query})
        found = ranker.rank(table["score"], sensitive_features=table["sex"], query=table["query"])
        np.testing.assert_array_equal(found.order, together.order)


def test_several_groups_get_their_share():
    groups = np.array(["a"] * 30 + ["b"] * 15 + ["c"] * 15)
    p = {"b": 0.3, "c": 0.2}
    result = FAStarIR(k=30, p=p).rank(np.arange(60)[::-1], sensitive_features=groups)
    assert result.satisfied[None]
    assert is_fair(groups[result.order][:30], p)
    assert not is_fair(groups[:30], p)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1, np.nan]}, "missing"),
        ({"scores": [1, 2, 3]}, "entries"),
        ({"sensitive_features": ["m", "f"]}, "no candidate is True"),
        ({"sensitive_features": [None, "f"]}, "no value for the record at index 0"),
        ({"query": [1]}, "entries"),
    ],
)
def test_wrong_input_is_refused_with_the_reason(change, message):
    arguments = {"scores": [1, 2], "sensitive_features": [True, False], **change}
    with pytest.raises(ValueError, match=message):
        FAStarIR().rank(**arguments)
