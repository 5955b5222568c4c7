"""Evidence about a table: every number found again by other means."""

import json
import warnings

import numpy as np
import pytest
from measured_again import check_measures, table_of
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from ifair import Similarity
from ifair.audit import evidence
from ifair.audit.people_view import count_unknown, flip_people
from ifair.audit.points import try_candidate
from ifair.audit.tuning import find_role, is_choosable
from ifair.data import DataError, from_table
from ifair.evaluate.candidates import Candidate
from ifair.evaluate.resampling import Resamples
from ifair.evaluate.splits import find_all_peers, split_table
from ifair.evaluate.training import decide, train
from ifair.metrics import rank_consistency
from ifair.report.comparison import find_point
from ifair.similarity import peers as searching
from ifair.similarity.peers import share_searches

from samples import FAST, IDS, applicants, dataset, small_evidence, tuned


@pytest.fixture(scope="module")
def found():
    return small_evidence()


@pytest.fixture(scope="module")
def parts():
    """The split that the evidence is about."""
    return split_table(dataset(), 0)


def test_the_people_are_those_of_the_table(found):
    people, table = table_of(found), applicants()
    rows = [int(id_[1:]) for id_ in people.index]
    assert len(set(rows)) == found["data"]["parts"]["test"] == 80
    assert (people["sex"].to_numpy() == table["sex"].to_numpy()[rows]).all()
    np.testing.assert_array_equal(
        people["experience"].to_numpy(dtype=float), table["experience"].to_numpy(dtype=float)[rows]
    )
    assert found["people"]["truth"] == table["hired"].to_numpy()[rows].tolist()


def test_measures_are_what_the_scores_shown_give_by_scikit_learn_and_plain_loops(found):
    check_measures(found)


def test_peers_are_nearest_on_what_may_count_and_within_reach(found, parts):
    rebuilt = Similarity.from_dict(json.loads(json.dumps(found["settings"]["similarity"])))
    apart = rebuilt.distances(parts.test.records.frame.drop(columns=["sex", "origin"]))
    np.fill_diagonal(apart, np.inf)
    alone = 0
    for i, (near, distances) in enumerate(zip(found["people"]["neighbours"], found["people"]["distances"])):
        within = np.sort(apart[i][apart[i] <= rebuilt.caliper_])[:10]
        np.testing.assert_allclose(within, distances, atol=0.006)
        np.testing.assert_allclose(apart[i, near], distances, atol=0.006)
        alone += not near
    assert 0 < alone == found["settings"]["without_peers"] < 40


def test_consistency_is_also_graded_by_other_numbers_of_peers_and_another_metric(found, parts):
    inverse = np.linalg.pinv(np.cov(parts.train.may_count.T, bias=True))
    apart = cdist(parts.test.may_count, parts.test.may_count, "mahalanobis", VI=inverse)
    np.fill_diagonal(apart, np.inf)
    for one in found["points"]:
        assert set(one["graders"]) == {"similarity", "k5", "k20", "mahalanobis"}
        score = np.array(one["people"]["score"])
        expected = rank_consistency(score, neighbours=np.argsort(apart, axis=1, kind="stable")[:, :10])
        assert one["graders"]["mahalanobis"]["ranks"] == pytest.approx(expected, abs=0.01)
    few = [parts.test.find_peers(k).indices for k in (5, 20)]
    np.testing.assert_array_equal(few[0], few[1][:, :5])


def test_groups_are_listed_by_every_partition_with_the_largest_gap_first(found):
    for one in found["points"]:
        partitions = {g["partition"]: g for g in one["groups"]}
        assert set(partitions) == {"protected group", "sex", "origin", "sex × origin"}
        gaps = [g["parity"] for g in one["groups"]]
        assert gaps == sorted(gaps, reverse=True)
        assert sum(g["n"] for g in partitions["sex × origin"]["groups"]) == len(found["people"]["ids"])


def test_measures_of_groups_flips_and_moves_lie_in_their_intervals(found):
    for one in found["points"]:
        for partition in one["groups"]:
            for group in partition["groups"]:
                low, high = group["rate_interval"]
                assert 0 <= low <= high <= 1
            if len(partition["groups"]) == 2:
                low, high = partition["parity_interval"]
                assert low <= partition["parity"] <= high
        low, high = one["flip"]["interval"]
        assert low <= one["flip"]["share_flipped"] <= high
        assert high > 0
    full = find_point(found, "full")
    assert any(
        group["rate_interval"][0] < group["rate"] < group["rate_interval"][1] for group in full["groups"][0]["groups"]
    )
    moved = find_point(small_evidence("regression"), "full")["flip"]
    assert moved["interval"][0] < moved["mean"] < moved["interval"][1]


