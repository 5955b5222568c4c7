"""The referee: one rule for all words, verdicts in both directions, and never praise for what is worth nothing."""

import numpy as np
import pandas as pd
import pytest

from ifair.audit.people_view import describe_group
from ifair.audit.referee import MATTERS, compare_points, draw_front, give_verdicts, judge_difference, net_gain
from ifair.data import from_table
from ifair.evaluate.resampling import Measured
from ifair.evaluate.splits import split_table
from ifair.report.comparison import find_point

from samples import applicants, dataset, small_evidence

AUC = {"name": "AUC", "explained": "", "chance": 0.5}


@pytest.mark.every_seed
def test_words_follow_from_the_interval_and_the_direction_alone(rng):
    low, high = np.sort(rng.normal(size=2))
    for measure, good in [("utility", 1), ("ranks", 1), ("gap:sex", -1), ("flip", -1), ("leak", -1)]:
        expected = "no clear difference" if low < 0 < high else "better" if good * low > 0 else "worse"
        assert judge_difference(measure, low, high) == expected
        # The other way round, what was better is worse.
        turned = {"better": "worse", "worse": "better"}.get(expected, expected)
        assert judge_difference(measure, -high, -low) == turned
        # No rounding: however small, and however near, only the sign of the ends counts.
        assert judge_difference(measure, 1e-5 * low, 1e-5 * high) == expected


def test_zero_at_an_end_is_no_clear_difference_and_zero_at_both_is_the_same():
    assert judge_difference("utility", 0.0, 0.1) == judge_difference("utility", -0.1, 0.0) == "no clear difference"
    assert judge_difference("gap:sex", 0.0, 0.0) == judge_difference("gap:sex", -1e-12, 1e-13) == "the same"
    assert judge_difference("utility", None, None) == "no clear difference"
    # A share of positive decisions is neither good nor bad.
    assert [judge_difference("positive", *ends) for ends in ((0.1, 0.2), (-0.2, -0.1))] == ["more", "fewer"]


def judged(utility, ranks, noise=0.001, seed=0, **more):
    """A point, and its measures in resamples with some noise that all points share but for a tenth."""
    rng = np.random.default_rng(seed)
    measured = {
        name: Measured(value, value + noise * rng.normal(size=200))
        for name, value in {"utility": utility, "ranks": ranks}.items()
    }
    test = {name: one.describe() for name, one in measured.items()} | {"yNN": {"estimate": 0.9, "low": 0.8, "high": 1}}
    point = {"id": more.get("role", "ours"), "name": "a point", "test": test, "blind": True, "flip": None}
    return point | {"adversary": [], "label": "F", "on_front": True, "cautions": []} | more, measured


def verdict_on(utility, ranks, deleted=(0.8, 0.5), penalised=None, **more):
    given = [judged(0.8, 0.4, role="full", seed=1), judged(*deleted, role="deleted", seed=2)]
    given += [judged(*penalised, role="penalised", seed=3)] if penalised else []
    given.append(judged(utility, ranks, role="ours", seed=4, **more))
    points, measured = zip(*given)
    compare_points(points, measured)
    return give_verdicts(points, {"balanced": "ours"}, AUC, ["sex"])


WORTH = "Worth it: consistency of ranks 0.600 instead of 0.500, compared with deleting “sex”, "
PENALTY = "Against deleting with a tuned penalty"


