"""What an audit compares."""

import pytest

from ifair.evaluate.candidates import ifair_candidate, list_candidates


def test_a_setting_becomes_weights_that_add_up_to_one():
    [(_, model)] = ifair_candidate({"K": 7, "share": 0.25}).build_steps([], 5, 3, {"max_iter": 9})
    assert (model.n_prototypes, model.utility_weight, model.fairness_weight) == (7, 0.75, 0.25)
    assert (model.freeze_protected, model.fairness_distance, model.max_iter, model.random_state) == (
        True,
        "euclidean",
        9,
        3,
    )


def test_the_papers_variant_is_not_blind():
    assert ifair_candidate({"K": 7, "share": 0.25}).blind
    paper = ifair_candidate({"K": 7, "share": 0.25, "variant": "paper"})
    assert not paper.blind
    assert not paper.build_steps(["sex"], 5, 0, {})[-1][1].freeze_protected


def test_svd_has_no_more_components_than_columns():
    svd = next(one for one in list_candidates([]) if one.id == "svd-masked")
    assert svd.build_steps(["sex"], 4, 0, {})[-1][1].n_components == 4


def test_the_same_setting_is_compared_once():
    assert len(list_candidates([{"K": 3, "share": 0.5}] * 2)) == len(list_candidates([{"K": 3, "share": 0.5}]))


def test_an_unknown_variant_is_named():
    with pytest.raises(ValueError, match="frozen, paper; got 'cold'"):
        ifair_candidate({"K": 3, "share": 0.5, "variant": "cold"})
