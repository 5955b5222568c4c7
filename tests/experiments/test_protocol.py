"""The protocol: distinct problems once each, and starts that go on from the setting before."""

import numpy as np
import pytest

from ifair.data import load
from ifair.experiments.classification import evaluate
from ifair.experiments.profiles import COEFFICIENTS, PROFILES, ratios
from ifair.experiments.protocol import learn, learn_again, settings_of, split

GRID = {"K": [4], "ratios": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], "lfr": [1.0]}


@pytest.fixture(scope="module")
def credit():
    return split(load("credit").take(np.arange(300)), 0)


def test_the_paper_has_seventeen_distinct_ratios_and_LFR_128_triples():
    assert len(ratios()) == 17
    triples = list(settings_of("lfr", {"K": [10], "lfr": COEFFICIENTS}))
    assert len(triples) == 128
    shares = {
        tuple(np.round(np.array([s["A_x"], s["A_y"], s["A_z"]]) / (s["A_x"] + s["A_y"] + s["A_z"]), 9)) for s in triples
    }
    every = {
        tuple(np.round(np.array([x, y, z]) / (x + y + z), 9))
        for x in COEFFICIENTS
        for y in COEFFICIENTS
        for z in COEFFICIENTS
        if y > 0
    }
    assert shares == every


@pytest.mark.parametrize("profile", PROFILES)
def test_ratios_go_from_utility_to_fairness_so_that_neighbours_are_alike(profile):
    shares = [mu for _, mu in PROFILES[profile].grid["ratios"]]
    assert shares == sorted(shares)


def test_the_solution_before_is_one_of_the_starts(credit):
    search = {"n_restarts": 2, "max_iter": 40, "tol": 1e-3}
    first, second = list(settings_of("ifair-b", GRID))[:2]
    near = learn("ifair-b", first, credit.train, credit.protected, search, 0)
    before = near[-1].prototypes_.copy()
    one_fresh = learn("ifair-b", second, credit.train, credit.protected, {**search, "n_restarts": 1}, 0)
    best = learn("ifair-b", second, credit.train, credit.protected, search, 0, near=near)
    assert best[-1].loss_ <= one_fresh[-1].loss_
    assert best[-1].loss_ < 0.999 * one_fresh[-1].loss_ or best[-1].n_iter_ == one_fresh[-1].n_iter_
    np.testing.assert_array_equal(near[-1].prototypes_, before)


def test_with_one_start_or_another_size_the_setting_before_does_not_matter(credit):
    near = learn(
        "ifair-b",
        {"K": 3, "lambda": 0.5, "mu": 0.5},
        credit.train,
        credit.protected,
        {"n_restarts": 1, "max_iter": 5},
        0,
    )
    for n_restarts, size in ((1, 3), (2, 4)):
        setting, search = {"K": size, "lambda": 0.1, "mu": 0.9}, {"n_restarts": n_restarts, "max_iter": 5}
        alone = learn("ifair-b", setting, credit.train, credit.protected, search, 0)
        after = learn("ifair-b", setting, credit.train, credit.protected, search, 0, near=near)
        np.testing.assert_array_equal(alone[-1].prototypes_, after[-1].prototypes_)


@pytest.mark.parametrize("n_restarts", [1, 2])
def test_what_was_learned_on_the_way_through_the_grid_can_be_learned_again(credit, n_restarts):
    search = {"n_restarts": n_restarts, "max_iter": 15, "tol": 1e-3}
    steps = None
    for setting in settings_of("ifair-b", GRID):
        steps = learn("ifair-b", setting, credit.train, credit.protected, search, 0, near=steps)
        again = learn_again("ifair-b", setting, credit.train, credit.protected, GRID, search, 0)
        np.testing.assert_array_equal(steps[-1].prototypes_, again[-1].prototypes_)


def test_a_setting_that_the_grid_lacks_is_refused(credit):
    with pytest.raises(ValueError, match="the grid has no setting"):
        learn_again(
            "ifair-b",
            {"K": 4, "lambda": 0.3, "mu": 0.7},
            credit.train,
            credit.protected,
            GRID,
            {"n_restarts": 2, "max_iter": 2},
            0,
        )


def test_every_setting_is_measured_on_validation_and_test():
    rows = evaluate("credit", {}, 240, None, 0, "ifair-b", GRID, {"n_restarts": 1, "max_iter": 10, "tol": 0.01})
    assert [row["setting"]["mu"] for row in rows] == [0.1, 0.5, 0.9]
    for row in rows:
        assert all(0 <= row[part][name] <= 1 for part in ("validation", "test") for name in ("Acc", "AUC", "yNN"))
