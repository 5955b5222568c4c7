"""How benchmarks of two versions are compared; no times are measured here."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from refusals import must_raise

compare = pytest.importorskip("compare", reason="the benchmarks are not part of what is installed")
run_all = pytest.importorskip("run_all")


@pytest.fixture
def only(monkeypatch, tmp_path):
    """Runs a benchmark that takes 4 s in the earlier version and fails or takes so long in this; nothing is timed."""
    monkeypatch.setattr(run_all, "unpacked", lambda revision: nullcontext(tmp_path))
    output = ["--output", str(tmp_path / "deep" / "latest.json")]

    def run(times, *options, failed=""):
        taken = iter(times)

        def once(bench, tree):
            if tree == tmp_path:
                return {"measures: ours": 4.0, "measures: gone": 1.0}, ""
            return ({}, failed) if failed else ({"measures: ours": next(taken)}, "")

        monkeypatch.setattr(run_all, "run", once)
        return run_all.main(["--only", "measures", *output, *options]), len(list(taken))

    return run


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


def test_every_benchmark_is_run():
    scripts = {path.stem.removeprefix("bench_") for path in Path(run_all.__file__).parent.glob("bench_*.py")}
    assert {bench.name for bench in run_all.BENCHES} == scripts


def test_versions_are_compared_written_and_fail_if_asked_to(only, tmp_path, capsys):
    assert only([6.0, 7.0, 8.0]) == (0, 0)
    assert only([6.0, 7.0, 8.0], "--fail") == (1, 0)
    said = capsys.readouterr().out
    assert "1.50 times  measures: ours" in said
    assert "only there: 1" in said
    written = read(tmp_path / "deep" / "latest.json")
    assert (written["now"], written["against"]) == ({"measures: ours": 6.0}, "HEAD")
    assert only([], failed="failed: no such thing") == (1, 0)
    assert "failed: no such thing" in capsys.readouterr().out


def test_what_seems_slower_is_run_again_and_the_best_counts(only, tmp_path, capsys):
    assert only([6.0, 4.1, 3.0], "--fail") == (0, 1)  # what is as fast as before is not run again
    assert "slower by more than 20 %: nothing" in capsys.readouterr().out
    assert read(tmp_path / "deep" / "latest.json")["now"] == {"measures: ours": 4.1}


def test_a_version_is_unpacked_and_one_that_is_not_there_is_refused():
    if not (run_all.ROOT / ".git").exists():
        pytest.skip("this is not a checkout of the repository")
    with run_all.unpacked("HEAD") as tree:
        assert (tree / "src" / "ifair" / "__init__.py").exists()
        assert (tree / "benchmarks" / "bench_fit.py").exists()
    must_raise(SystemExit, "--against nonsense", run_all.unpacked("nonsense").__enter__)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))
