"""When good numbers mean little, it is said; and only then."""

import numpy as np
import pytest

from ifair.audit import evidence
from ifair.audit.cautions import list_cautions
from ifair.evaluate.judgement import attack_representation
from ifair.evaluate.splits import split_table

from samples import FAST, applicants, dataset, tuned


def point(utility=(0.8, 0.7, 0.9), positive=0.4, spread=None):
    test = {"utility": dict(zip(("estimate", "low", "high"), utility))}
    return {"test": test | ({"positive": {"estimate": positive}} if spread is None else {"spread": spread})}


def tags(one, task="classification", before=None):
    return [caution["tag"] for caution in list_cautions(task, "AUC", one, before or point())]


def test_nothing_is_said_where_all_is_well():
    assert tags(point()) == []
    assert tags(point(spread=1.0), "regression", point(spread=2.0)) == []


@pytest.mark.parametrize("utility", [(0.51, 0.45, 0.57), (0.55, 0.5, 0.6), (0.4, 0.3, 0.49)])
def test_utility_at_chance_is_told(utility):
    assert tags(point(utility)) == ["at chance"]
    assert tags(point(utility, spread=1.0), "ranking", point(spread=1.0)) == []
    # It is zero for the order of scores.
    assert tags(point((0.1, -0.05, 0.2), spread=1.0), "regression", point(spread=1.0)) == ["at chance"]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.97, 1.0])
def test_nearly_one_decision_or_one_score_for_all_is_told(share):
    (said,) = list_cautions("classification", "AUC", point(positive=share), point())
    assert said["tag"] == "nearly one decision"
    assert "consistency is easy" in said["text"]
    assert f"yNN of {share * share + (1 - share) * (1 - share):.3f}" in said["text"]
    assert "(full data: 40.0 %)" in said["text"]
    assert tags(point(spread=0.05), "regression", point(spread=1.0)) == ["nearly one score"]


def test_evidence_of_outcomes_that_are_lots_is_cautious():
    lots = applicants().assign(hired=np.random.default_rng(5).permutation(np.repeat([0, 1], 120)))
    found = evidence(dataset(frame=lots), tuning=tuned(), resamples=20, solver=FAST)
    assert "at chance" in {one["tag"] for p in found["points"] for one in p["cautions"]}


def test_a_guess_that_is_always_wrong_is_a_leak(monkeypatch):
    test = split_table(dataset(protected=["sex"]), 0).test
    told = test.records.group.astype(float)[:, None]
    right = attack_representation(told, test, 20)[0]
    assert right["auc"] == 1
    assert not right["reversed"]

    class Liar:
        auc, accuracy, majority, chances = 0.1, 0.2, 0.6, np.zeros((len(test), 2))

        def interval(self, measure, **_):
            assert measure == "auc"
            return type("Interval", (), {"low": 0.12, "high": 0.2})

    monkeypatch.setattr("ifair.evaluate.judgement.adversary", lambda *_, **__: Liar())
    wrong = attack_representation(told, test, 20)[0]
    assert wrong["reversed"]
    # The interval is of all folds together, and holds their mean too.
    assert (wrong["auc"], wrong["low"], wrong["high"]) == pytest.approx((0.9, 0.8, 0.9))
