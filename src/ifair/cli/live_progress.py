"""What a long run shows on standard error while it works."""

import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import click

from ifair.cli.terminal_text import make_printable

REFRESH_SECONDS = 1.0


class LiveProgress:
    """What is done, what runs now, and the time left of the units of a folder of :mod:`ifair.reproduce.runner`.

    On a terminal one line that is kept up to date; elsewhere a line for every finished unit. ``later``: seconds that
    what comes after these units is expected to take.
    """

    def __init__(self, title: str, folder: Path, later: float = 0.0) -> None:
        self._title, self._folder, self._later = title, folder, later
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last: Any = None
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> Self:
        if self._terminal:
            self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._terminal:
            self._ticker.join()
            click.echo("\r\x1b[K", nl=False, err=True)

    def __call__(self, progress: Any) -> None:
        """Take note of what the runner tells."""
        self._last = progress
        if not progress.label:
            again = f", {progress.reused} kept from before" if progress.reused else ""
            self._write_line(f"{self._title}: {progress.total} units{again}")
        elif not self._terminal:
            left = self._format_left(progress.seconds_left)
            click.echo(f"  {progress.done:4d}/{progress.total}  {progress.label}, {left}", err=True)
        elif progress.done == progress.total:
            self._write_line(f"  {progress.done}/{progress.total} done")

    def _format_left(self, seconds: float) -> str:
        with_later = f" ({format_duration(seconds + self._later)} with what follows)" if self._later else ""
        return f"{format_duration(seconds)} left{with_later}"

    def _write_line(self, text: str) -> None:
        click.echo(f"\r\x1b[K{text}" if self._terminal else text, err=True)

    def _refresh(self) -> None:
        from ifair.reproduce.runner import list_running

        while not self._ended.wait(REFRESH_SECONDS):
            last = self._last
            if last is None:
                continue
            left = f"{self._format_left(last.seconds_left)}, " if last.seconds_left is not None else ""
            running = "; ".join(list_running(self._folder))
            text = f"  {last.done}/{last.total}, {left}running: {running}"
            click.echo(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", nl=False, err=True)


class StepLines:
    """A line for every step of a job whose dear steps come first: what was done, how far it is, and the time left."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note of what was done last, and how much is done."""
        left = (time.monotonic() - self._began) / done * (total - done)
        said = f"; at most about {format_duration(left)} left" if done < total else ""
        click.echo(f"  {done:3d}/{total}  {make_printable(what)}{said}", err=True)


def format_duration(seconds: float) -> str:
    """A duration to plan with: ``40 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
