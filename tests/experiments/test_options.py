"""Variants of iFair on equal terms: what is changed is changed, and nothing else."""

import json

import numpy as np
import pytest

from ifair.experiments import classification, options, ranking
from ifair.experiments.options import MARKS, SCALES, VARIANTS, evaluate, outcome, representations, summarise, units
from ifair.experiments.profiles import PROFILES
from ifair.experiments.protocol import load_subset, split


@pytest.fixture
def parts():
    return split(load_subset("credit", {}, 180, 0), 0)


def test_the_paper_variant_is_ifair_b_of_the_classification_experiment(grid, search):
    arguments = ("credit", {}, 180, None, 0)
    ours = evaluate(*arguments, "paper", grid, search)
    theirs = classification.evaluate(*arguments, "ifair-b", grid, search)
    assert json.loads(json.dumps(ours)) == ours
    assert [row["setting"] for row in ours["rows"]] == [row["setting"] for row in theirs]
    for row, expected in zip(ours["rows"], theirs):
        assert row["validation"] == pytest.approx(expected["validation"])
        assert row["test"] == pytest.approx(expected["test"])
    assert 0 <= ours["adversary"] <= 1


def test_the_paper_variant_is_ifair_b_of_the_ranking_experiment(job_searches, grid, search):
    arguments = ("xing", {}, None, None, 0)
    ours = evaluate(*arguments, "paper", grid, search)
    theirs = ranking.evaluate(*arguments, "ifair-b", grid, search)
    for row, expected in zip(ours["rows"], theirs, strict=True):
        assert row["validation"] == pytest.approx(expected["validation"])
        assert row["test"] == pytest.approx(expected["test"])


@pytest.mark.parametrize("variant", [*VARIANTS, *MARKS])
def test_every_variant_answers_on_a_small_ranking(job_searches, grid, search, variant):
    found = evaluate("xing", {}, None, None, 0, variant, grid, {**search, "max_iter": 3})
    n_settings = {"masked": 1, "svd-masked": 1, "masked, scaled": len(SCALES)}.get(variant, 2)
    assert len(found["rows"]) == n_settings
    assert set(outcome(found)) == {"hypervolume", "harmonic mean", "MAP", "yNN", "KT", "adversary"}


def test_small_k_changes_k_and_not_the_size_of_the_grid(parts, grid, search):
    two = {**grid, "K": [10, 20]}
    tried = [setting["K"] for setting, _ in representations(parts, "small K", two, {**search, "max_iter": 1}, 0)]
    assert tried == [5, 5, 3, 3]


def test_options_reach_the_estimator(parts, grid, search):
    quick = {**search, "max_iter": 2}
    (_, mapped), *_ = representations(parts, "memberships", grid, quick, 0)
    assert [Z.shape[1] for Z in mapped] == [4, 4, 4]
    np.testing.assert_allclose(mapped[0].sum(axis=1), 1.0)
    (_, scaled), *_ = representations(parts, "memberships, unit variance", grid, quick, 0)
    np.testing.assert_allclose(scaled[0].std(axis=0), 1.0)
    np.testing.assert_allclose(scaled[2], (mapped[2] - mapped[0].mean(axis=0)) / mapped[0].std(axis=0))
    first = {name: next(representations(parts, name, grid, quick, 0))[1][0] for name in VARIANTS if name != "small K"}
    for name, Z in first.items():
        if name != "paper" and "memberships" not in name:
            assert np.abs(Z - first["paper"]).max() > 1e-6, name


def test_scaled_masked_data_are_masked_data_times_a_factor(parts, grid, search):
    ((_, masked),) = representations(parts, "masked", grid, search, 0)
    scaled = list(representations(parts, "masked, scaled", grid, search, 0))
    assert [setting["scale"] for setting, _ in scaled] == SCALES
    for setting, mapped in scaled:
        for Z, expected in zip(mapped, masked):
            np.testing.assert_allclose(Z, setting["scale"] * expected)


