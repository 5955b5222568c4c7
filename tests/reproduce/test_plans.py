"""The plan of the whole evaluation, and how results of several runs are put together."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from reproduce.made_up import record

from ifair.evaluate.candidates import list_settings
from ifair.evaluate.statistics import LEAST_SPLITS
from ifair.reproduce import expected_time, experiments
from ifair.reproduce.assemble import assemble
from ifair.reproduce.experiment import (
    add_needs,
    choose_settings,
    find_experiments,
    group_results,
    list_waves,
    rows_by_split,
)
from ifair.reproduce.profiles import COEFFICIENTS, PROFILES, Source, ratios
from ifair.reproduce.results_page import format_markdown
from ifair.reproduce.runner import Record

PROFILE = replace(
    PROFILES["smoke"],
    classification=(Source("credit", max_records=150, n_splits=2), Source("compas")),
    ranking=(Source("xing"),),
    grid={"K": [4, 6], "ratios": [[0.5, 0.5]], "lfr": [1.0], "p": [0.5]},
    solver={"n_restarts": 1, "max_iter": 5, "tol": 0.1},
)

ENVIRONMENT = {"machine": "x86_64, 2 cores", "python": "3.12"}


def measured(unit, auc):
    """A record of a unit that tried one setting, as the runner would keep it."""
    measures = dict.fromkeys(("Acc", "AUC", "AUC_of_scores", "EqOpp", "Parity", "yNN"), auc)
    row = {"setting": {"K": unit.case.grid["K"][0]}, "converged": True, "validation": measures, "test": measures}
    return Record(unit.label, unit.case, [row], 1.5, ENVIRONMENT)


def plan(name, profile, earlier):
    return find_experiments()[name].plan(profile, earlier)


@pytest.fixture
def records():
    units = plan("classification", PROFILE, {})
    return {"classification": [measured(unit, unit.case.grid["K"][0] / 9) for unit in units]}


def test_what_an_experiment_builds_on_is_run_before_it_in_an_earlier_wave():
    assert add_needs(["parity"]) == ["ranking", "parity"]
    assert add_needs(["search"]) == ["classification", "ranking", "search"]
    assert add_needs([]) == list(find_experiments())
    run: set[str] = set()
    for wave in list_waves(list(find_experiments())):
        for name in wave:
            *before, last = add_needs([name])
            assert last == name
            assert set(find_experiments()[name].needs) <= set(before) & run
        run |= set(wave)
    assert run == set(find_experiments())
    # What is only summarised together is run together.
    assert list_waves(["ranking", "parity", "search"]) == [["ranking", "search"], ["parity"]]
    # What is not run now is known from before, or left out.
    assert list_waves(["parity"]) == [["parity"]]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_unit_of_a_plan_has_a_name_and_a_key_of_its_own(profile):
    for name in find_experiments():
        units = plan(name, PROFILES[profile], {})
        labels = [unit.label for unit in units]
        assert len(set(labels)) == len(labels), name
        assert len({unit.key for unit in units}) == len(units)
    # Ratios go from utility to fairness, so that neighbours are alike.
    shares = [mu for _, mu in PROFILES[profile].grid["ratios"]]
    assert shares == sorted(shares)


def test_no_records_give_a_summary_of_nothing():
    for name, experiment in find_experiments().items():
        assert not experiment.summarise([]) or name == "rivals"  # which says what is not installed


def test_grids_are_units_or_where_that_takes_long_have_one_for_each_size_and_rows_are_joined_again(records):
    labels = [record.label for record in records["classification"]]
    assert {"credit, ifair-b, K = 4, split 1", "credit, masked, split 1", "compas, ifair-b, split 1"} <= set(labels)
    assert "compas, lfr, K = 4, split 1" in labels
    rows = rows_by_split(records["classification"])["credit"]["ifair-b"][0]
    assert [row["setting"]["K"] for row in rows] == [4, 6]
    # Later experiments take the setting that was chosen on validation.
    assert choose_settings(records)["credit", "ifair-b", 1] == {"K": 6}
    settings = {(u.case.dataset, u.case.method): u.case.setting for u in plan("obfuscation", PROFILE, records)}
    assert settings["credit", "ifair-b"] == {"K": 6}
    assert settings["xing", "ifair-b"] is None  # nothing was run there


def test_results_tell_where_each_part_comes_from_and_keep_what_was_not_run(records):
    first = assemble(records, "quick", PROFILE, [])
    assert first["runs"]["classification"]["credit"]["profile"] == "quick"
    assert first["runs"]["classification"]["credit"]["seeds"] == [0, 1]
    assert first["runs"]["classification"]["credit"]["environment"] == ENVIRONMENT
    only_credit = {"classification": [r for r in records["classification"] if r.case.dataset == "credit"]}
    second = assemble(only_credit, "quick", PROFILE.limit_splits(1), [], first)
    assert second["runs"]["classification"]["compas"] == first["runs"]["classification"]["compas"]
    assert second["experiments"]["classification"]["compas"] == first["experiments"]["classification"]["compas"]
    # Of every number six digits.
    yNN = first["experiments"]["classification"]["credit"]["rules"]["balanced"]["ifair-b"]["test"]["yNN"]
    assert yNN["mean"] == 0.666667


@pytest.mark.parametrize("experiment", ["downstream", "rivals"])
def test_what_is_kept_by_task_and_dataset_stays_where_another_dataset_is_run(experiment):
    def run(before, *datasets):
        measures = [(dataset, {"MAP" if dataset == "xing" else "AUC": 0.5, "yNN": 0.5}) for dataset in datasets]
        rows = [(dataset, {"setting": {}, "validation": found, "test": found}) for dataset, found in measures]
        results = [(one, {"linear": row["test"]} if experiment == "downstream" else [row]) for one, row in rows]
        records = [record(dataset, 0, result, method="masked") for dataset, result in results]
        return assemble({experiment: records}, "quick", PROFILE, [], before)

    results = run(run(run(None, "xing"), "credit", "compas"), "credit")
    kept = results["experiments"][experiment]
    assert (set(kept["classification"]), set(kept["ranking"])) == ({"credit", "compas"}, {"xing"})
    assert set(results["runs"][experiment]) == {"xing", "credit", "compas"}
    # An earlier run of all at once is told until everything was run anew.
    results["runs"][experiment] = {"all": {**results["runs"][experiment]["xing"], "sources": [{"name": "credit"}]}}
    assert set(run(results, "xing")["runs"][experiment]) == {"all", "xing"}
    assert set(run(results, "credit")["runs"][experiment]) == {"credit"}


def test_results_are_grouped_by_fields_of_their_cases():
    records = [record(a, 0, a + b, method=b) for a in "xy" for b in "pq"]
    expected = {a: {b: [a + b] for b in "pq"} for a in "xy"}
    assert group_results(records, "dataset", "method") == expected


def test_the_paper_has_seventeen_distinct_ratios_and_LFR_145_triples():
    def shares(triples):
        return {tuple(np.round(np.array(one) / sum(one), 9)) for one in triples}

    assert len(ratios()) == 17
    settings = list(list_settings("lfr", {"K": [10], "lfr": COEFFICIENTS}))
    assert len(settings) == 145
    every = [triple for triple in product(COEFFICIENTS, repeat=3) if any(triple)]
    assert shares([one["A_x"], one["A_y"], one["A_z"]] for one in settings) == shares(every)


def test_the_full_profile_is_the_papers_and_tests_what_it_has_splits_for():
    full = PROFILES["full"]
    assert full.n_splits >= LEAST_SPLITS
    assert (full.grid["K"], len(full.grid["ratios"])) == ([10, 20, 30], 17)
    assert all(source.max_records is None for source in full.sources)
    by_name = {source.name: source for source in full.classification}
    assert len(full.seeds(by_name["credit"])) == full.n_splits
    assert full.seeds(by_name["census"]) == full.seeds(by_name["census"], tested=False) == range(3)
    assert full.limit_splits(2).seeds(by_name["credit"]) == range(2)
    assert full.case(by_name["census"], 0, method="ifair-b").solver["pairs"] == 1000
    lfr = full.case(by_name["census"], 0, method="lfr").solver
    assert ("pairs" not in lfr, lfr["init"]) == (True, "uniform")
    longest = [full.case(by_name["credit"], 0, method=name).solver["max_iter"] for name in ("ifair-b", "ifair-plus")]
    assert longest == [3000, 1000]
    small = full.case(by_name["census"], 0, (900, 300))
    assert (small.max_records, small.max_training) == (900, 300)


def test_the_time_is_estimated_from_what_units_took(monkeypatch):
    def told(**seconds):
        return {"machine": "a machine", "version": "1", "seconds": {"classification": seconds}}

    seconds = {"credit": 3.0, "compas": 5.0, "census": 7.0}
    slower = {dataset: 4.0 * one for dataset, one in seconds.items()}
    known = {"with_gpu": told(**seconds), "without_gpu": told(**slower)}
    monkeypatch.setattr(expected_time, "known_times", lambda: known)

    def estimate(units, n_jobs=1, place="with_gpu"):
        return expected_time.estimate_seconds("classification", units, n_jobs, place)

    full = PROFILES["full"]
    units = plan("classification", full, {})
    assert estimate(units, 2) == pytest.approx(sum(seconds[unit.case.dataset] for unit in units) / 2)
    assert estimate(units, 2, "without_gpu") == pytest.approx(4.0 * estimate(units, 2))
    assert expected_time.estimate_seconds("unknown", units, 1, "with_gpu") == 0.0
    by_method = {unit.case.method: estimate([unit]) for unit in units if unit.case.dataset == "credit"}
    assert by_method["lfr"] > 2 * by_method["ifair-b"] > 100 * by_method["masked"] > 0
    # A third of the starts, each of which ends at a loss that falls a hundred times as fast, in a quarter of the time.
    sooner = plan("classification", replace(full, solver=PROFILES["smoke"].solver), {})
    learned = [[one for one in each if one.case.method == "ifair-b"] for each in (units, sooner)]
    assert estimate(learned[1]) == pytest.approx(estimate(learned[0]) / 12)
    fewer = [replace(one, case=replace(one.case, grid={**one.case.grid, "K": [10]})) for one in learned[0]]
    assert estimate(fewer) < estimate(learned[0])
    smaller = [replace(one, case=replace(one.case, max_records=500)) for one in learned[0]]
    assert estimate(smaller) < estimate(learned[0]) / 2
    text = expected_time.describe_plan({"classification": plan("classification", PROFILE, {})}, "quick", 1)
    assert "credit 2, compas 2" in text
    assert "Profile quick, 1 processes with" in text


def test_the_plan_of_the_full_profile_takes_as_long_as_its_run_did(committed):
    on_gpu = 0
    for name, experiment in find_experiments().items():
        runs = committed["runs"][name].values()
        if not all("NVIDIA" in run["environment"]["machine"] for run in runs):
            continue  # of the others only the first split tells how long they take
        planned = expected_time.estimate_seconds(name, experiment.plan(PROFILES["full"], {}), 1, "with_gpu")
        assert planned == pytest.approx(sum(run["seconds"] for run in runs), rel=0.02), name
        on_gpu += 1
    assert on_gpu > 10


def test_what_is_missing_takes_no_time_and_a_smaller_grid_shortens_only_what_tries_it():
    def estimate(name, profile, keep=lambda unit: True):
        units = [unit for unit in plan(name, profile.only(["credit"]), {}) if keep(unit)]
        return expected_time.estimate_seconds(name, units, 1, "with_gpu")

    full = PROFILES["full"]
    without_sensei = estimate("rivals", full, lambda unit: unit.case.method != "sensei")
    assert without_sensei < 0.02 * estimate("rivals", full)
    small = replace(full, grid=PROFILES["smoke"].grid)
    assert estimate("classification", small) < 0.2 * estimate("classification", full)
    for name in expected_time.WITHOUT_GRID:
        if planned := estimate(name, full):
            shown = estimate(name, small)
            assert shown == pytest.approx(planned) or name == "ablation"


NEW = """
from ifair.report.blocks import Heading
from ifair.reproduce.experiment import Experiment, make_unit

