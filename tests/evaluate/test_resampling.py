"""One set of resamples for all measures: what it gives agrees with the public metrics and with plain loops."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from ifair import metrics
from ifair.evaluate.judgement import Judgement, brief_measures
from ifair.evaluate.resampling import Resamples
from ifair.evaluate.splits import split_table
from ifair.evaluate.statistics import count_draws
from ifair.evaluate.training import Outcome

from samples import dataset


def judgement(task, n=30, scores=None):
    parts = split_table(dataset(task), 0)
    drawn = np.random.default_rng(1).random(len(parts.test)).round(2) if scores is None else scores
    outcome = Outcome(drawn, (drawn > 0.5).astype(int) if task == "classification" else drawn)
    return Judgement(parts.test, outcome, parts, n), drawn


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_estimates_are_those_of_the_public_metrics(task):
    judge, scores = judgement(task)
    part, found = judge.part, judge.measures()
    peers = {"neighbours": part.neighbours, "query": part.query}
    assert found["ranks"].estimate == pytest.approx(metrics.rank_consistency(scores, **peers))
    expected = {
        "classification": lambda: metrics.auc(part.y, scores),
        "regression": lambda: metrics.kendall_tau(part.y, scores),
        "ranking": lambda: metrics.mean_average_precision(part.y, scores, query=part.query),
    }[task]()
    assert found["utility"].estimate == pytest.approx(expected)
    if task != "classification":
        return
    decisions = scores > 0.5
    assert found["yNN"].estimate == pytest.approx(metrics.consistency(decisions.astype(int), kind="label", **peers))
    assert found["corrected"].estimate == pytest.approx(metrics.corrected_consistency(decisions, **peers))
    assert found["matched"].estimate == pytest.approx(metrics.consistency_at_rate(scores, rate=part.y.mean(), **peers))
    assert found["accuracy"].estimate == pytest.approx((decisions == part.y).mean())


def test_people_who_stand_for_several_are_chosen_by_as_they_are_judged_by_pairs_weighted_by_both():
    people = dataset()
    parts = split_table(replace(people, weight=pd.Series(np.arange(len(people)) % 3 + 0.1)), 0)
    part, scores = parts.validation, np.random.default_rng(1).random(len(parts.validation))
    found = brief_measures(part, Outcome(scores, (scores > 0.5).astype(int)), parts)
    peers = [(i, [j for j in near if j >= 0]) for i, near in enumerate(part.neighbours)]
    pairs = [(i, j, part.weight[i] * part.weight[j] / len(near)) for i, near in peers for j in near]
    alike = sum(w * ((scores[i] > 0.5) == (scores[j] > 0.5)) for i, j, w in pairs) / sum(w for *_, w in pairs)
    assert found["yNN"] == pytest.approx(alike, abs=1e-5)
    graded = Judgement(part, Outcome(scores, (scores > 0.5).astype(int)), parts, 0).graders({})["similarity"]
    assert graded == {name: found[name] for name in ("ranks", "corrected")}
    # Where everybody is decided about alike, that is worth nothing.
    constant = Outcome(scores, np.ones(len(part), dtype=int))
    assert brief_measures(part, constant, parts)["corrected"] == 0


def test_intervals_are_those_of_the_public_bootstrap():
    judge, scores = judgement("classification")
    part, found = judge.part, judge.describe(judge.measures())
    one = metrics.bootstrap(metrics.auc, part.y, scores, n_resamples=30)
    assert (found["utility"]["low"], found["utility"]["high"]) == pytest.approx((one.low, one.high), rel=1e-5)
    two = metrics.consistency_interval(
        (scores > 0.5).astype(int), kind="label", neighbours=part.neighbours, n_resamples=30
    )
    assert (found["yNN"]["low"], found["yNN"]["high"]) == pytest.approx((two.low, two.high), rel=1e-5)
    # Of rankings whole queries are drawn.
    judge, scores = judgement("ranking")
    one = metrics.bootstrap(
        metrics.mean_average_precision, judge.part.y, scores, query=judge.part.query, n_resamples=30
    )
    found = judge.measures()["utility"].describe()
    assert (found["low"], found["high"]) == pytest.approx((one.low, one.high), rel=1e-5)


def test_means_follow_how_often_people_are_drawn_and_those_of_shares_have_exact_intervals(rng):
    part = judgement("classification")[0].part
    values, who = rng.normal(size=len(part)), rng.random(len(part)) < 0.3
    draws, drawn = Resamples(part, 500), count_draws(len(part), None, 500)
    assert (drawn.sum(axis=1) == len(part)).all()
    for counted in (None, who):
        found, kept = draws.average(values, counted), slice(None) if counted is None else counted
        assert found.estimate == pytest.approx(values[kept].mean())
        for b in range(3):
            people = np.repeat(values[kept], drawn[b, kept].astype(int))
            assert found.drawn[b] == pytest.approx(people.mean())
        error = values[kept].std() / np.sqrt(len(values[kept]))
        ends = found.describe()["low"], found.describe()["high"]
        assert ends == pytest.approx((found.estimate - 1.96 * error, found.estimate + 1.96 * error), abs=0.3 * error)
    assert np.isnan(draws.average(values, np.zeros(len(part), dtype=bool)).estimate)
    for hits in (0, 1, len(part)):
        expected = binomtest(hits, len(part)).proportion_ci(0.95, method="exact")
        found = draws.average(np.repeat([1, 0], [hits, len(part) - hits])).describe()
        assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high), rel=1e-5)


def test_paired_differences_are_narrower_than_those_of_two_intervals():
    """A score and nearly the same score: who is drawn matters to both alike."""
    judge, scores = judgement("classification", n=100)
    near, _ = judgement("classification", n=100, scores=scores + 0.001 * np.arange(len(scores)))
    one, two = judge.measures()["utility"], near.measures()["utility"]
    paired = (one - two).describe()
    apart = one.describe(), two.describe()
    assert paired["high"] - paired["low"] < 0.5 * (apart[0]["high"] - apart[1]["low"])
