"""The runner: nothing finished is lost, nothing old is mixed in, nobody shares a folder."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

import ifair
from ifair import __version__, files
from ifair.reproduce import runner
from ifair.reproduce.assemble import join_environments
from ifair.reproduce.case import Case
from ifair.reproduce.runner import RunError, Unit, run_plans, run_units

SOURCE = Path(ifair.__file__).parents[1]


WORK = """
import time
from pathlib import Path
from ifair.reproduce.runner import list_running

def square(case):
    time.sleep(case.options.get("wait", 0.0))
    with open(case.options["log"], "a", encoding="utf-8") as file:
        file.write(f"{case.seed}\\n")
    return {"square": case.seed * case.seed}

def look(case):
    return list_running(Path(case.options["folder"]))

def crowd(case):
    # Finds no memory while others run, which it sees by their marks.
    log = Path(case.options["log"])
    while not log.exists() and case.seed:  # until the first is at work
        time.sleep(0.01)
    if case.seed == 0:
        log.write_text("at work")
        while len(list(Path(case.options["folder"]).glob("units/*.failed"))) < case.options["crowded_out"]:
            time.sleep(0.01)
    elif len(list_running(Path(case.options["folder"]))) > 1:
        raise MemoryError("no room")
    return case.seed

def give_up(case):
    raise MemoryError("never")
