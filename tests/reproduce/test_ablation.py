"""Variants of iFair on equal terms: what is changed is changed, and nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest
from reproduce.made_up import compared, record, results_of, row, spreads, write_page

from ifair.report.blocks import Heading, Picture
from ifair.reproduce import labels
from ifair.reproduce.case import Case, measure_grid, prepare
from ifair.reproduce.experiments import ablation
from ifair.reproduce.profiles import PROFILES

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def map_credit(grid, solver):
    """Every setting of a variant after a few steps on a part of Credit, with the three parts as it represents them."""
    parts = prepare(Case("credit", 0, max_records=180))

    def map_variant(name, **changes):
        case = Case("credit", 0, method=name, grid={**grid, **changes}, solver={**solver, "max_iter": 2})
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
def test_every_variant_answers_on_a_small_ranking(job_searches, grid, solver, variant):
    found = ablation.measure_variant(Case("xing", 0, method=variant, grid=grid, solver={**solver, "max_iter": 3}))
    n_settings = {"masked": 1, "svd-masked": 1, "masked+scaled": len(ablation.SCALES)}.get(variant, 2)
    assert len(found["rows"]) == n_settings
    assert set(ablation.summarise_split(found)) == {"hypervolume", "harmonic_mean", "MAP", "yNN", "KT", "adversary"}


def test_options_reach_the_estimator_and_a_small_k_leaves_the_grid_as_large(map_credit):
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


def test_scaled_masked_data_are_masked_data_times_a_factor(map_credit):
    ((_, masked),) = map_credit("masked")
    scaled = list(map_credit("masked+scaled"))
    assert [setting["scale"] for setting, _ in scaled] == ablation.SCALES
    for setting, mapped in scaled:
        for Z, expected in zip(mapped, masked):
            np.testing.assert_allclose(Z, setting["scale"] * expected)


def test_slow_distances_are_left_out_of_large_tables_with_a_reason(grid, solver, monkeypatch):
    monkeypatch.setattr(ablation, "MAX_CELLS", 100)
    found = ablation.measure_variant(Case("credit", 0, max_records=90, method="p-3", grid=grid, solver=solver))
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
    compared = found["against_paper"]["hypervolume"]["frozen"]
    assert compared["difference"] == pytest.approx(-0.1015 * 0.4)
    assert compared["low"] < -0.1015 * 0.4 < compared["high"] < 0.0
    assert compared["adjusted"] is None  # four splits are too few
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


def values(hypervolume, harmonic, adversary=0.6):
    return spreads(
        hypervolume=hypervolume, harmonic_mean=harmonic, AUC=0.6, yNN=0.8, AUC_of_scores=0.7, adversary=adversary
    )


@pytest.fixture
def results():
    credit = {
        "variants": {
            "paper": values(0.03, 0.68, adversary=0.9),
            "masked": values(0.05, 0.71),
            "svd-masked": values(0.04, 0.70),
            "masked+scaled": values(0.06, 0.72),
            "frozen": values(0.045, 0.69, adversary=0.55),
            "squared_softmax": values(0.01, 0.66),
        },
        "against_paper": {
            "hypervolume": {"frozen": compared(-0.015), "squared_softmax": compared(0.02)},
            "harmonic_mean": {"frozen": compared(-0.01, 0.2), "squared_softmax": compared(0.02)},
        },
        "ahead": {"paper": 0, "frozen": 5, "squared_softmax": 1},
        "skipped": {"p-1": "19,800 cells", "p-3": "19,800 cells"},
    }
    xing = {
        "variants": {"paper": values(0.3, 0.8), "frozen": values(0.4, 0.9), "masked": values(0.39, 0.94)},
        "against_paper": {
            "hypervolume": {"frozen": compared(-0.1, 0.06)},
            "harmonic_mean": {"frozen": compared(-0.1, 0.04)},
        },
        "ahead": {"paper": 0, "frozen": 3},
        "skipped": {},
    }
    return results_of(ablation={"credit": credit, "xing": xing})


def test_the_table_has_all_variants_with_the_marks_to_beat_last_and_says_which_are_clearly_apart(results):
    rows = {row[0]: row[1:] for row in ablation.tabulate(results["experiments"]["ablation"])}
    assert list(rows) == ["variant", "paper", "frozen", "squared softmax", "masked", "svd-masked", "masked, scaled"]
    assert rows["variant"] == ["Credit", "Xing"]
    assert rows["frozen"] == ["0.045 ▲ / 0.69", "0.400* / 0.90 ▲"]
    assert rows["squared softmax"] == ["0.010 ▼ / 0.66 ▼", ""]
    assert rows["masked, scaled"] == ["0.060* / 0.72*", ""]


def test_findings_name_winners_gaps_leaks_and_numbers_of_splits(results):
    text = write_page(ablation.EXPERIMENT, results)
    assert "**Credit**: hypervolume 0.030 with the paper's options against masked 0.050" in text
    assert "The best variant is “frozen” with 0.045, still below the best mark" in text
    assert "The best variant is “frozen” with 0.400, which no mark beats" in text
    assert "“frozen”: more hypervolume than the paper's options on 8 of 10 splits, in the mean on 2 of 2" in text
    assert "in the mean on 0 of 1 dataset; clearly more on none, clearly less on Credit" in text
    assert text.index("“frozen”: more") < text.index("“squared softmax”: more")
    assert "AUC of 0.90 from the paper's iFair-b, 0.60 from masked data, and 0.55" in text
    assert text.count("multiplying masked data") == 1
    assert "at most 1. 5 splits, too few" in text
    results["experiments"]["ablation"]["xing"]["variants"]["paper"]["hypervolume"]["n"] = 3
    assert "at most 1. 3 to 5 splits, too few" in write_page(ablation.EXPERIMENT, results)


def test_the_section_has_one_title_and_says_what_was_left_out(results):
    blocks = ablation.EXPERIMENT.write_section(results)
    assert [block for block in blocks if isinstance(block, Heading)] == blocks[:1]
    assert "p = 1 and p = 3 on Credit (19,800 cells)" in write_page(ablation.EXPERIMENT, results)
    assert [block.stem for block in blocks if isinstance(block, Picture)] == ["ablation"]


def test_the_picture_has_a_panel_for_every_dataset_and_a_line_for_every_mark(results):
    pytest.importorskip("matplotlib")
    figure = ablation.EXPERIMENT.draw_figures(results)["ablation"]
    assert [panel.get_title() for panel in figure.axes] == ["Credit", "Xing"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["squared softmax", "frozen", "paper"]
    marks = set(map(labels.variant, ablation.MARKS))
    marked = [line.get_xdata()[0] for line in figure.axes[0].get_lines() if line.get_label() in marks]
    assert sorted(marked) == [0.04, 0.05, 0.06]
