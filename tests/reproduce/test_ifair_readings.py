"""iFair and SVD with one thing changed at a time, beside what another start changes."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from reproduce.made_up import brief, record, write_page

from ifair.reproduce.case import prepare, train_grid
from ifair.reproduce.experiments.ifair_readings import (
    BASE,
    EVERY_START,
    EXPERIMENT,
    LONGER,
    NOT_CENTRED,
    FurtherFromZero,
    NearerZero,
    _move_back,
    _train_every_start,
    _turn_into,
    compare_kinds,
)

OTHER_WEIGHTS = ["protected_from_1e-06", "protected_from_0.01"]
GRID = {"K": [4], "ratios": [[0.5, 0.5]], "landmarks": [20, 5000]}


def small_case(method):
    return brief("credit", method, max_records=240, grid=GRID)


@pytest.fixture(scope="module")
def found():
    return {method: compare_kinds(small_case(method)) for method in ("ifair-b", "svd-masked")}


def test_every_kind_of_fit_is_measured_and_too_many_landmarks_are_left_out(found):
    assert json.loads(json.dumps(found)) == found
    kinds = {method: list(one["rows"][0]["test"]) for method, one in found.items()}
    assert kinds == {
        "ifair-b": [BASE, "another_start", LONGER, "landmarks_20", NOT_CENTRED, *OTHER_WEIGHTS, EVERY_START],
        "svd-masked": [BASE, NOT_CENTRED],
    }
    assert found["ifair-b"]["records"] == 80


def test_starts_that_all_go_on_are_those_of_the_tables():
    case, parts = small_case("ifair-b"), prepare(small_case("ifair-b"))

    def losses(train, n_starts):
        # So few iterations that in the tables, too, nobody is left behind.
        one = replace(case, solver={"n_restarts": n_starts, "max_iter": 30, "tol": 1e-5, "pairs": "all"})
        return [trained.representation.loss_ for _, trained in train(one, parts)]

    assert losses(_train_every_start, 3) == pytest.approx(losses(train_grid, 3))
    assert losses(_train_every_start, 1) == pytest.approx(losses(train_grid, 1))
    assert losses(train_grid, 3) < losses(train_grid, 1)


def test_weights_that_begin_elsewhere_are_those_of_protected_columns_alone(starts):
    case, parts = small_case("ifair-b"), prepare(small_case("ifair-b"))
    hidden = parts.train.X.columns.isin(parts.train.X.columns[parts.train.hidden])
    for change in (lambda model: model, partial(_turn_into, NearerZero), partial(_turn_into, FurtherFromZero)):
        train_grid(case, parts, change)
    for ours, nearer, further in zip(*np.array_split(np.array(starts, dtype=object), 3), strict=True):
        for other, first in ((ours, 1e-4), (nearer, 1e-6), (further, 1e-2)):
            np.testing.assert_allclose(other.alpha[hidden], first)
            np.testing.assert_array_equal(other.alpha[~hidden], ours.alpha[~hidden])
            np.testing.assert_array_equal(other.prototypes, ours.prototypes)


def test_columns_that_are_not_centred_have_their_zero_where_the_table_has_it():
    parts = prepare(small_case("svd-masked"))
    months = parts.test.records.frame["duration_months"].to_numpy()
    there = _move_back(parts).test.X["duration_months"].to_numpy()
    np.testing.assert_allclose(there * parts.train.encoder.scale_[list(parts.test.X).index("duration_months")], months)
    assert (_move_back(parts).train.X["housing=own"] == 0.0).any()


def test_changes_are_against_the_first_kind_with_and_without_their_sign(found):
    records = [record("credit", 0, one, method=method) for method, one in found.items()]
    kinds = EXPERIMENT.summarise(records)["credit"]["ifair-b"]["kinds"]
    test = found["ifair-b"]["rows"][0]["test"]
    change = test["landmarks_20"]["yNN"] - test[BASE]["yNN"]
    assert kinds["landmarks_20"]["yNN"]["change"]["mean"] == pytest.approx(change)
    assert kinds["landmarks_20"]["yNN"]["size"]["mean"] == pytest.approx(abs(change))
    assert BASE not in kinds


def test_what_is_changed_is_told_beside_what_the_start_changes(committed):
    kinds = committed["experiments"]["ifair"]["credit"]["ifair-b"]["kinds"]
    for name in kinds["another_start"]:
        for kind in kinds:
            kinds[kind][name]["size"]["mean"] = 0.0
    for name in ("AUC", "yNN"):
        kinds["landmarks_300"][name]["size"]["mean"] = 1.0
    told = "**Credit**: what changes more than another start does: 300 landmarks (AUC, yNN)."
    assert told in write_page(EXPERIMENT, committed)
