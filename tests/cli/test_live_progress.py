"""What a long run shows: lines in a log, one line that is kept up to date on a terminal."""

import sys
import time

import pytest

from ifair.cli import live_progress as progress
from ifair.cli.live_progress import LiveProgress, format_duration
from ifair.reproduce.runner import Progress


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (89.0, "89 s"), (90.0, "2 min"), (3000.0, "50 min"), (12000.0, "3 h 20 min")]
)
def test_durations_are_told_as_one_would_say_them(seconds, words):
    assert format_duration(seconds) == words


def test_a_log_gets_a_line_for_every_finished_unit(tmp_path, capsys):
    with LiveProgress("classification", tmp_path) as observer:
        observer(Progress("", 1, 3, 1, None))
        observer(Progress("credit, full, split 1", 2, 3, 1, 130.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["classification: 3 units, 1 kept from before", "     2/3  credit, full, split 1, 2 min left"]


def test_a_terminal_shows_what_runs_now(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.01)
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "abc.running").write_text("census, ifair-b, K = 10, split 3")
    with LiveProgress("classification", tmp_path) as observer:
        observer(Progress("", 0, 2, 0, None))
        observer(Progress("census, full, split 1", 1, 2, 0, 40.0))
        deadline = time.monotonic() + 10
        shown = ""
        while "running" not in shown and time.monotonic() < deadline:
            time.sleep(0.02)
            shown += capsys.readouterr().err
    assert "1/2, 40 s left, running: census, ifair-b, K = 10, split 3" in shown