def test_who_cannot_see_the_protected_attributes_cannot_flip(found):
    blind = [one for one in found["points"] if one["blind"]]
    assert {one["family"] for one in blind} == {"masked", "svd-masked", "ifair"}
    for one in blind:
        assert one["flip"]["share_flipped"] == one["flip"]["worst"] == 0
        assert one["people"]["flip"] is None


def test_flips_are_what_the_model_says_about_changed_people():
    parts = split_table(dataset(protected=["sex"]), 0)
    full = train(Candidate("full"), parts, 0, FAST)
    summary, people = flip_people(parts.test, full, Resamples(parts.test, 20))
    other = parts.test.records.frame["sex"].map({"female": "male", "male": "female"}).astype("category")
    frame = parts.test.records.frame
    before, after = full.scores(frame), full.scores(frame.assign(sex=other))
    np.testing.assert_allclose(people["flip"]["score"], after, atol=1.1e-3)  # rounded to its side of one half
    assert summary["share_flipped"] == pytest.approx(np.mean((before > 0.5) != (after > 0.5)), abs=1e-6)
    assert summary["mean"] == pytest.approx(np.abs(after - before).mean(), rel=1e-5)
    told = [people["alternatives"][i]["sex"] for i in people["flip"]["to"]]
    assert told == other.tolist()


def test_who_is_treated_worst_is_furthest_from_the_mean_of_the_neighbours_on_the_bad_side(found):
    unfavourable = evidence(dataset(), tuning=tuned(), resamples=10, solver=FAST, higher_is_better=False)
    for audit, sign in ((found, 1), (unfavourable, -1)):
        for one in audit["points"]:
            score, peers = np.array(one["people"]["score"]), audit["people"]["neighbours"]
            gaps = sign * np.array([s - score[near].mean() if near else np.nan for s, near in zip(score, peers)])
            assert gaps[one["worst"][0]["person"]] == pytest.approx(np.nanmin(gaps), abs=2e-3)
            assert one["worst"][0]["gap"] == pytest.approx(np.nanmin(gaps), abs=2e-3)
            assert len(one["worst"]) == 10


def test_a_second_run_in_several_processes_finds_the_same_and_names_every_candidate(monkeypatch):
    monkeypatch.setattr("ifair.evaluate.judgement.ADVERSARY_FOLDS", 5)  # as in other processes
    told, candidates = [], [Candidate("masked"), Candidate("ifair", {"variant": "frozen", "K": 3, "share": 0.1})]
    options = {"tuning": tuned(*candidates), "resamples": 10, "solver": FAST, "ids": IDS}
    again = evidence(dataset(), **options, n_jobs=2, step=lambda *what: told.append(what))
    assert again == evidence(dataset(), **options)
    n_points = len(again["points"])
    assert n_points > 2
    assert sorted(name for name, *_ in told) == sorted(one["name"] for one in again["points"])
    assert [where for _, *where in told] == [[i, n_points] for i in range(1, n_points + 1)]


def test_consistent_decisions_are_listed_one_at_a_time_and_as_a_batch(found, parts):
    """What a batch decides, found again by hand: smoothed scores of the inner model on the graph of the peers."""
    one = find_point(found, "masked-consistent-0.2")
    trained = train(Candidate.from_data(one["candidate"]), parts, 0, FAST)
    frame = parts.test.records.frame
    batch = trained.estimator.decide(frame[trained.columns], threshold=0.5)
    assert [who["person"] for who in one["changed"]] == batch.changed.tolist()
    assert one["batch"]["utility"]["estimate"] == pytest.approx(roc_auc_score(parts.test.y, batch.scores), abs=1e-5)
    for who in one["changed"]:
        assert (who["before"] > 0.5) != batch.selected[who["person"]]
        assert all(batch.selected[peer] == batch.selected[who["person"]] for peer in who["peers"])
    assert "batch" not in find_point(found, "masked")


def test_archetypes_and_weights_are_readable(found):
    one = find_point(found, "ifair-3-0.1")
    assert one["archetypes"]["columns"][:3] == ["share", "followers", "experience"]
    assert sum(row[0] for row in one["archetypes"]["rows"]) == pytest.approx(1, abs=1e-3)
    weights = {w["name"]: w["weight"] for w in one["weights"]}
    assert set(weights) == set(table_of(found).columns) - {"sex", "origin"}
    assert find_point(found, "full")["archetypes"] is None