def test_slow_distances_are_left_out_of_large_tables_with_a_reason(grid, search, monkeypatch):
    monkeypatch.setattr(options, "MOST_CELLS", 100)
    found = evaluate("credit", {}, 90, None, 0, "p = 3", grid, search)
    assert "more than 100" in found["skipped"]


def row(validation, test, setting=None):
    names = ("AUC", "yNN")
    more = {"AUC of scores": 0.7}
    return {
        "setting": setting or {},
        "validation": {**dict(zip(names, validation)), **more},
        "test": {**dict(zip(names, test)), **more},
    }


def test_an_outcome_is_chosen_on_validation_and_measured_on_test():
    rows = [
        row((0.7, 0.8), (0.6, 0.9)),
        row((0.6, 0.9), (0.7, 0.7)),
        row((0.6, 0.8), (0.9, 0.9)),  # off the validation front, however good on test
    ]
    found = outcome({"rows": rows, "adversary": 0.55})
    # Slabs above (0.5, 0.5): 0.2 wide up to 0.2 high, then 0.1 wide up to 0.4.
    assert found["hypervolume"] == pytest.approx(0.2 * 0.2 + 0.1 * 0.2)
    # Harmonic means on validation: 0.747 and 0.72.
    assert (found["AUC"], found["yNN"]) == (0.6, 0.9)
    assert found["harmonic mean"] == pytest.approx(2 * 0.6 * 0.9 / 1.5)
    assert found["adversary"] == 0.55


def record(variant, seed, utility, skipped=False):
    result = {"rows": [row((0.7, 0.8), (utility, 0.9))], "adversary": 0.6}
    return {
        "arguments": {"dataset": "credit", "variant": variant, "seed": seed},
        "result": {"skipped": "too large"} if skipped else result,
    }


def test_the_summary_pairs_splits_with_the_papers_variant():
    noise = [0.0, 0.01, -0.01, 0.02]
    records = [record("paper", seed, 0.6 + noise[seed]) for seed in (3, 1, 0, 2)]
    records += [record("frozen", seed, 0.7 + noise[seed] + 0.001 * seed) for seed in range(4)]
    records += [record("p = 3", seed, 0.6, skipped=True) for seed in range(4)]
    found = summarise(records)["credit"]
    assert found["utility"] == "AUC"
    assert found["skipped"] == {"p = 3": "too large"}
    assert found["variants"]["paper"]["AUC"]["mean"] == pytest.approx(0.605)
    compared = found["against paper"]["hypervolume"]["frozen"]
    assert compared["difference"] == pytest.approx(-0.1015 * 0.4)
    assert compared["adjusted"] < 0.001
    assert found["ahead"] == {"paper": 0, "frozen": 4}
    assert set(found["variants"]) == {"paper", "frozen"}
    assert json.loads(json.dumps(found)) == found


def test_a_taste_needs_no_file_and_few_variants():
    planned = units(PROFILES["smoke"], {})
    assert {unit.arguments["dataset"] for unit in planned} == {"credit"}
    assert {unit.arguments["variant"] for unit in planned} == set(options.TASTE)
    assert len({unit.key for unit in planned}) == len(planned) == 2 * len(options.TASTE)


def test_the_quick_profile_tries_all_on_all_within_limits():
    planned = units(PROFILES["quick"], {})
    tried = {(unit.arguments["dataset"], unit.arguments["variant"]) for unit in planned}
    datasets = ("compas", "census", "credit", "xing", "airbnb")
    everything = {(dataset, variant) for dataset in datasets for variant in (*VARIANTS, *MARKS)}
    assert everything - tried == {(dataset, name) for dataset in ("xing", "airbnb") for name in options.OF_SCALE}
    assert all(unit.arguments["most_training"] == options.MOST_TRAINING for unit in planned)
    assert all(unit.arguments["search"]["max_iter"] == options.MOST_ITERATIONS for unit in planned)
