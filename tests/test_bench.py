"""How benchmarks are compared with their baseline; no times are measured here."""

import json
from pathlib import Path

import pytest
from refusals import must_raise

compare = pytest.importorskip("compare", reason="the benchmarks are not part of what is installed")
run_all = pytest.importorskip("run_all")


@pytest.fixture
def only(monkeypatch, tmp_path):
    """Runs one benchmark, which gives these rows or fails, for a reference of a tenth of a second; nothing is timed."""
    monkeypatch.setattr(run_all, "reference", lambda: run_all.common.Time(wall=0.2, cpu=0.1))
    files = ["--baseline", str(tmp_path / "baseline.json"), "--output", str(tmp_path / "deep" / "latest.json")]

    def run(rows, *options, failed=""):
        monkeypatch.setattr(run_all, "run", lambda bench: (rows() if callable(rows) else rows, failed))
        return run_all.main(["--only", "measures", *files, *options])

    return run


def test_a_machine_twice_as_slow_changes_nothing():
    before = compare.relative({"fit": 3.0, "map": 0.5}, reference=0.1)
    now = compare.relative({"fit": 6.0, "map": 1.0}, reference=0.2)
    found = compare.compare(before, now)
    assert (found.slower, found.faster, found.same) == ([], [], 2)
    assert "slower by more than 20 %: nothing" in compare.describe_comparison(found)
    must_raise(ValueError, "reference operation took", compare.relative, {"a": 1.0}, 0.0)


def test_what_is_slower_by_more_than_a_fifth_is_named_worst_first_and_what_one_run_has_is_not_compared():
    before = {"a": 1.0, "b": 10.0, "c": 2.0, "d": 4.0}
    found = compare.compare(before, {"a": 1.19, "b": 12.5, "c": 5.0, "d": 2.0})
    assert [(change.name, change.times) for change in found.slower] == [("c", 2.5), ("b", 1.25)]
    assert [change.name for change in found.faster] == ["d"]
    assert found.same == 1
    text = compare.describe_comparison(found)
    assert "slower by more than 20 %: 2" in text
    assert text.index("2.50 times  c") < text.index("1.25 times  b")
    found = compare.compare({"old": 1.0, "both": 1.0}, {"new": 9.0, "both": 1.0})
    assert (found.new, found.gone, found.slower) == (["new"], ["old"], [])


def test_rows_are_named_by_what_they_are_about():
    rows = [{"what": "ours", "threads": 1, "CPU s": 2}, {"what": "ours", "threads": 2, "CPU s": 3}, {"what": "bare"}]
    named = compare.measures("transform", rows, ("what", "threads"), "CPU s")
    assert named == {"transform: ours, 1": 2.0, "transform: ours, 2": 3.0}
    same = "two rows of transform are called 'transform: ours'"
    must_raise(ValueError, same, compare.measures, "transform", rows, ("what",), "CPU s")


def test_every_benchmark_is_run_and_the_baseline_knows_no_other():
    scripts = {path.stem.removeprefix("bench_") for path in Path(run_all.__file__).parent.glob("bench_*.py")}
    assert {bench.name for bench in run_all.BENCHES} == scripts
    baseline = read(run_all.BASELINE)
    assert baseline["failed"] == {}
    assert {run_all.belongs_to(name) for name in baseline["ratios"]} <= scripts
    assert len(baseline["ratios"]) > 10
    assert all(ratio > 0 for ratio in baseline["ratios"].values())
    # When the baseline was written, everything together took a coffee break.
    assert sum(baseline["machine"]["seconds"].values()) < 15 * 60


def test_a_run_is_written_compared_and_fails_if_asked_to(only, tmp_path, capsys):
    assert only([{"what": "ours", "CPU s": 0.4}], "--write-baseline") == 0
    assert read(tmp_path / "baseline.json")["ratios"] == {"measures: ours": pytest.approx(4.0)}
    slower = [{"what": "ours", "CPU s": 0.6}]
    assert only(slower) == 0
    assert only(slower, "--fail") == 1
    assert "1.50 times  measures: ours" in capsys.readouterr().out
    assert read(tmp_path / "deep" / "latest.json")["ratios"] == {"measures: ours": pytest.approx(6.0)}
    assert only([], failed="failed: no such thing") == 1
    said = capsys.readouterr().out
    assert "failed: no such thing" in said
    assert "in the baseline only" not in said


def test_what_seems_slower_is_run_again_and_the_best_counts(only, tmp_path, capsys):
    assert only([{"what": "ours", "CPU s": 0.4}], "--write-baseline") == 0
    times = iter([0.6, 0.5, 0.4, 0.3])
    assert only(lambda: [{"what": "ours", "CPU s": next(times)}], "--fail") == 0
    assert "slower by more than 20 %: nothing" in capsys.readouterr().out
    assert read(tmp_path / "deep" / "latest.json")["ratios"] == {"measures: ours": pytest.approx(4.0)}
    assert next(times) == 0.3  # what is as fast as before is not run again


def test_a_baseline_keeps_what_was_not_run_again(only, tmp_path):
    before = {"machine": {"seconds": {"measures": 70.0, "engines": 50.0}}}
    before["ratios"] = {"measures: old": 1.0, "engines, ms: 3": 2.0}
    (tmp_path / "baseline.json").write_text(json.dumps(before))
    assert only([{"what": "new", "CPU s": 0.3}], "--write-baseline") == 0
    written = read(tmp_path / "baseline.json")
    assert written["ratios"] == {"engines, ms: 3": 2.0, "measures: new": pytest.approx(3.0)}
    assert written["machine"]["seconds"]["engines"] == 50.0
    assert written["machine"]["seconds"]["measures"] < 70.0


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))