def test_a_score_is_judged_by_its_order():
    found = small_evidence("regression")
    assert "lfr" not in {one["family"] for one in found["points"]}
    for one in found["points"]:
        expected = kendalltau(found["people"]["truth"], one["people"]["score"]).statistic
        assert one["test"]["utility"]["estimate"] == pytest.approx(expected, abs=5e-3)


def test_rankings_are_split_by_query_and_compared_within_them():
    found = small_evidence("ranking")
    query = found["people"]["query"]
    assert len(set(query)) == 2
    for i, near in enumerate(found["people"]["neighbours"]):
        assert {query[j] for j in near} <= {query[i]}
    for group in found["points"][0]["groups"][0]["groups"]:
        assert 0 <= group["top"] <= 1


def test_a_missing_protected_value_is_a_group_of_its_own():
    frame = applicants()
    frame.loc[::7, "sex"] = None
    with pytest.warns(UserWarning, match="35 people have no value in it"):
        people = dataset(protected=["sex"], frame=frame)
    found = evidence(people, tuning=tuned(), resamples=10, solver=FAST)
    assert found["data"]["unknown_others"] == 35
    groups = {g["partition"]: g for g in found["points"][0]["groups"]}
    assert {g["label"] for g in groups["sex"]["groups"]} == {"(missing)", "female", "male"}
    assert found["points"][0]["flip"]["alternatives"] == 3


