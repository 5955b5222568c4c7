"""What an audit compares."""

import sys

from refusals import must_raise
from sklearn.linear_model import Ridge

from ifair.evaluate.arms import PENALTIES, list_arms, list_candidates
from ifair.evaluate.candidates import Candidate, make_model


def test_a_setting_becomes_weights_that_add_up_to_one():
    [(_, model)] = Candidate("ifair", {"K": 7, "share": 0.25}).build_steps([], 5, 3, {"max_iter": 9})
    assert (model.n_prototypes, model.utility_weight, model.fairness_weight) == (7, 0.75, 0.25)
    assert (model.fairness_distance, model.max_iter, model.random_state) == ("euclidean", 9, 3)
    # No more components than columns.
    assert Candidate("svd-masked").build_steps(["sex"], 4, 0, {})[-1][1].n_components == 4


def test_the_papers_variant_is_not_blind_and_an_unknown_one_is_named():
    assert Candidate("ifair", {"K": 7, "share": 0.25}).blind
    paper = Candidate("ifair", {"K": 7, "share": 0.25, "variant": "paper"})
    assert not paper.blind
    assert not paper.build_steps(["sex"], 5, 0, {})[-1][1].freeze_protected
    cold = {"K": 3, "share": 0.5, "variant": "cold"}
    must_raise(ValueError, "frozen, paper; got 'cold'", Candidate, "ifair", cold)


def test_every_candidate_has_an_id_and_a_file_of_its_own():
    everything = list_candidates()
    everything += [arm.candidate(arm.start) for arm in list_arms("classification")]
    assert len({one.id for one in everything}) == len({str(one.to_data()) for one in everything})
    assert [Candidate.from_data(one.to_data()) for one in everything] == everything


def test_every_way_to_decide_has_as_many_settings_and_the_same_choice_of_penalties():
    ways = {}
    for one in list_candidates():
        if one.setting or one.post:
            ways.setdefault((one.method, one.model, one.consistent), []).append(one)
    assert {key[:2] for key in ways} == {
        *(("masked", model) for model in ("linear", "boosting")),
        *((method, "linear") for method in ("ifair", "svd-masked", "lfr")),
    }
    assert {len(settings) for settings in ways.values()} == {len(PENALTIES)}
    for (_, model, _), settings in ways.items():
        penalties = [one.setting.get("C") for one in settings]
        assert penalties == (list(PENALTIES) if model == "linear" else [None] * len(PENALTIES))


def test_the_same_setting_is_compared_once():
    twice = [Candidate("ifair", {"K": 3, "share": 0.5})] * 2
    assert len(list_candidates(twice)) == len(list_candidates(twice[:1]))


def test_a_model_of_ones_own_is_made_by_its_factory(tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(
        "from sklearn.ensemble import RandomForestClassifier\n"
        "def forest(): return RandomForestClassifier(5)\n"
        "def nothing(): return 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    model = make_model("own_models:forest", "classification", 7)
    assert (model.n_estimators, model.random_state) == (5, 7)
    for name, said in {"own_models:tree": "tree", "no_models:x": "no_models", "own_models:nothing": "int"}.items():
        must_raise(ValueError, said, make_model, name, "classification", 0)


def test_a_model_that_a_task_does_not_have_is_named_and_only_linear_ones_have_a_penalty():
    known = "model must be one of linear, boosting, neighbours for classification"
    must_raise(ValueError, known, make_model, "pairwise", "classification", 0)
    assert make_model("linear", "classification", 0, 0.5).C == 0.5
    assert isinstance(make_model("linear", "regression", 0, 0.5), Ridge)
    must_raise(ValueError, "only the linear model", make_model, "boosting", "classification", 0, 0.5)
