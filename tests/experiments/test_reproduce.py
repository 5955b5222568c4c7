"""The plan of the whole evaluation, and how results of several runs are put together."""

import pytest

from ifair.experiments.plan import chosen_settings, grouped, rows_by_split
from ifair.experiments.profiles import PROFILES, Profile, Source
from ifair.experiments.reproduce import EXPERIMENTS, assemble, plan, with_needs

PROFILE = Profile(
    n_splits=2,
    classification=(Source("credit", most=150), Source("compas")),
    ranking=(Source("xing"),),
    grid={"K": [4, 6], "ratios": [[0.5, 0.5]], "lfr": [1.0], "p": [0.5]},
    search={"n_restarts": 1, "max_iter": 5, "tol": 0.1},
)

ENVIRONMENT = {"machine": "x86_64, 2 cores", "python": "3.12"}


def measured(unit, auc):
    """A record of a unit that tried one setting, as the runner would keep it."""
    measures = dict.fromkeys(("Acc", "AUC", "AUC of scores", "EqOpp", "Parity", "yNN"), auc)
    row = {
        "setting": {"K": unit.arguments["grid"]["K"][0]},
        "converged": True,
        "validation": measures,
        "test": measures,
    }
    return {
        "label": unit.label,
        "arguments": unit.arguments,
        "result": [row],
        "seconds": 1.5,
        "environment": ENVIRONMENT,
    }


@pytest.fixture
def records():
    units = plan("classification", PROFILE, {})
    return {"classification": [measured(unit, 0.1 * unit.arguments["grid"]["K"][0]) for unit in units]}


def test_what_an_experiment_builds_on_is_run_before_it():
    assert with_needs(["parity"]) == ["ranking", "parity"]
    assert with_needs([]) == list(EXPERIMENTS)
    for name in EXPERIMENTS:
        ordered = with_needs([name])
        assert ordered[-1] == name
        assert set(getattr(EXPERIMENTS[name], "NEEDS", ())) <= set(ordered[:-1])


@pytest.mark.parametrize("profile", PROFILES)
def test_every_unit_of_a_plan_has_a_name_and_a_key_of_its_own(profile):
    for name in EXPERIMENTS:
        units = plan(name, PROFILES[profile], {})
        labels = [unit.label for unit in units]
        assert len(set(labels)) == len(labels), name
        assert len({unit.key for unit in units}) == len(units)


def test_learned_methods_have_a_unit_for_each_size_and_rows_are_joined_again(records):
    labels = [record["label"] for record in records["classification"]]
    assert "credit, ifair-b, K = 4, split 1" in labels
    assert "credit, masked, split 1" in labels
    rows = rows_by_split(records["classification"])["credit"]["ifair-b"][0]
    assert [row["setting"]["K"] for row in rows] == [4, 6]


def test_later_experiments_take_the_setting_that_was_chosen_on_validation(records):
    assert chosen_settings(records)["credit", "ifair-b", 1] == {"K": 6}
    units = plan("obfuscation", PROFILE, records)
    settings = {(u.arguments["dataset"], u.arguments["method"]): u.arguments["setting"] for u in units}
    assert settings["credit", "ifair-b"] == {"K": 6}
    assert settings["xing", "ifair-b"] is None  # nothing was run there


def test_results_tell_where_each_part_comes_from_and_keep_what_was_not_run(records):
    first = assemble(records, "quick", PROFILE, [])
    assert first["runs"]["classification"]["credit"]["profile"] == "quick"
    assert first["runs"]["classification"]["credit"]["seeds"] == [0, 1]
    assert first["runs"]["classification"]["credit"]["environment"] == ENVIRONMENT
    only_credit = {"classification": [r for r in records["classification"] if r["arguments"]["dataset"] == "credit"]}
    second = assemble(only_credit, "full", PROFILE, [], first)
    assert second["runs"]["classification"]["credit"]["profile"] == "full"
    assert second["runs"]["classification"]["compas"]["profile"] == "quick"
    assert second["classification"]["compas"] == first["classification"]["compas"]
    assert first["runs"]["classification"]["credit"]["profile"] == "quick"  # not changed by the second


def test_results_keep_six_digits():
    units = plan("classification", PROFILE, {})
    results = assemble({"classification": [measured(unit, 2 / 3) for unit in units]}, "quick", PROFILE, [])
    yNN = results["classification"]["credit"]["rules"]["optimal"]["ifair-b"]["test"]["yNN"]
    assert yNN["mean"] == 0.666667


def test_results_are_grouped_by_arguments():
    records = [{"arguments": {"a": a, "b": b}, "result": a + b} for a in "xy" for b in "pq"]
    assert grouped(records, "a", "b") == {"x": {"p": ["xp"], "q": ["xq"]}, "y": {"p": ["yp"], "q": ["yq"]}}
