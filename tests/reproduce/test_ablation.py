"""Variants of iFair on equal terms: what is changed is changed, and nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest
from reproduce.made_up import GRID, SOLVER, brief, record, results_of, row, write_page

from ifair.reproduce import labels
from ifair.reproduce.case import measure_grid, prepare
from ifair.reproduce.experiments import ablation
from ifair.reproduce.profiles import PROFILES

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def map_credit():
    """Every setting of a variant after a few steps on a part of Credit, with the three parts as it represents them."""
    parts = prepare(brief("credit", max_records=180))

    def map_variant(name, **changes):
        case = brief("credit", name, grid={**GRID, **changes}, solver={**SOLVER, "max_iter": 2})
        return ablation.map_settings(case, parts)

    return map_variant


def test_the_paper_variant_is_ifair_b_of_the_other_experiments(small_case):
    ours = ablation.measure_variant(replace(small_case, method="paper"))
    theirs = measure_grid(replace(small_case, method="ifair-b"))
    assert json.loads(json.dumps(ours)) == ours
    for found, expected in zip(ours["rows"], theirs, strict=True):
        assert found["setting"] == expected["setting"]
        assert found["validation"] == pytest.approx(expected["validation"])
        assert found["test"] == pytest.approx(expected["test"])
    assert 0 <= ours["adversary"] <= 1


@pytest.mark.parametrize("variant", [*ablation.VARIANTS, *ablation.MARKS])
def test_every_variant_answers_on_a_small_ranking(job_searches, variant):
    found = ablation.measure_variant(brief("xing", variant, solver={**SOLVER, "max_iter": 3}))
    n_settings = {"masked": 1, "svd-masked": 1, "masked+scaled": len(ablation.SCALES)}.get(variant, 2)
    assert len(found["rows"]) == n_settings
    assert set(ablation.summarise_split(found)) == {"hypervolume", "harmonic_mean", "MAP", "yNN", "KT", "adversary"}


def test_options_reach_the_estimator_a_small_k_leaves_the_grid_as_large_and_scaled_data_are_multiplied(map_credit):
    assert [setting["K"] for setting, _ in map_credit("small_K", K=[10, 20])] == [5, 5, 3, 3]
    first = {name: next(map_credit(name))[1] for name in ablation.VARIANTS if name != "small_K"}
    mapped, scaled = first["memberships"], first["memberships+unit_variance"]
    assert [Z.shape[1] for Z in mapped] == [4, 4, 4]
    np.testing.assert_allclose(mapped[0].sum(axis=1), 1.0)
    np.testing.assert_allclose(scaled[0].std(axis=0), 1.0)
    np.testing.assert_allclose(scaled[2], (mapped[2] - mapped[0].mean(axis=0)) / mapped[0].std(axis=0))
    for name, parts in first.items():
        if name != "paper" and "memberships" not in name:
            assert np.abs(parts[0] - first["paper"][0]).max() > 1e-6, name
    ((_, masked),) = map_credit("masked")
    scaled = list(map_credit("masked+scaled"))
    assert [setting["scale"] for setting, _ in scaled] == ablation.SCALES
    for setting, mapped in scaled:
        for Z, expected in zip(mapped, masked):
            np.testing.assert_allclose(Z, setting["scale"] * expected)


def test_slow_distances_are_left_out_of_large_tables_with_a_reason(monkeypatch):
    monkeypatch.setattr(ablation, "MAX_CELLS", 100)
    found = ablation.measure_variant(brief("credit", "p-3", max_records=90))
    assert "more than 100" in found["skipped"]


def test_an_outcome_is_chosen_on_validation_and_measured_on_test():
    rows = [
        row((0.7, 0.8), (0.6, 0.9, 0.7)),
        row((0.6, 0.9), (0.7, 0.7, 0.7)),
        row((0.6, 0.8), (0.9, 0.9, 0.7)),  # off the validation front, however good on test
    ]
    found = ablation.summarise_split({"rows": rows, "adversary": 0.55})
    # Slabs above (0.5, 0.5): 0.2 wide up to 0.2 high, then 0.1 wide up to 0.4.
    assert found["hypervolume"] == pytest.approx(0.2 * 0.2 + 0.1 * 0.2)
    # Harmonic means on validation: 0.747 and 0.72.
    assert (found["AUC"], found["yNN"]) == (0.6, 0.9)
    assert found["harmonic_mean"] == pytest.approx(2 * 0.6 * 0.9 / 1.5)
    assert found["adversary"] == 0.55


def test_the_summary_pairs_splits_with_the_papers_variant():
    def reached(variant, seed, utility):
        result = {"rows": [row((0.7, 0.8), (utility, 0.9, 0.7))], "adversary": 0.6}
        return record("credit", seed, result, method=variant)

    noise = [0.0, 0.01, -0.01, 0.02]
    records = [reached("paper", seed, 0.6 + noise[seed]) for seed in (3, 1, 0, 2)]
    records += [reached("frozen", seed, 0.7 + noise[seed] + 0.001 * seed) for seed in range(4)]
    records += [record("credit", seed, {"skipped": "too large"}, method="p-3") for seed in range(4)]
    found = ablation.summarise(records)["credit"]
    assert found["utility"] == "AUC"
    assert found["skipped"] == {"p-3": "too large"}
    assert found["variants"]["paper"]["AUC"]["mean"] == pytest.approx(0.605)
    gain = found["variants"]["frozen"]["hypervolume"]["mean"] - found["variants"]["paper"]["hypervolume"]["mean"]
    assert gain == pytest.approx(0.1015 * 0.4)
    assert found["ahead"] == {"paper": 0, "frozen": 4}
    assert set(found["variants"]) == {"paper", "frozen"}
    assert json.loads(json.dumps(found)) == found


def test_the_quick_profile_tries_all_on_all_within_limits_and_a_taste_few_variants_without_a_file():
    taste = ablation.plan(PROFILES["smoke"], {})
    assert {(unit.case.dataset, unit.case.method) for unit in taste} == {("credit", name) for name in ablation.TASTE}
    assert len({unit.key for unit in taste}) == len(taste) == 2 * len(ablation.TASTE)
    planned = ablation.plan(PROFILES["quick"], {})
    tried = {(unit.case.dataset, unit.case.method) for unit in planned}
    datasets = ("compas", "census", "credit", "xing", "airbnb")
    everything = {(dataset, variant) for dataset in datasets for variant in (*ablation.VARIANTS, *ablation.MARKS)}
    assert everything - tried == {(dataset, name) for dataset in ("xing", "airbnb") for name in ablation.OF_SCALE}
    assert all(unit.case.max_training == ablation.MOST[1] for unit in planned)
    assert all(unit.case.solver["max_iter"] == ablation.MAX_ITERATIONS for unit in planned)


def test_the_section_says_how_much_was_tried_and_whether_the_best_variant_beats_the_marks(committed):
    credit = committed["experiments"]["ablation"]["credit"]
    volume = {name: one["hypervolume"] for name, one in credit["variants"].items()}
    best = max(volume[name]["mean"] for name in ablation.MARKS)
    for name in ablation.VARIANTS.keys() & volume.keys():
        volume[name]["mean"] = 0.5 * best
    text = write_page(ablation.EXPERIMENT, results_of(ablation={"credit": credit}))
    assert "up to 8 settings, a mark 1 to 4" in text
    assert "at most 300 records to learn from, 60 iterations. " in text
    assert "5 splits, and no tests" in text
    assert "no more than the best mark" in text
    volume["frozen"]["mean"] = 2.0 * best
    text = write_page(ablation.EXPERIMENT, results_of(ablation={"credit": credit}))
    assert f"“frozen” with {2 * best:.3f}, more than any mark" in text


def test_the_picture_has_a_panel_for_every_dataset_and_a_line_for_every_mark(committed):
    pytest.importorskip("matplotlib")
    found = committed["experiments"]["ablation"]
    figure = ablation.EXPERIMENT.draw_figures(committed)["ablation"]
    for panel, one in zip(figure.axes, found.values(), strict=True):
        volume = {labels.variant(name): values["hypervolume"]["mean"] for name, values in one["variants"].items()}
        marked = {line.get_label(): line.get_xdata()[0] for line in panel.get_lines() if line.get_label() in volume}
        assert marked == {name: volume[name] for name in map(labels.variant, ablation.MARKS) if name in volume}