@pytest.mark.parametrize(
    ("reached", "penalised", "said"),
    [
        ((0.8, 0.6), None, "for no clear loss of AUC."),
        ((0.78, 0.6), None, "for 0.020 less AUC."),
        ((0.8, 0.6), (0.8, 0.55), "for no clear loss of AUC."),
        (
            (0.8, 0.6),
            (0.81, 0.55),
            f"for no clear loss of AUC. {PENALTY}: 0.050 more consistency of ranks and 0.010 less AUC.",
        ),
        ((0.8, 0.5), None, "Deleting the columns does as well here; use that."),
        # 0.06 of the 0.5 between chance and perfection is more than 0.1 of 1.
        ((0.74, 0.6), None, "Deleting the columns does better here; use that."),
        ((0.8, 0.6), (0.8, 0.6), "Deleting the columns, with a tuned penalty, does as well here; use that."),
    ],
)
def test_a_price_is_named_and_whoever_does_as_well_or_better(reached, penalised, said):
    found = verdict_on(*reached, penalised=penalised)
    assert found["worth"] == said.startswith("for")
    assert found["sentence"].removeprefix(WORTH) == said
    assert "excludes zero" in found["rule"]
    assert "one random split" in found["scope"]
    ranks = f"consistency of ranks {reached[1]:.3f}, with the columns deleted 0.500: "
    [reason] = [line for line in found["reasons"] if line.startswith(ranks)]
    assert reason.removeprefix(ranks).startswith("better" if reached[1] > 0.5 else "no clear difference")


def test_a_reference_that_decides_nearly_the_same_needs_another_threshold():
    caution = {"tag": "nearly one decision", "text": "97.0 % of people get a positive decision."}
    given = [judged(0.8, 0.5, role="deleted", seed=2), judged(0.8, 0.7, role="penalised", seed=3, cautions=[caution])]
    given[1][0]["test"]["positive"] = {"estimate": 0.97, "low": 0.95, "high": 0.99}
    points, measured = zip(*given, judged(0.8, 0.6, role="ours", seed=4))
    compare_points(points, measured)
    said = give_verdicts(points, {"balanced": "ours"}, AUC, ["sex"])["sentence"]
    threshold = "with another threshold or a rate: 97.0 % of people get a positive decision by it."
    assert said == f"Deleting the columns, with a tuned penalty, does better here; use that, {threshold}"


def graded(ranks, other):
    """Consistency by the peers used, and by the Mahalanobis distance."""
    return {"graders": {"similarity": {"ranks": ranks}, "mahalanobis": {"ranks": other}}}


INSTEAD = "consistency of ranks 0.600 instead of 0.500, compared with deleting “sex”, for no clear loss of AUC. "


def test_where_another_choice_is_worth_it_and_the_balanced_one_is_not_the_verdict_advises_that_one_alone():
    given = [judged(0.8, 0.5, role="deleted", seed=2, **graded(0.5, 0.25))]
    given.append(judged(0.8, 0.55, role="penalised", seed=3, **graded(0.55, 0.2)))
    given.append(judged(0.8, 0.55, role="ours", seed=4, **graded(0.55, 0.2)))
    given.append(judged(0.8, 0.6, role="ours", seed=5, id="fair", label="D", **graded(0.6, 0.3)))
    given.append(judged(0.8, 0.57, role="ours", seed=6, id="useful", label="E", **graded(0.57, 0.3)))
    points, measured = zip(*given)
    compare_points(points, measured)
    choices = {"most_useful": "useful", "fairest": "fair", "balanced": "ours"}
    found = give_verdicts(points, choices, AUC, ["sex"])
    why = "F, the balanced choice, is not worth it: deleting the columns, with a tuned penalty, does as well."
    assert found["sentence"] == f"Use D, the choice “fairest”: {INSTEAD}{why}"
    # The cautions are about what is advised, and not about the deletion that is not.
    assert found["besides"] == points[3]["verdict"]["besides"] == []
    assert not found["worth"]


def test_a_balanced_choice_that_is_not_to_be_used_is_still_said_not_to_be_beside_one_that_is():
    caution = {"tag": "at chance", "text": "These decisions are not clearly better than chance."}
    given = [judged(0.8, 0.5, role="deleted", seed=2), judged(0.6, 0.6, role="ours", seed=4, cautions=[caution])]
    given.append(judged(0.8, 0.6, role="ours", seed=5, id="useful", label="D"))
    points, measured = zip(*given)
    compare_points(points, measured)
    said = give_verdicts(points, {"most_useful": "useful", "balanced": "ours"}, AUC, ["sex"])["sentence"]
    never = "Do not use F: these decisions are not clearly better than chance."
    assert said == f"Use D, the choice “most useful”: {INSTEAD}{never}"


