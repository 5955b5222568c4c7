"""What a person sees of a long fit."""

import sys
import time
from typing import TextIO

from ifair.core.solve import Progress


class ProgressBar:
    """One line on standard error that follows restart, iteration and loss.

    On a terminal the line is rewritten; elsewhere (a log file) a new line is written now and then.

    Parameters
    ----------
    n_restarts, max_iter : int
    stream : text stream, default=sys.stderr
    every : float
        Seconds between two updates.
    """

    WIDTH = 24

    def __init__(
        self, n_restarts: int, max_iter: int, *, stream: TextIO | None = None, every: float | None = None
    ) -> None:
        self.n_restarts, self.max_iter = n_restarts, max_iter
        self.stream = sys.stderr if stream is None else stream
        self.rewrites = self.stream is not None and self.stream.isatty()
        self.every = (0.1 if self.rewrites else 5.0) if every is None else every
        self._last = -float("inf")
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self.stream is None or now - self._last < self.every:
            return
        self._last, self._shown = now, True
        filled = self.WIDTH * min(progress.iteration, self.max_iter) // self.max_iter
        line = (
            f"iFair [{'#' * filled}{'.' * (self.WIDTH - filled)}] restart {progress.restart + 1}/{self.n_restarts}  "
            f"iteration {progress.iteration}/{self.max_iter}  loss {progress.loss:.6g}"
        )
        self.stream.write(f"\r{line}\x1b[K" if self.rewrites else f"{line}\n")
        self.stream.flush()

    def close(self) -> None:
        """End the line, so that what is printed next starts on its own."""
        if self._shown and self.rewrites:
            self.stream.write("\n")
            self.stream.flush()
