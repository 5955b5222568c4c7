"""LFR as others read it, beside what another start changes."""

import json

import numpy as np
import pytest
from reproduce.made_up import record

from ifair.reproduce.case import measure_fit, prepare, train_setting
from ifair.reproduce.experiments.lfr_readings import BASE, EXPERIMENT, KINDS, compare_kinds, train_kind
from ifair.reproduce.profiles import PROFILES, Source

SETTING = {"K": 4, "A_x": 1.0, "A_y": 1.0, "A_z": 5.0}
CASE = PROFILES["smoke"].case(
    Source("credit", max_records=240), 0, method="lfr", grid={"K": [4], "weights": [[1.0, 1.0, 5.0]]}
)


@pytest.fixture(scope="module")
def found():
    return compare_kinds(CASE)


def fit(kind):
    ((_, trained),) = train_kind(kind, CASE, prepare(CASE), [SETTING])
    return trained.representation


def test_every_reading_is_measured_against_LFR_of_the_tables(found):
    assert json.loads(json.dumps(found)) == found
    (row,) = found["rows"]
    assert (found["records"], row["setting"], set(row["test"])) == (80, SETTING, set(KINDS))
    parts = prepare(CASE)
    assert row["test"][BASE] == measure_fit(train_setting(CASE, parts, SETTING), parts)["test"]
    kinds = EXPERIMENT.summarise([record("credit", 0, found)])["credit"]["kinds"]
    change = row["test"]["summed_columns"]["yNN"] - row["test"][BASE]["yNN"]
    assert kinds["summed_columns"]["yNN"]["change"]["mean"] == pytest.approx(change)
    assert BASE not in kinds


def test_readings_change_what_they_are_called_after():
    ours = fit(BASE)
    parity = SETTING["A_z"] * ours.fairness_loss_
    parts = ours.reconstruct_loss_ + ours.target_loss_
    assert ours.loss_ < parts + parity  # rounded
    kinked = fit("kinked_parity")
    losses = kinked.reconstruct_loss_ + kinked.target_loss_ + SETTING["A_z"] * kinked.fairness_loss_
    assert kinked.loss_ == pytest.approx(losses)
    summed = fit("summed_columns")
    assert summed.reconstruct_weight == summed.n_features_in_
    assert (ours.init, fit("k-means++_starts").init) == ("uniform", "k-means++")
    # The groups of the dataset, each with weights of its own.
    apart, train = fit("weights_per_group"), prepare(CASE).train
    assert apart.group_alpha_.shape == (2, apart.n_features_in_)
    (told,) = apart.protected
    np.testing.assert_array_equal(train.X[told] == max(apart.group_labels_), train.group)


def test_chances_that_begin_at_random_belong_to_the_same_prototypes(starts):
    fit(BASE)
    before = starts[:]
    starts.clear()
    fit("random_first_chances")
    for ours, random in zip(before, starts, strict=True):
        np.testing.assert_array_equal(ours.prototypes, random.prototypes)
        assert not np.isclose(ours.extra["log_odds"], random.extra["log_odds"]).any()