def test_a_caution_about_a_tuned_penalty_says_what_follows_from_it():
    given = [judged(0.8, 0.5, role="deleted", seed=2, **graded(0.5, 0.25))]
    given.append(judged(0.8, 0.6, role="penalised", seed=3, label="C", **graded(0.6, 0.2)))
    given.append(judged(0.8, 0.6, role="ours", seed=4, **graded(0.6, 0.3)))
    points, measured = zip(*given)
    compare_points(points, measured)
    found = give_verdicts(points, {"balanced": "ours"}, AUC, ["sex"])
    assert found["sentence"] == "Deleting the columns, with a tuned penalty, does as well here; use that."
    [said] = found["besides"]
    assert said["text"].endswith(
        "of C is 0.200, with the columns deleted and no more 0.250: whoever compares people that way deletes without "
        "that penalty."
    )


def test_a_difference_that_is_clear_but_tiny_decides_nothing_and_what_is_worth_nothing_is_never_praised():
    caution = {"tag": "at chance", "text": "These decisions are not clearly better than chance."}
    found = verdict_on(0.8, 0.9, cautions=[caution])
    assert not found["worth"]
    assert found["sentence"] == "Do not use F: these decisions are not clearly better than chance."
    found = verdict_on(0.8, 0.5 + 0.5 * MATTERS, noise=1e-6, deleted=(0.8, 0.5))
    assert not found["worth"]
    assert net_gain({"ranks": {"estimate": 0.5 * MATTERS, "word": "better"}}, 0.5) == 0


def attack(auc, low, high):
    return {"adversary": [{"partition": "sex", "auc": auc, "interval_of": "auc", "low": low, "high": high}]}


def test_a_group_that_is_as_good_as_known_to_the_point_advised_is_told_beside_the_verdict():
    known, unknown = {"family": "masked", **attack(1.0, 0.99, 1.0)}, attack(0.7, 0.6, 0.8)
    [said] = verdict_on(0.8, 0.6, **known)["besides"]
    assert "“sex” can be guessed with an AUC of 1.000: other columns tell it" in said["text"]
    for family in ("lfr", "existing"):
        [said] = verdict_on(0.8, 0.6, **known | {"family": family, "blind": False})["besides"]
        assert said["text"].endswith("1.000: it sees the protected columns, or others that tell them.")
    assert verdict_on(0.8, 0.6, **unknown)["besides"] == []
    # Deleting is advised here, and it is not what sees too much.
    assert verdict_on(0.8, 0.5, **known)["besides"] == []


def test_a_gain_that_other_peers_turn_round_is_told_beside_the_verdict():
    def grade(ranks, other):
        return {"graders": {"similarity": {"ranks": ranks}, "mahalanobis": {"ranks": other}}}

    def besides(other, ranks=0.6):
        given = [judged(0.8, 0.5, role="deleted", seed=2, **grade(0.5, 0.25))]
        given.append(judged(0.8, ranks, **grade(ranks, other)))
        points, measured = zip(*given)
        compare_points(points, measured)
        return give_verdicts(points, {"balanced": "ours"}, AUC, ["sex"])["besides"]

    [said] = besides(0.22)
    assert (
        "by the Mahalanobis distance, the consistency of ranks of F is 0.220, with the columns deleted 0.250"
        in said["text"]
    )
    assert besides(0.3) == besides(0.249) == []
    # Deleting is advised, and only by the peers used.
    assert len(besides(0.3, ranks=0.4)) == 1
    assert besides(0.2, ranks=0.4) == []


