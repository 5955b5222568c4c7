"""How benchmarks are compared with their baseline; no times are measured here."""

import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    """Benchmarks import one another by their plain names."""
    if not FOLDER.is_dir():
        pytest.skip("the benchmarks are not part of what is installed")
    monkeypatch.syspath_prepend(str(FOLDER))
    import compare
    import run_all

    yield compare, run_all
    for name in ("compare", "run_all", "common"):
        sys.modules.pop(name, None)


@pytest.fixture
def run_all(benchmarks, monkeypatch):
    """The script, for which the reference takes a tenth of a second; nothing is measured."""
    script = benchmarks[1]
    monkeypatch.setattr(script, "reference", lambda: script.common.Time(wall=0.2, cpu=0.1))
    return script


def test_a_machine_twice_as_slow_changes_nothing(benchmarks):
    compare, _ = benchmarks
    before = compare.relative({"fit": 3.0, "map": 0.5}, reference=0.1)
    now = compare.relative({"fit": 6.0, "map": 1.0}, reference=0.2)
    found = compare.compare(before, now)
    assert (found.slower, found.faster, found.same) == ([], [], 2)
    assert "slower by more than 20 %: nothing" in compare.describe_comparison(found)
    with pytest.raises(ValueError, match="reference operation took"):
        compare.relative({"a": 1.0}, 0.0)


def test_what_is_slower_by_more_than_a_fifth_is_named_worst_first(benchmarks):
    compare, _ = benchmarks
    before = {"a": 1.0, "b": 10.0, "c": 2.0, "d": 4.0}
    found = compare.compare(before, {"a": 1.19, "b": 12.5, "c": 5.0, "d": 2.0})
    assert [(change.name, change.times) for change in found.slower] == [("c", 2.5), ("b", 1.25)]
    assert [change.name for change in found.faster] == ["d"]
    assert found.same == 1
    text = compare.describe_comparison(found)
    assert "slower by more than 20 %: 2" in text
    assert text.index("2.50 times  c") < text.index("1.25 times  b")


def test_what_only_one_run_has_is_listed_and_not_compared(benchmarks):
    compare, _ = benchmarks
    found = compare.compare({"old": 1.0, "both": 1.0}, {"new": 9.0, "both": 1.0})
    assert (found.new, found.gone, found.slower) == (["new"], ["old"], [])


def test_rows_are_named_by_what_they_are_about(benchmarks):
    compare, _ = benchmarks
    rows = [{"what": "ours", "threads": 1, "CPU s": 2}, {"what": "ours", "threads": 2, "CPU s": 3}, {"what": "bare"}]
    named = compare.measures("transform", rows, ("what", "threads"), "CPU s")
    assert named == {"transform: ours, 1": 2.0, "transform: ours, 2": 3.0}
    with pytest.raises(ValueError, match="two rows of transform are called 'transform: ours'"):
        compare.measures("transform", rows, ("what",), "CPU s")


def test_every_benchmark_is_run_and_the_baseline_knows_no_other(benchmarks):
    _, run_all = benchmarks
    scripts = {path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py")}
    assert {bench.name for bench in run_all.BENCHES} == scripts
    baseline = json.loads(run_all.BASELINE.read_text(encoding="utf-8"))
    assert baseline["failed"] == {}
    assert {run_all.belongs_to(name) for name in baseline["ratios"]} <= scripts
    assert len(baseline["ratios"]) > 10
    assert all(ratio > 0 for ratio in baseline["ratios"].values())
    # When the baseline was written, everything together took a coffee break.
    assert sum(baseline["machine"]["seconds"].values()) < 15 * 60


def test_a_run_is_written_compared_and_fails_if_asked_to(run_all, tmp_path, monkeypatch, capsys):
    rows = [{"what": "ours", "CPU s": 0.4}]
    monkeypatch.setattr(run_all, "run", lambda bench: (rows, ""))
    baseline, output = tmp_path / "baseline.json", tmp_path / "deep" / "latest.json"
    options = ["--only", "measures", "--baseline", str(baseline), "--output", str(output)]
    assert run_all.main([*options, "--write-baseline"]) == 0
    assert json.loads(baseline.read_text())["ratios"] == {"measures: ours": pytest.approx(4.0)}

    rows[0]["CPU s"] = 0.6
    assert run_all.main(options) == 0
    assert run_all.main([*options, "--fail"]) == 1
    assert "1.50 times  measures: ours" in capsys.readouterr().out
    assert json.loads(output.read_text())["ratios"] == {"measures: ours": pytest.approx(6.0)}


def test_what_seems_slower_is_run_again_and_the_best_counts(run_all, tmp_path, monkeypatch, capsys):
    times = iter([0.6, 0.5, 0.4, 0.3])
    monkeypatch.setattr(run_all, "run", lambda bench: ([{"what": "ours", "CPU s": next(times)}], ""))
    baseline, output = tmp_path / "baseline.json", tmp_path / "latest.json"
    baseline.write_text(json.dumps({"machine": {"load_before": 0.0}, "ratios": {"measures: ours": 4.0}}))
    options = ["--only", "measures", "--baseline", str(baseline), "--output", str(output), "--fail"]
    assert run_all.main(options) == 0
    assert "slower by more than 20 %: nothing" in capsys.readouterr().out
    assert json.loads(output.read_text())["ratios"] == {"measures: ours": pytest.approx(4.0)}
    assert next(times) == 0.3  # what is as fast as before is not run again


def test_a_baseline_keeps_what_was_not_run_again(run_all, tmp_path, monkeypatch):
    monkeypatch.setattr(run_all, "run", lambda bench: ([{"what": "new", "CPU s": 0.3}], ""))
    baseline = tmp_path / "baseline.json"
    before = {"machine": {"seconds": {"measures": 70.0, "engines": 50.0}}}
    before["ratios"] = {"measures: old": 1.0, "engines, ms: 3": 2.0}
    baseline.write_text(json.dumps(before))
    assert run_all.main(["--only", "measures", "--baseline", str(baseline), "--write-baseline"]) == 0
    written = json.loads(baseline.read_text())
    assert written["ratios"] == {"engines, ms: 3": 2.0, "measures: new": pytest.approx(3.0)}
    assert written["machine"]["seconds"]["engines"] == 50.0
    assert written["machine"]["seconds"]["measures"] < 70.0


def test_a_benchmark_that_breaks_is_reported_and_not_compared(run_all, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_all, "run", lambda bench: ([], "failed: no such thing"))
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"machine": {"load_before": 0.0}, "ratios": {"measures: ours": 1.0}}))
    assert run_all.main(["--only", "measures", "--baseline", str(baseline), "--output", str(tmp_path / "o.json")]) == 1
    said = capsys.readouterr().out
    assert "failed: no such thing" in said
    assert "in the baseline only" not in said