"""


@pytest.fixture
def units(tmp_path, monkeypatch):
    """Five units that write down when they run."""
    (tmp_path / "work_of_units.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))
    log = str(tmp_path / "log")
    return [Unit(f"square of {x}", "work_of_units:square", Case("none", x, {"log": log})) for x in range(5)]


def logged(units):
    path = Path(units[0].case.options["log"])
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_results_come_in_the_order_of_the_units_also_of_experiments_that_run_at_the_same_time(units, tmp_path):
    records = run_units(units, tmp_path / "run")
    assert [record.result["square"] for record in records] == [0, 1, 4, 9, 16]
    assert [record.label for record in records] == [unit.label for unit in units]
    found = run_plans({"all": units, "last": units[-1:], "none": []}, tmp_path / "at the same time")
    for name, expected in {"all": records, "last": records[-1:], "none": []}.items():
        assert [(one.label, one.result) for one in found[name]] == [(one.label, one.result) for one in expected]


def test_what_is_finished_is_not_done_again_and_the_same_unit_once(units, tmp_path):
    first = run_units(units[:3], tmp_path / "run")
    seen = []
    again = run_units(units, tmp_path / "run", observer=seen.append)
    assert logged(units) == [0, 1, 2, 3, 4]
    assert again[:3] == first
    assert (seen[0].done, seen[0].total, seen[0].reused) == (3, 5, 3)
    assert seen[-1].done == 5
    assert seen[-1].seconds_left == 0.0
    twice = run_units([units[2], units[2]], tmp_path / "another run")
    assert twice[0] == twice[1]
    assert logged(units) == [0, 1, 2, 3, 4, 2]


def test_a_changed_setting_makes_another_unit_and_a_damaged_result_is_made_anew(units, tmp_path, monkeypatch):
    run_units(units[:1], tmp_path / "run")
    (tmp_path / "run" / "units" / f"{units[0].key}.json").write_text('{"label": "squ')
    assert run_units(units[:1], tmp_path / "run")[0].result == {"square": 0}
    assert logged(units) == [0, 0]
    changed = Unit(units[0].label, units[0].function, replace(units[0].case, seed=7))
    assert run_units([changed], tmp_path / "run")[0].result == {"square": 49}
    key = units[0].key
    monkeypatch.setattr(runner, "__version__", "another")
    assert units[0].key != key


def test_two_runs_in_one_folder_and_a_folder_that_cannot_be_made_are_refused(units, tmp_path):
    with pytest.raises(RunError, match="another run is using"):
        run_units(units, tmp_path / "run", observer=lambda _: run_units(units, tmp_path / "run"))
    run_units(units[:1], tmp_path / "run")
    with pytest.raises(RunError, match="cannot use the folder"):
        run_units(units, tmp_path / "log" / "run")


def test_a_full_disk_loses_nothing_finished(units, tmp_path, monkeypatch):
    run_units(units[:2], tmp_path / "run")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        with pytest.raises(RunError, match=r"No space left on device\. What was finished before is kept"):
            run_units(units, tmp_path / "run")
    kept = sorted(path.name for path in (tmp_path / "run" / "units").iterdir())
    assert kept == sorted(f"{unit.key}.json" for unit in units[:2])
    assert len(run_units(units, tmp_path / "run")) == 5


def test_a_unit_that_fails_is_told_when_the_others_are_finished_and_is_all_that_is_run_again(units, tmp_path):
    broken = replace(units[2], case=replace(units[2].case, options={}))  # without a log to write
    folder = tmp_path / "run"
    with pytest.raises(RunError, match=r"1 of 5 units failed, the first .*: KeyError: 'log' .*run again"):
        run_units([*units[:2], broken, *units[3:]], folder)
    kept = sorted(path.suffix for path in (folder / "units").iterdir())
    assert kept == [".failed", ".json", ".json", ".json", ".json"]
    (told,) = (folder / "units").glob("*.failed")
    assert "Traceback" in told.read_text(encoding="utf-8")
    assert len(run_units(units, folder)) == 5


def test_units_that_find_no_memory_beside_others_are_run_again_fewer_at_a_time(units, tmp_path):
    get_reusable_executor().shutdown()  # processes of earlier tests do not find the module of these units
    folder, seen = tmp_path / "run", []
    options = {**units[0].case.options, "folder": str(folder), "crowded_out": 3}
    crowding = [replace(one, function="work_of_units:crowd", case=replace(one.case, options=options)) for one in units]
    records = run_units(crowding[:4], folder, n_jobs=2, observer=seen.append)
    assert [record.result for record in records] == [0, 1, 2, 3]
    assert [(one.done, one.total) for one in seen] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert not list((folder / "units").glob("*.failed"))
    # What fails by itself fails.
    hopeless = replace(units[0], function="work_of_units:give_up")
    with pytest.raises(RunError, match=r"1 of 1 units failed, the first .*MemoryError: never"):
        run_units([hopeless], tmp_path / "hopeless", n_jobs=2)


def test_after_many_failures_nothing_more_is_begun(units, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "MOST_FAILED", 2)
    broken = [replace(unit, case=replace(unit.case, options={})) for unit in units]
    with pytest.raises(RunError, match=r"2 of 5 units failed"):
        run_units(broken, tmp_path / "run")
    assert len(list((tmp_path / "run" / "units").glob("*.failed"))) < 5


def test_readers_see_all_of_a_file_or_nothing_and_null_for_what_is_not_defined(tmp_path):
    path = tmp_path / "result.json"
    runner.write_json(path, {"a": 1, "EqOpp": float("nan")})
    with pytest.raises(TypeError):
        runner.write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1, "EqOpp": None}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_killed_at_any_moment_the_next_run_ends_with_the_identical_result(units, tmp_path):
    slow = [{**asdict(unit.case), "options": {**unit.case.options, "wait": 0.3}} for unit in units]
    script = textwrap.dedent(
        f"""
        import json, sys
        from pathlib import Path
        from ifair.reproduce.case import Case
        from ifair.reproduce.runner import Unit, run_units
        units = [Unit(str(i), "work_of_units:square", Case(**a)) for i, a in enumerate(json.loads(sys.argv[1]))]
        run_units(units, Path({str(tmp_path / "run")!r}))
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(tmp_path)])}
    process = subprocess.Popen([sys.executable, "-c", script, json.dumps(slow)], env=environment)
    deadline = time.monotonic() + 60
    while len(logged(units)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done_before = logged(units)
    assert 2 <= len(done_before) < 5
    whole = [Unit(str(i), "work_of_units:square", Case(**data)) for i, data in enumerate(slow)]
    records = run_units(whole, tmp_path / "run")
    assert [record.result["square"] for record in records] == [0, 1, 4, 9, 16]
    # At most the unit that was under way is done twice.
    assert len(logged(units)) <= 6


def test_what_is_running_can_be_seen_and_a_killed_run_leaves_no_trace_of_it(units, tmp_path):
    assert runner.list_running(tmp_path / "run") == []
    (tmp_path / "run" / "units").mkdir(parents=True)
    (tmp_path / "run" / "units" / "abc.running").write_text("of a run that was killed")
    seen = run_units(
        [Unit("a, watcher", "work_of_units:look", Case("none", 0, {"folder": str(tmp_path / "run")}))],
        tmp_path / "run",
    )
    assert seen[0].result == ["a, watcher"]
    assert runner.list_running(tmp_path / "run") == []


def test_the_time_left_is_that_of_units_of_the_same_kind(units):
    slow, fast = (Unit(f"{kind}, split 1", "m:f", Case(kind, 0)) for kind in ("slow", "fast"))
    took = [(slow, 100.0), (fast, 1.0)]
    assert runner.seconds_left([slow, slow, fast], took, n_jobs=1) == 201.0
    assert runner.seconds_left([slow, fast], took, n_jobs=2) == 50.5
    new = Unit("new, split 1", "m:f", Case("new", 0))
    assert runner.seconds_left([new], took, n_jobs=8) == 50.5  # the mean of all, and one unit has one worker
    assert runner.seconds_left([], took, n_jobs=2) == 0.0


def test_a_result_tells_the_kind_of_machine_and_the_versions_side_by_side_where_they_differ():
    found = runner.describe_environment()
    assert found["ifair"] == __version__
    assert "cores" in found["machine"]
    assert {"python", "numpy", "scikit-learn"} <= set(found)
    here, there = {"machine": "2 cores", "numpy": "2.4"}, {"machine": "16 cores, a GPU", "numpy": "2.4"}
    assert join_environments([here, there, here]) == {"machine": "16 cores, a GPU and 2 cores", "numpy": "2.4"}
    blind = {"machine": "16 cores", "numpy": "2.4"}  # a unit that did not ask for the GPU
    assert join_environments([blind, there]) == there


def test_units_of_experiments_that_run_at_the_same_time_take_turns_and_long_ones_begin_early(units, tmp_path):
    few, many = units[:1], units[1:]
    run_plans({"few": few, "many": many}, tmp_path / "alike")
    run_plans({"few": few, "many": many}, tmp_path / "apart", seconds=lambda name, _: 9.0 if name == "few" else 1.0)
    assert logged(units) == [1, 2, 0, 3, 4, 0, 1, 2, 3, 4]