def two_protected(group):
    """Applicants with gaps in both protected columns, some in both, and a rule for who is protected."""
    frame = applicants().drop(columns=["rating", "team"])
    frame["age"] = np.arange(240) % 47 + 18.0
    frame.loc[::7, "sex"] = None
    frame.loc[::5, "age"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_table(frame, target="hired", protected=["sex", "age"], group=group), frame


def test_only_people_whose_membership_is_unknown_are_counted_as_such():
    by_sex, frame = two_protected("sex=female")
    assert count_unknown(by_sex) == frame["sex"].isna().sum()
    by_age, frame = two_protected("age<30")
    assert count_unknown(by_age) == frame["age"].isna().sum()
    # A man is none of the young women, whatever his age; a woman without one, or who is young and lacks a sex, may be.
    by_both, frame = two_protected(["sex=female", "age<30"])
    may_be_woman, may_be_young = frame["sex"] != "male", ~(frame["age"] >= 30)
    known_member = (frame["sex"] == "female") & (frame["age"] < 30)
    assert count_unknown(by_both) == (may_be_woman & may_be_young & ~known_member).sum()


@pytest.mark.parametrize(("group", "decisive"), [("sex=female", {"sex"}), (["sex=female", "age<30"], {"sex", "age"})])
def test_only_columns_that_say_who_is_protected_are_said_to_leave_people_out(group, decisive):
    frame = applicants().drop(columns=["rating", "team"])
    frame["age"] = np.arange(240) % 47 + 18.0
    frame.loc[::7, "sex"] = None
    frame.loc[::5, "age"] = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_table(frame, target="hired", protected=["sex", "age"], group=group)
    told = {name: str(one.message) for one in caught for name in ("sex", "age") if f"'{name}': " in str(one.message)}
    assert {name for name, line in told.items() if "count as not in the protected group" in line} == decisive
    assert all("a group of their own" in line for name, line in told.items() if name not in decisive)
    assert set(told) == {"sex", "age"}


def test_a_table_without_outcome_or_with_too_few_people_is_refused():
    with pytest.raises(DataError, match="name the target column"):
        evidence(from_table(applicants().drop(columns=["hired", "rating"]), protected=["sex"]))
    with pytest.raises(DataError, match="target 'hired' is 1 for everybody: there is nothing to predict"):
        evidence(dataset(frame=applicants().assign(hired=1)))
    with pytest.raises(DataError, match="rename one of the two"):
        evidence(dataset(frame=applicants().rename(columns={"height": "job=clerk"})))
    with pytest.raises(DataError, match="too small"):
        evidence(dataset(frame=applicants().iloc[:20]))


def test_who_cannot_see_the_protected_attributes_is_preferred_by_every_rule(found):
    """The paper's variant, consistent decisions on all columns, and rivals are not chosen, however good."""
    best = {"utility": 1.0, "ranks": 1.0, "corrected": 1.0}
    others = [
        Candidate("ifair", {"variant": "paper", "K": 3, "share": 0.1}),
        Candidate("full", post={"name": "consistent", "strength": 0.1}),
        Candidate("masked", {"C": 0.1}),
    ]
    seeing = [{"id": one.id, "role": find_role(one), "candidate": one.to_data(), "validation": best} for one in others]
    chosen = [one for one in [*seeing, *found["points"]] if is_choosable(one)]
    assert chosen
    assert all(one in found["points"] for one in chosen)
    assert all(one["blind"] and one["role"] == "ours" for one in chosen)
    assert set(found["choices"]) == {"most_useful", "fairest", "balanced"}
    assert set(found["choices"].values()) <= {one["id"] for one in chosen}


class Rule:
    """Scores from the protected columns alone."""

    looks_at = frozenset({"job"})
    task, threshold = "classification", 0.5

    def __init__(self, scores):
        self.scores = scores

    def decisions(self, scores):
        return decide(scores, "classification")


def people_of_jobs(n_jobs, n=300):
    """People with one protected attribute of so many values, each of which occurs."""
    frame = applicants(n)[["experience", "height", "hired"]]
    frame["job"] = [f"job {i % n_jobs:03d}" for i in range(n)]
    return split_table(from_table(frame, target="hired", protected=["job"], name="jobs"), 0)


def job_numbers(frame):
    return frame["job"].astype(str).str[-3:].astype(int).to_numpy()


def test_the_flip_shown_changes_the_decision_even_if_another_moves_the_score_more_and_is_nobodys_own():
    parts = people_of_jobs(3)
    # From 0.45 to 0.55 the decision is another one; from 0.45 to 0.05 the score moves further.
    levels = np.array([0.45, 0.55, 0.05])
    rule = Rule(lambda frame: levels[job_numbers(frame)])
    summary, people = flip_people(parts.test, rule, Resamples(parts.test, 20))
    own = job_numbers(parts.test.records.frame)
    shown = [people["alternatives"][i]["job"] for i in people["flip"]["to"]]
    expected = {0: "job 001", 1: "job 002", 2: "job 001"}
    assert shown == [expected[i] for i in own]
    assert people["flip"]["score"] == [levels[int(job[-3:])] for job in shown]
    assert summary["share_flipped"] == 1
    assert summary["alternatives"] == 3
    # Only who has the first job would be scored differently, and nobody else.
    rule = Rule(lambda frame: 0.2 + 0.1 * (frame["height"] > 170).to_numpy() * (job_numbers(frame) == 0))
    _, people = flip_people(parts.test, rule, Resamples(parts.test, 20))
    jobs = parts.test.records.frame["job"].tolist()
    assert all(people["alternatives"][to]["job"] != job for to, job in zip(people["flip"]["to"], jobs))


def test_more_combinations_than_are_tried_are_averaged_over_those_that_a_person_was_given():
    """Of 60 jobs fifty are tried: some people have fifty others, some forty-nine."""
    parts = people_of_jobs(60, n=900)
    test = parts.test
    rule = Rule(lambda frame: job_numbers(frame) / 100)
    rule.decisions = lambda scores: scores
    summary, people = flip_people(test, rule, Resamples(test, 20))
    own = rule.scores(test.records.frame)
    tried = [int(one["job"][-3:]) / 100 for one in people["alternatives"]]
    assert summary["alternatives"] == len(tried) == 50
    assert 0 < sum(score not in tried for score in own) < len(own)
    moved = [[abs(other - score) for other in tried if other != score] for score in own]
    assert summary["mean"] == pytest.approx(np.mean(np.concatenate(moved)), rel=1e-5)
    expected = np.mean([np.mean(one) for one in moved])
    assert summary["interval"][0] <= expected <= summary["interval"][1]
    assert summary["worst"] == pytest.approx(max(map(max, moved)), rel=1e-5)
    to = [tried[i] for i in people["flip"]["to"]]
    assert [abs(a - b) for a, b in zip(to, own)] == pytest.approx([max(one) for one in moved])


@pytest.mark.parametrize("task", ["classification", "ranking"])
def test_points_find_the_search_for_peers_done(task, monkeypatch):
    """Those of consistent decisions compare people of three parts, and make no search of their own."""
    parts = split_table(dataset(task), 0)
    consistent = Candidate("masked", {}, "linear", {"name": "consistent", "strength": 0.1})
    how = {"resamples": 10, "higher_is_better": True, "threshold": 0.5, "graders": {}}
    alone, _ = try_candidate(consistent, parts, 0, FAST, searches={}, **how)
    known, asked = {}, []
    with share_searches(known):
        find_all_peers(parts)
    search = searching._find_peers
    monkeypatch.setattr(searching, "_find_peers", lambda *case: asked.append(case) or search(*case))
    shared, _ = try_candidate(consistent, parts, 0, FAST, searches=known, **how)
    assert asked == []
    assert shared == alone