def test_of_who_sees_the_same_the_group_is_guessed_the_same():
    points, measured = zip(
        judged(0.8, 0.5, role="deleted", **attack(0.66, 0.6, 0.72)), judged(0.8, 0.6, **attack(0.66, 0.6, 0.72))
    )
    compare_points(points, measured)
    assert points[1]["differences"]["deleted"]["leak"]["word"] == "the same"


@pytest.mark.parametrize("task", ["classification", "regression", "ranking"])
def test_every_point_of_an_audit_is_compared_and_all_but_references_have_a_verdict(task):
    found = small_evidence(task)
    for point in found["points"]:
        role = point["role"]
        assert ("verdict" in point) == (role not in ("full", "deleted", "penalised"))
        assert role in ("full",) or "full" in point["differences"]
        for name, one in point["differences"].get("deleted", {}).items():
            assert one["word"] == judge_difference(name, one["low"], one["high"])
            reference = next(p for p in found["points"] if p["role"] == "deleted")
            if name in point["test"]:
                expected = point["test"][name]["estimate"] - reference["test"][name]["estimate"]
                assert one["estimate"] == pytest.approx(expected, abs=2e-6)
    assert len({point["label"] for point in found["points"]}) == len(found["points"])
    assert found["verdict"] == find_point(found, "balanced")["verdict"]


def test_the_front_is_the_best_at_each_utility_and_never_rises():
    given = [judged(0.6, 0.7, seed=1), judged(0.8, 0.4, seed=2), judged(0.7, 0.3, seed=3)]
    steps = draw_front(*zip(*given))
    assert [step["utility"] for step in steps] == sorted(step["utility"] for step in steps)
    for step in steps:
        reachable = [m["ranks"].estimate for _, m in given if m["utility"].estimate >= step["utility"]]
        assert step["best"] == pytest.approx(max(reachable))
        assert step["low"] <= step["high"]
    assert [step["best"] for step in steps] == sorted((step["best"] for step in steps), reverse=True)
    # What carries a caution is not on it.
    assert draw_front(*zip(judged(0.6, 0.7, cautions=[{"tag": "at chance", "text": ""}]))) == []


def test_the_protected_group_is_told_in_the_words_of_the_table():
    people = applicants().drop(columns="rating")
    assert describe_group(dataset(protected=["sex"])) == "sex is female"
    assert describe_group(dataset()) == "sex is female or origin is south"
    tall = from_table(people, target="hired", protected=["height"], group=lambda p: p["height"] > 180)
    assert describe_group(tall) == f"height is at least {people['height'][people['height'] > 180].min():.6g}"
    several = from_table(people, target="hired", protected=["team"], group={"team": ["team 1", "team 3"]})
    assert describe_group(several) == "team is team 1 or team 3"
    some = from_table(people, target="hired", protected=["sex"], group=np.arange(240) < 7)
    assert describe_group(some) == "7 people who were named one by one"


def test_both_outcomes_keep_the_words_of_the_table():
    frame = pd.DataFrame({"sex": ["f", "m", "m"], "income": [3, 1, 2], "loan": ["paid", "defaulted", "paid"]})

    def words(loan, positive=None):
        made = from_table(frame.assign(loan=loan), target="loan", positive=positive, protected="sex")
        return made.positive, made.negative

    assert words(frame["loan"], "defaulted") == ("defaulted", "paid")
    assert words(["paid", "defaulted", "open"], "paid") == ("paid", None)
    assert words([True, False, True]) == ("True", "False")
    assert words([0, 1, 0]) == (None, None)


def test_groups_are_compared_by_each_attribute_by_every_two_and_by_all():
    # An attribute that is the group stands for it.
    alone = split_table(dataset(protected=["sex"]), 0).test
    assert list(alone.partitions) == ["sex"]
    assert (alone.partitions["sex"][alone.records.group] == "female").all()
    parts = split_table(dataset(protected=["sex", "origin", "job"]), 0)
    assert set(parts.test.partitions) == {
        "protected group", "sex", "origin", "job", "sex × origin", "sex × job", "origin × job", "sex × origin × job"
    }  # fmt: skip
