"""The way through a grid: starts go on from the setting before, and the way can be gone again."""

from dataclasses import replace

import numpy as np
import pytest

from ifair.evaluate.candidates import Candidate, list_settings
from ifair.evaluate.training import train
from ifair.reproduce.case import Case, measure_grid, prepare, train_chosen

GRID = {"K": [4], "ratios": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], "lfr": [1.0]}
CREDIT = Case("credit", 0, max_records=300, method="ifair-b", grid=GRID)


@pytest.fixture(scope="module")
def credit():
    return prepare(CREDIT)


def learn(setting, parts, solver, near=None):
    return train(Candidate("ifair-b", setting), parts, 0, solver, near=near)


def test_the_solution_before_is_one_of_the_starts(credit):
    solver = {"n_restarts": 2, "max_iter": 40, "tol": 1e-3}
    first, second = list(list_settings("ifair-b", GRID))[:2]
    near = learn(first, credit, solver)
    before = near.representation.prototypes_.copy()
    one_fresh = learn(second, credit, {**solver, "n_restarts": 1})
    best = learn(second, credit, solver, near)
    assert best.representation.loss_ <= one_fresh.representation.loss_
    assert (
        best.representation.loss_ < 0.999 * one_fresh.representation.loss_
        or best.representation.n_iter_ == one_fresh.representation.n_iter_
    )
    np.testing.assert_array_equal(near.representation.prototypes_, before)


def test_with_one_start_or_another_size_the_setting_before_does_not_matter(credit):
    near = learn({"K": 3, "lambda": 0.5, "mu": 0.5}, credit, {"n_restarts": 1, "max_iter": 5})
    for n_restarts, size in ((1, 3), (2, 4)):
        setting, solver = {"K": size, "lambda": 0.1, "mu": 0.9}, {"n_restarts": n_restarts, "max_iter": 5}
        alone = learn(setting, credit, solver)
        after = learn(setting, credit, solver, near)
        np.testing.assert_array_equal(alone.representation.prototypes_, after.representation.prototypes_)


@pytest.mark.parametrize("n_restarts", [1, 2])
def test_what_was_learned_on_the_way_through_the_grid_can_be_learned_again(credit, n_restarts):
    solver = {"n_restarts": n_restarts, "max_iter": 15, "tol": 1e-3}
    trained = None
    for setting in list_settings("ifair-b", GRID):
        trained = learn(setting, credit, solver, trained)
        again = train_chosen(replace(CREDIT, setting=setting, solver=solver), credit)
        np.testing.assert_array_equal(trained.representation.prototypes_, again.representation.prototypes_)


def test_a_setting_that_the_grid_lacks_is_refused(credit):
    case = replace(CREDIT, setting={"K": 4, "lambda": 0.3, "mu": 0.7}, solver={"n_restarts": 2, "max_iter": 2})
    with pytest.raises(ValueError, match="the grid has no setting"):
        train_chosen(case, credit)


def test_every_setting_is_measured_on_validation_and_test():
    rows = measure_grid(replace(CREDIT, max_records=240, solver={"n_restarts": 1, "max_iter": 10, "tol": 0.01}))
    assert [row["setting"]["mu"] for row in rows] == [0.1, 0.5, 0.9]
    for row in rows:
        assert all(0 <= row[part][name] <= 1 for part in ("validation", "test") for name in ("Acc", "AUC", "yNN"))
