"""Readings of the ranking experiment: what is held out, what is ranked by, and how far each is from the paper."""

import copy
from functools import partial

import pytest

from ifair.evaluate.splits import split_candidates
from ifair.report.blocks import Bullets, Table, plain
from ifair.reproduce import case
from ifair.reproduce.assemble import empty_results
from ifair.reproduce.experiments.ranking_readings import EXPERIMENT, HELD_OUT, find_closest, measure_difference
from ifair.reproduce.paper import RANKING
from ifair.reproduce.profiles import Profile, Source
from ifair.reproduce.runner import Record


@pytest.fixture(scope="module")
def records(made_up_data):
    solver = {"n_restarts": 1, "max_iter": 5, "tol": 0.1}
    grid = {"K": [2], "ratios": [[0.9, 0.1]], "p": [0.5, 0.9]}
    profile = Profile(1, 1, 1, None, (), (Source("xing", options={"job_attribute": False}),), grid, solver)
    with made_up_data() as patched:
        patched.setattr(case, "split_candidates", partial(split_candidates, smallest_query=3))  # thirds of 12 to 20
        return [Record(unit.label, unit.case, unit.run(), 0.1, {}) for unit in EXPERIMENT.plan(profile, {})]


@pytest.fixture(scope="module")
def readings(records):
    return EXPERIMENT.summarise(records)["xing"]


def say(printed, readings):
    """The first table, and the sentences, of the section."""
    results = {**empty_results(), "paper": {"ranking": {"xing": printed}}}
    blocks = EXPERIMENT.section({"xing": readings}, results)
    table = next(block for block in blocks if isinstance(block, Table))
    lines = next(block for block in blocks if isinstance(block, Bullets)).lines
    return table, [plain(line) for line in lines]


def test_every_reading_has_every_method_and_a_measure_of_its_own(readings):
    kinds = {(r["held_out"], r["variant"], r["neighbours"]) for r in readings}
    assert len(kinds) == len(readings) == len(HELD_OUT) * 2 * 2
    assert all(set(RANKING["xing"]) <= set(r["methods"]) for r in readings)
    within, across = readings[:2]
    assert within["methods"]["masked"]["MAP"] == across["methods"]["masked"]["MAP"]
    assert within["methods"]["masked"]["yNN"] != across["methods"]["masked"]["yNN"]


def test_nothing_is_chosen_apart_where_nothing_is_held_out_and_only_what_was_seen_tells_the_job_search(records):
    asked = {record.case.held_out: record.case.options["job_attribute"] for record in records}
    assert asked == {"nothing": True, "candidates": True, "thirds": False}
    for record in records:
        rows = [row for by_method in record.result for rows in by_method.values() for row in rows]
        same = [row["validation"] == row["test"] for row in rows]
        assert all(same) if record.case.held_out == "nothing" else not all(same)


def test_the_reading_that_has_the_numbers_of_the_paper_explains_them_all(readings):
    told = copy.deepcopy(readings)
    chosen = next(r for r in told if r["held_out"] == "nothing")
    printed = RANKING["xing"]
    for method, row in printed.items():
        chosen["methods"][method] = {name: {"mean": value, "sd": 0.0, "n": 1} for name, value in row.items()}
    assert measure_difference(chosen, printed, "MAP") == 0
    assert find_closest(told, printed) is chosen
    table, lines = say(printed, told)
    row, gain, *lines = lines
    assert row == "iFair-b's row: a single reading explains all of its 4 numbers."
    assert gain.startswith("iFair-b's gain: in the paper its yNN is 0.07 above that of the full data; in no reading is")
    assert all(f"some reading or other explains {len(printed)} of {len(printed)} numbers" in line for line in lines)
    counts = [plain(one[-1]) for one in table.rows[1:]]
    assert counts[told.index(chosen)] == f"{4 * len(printed)} of {4 * len(printed)}"
    assert len(set(counts)) > 1
    assert [row[1:] for row in table.rows[1:]][told.index(chosen)][2].text == "0.00"


def test_a_number_that_no_reading_comes_close_to_is_named(readings):
    printed = {**RANKING["xing"], "ifair-b": {**RANKING["xing"]["ifair-b"], "yNN": 2.0}}
    (line,) = [line for line in say(printed, readings)[1] if line.startswith("yNN")]
    assert "by none" in line
    assert "iFair-b 2.00 (nearest" in line


def test_a_reading_under_which_nobody_has_neighbours_is_left_out(records):
    alone = copy.deepcopy(records)
    spoiled = next(record for record in alone if record.case.held_out == "candidates")
    for rows in spoiled.result[1].values():
        rows[0]["test"]["yNN"] = None
    left = EXPERIMENT.summarise(alone)["xing"]
    names = {(reading["held_out"], reading["variant"], reading["neighbours"]) for reading in left}
    assert ("candidates", "scaled-score", "yNN") not in names
    assert ("candidates", "scaled-score", "yNN_of_all") in names
    assert len(left) == len(EXPERIMENT.summarise(records)["xing"]) - 1