def run(case):
    return {"yNN": 0.9}

def plan(profile, earlier):
    return [make_unit(run, profile.case(s, 0)) for s in profile.classification]

def summarise(records):
    return {record.case.dataset: record.result for record in records}

def section(found, results):
    return [Heading("Something new")]

EXPERIMENT = Experiment("new", 1000, plan, summarise, section, by_dataset=True)
"""


def test_an_experiment_is_added_by_one_file(tmp_path, monkeypatch):
    (tmp_path / "something_new.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(tmp_path)])
    find_experiments.cache_clear()
    try:
        assert list(find_experiments())[-1] == "new"
        records = {"new": [Record(unit.label, unit.case, unit.run(), 0.1, {}) for unit in plan("new", PROFILE, {})]}
        results = assemble(records, "quick", PROFILE, [])
        assert results["experiments"]["new"] == {"credit": {"yNN": 0.9}, "compas": {"yNN": 0.9}}
        assert "## Something new" in format_markdown({**results, "runs": {}})
    finally:
        find_experiments.cache_clear()


def test_every_file_of_the_folder_is_an_experiment_with_a_place_of_its_own():
    files = {path.stem for path in Path(experiments.__path__[0]).glob("*.py")} - {"__init__"}
    assert len(find_experiments()) == len(files)
    assert len({experiment.place for experiment in find_experiments().values()}) == len(files)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_what_is_compared_was_learned_from_as_many_records_as_it_is_measured_on(profile):
    """The corrected resampled t-test and its intervals take thirds for granted."""
    for name in ("classification", "ranking", "consistent"):
        for unit in plan(name, profile, {}):
            assert unit.case.max_training is None
            assert unit.case.held_out == "thirds"
